"""Figures with intervals, contrasts of two runners, and who is ahead, ties, is behind or
excluded by them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import permutations
from typing import Literal

from sqlitmus.vocabulary.verdicts import Apart, Side, Verdict


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95 % interval; `low` and `high` are None when it cannot be had."""

    value: float
    low: float | None
    high: float | None

    def within(self, margin: float) -> bool:
        """Whether all of it lies within the margin on both sides of 1; False without ends."""
        if self.low is None or self.high is None:
            return False
        return 1 / (1 + margin) < self.low and self.high < 1 + margin


@dataclass(frozen=True, slots=True)
class Contrast:
    """The time of `runner` over the reference's, from `blocks` paired blocks (0: not
    said), and what it shows.

    `needs_blocks` is the number that would probably resolve a `not resolved`; None elsewhere. `p`
    is that of no difference, two-sided, and `adjusted` the same after the report's correction.
    `next` is where the ratio of one more session would lie; None for fewer than three sessions.
    `implied` is the side on which a chain of other contrasts puts the runner where this one does
    not tell.
    """

    runner: str
    reference: str
    ratio: Interval
    verdict: Verdict
    blocks: int = 0
    needs_blocks: int | None = None
    p: float | None = None
    adjusted: float | None = None
    next: Interval | None = None
    implied: Side = "undecided"


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All pairs of `runners` in one case, in columns: a page of ten thousand cells has 45,000.

    Pair (i, j) with i < j is runner j over runner i, at `place(i, j)` in each column; the other
    direction is its inverse. `verdict` is None where the two have no block in common.
    """

    runners: list[str]
    ratio: list[float | None]
    low: list[float | None]
    high: list[float | None]
    verdict: list[Verdict | None]
    blocks: list[int]
    needs_blocks: list[int | None]
    p: list[float | None]
    adjusted: list[float | None]
    next_low: list[float | None]
    next_high: list[float | None]

    def of(self, runner: str, reference: str) -> Contrast | None:
        """`runner` against `reference`; None if one of them is not here or they share no block."""
        if runner == reference or runner not in self.runners or reference not in self.runners:
            return None
        over, under = self.runners.index(runner), self.runners.index(reference)
        at, turned = place(min(over, under), max(over, under)), over < under
        ratio = _interval(self.ratio[at], self.low[at], self.high[at], turned=turned)
        verdict = self.verdict[at]
        if ratio is None or verdict is None:
            return None
        return Contrast(
            runner,
            reference,
            ratio,
            verdict.opposite if turned else verdict,
            self.blocks[at],
            self.needs_blocks[at],
            self.p[at],
            self.adjusted[at],
            _interval(self.ratio[at], self.next_low[at], self.next_high[at], turned=turned)
            if self.next_low[at] is not None
            else None,
        )

    def against(self, reference: str) -> dict[str, Contrast]:
        """All that can be compared with `reference`, by runner."""
        contrasts = ((name, self.of(name, reference)) for name in self.runners)
        return {name: contrast for name, contrast in contrasts if contrast is not None}

    def __iter__(self) -> Iterator[Contrast]:
        """Every ordered pair that has a ratio, by runner, then reference."""
        contrasts = (self.of(*pair) for pair in permutations(self.runners, 2))
        return (contrast for contrast in contrasts if contrast is not None)


def place(i: int, j: int) -> int:
    """Where the columns of `Comparisons` hold the pair of runners `i` < `j`."""
    return j * (j - 1) // 2 + i


def _interval(
    value: float | None, low: float | None, high: float | None, *, turned: bool
) -> Interval | None:
    """A ratio, or its inverse."""
    if value is None:
        return None
    if not turned:
        return Interval(value, low, high)
    low, high = (None if end is None else 1 / end for end in (high, low))
    return Interval(1 / value, low, high)


Limit = Literal["memory", "start-up", "p99", "durability"]


@dataclass(frozen=True, slots=True)
class Excluded:
    """Why `runner` is not ranked: it has no time in `cases`, its time there is compared with
    nothing, or it exceeds a limit.

    Its `value` is more than `most`, in bytes or ns; None where it was not measured, or is the word
    that `shown` has; `cases` are then where, if there are several. Of a time that is compared with
    nothing, `shown` is the figure.
    """

    runner: str
    why: Limit | Apart | Literal["cases"]
    value: float | None = None
    most: float | None = None
    shown: str = ""
    cases: list[str] = field(default_factory=list[str])

    @classmethod
    def untimed(cls, cells: Iterable[tuple[str, str, Apart | None]]) -> "list[Excluded]":
        """Of `cells` without a time to compare: runner, case, and what sets its time apart."""
        cases: dict[tuple[str, Apart | Literal["cases"]], list[str]] = {}
        for runner, case, apart in cells:
            cases.setdefault((runner, apart or "cases"), []).append(case)
        return [cls(runner, why, cases=ids) for (runner, why), ids in cases.items()]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a runner costs: ns a query of the mix, or of 1,000 requests by a preset, and CPU ns of
    the same, bytes, ns to the first answer; None for what was not measured. `parts` are the shares
    of the time by the case that a preset calls, or by the query of a mix by
    itself, which then add up to less or more than 1."""

    runner: str
    time: Interval | None
    cpu: float | None
    memory: float | None
    start: float | None
    parts: dict[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class Change:
    """What would put `runner` ahead: it takes `ratio` times as long as the fastest in `case` alone.
    At so many `calls` of it per 1,000 requests both take as long; None where that is not known."""

    case: str
    runner: str
    ratio: Interval
    calls: float | None = None


@dataclass(frozen=True, slots=True)
class Open:
    """A tie: about so many `blocks` in all would settle `runner` against `reference` in four of
    five runs, if their ratio here is the true one."""

    runner: str
    reference: str
    blocks: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """An order of runners by contrasts whose intervals hold together.

    Nobody is shown to be faster than those in `front`: one is the fastest, several are tied, and
    `equivalent` where each is to each other. `contrasts` are all others over the `reference`, the
    fastest first. Without a reference they are of those behind alone, each over the first in front
    that it is shown to be slower than, and `ties` are of the others in front over the first.
    `close` are slower than the fastest by less than `margin`.
    """

    front: list[str]
    equivalent: bool = False
    contrasts: list[Contrast] = field(default_factory=list[Contrast])
    ties: list[Contrast] = field(default_factory=list[Contrast])
    close: list[str] = field(default_factory=list[str])
    margin: float = 0.0
    reference: str | None = None
    excluded: list[Excluded] = field(default_factory=list[Excluded])
    changes: list[Change] = field(default_factory=list[Change])
    open: Open | None = None

    def contrast(self, runner: str) -> Contrast | None:
        """The contrast of a runner; None for the first in front, and for who is not ranked."""
        return next((each for each in self.contrasts if each.runner == runner), None)
