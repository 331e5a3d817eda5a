"""The ratios of all pairs of runners in one case, as columns."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations

from sqlitmus.results.estimate import Interval
from sqlitmus.vocabulary.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Comparison:
    """`runner` against `reference` in one case, from `blocks` paired blocks.

    `needs_blocks` is the number that would probably resolve a `not resolved`; None elsewhere. `p`
    is that of no difference, two-sided, and `adjusted` the same after the report's correction.
    `median` is the ratio's median with the sign test's interval, a cross-check; `disagrees` where
    it tells another story than `ratio`. `far`: more than 15 % of the blocks lie far to one side,
    and `ratio` is that median. `next` is where the ratio of one more session would lie; None for
    fewer than three sessions.
    """

    runner: str
    reference: str
    ratio: Interval
    verdict: Verdict
    blocks: int
    needs_blocks: int | None = None
    p: float | None = None
    adjusted: float | None = None
    median: Interval | None = None
    disagrees: bool = False
    next: Interval | None = None
    far: bool = False


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
    median: list[float | None]
    median_low: list[float | None]
    median_high: list[float | None]
    disagrees: list[bool]
    next_low: list[float | None]
    next_high: list[float | None]
    far: list[bool] = field(default_factory=list[bool])

    def of(self, runner: str, reference: str) -> Comparison | None:
        """`runner` against `reference`; None if one of them is not here or they share no block."""
        if runner == reference or runner not in self.runners or reference not in self.runners:
            return None
        over, under = self.runners.index(runner), self.runners.index(reference)
        at, turned = place(min(over, under), max(over, under)), over < under
        ratio = _interval(self.ratio[at], self.low[at], self.high[at], turned=turned)
        verdict = self.verdict[at]
        if ratio is None or verdict is None:
            return None
        return Comparison(
            runner,
            reference,
            ratio,
            verdict.opposite if turned else verdict,
            self.blocks[at],
            self.needs_blocks[at],
            self.p[at],
            self.adjusted[at],
            _interval(self.median[at], self.median_low[at], self.median_high[at], turned=turned),
            self.disagrees[at],
            _interval(self.ratio[at], self.next_low[at], self.next_high[at], turned=turned)
            if self.next_low[at] is not None
            else None,
            bool(self.far) and self.far[at],
        )

    def against(self, reference: str) -> dict[str, Comparison]:
        """All that can be compared with `reference`, by runner."""
        found = ((name, self.of(name, reference)) for name in self.runners)
        return {name: one for name, one in found if one is not None}

    def __iter__(self) -> Iterator[Comparison]:
        """Every ordered pair that has a ratio, by runner, then reference."""
        found = (self.of(*pair) for pair in permutations(self.runners, 2))
        return (one for one in found if one is not None)


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
