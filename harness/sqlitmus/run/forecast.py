"""Foretells from the pilot's observations which differences a run will resolve. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import hypot

import numpy as np

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


def forecast(
    counts: PlannedCounts,
    cells: Cells,
    blocks: int,
    correction: Correction,
    sessions: int = 1,
    factor: float = 1.0,
) -> Forecast | None:
    """The differences that a run resolves with 80 % power; None when no pilot measured noise.

    All pairs of a case's runners are one family, as in the report. How strict its correction is
    depends on how many of them differ, which the pilot's times foretell; half of them where it has
    none. Planned looks make it stricter by a `factor`. Sessions leave as many degrees of freedom as
    there are sessions but one. A deviation from three processes says little: each is drawn two
    thirds of the way to the geometric mean of all, which a few very noisy cells do not decide.
    """
    deviations = [
        c.deviation for of in counts.values() for c in of.values() if c.deviation is not None
    ]
    if not deviations or blocks < MINIMUM_BLOCKS:
        return None
    typical = _geometric(deviations)
    spreads, effects = _pairs(counts, cells, typical)
    if not len(spreads):
        return None

    def needed(differing: int) -> Array:
        comparisons = factor * divisor(correction, len(spreads), differing)
        rows = np.full(len(spreads), blocks)
        return power.detectable(spreads, rows, max(comparisons, 1.0), sessions)

    differing = len(spreads) if np.isfinite(effects).any() else len(spreads) // 2
    while np.isfinite(effects).any():
        resolved = int(np.count_nonzero(effects > needed(differing)))
        if resolved >= differing:
            break
        differing = resolved
    half, most = np.quantile(np.expm1(needed(differing)), [0.5, 0.9]).tolist()
    return Forecast(half, most, differing, len(spreads))


def _pairs(counts: PlannedCounts, cells: Cells, typical: float) -> tuple[Array, Array]:
    """Per pair of runners the spread of their log ratio in a block, and its size in the pilot."""
    spreads: list[float] = []
    effects: list[float] = []
    for case, names in cells.items():
        drawn = _drawn(counts[case], typical)
        for first, second in combinations(names, 2):
            spreads.append(hypot(drawn[first], drawn[second]))
            times = [counts[case][name].operation_ns or np.nan for name in (first, second)]
            effects.append(abs(np.log(times[0] / times[1])))
    return np.array(spreads), np.array(effects)


def _drawn(of: Mapping[str, Counts], typical: float) -> dict[str, float]:
    """Each runner's deviation; a runner tried too rarely varies like the others of the case."""
    deviations = [c.deviation for c in of.values() if c.deviation is not None]
    middle = _geometric(deviations) if deviations else typical
    shrunk = {name: middle if c.deviation is None else c.deviation for name, c in of.items()}
    return {
        name: _GEOMETRIC * max(value, _LEAST) ** _OWN * typical ** (1 - _OWN)
        for name, value in shrunk.items()
    }


def _geometric(deviations: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(deviations, _LEAST)))))
