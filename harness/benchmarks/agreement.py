"""What repetitions of plain programs and of whole runs say of each other. Pure.

A repetition holds, of one case, what each driver's plain program took and what runs published of
it. Ratios are taken within a repetition; an interval is Student's, over the repetitions.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import pairwise
from math import exp, inf, log, nan
from statistics import fmean, stdev

import numpy as np

from sqlitmus.stats.estimate import binomial_tail, freedom_of, kept, student_p, student_t_of

LIMIT, LIMIT_BELOW_1_US = 0.03, 0.05
LEVEL = 0.95
MOST_DIFFER = 0.07


@dataclass(frozen=True, slots=True)
class Bounds:
    """A figure with the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    def mark(self, limit: float) -> str:
        """`within` the limit with the whole interval, `OUTSIDE` with all of it, else `wide`."""
        least, most = 1 / (1 + limit), 1 + limit
        if self.low > most or self.high < least:
            return "OUTSIDE"
        return "within" if least <= self.low and self.high <= most else "wide"


@dataclass(frozen=True, slots=True)
class Published:
    """What a run says of a cell: ns per unit, and its ratio to the reference over `blocks`."""

    ns: float
    ratio: Bounds | None
    blocks: int


@dataclass(frozen=True, slots=True)
class Repetition:
    """One case once, by driver: ns per unit of the plain programs, and the share of their time in
    which they waited for a processor, both empty where none were played; and what each way of
    measuring published."""

    case: str
    plain: Mapping[str, float]
    waited: Mapping[str, float]
    published: Mapping[str, Mapping[str, Published]]


@dataclass(frozen=True, slots=True)
class Compared:
    """A driver in a case: its own figure by the plain programs, and by each way of measuring the
    published one over it."""

    case: str
    driver: str
    plain: float
    over_plain: Mapping[str, Bounds]
    limit: float

    @property
    def marks(self) -> list[str]:
        """By each way of measuring, whether it is within the limit."""
        return [bounds.mark(self.limit) for bounds in self.over_plain.values()]


def levels(repetitions: Sequence[Repetition]) -> list[Compared]:
    """Published times over those of the plain programs."""
    return [
        _compared(case, driver, mine, lambda each, driver=driver: each[driver])
        for case, mine in _by_case(repetitions)
        for driver in mine[0].plain
    ]


def ratios(repetitions: Sequence[Repetition], reference: str) -> list[Compared]:
    """Published ratios to the reference over those of the plain programs."""
    return [
        _compared(case, driver, mine, lambda each, driver=driver: each[driver] / each[reference])
        for case, mine in _by_case(repetitions)
        for driver in mine[0].plain
        if driver != reference and reference in mine[0].plain
    ]


def estimate(logs: Sequence[float]) -> Bounds:
    """The mean of log ratios with Student's interval, exponentiated; of a single one without."""
    if len(logs) < 2:
        return Bounds(exp(fmean(logs)), 0, inf)
    t = float(student_t_of(np.array([len(logs) - 1]), LEVEL)[0])
    half = t * stdev(logs) / len(logs) ** 0.5
    return Bounds(exp(fmean(logs)), exp(fmean(logs) - half), exp(fmean(logs) + half))


@dataclass(frozen=True, slots=True)
class Held:
    """Published ratios to the reference held against those of other runs: how many there are, how
    many differ at 5 % by their own intervals, their quotients' mean and the farthest from 1."""

    count: int
    differ: int
    mean: float
    farthest: float
    name: str

    @property
    def share(self) -> float:
        """Of all, those that differ."""
        return self.differ / self.count if self.count else nan

    @property
    def too_many(self) -> bool:
        """Whether more differ than 7 %, and than chance gives once in twenty times."""
        return self.share > MOST_DIFFER and binomial_tail(self.differ, self.count, 0.05) < 0.05


def held(pairs: Iterable[tuple[str, Published, Published]]) -> Held:
    """Named pairs of what two runs published, the first over the second."""
    logs: dict[str, list[float]] = {}
    differ = 0
    for name, one, other in pairs:
        if one.ratio and other.ratio:
            logs.setdefault(name, []).append(log(one.ratio.value / other.ratio.value))
            differ += p_of(one, other) < 0.05
    means = {name: fmean(each) for name, each in logs.items()}
    farthest = max(means, key=lambda name: abs(means[name]), default="")
    return Held(
        sum(map(len, logs.values())),
        differ,
        exp(fmean(means.values())) if means else nan,
        exp(means[farthest]) if means else nan,
        farthest,
    )


def within(
    repetitions: Sequence[Repetition], one: str, other: str
) -> Iterator[tuple[str, Published, Published]]:
    """The same ratio by two ways of measuring, in each repetition."""
    for each in repetitions:
        yield from _pairs(each.case, each.published.get(one, {}), each.published.get(other, {}))


def between(
    repetitions: Sequence[Repetition], way: str
) -> Iterator[tuple[str, Published, Published]]:
    """The same ratio by the same way of measuring, in each repetition and in the one before."""
    for _, mine in _by_case(repetitions):
        for before, each in pairwise(mine):
            yield from _pairs(each.case, each.published.get(way, {}), before.published.get(way, {}))


def _pairs(
    case: str, one: Mapping[str, Published], other: Mapping[str, Published]
) -> Iterator[tuple[str, Published, Published]]:
    """What both published, by case and driver."""
    for driver in one:
        if driver in other:
            yield f"{case} {driver}", one[driver], other[driver]


def p_of(one: Published, other: Published) -> float:
    """Welch's p of two ratios, whose errors are those of their published intervals."""
    (mine, error, freedom), (theirs, of_theirs, freedom_of_theirs) = _logs(one), _logs(other)
    squares = error**2, of_theirs**2
    t = abs(mine - theirs) / sum(squares) ** 0.5
    welch = sum(squares) ** 2 / (squares[0] ** 2 / freedom + squares[1] ** 2 / freedom_of_theirs)
    return float(student_p(np.array([t]), np.array([welch]))[0])


def _logs(published: Published) -> tuple[float, float, float]:
    """ln of its ratio, the error of that, and the degrees of freedom."""
    assert published.ratio
    value, low, high = (log(end) for end in astuple(published.ratio))
    freedom = freedom_of(kept(np.array([published.blocks])))
    return value, (high - low) / 2 / float(student_t_of(freedom, LEVEL)[0]), float(freedom[0])


def _compared(
    case: str,
    driver: str,
    repetitions: Sequence[Repetition],
    figure: Callable[[Mapping[str, float]], float],
) -> Compared:
    """`figure` of a driver, from the times of all by name."""
    plain = [log(figure(each.plain)) for each in repetitions]
    over_plain = {
        way: estimate(
            [
                log(figure({name: cell.ns for name, cell in each.published[way].items()})) - mine
                for each, mine in zip(repetitions, plain, strict=True)
            ]
        )
        for way in repetitions[0].published
    }
    ns = exp(fmean(log(each.plain[driver]) for each in repetitions))
    limit = LIMIT if ns >= 1000 else LIMIT_BELOW_1_US
    return Compared(case, driver, exp(fmean(plain)), over_plain, limit)


def _by_case(repetitions: Sequence[Repetition]) -> Iterator[tuple[str, list[Repetition]]]:
    for case in dict.fromkeys(each.case for each in repetitions):
        yield case, [each for each in repetitions if each.case == case]
