"""Shares the time of a run among its cases: sets go where the pilot foretells that they decide.

Pure.
"""

from collections.abc import Mapping

import numpy as np

from sqlitmus.catalog.planned import MINIMUM_BLOCKS, Cells, PlannedCounts
from sqlitmus.run.forecast import foreseen
from sqlitmus.vocabulary.terms import Correction

STEP = 2  # every second block mirrors the one before it


def shared(
    counts: PlannedCounts,
    cells: Cells,
    correction: Correction,
    costs: Mapping[str, float],
    budget_s: float,
    most: int,
) -> dict[str, int]:
    """Sets of each case of `costs`, the seconds of one set: as many as fit into `budget_s`.

    Each has the fewest that give a verdict; what is left goes, two sets at a time, to the case in
    which a second of them brings pairs nearest to an answer, up to `most`. A pair counts by its
    size in the pilot over the size that so many sets resolve, 1 at most: neither one that is
    settled anyway nor one that never will be draws time. Cases that are not among `cells`, of which
    nothing is foretold, have the fewest; and so have all where the pilot showed no difference.
    """
    sets = dict.fromkeys(costs, MINIMUM_BLOCKS)
    left_s = budget_s - MINIMUM_BLOCKS * sum(costs.values())
    seen = foreseen(counts, cells)
    if seen is None:
        return sets
    differing = int(np.count_nonzero(np.isfinite(seen.effect)))
    sizes = range(MINIMUM_BLOCKS, most + 1, STEP)
    near: dict[int, dict[str, float]] = {}
    for size in sizes:
        needed = seen.needed(np.full(len(seen.case), size), correction, differing)
        each = np.nan_to_num(np.minimum(seen.effect / needed, 1.0))
        worth = np.bincount(seen.case, each, minlength=len(cells))
        near[size] = dict(zip(cells, worth.tolist(), strict=True))

    def gain(case: str) -> float:
        size = sets[case]
        fits = size + STEP in near and STEP * costs[case] <= left_s
        return (near[size + STEP][case] - near[size][case]) / costs[case] if fits else 0.0

    while cells and gain(best := max(cells, key=gain)) > 0:
        sets[best] += STEP
        left_s -= STEP * costs[best]
    return sets
