"""Foretells from the pilot's observations which differences a run will resolve. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import hypot

import numpy as np
from numpy.typing import NDArray

from sqlitmus.catalog.planned import MINIMUM_BLOCKS, Cells, Counts, PlannedCounts
from sqlitmus.stats import power
from sqlitmus.stats.estimate import Array
from sqlitmus.stats.multiplicity import divisor
from sqlitmus.vocabulary.terms import Correction

# How much the logarithm of a cell's own deviation, of three processes or so, weighs against the
# mean of all; a third is about what its error of 1.2 leaves where cells truly differ by 0.8.
_OWN = 1 / 3
# The geometric mean of such deviations of normal noise is 0.63 of the true one.
_GEOMETRIC = 1 / 0.63
_LEAST = 1e-4


@dataclass(frozen=True, slots=True)
class Forecast:
    """Differences, as shares of the time, that half and nine in ten of the comparisons resolve.

    By the pilot's times `differing` of them differ by more than that.
    """

    half: float
    most: float
    differing: int
    comparisons: int


@dataclass(frozen=True, slots=True, eq=False)
class Foreseen:
    """All pairs of the runners of each case: the place of the `case`, the spread of their log ratio
    in a block, and its size in the pilot, NaN where it is unknown."""

    case: NDArray[np.int64]
    spread: Array
    effect: Array

    def needed(
        self,
        blocks: NDArray[np.int64],
        correction: Correction,
        differing: int,
        sessions: int = 1,
        factor: float = 1.0,
    ) -> Array:
        """The log ratio of each pair that so many `blocks` of it resolve with 80 % power, if
        `differing` of all pairs differ; see `forecast` for the rest."""
        comparisons = factor * divisor(correction, len(self.spread), differing)
        return power.detectable(self.spread, blocks, max(comparisons, 1.0), sessions)


def foreseen(counts: PlannedCounts, cells: Cells) -> Foreseen | None:
    """The pairs of `cells`; None when no pilot measured noise, or there is no pair."""
    deviations = [counts[case][name].deviation for case, names in cells.items() for name in names]
    piloted = [deviation for deviation in deviations if deviation is not None]
    if not piloted:
        return None
    typical = _geometric(piloted)
    rows: list[tuple[int, float, float]] = []
    for place, (case, names) in enumerate(cells.items()):
        drawn = _drawn([counts[case][name] for name in names], typical)
        for first, second in combinations(range(len(names)), 2):
            times = [counts[case][names[at]].operation_ns or np.nan for at in (first, second)]
            effect = abs(np.log(times[0] / times[1]))
            rows.append((place, hypot(drawn[first], drawn[second]), effect))
    if not rows:
        return None
    places, spreads, effects = map(np.array, zip(*rows, strict=True))
    return Foreseen(places, spreads, effects)


def forecast(
    counts: PlannedCounts,
    cells: Cells,
    blocks: int,
    correction: Correction,
    sessions: int = 1,
    factor: float = 1.0,
    sets: Mapping[str, int] | None = None,
) -> Forecast | None:
    """The differences that a run resolves with 80 % power; None when no pilot measured noise.

    All pairs of a case's runners are one family, as in the report. How strict its correction is
    depends on how many of them differ, which the pilot's times foretell; half of them where it has
    none. Planned looks make it stricter by a `factor`. Sessions leave as many degrees of freedom as
    there are sessions but one. A case in `sets` takes part in fewer blocks. A deviation from three
    processes says little: each is drawn two thirds of the way to the geometric mean of all, which a
    few very noisy cells do not decide.
    """
    seen = foreseen(counts, cells) if blocks >= MINIMUM_BLOCKS else None
    if seen is None:
        return None
    each = np.array([(sets or {}).get(case, blocks) for case in cells])[seen.case]

    def needed(differing: int) -> Array:
        return seen.needed(each, correction, differing, sessions, factor)

    timed = bool(np.isfinite(seen.effect).any())
    differing = len(each) if timed else len(each) // 2
    while timed:
        resolved = int(np.count_nonzero(seen.effect > needed(differing)))
        if resolved >= differing:
            break
        differing = resolved
    half, most = np.quantile(np.expm1(needed(differing)), [0.5, 0.9]).tolist()
    return Forecast(half, most, differing, len(each))


def _drawn(cells: Sequence[Counts], typical: float) -> list[float]:
    """Each cell's deviation; one tried too rarely varies like the others of the case."""
    deviations = [c.deviation for c in cells if c.deviation is not None]
    middle = _geometric(deviations) if deviations else typical
    shrunk = [middle if c.deviation is None else c.deviation for c in cells]
    return [_GEOMETRIC * max(value, _LEAST) ** _OWN * typical ** (1 - _OWN) for value in shrunk]


def _geometric(deviations: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(deviations, _LEAST)))))
