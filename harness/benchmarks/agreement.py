"""What plain programs and runs say of each other. Pure.

A run holds, of one case, what each driver's processes and its plain program took block by block,
and what was published. Ratios are taken within a block; an interval is Student's, over the blocks.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from itertools import pairwise
from math import exp, inf, log, nan
from statistics import fmean, stdev

import numpy as np

from sqlitmus.stats.estimate import binomial_tail, freedom_of, kept, student_p, student_t_of

LIMIT, LIMIT_BELOW_1_US, LIMIT_OF_A_MIX = 0.03, 0.05, 0.05
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
class Plain:
    """A plain program in a block: ns per unit of work less what others took, the share of its time
    in which it waited for a processor, and its SQLite."""

    ns: float
    waited: float = 0.0
    sqlite: str = ""

    @classmethod
    def mean(cls, times: "Sequence[Plain]") -> "Plain":
        """Of those that played in one block: the geometric mean of their times."""
        ns = exp(fmean(log(each.ns) for each in times))
        return cls(ns, fmean(each.waited for each in times), times[0].sqlite)


@dataclass(frozen=True, slots=True)
class Run:
    """One case in a run of that `scheme`, by driver: ns per unit of each block, of its processes
    and of its plain program, both empty where none was played; and what was published. A `mix` is
    that of a workload, `unsupported` the drivers that cannot do it."""

    case: str
    scheme: str
    product: dict[str, Mapping[int, float]]
    plain: dict[str, Mapping[int, Plain]]
    published: dict[str, Published]
    mix: bool = False
    unsupported: list[str] = field(default_factory=list[str])

    def complete(self, drivers: Iterable[str]) -> bool:
        """Whether a plain program of each driver was played that the case does not lack."""
        return all(name in self.plain or name in self.unsupported for name in drivers)

    def logs(self, driver: str) -> dict[int, tuple[float, float]]:
        """By block, ln of the time of its process and of its plain program."""
        product, plain = self.product[driver], self.plain[driver]
        return {b: (log(product[b]), log(plain[b].ns)) for b in plain if b in product}


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


def levels(runs: Sequence[Run]) -> list[Compared]:
    """Times over those of the plain programs."""
    return [
        _compared(case, driver, mine, lambda run, driver=driver: _level(run, driver))
        for case, driver, mine in _by_driver(runs)
    ]


def ratios(runs: Sequence[Run], reference: str) -> list[Compared]:
    """Published ratios to the reference over those of the plain programs."""
    with_reference = [run for run in runs if reference in run.plain]
    return [
        _compared(case, driver, mine, lambda run, driver=driver: _ratio(run, driver, reference))
        for case, driver, mine in _by_driver(with_reference)
        if driver != reference
    ]


def _level(run: Run, driver: str) -> list[tuple[float, float]]:
    return [*run.logs(driver).values()]


def _ratio(run: Run, driver: str, reference: str) -> list[tuple[float, float]]:
    """By block, ln of both ratios; those of the run are moved so that their mean is what it
    published."""
    mine, theirs = run.logs(driver), run.logs(reference)
    pairs = [
        (mine[block][0] - theirs[block][0], mine[block][1] - theirs[block][1])
        for block in mine
        if block in theirs
    ]
    bounds = run.published[driver].ratio
    moved = log(bounds.value) - fmean(ours for ours, _ in pairs) if bounds else 0.0
    return [(ours + moved, plain) for ours, plain in pairs]


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


def within(runs: Sequence[Run], one: str, other: str) -> Iterator[tuple[str, Published, Published]]:
    """The same ratio in two schemes, by the first run of each, the second, and so on."""
    for _, mine in _by_case(runs):
        pairs = zip(_in(one, mine), _in(other, mine), strict=False)
        for first, second in pairs:
            yield from _pairs(first, second)


def between(runs: Sequence[Run], scheme: str) -> Iterator[tuple[str, Published, Published]]:
    """The same ratio in each run of a scheme and in the one before."""
    for _, mine in _by_case(runs):
        for before, each in pairwise(_in(scheme, mine)):
            yield from _pairs(each, before)


def _in(scheme: str, runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.scheme == scheme]


def _pairs(one: Run, other: Run) -> Iterator[tuple[str, Published, Published]]:
    """What both published, by case and driver."""
    for driver, mine in one.published.items():
        if driver in other.published:
            yield f"{one.case} {driver}", mine, other.published[driver]


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
    runs: Sequence[Run],
    logs: Callable[[Run], list[tuple[float, float]]],
) -> Compared:
    """A driver in a case; `logs` are those of a run, product and plain, by block."""
    by_scheme: dict[str, list[tuple[float, float]]] = {}
    for run in runs:
        by_scheme.setdefault(run.scheme, []).extend(logs(run))
    plain = [log for each in by_scheme.values() for _, log in each]
    over_plain = {
        scheme: estimate([mine - plain for mine, plain in each])
        for scheme, each in by_scheme.items()
    }
    ns = exp(fmean(log for run in runs for _, log in _level(run, driver)))
    limit = LIMIT if ns >= 1000 else LIMIT_BELOW_1_US
    limit = LIMIT_OF_A_MIX if any(run.mix for run in runs) else limit
    return Compared(case, driver, exp(fmean(plain)), over_plain, limit)


def _by_case(runs: Sequence[Run]) -> Iterator[tuple[str, list[Run]]]:
    for case in dict.fromkeys(run.case for run in runs):
        yield case, [run for run in runs if run.case == case]


def _by_driver(runs: Sequence[Run]) -> Iterator[tuple[str, str, list[Run]]]:
    """Each case and driver, with the runs in which a plain program of it played."""
    for case, mine in _by_case(runs):
        for driver in dict.fromkeys(name for run in mine for name in run.plain):
            yield case, driver, [run for run in mine if driver in run.plain]
