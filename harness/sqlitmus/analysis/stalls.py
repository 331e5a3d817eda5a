"""Cells whose time is the median of iterations beside others that wait much longer."""

import warnings
from collections.abc import Mapping

import numpy as np

from sqlitmus.analysis.data import RunData
from sqlitmus.stats.estimate import Array

HEAVY = 3.0
"""Times the factor of the steadiest runner of the case: beyond it most of the time is spent
waiting, which the median does not tell."""

Stalls = Mapping[tuple[int, int], float]


def stalls(run: RunData) -> Stalls:
    """By case and series, how many times the median iteration the mean one takes, where that is
    `HEAVY` in more than half of the blocks, and the case is compared by its median.

    It is relative to the steadiest runner of the case, so that a machine that makes all of them
    wait, such as a busy disk, leaves nobody out.
    """
    factors: Array = run.samples.figures["mean_over_median"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of cells without any
        typical: Array = np.nanmedian(factors, axis=2)
        # one interruption in two blocks is no stall
        most: Array = np.nanquantile(factors, 0.5, axis=2, method="lower")
        steadiest: Array = np.nanmin(typical, axis=1)
    steady = [case.metric == "steady" for case in run.plan.cases]
    heavy = (most > HEAVY * np.maximum(steadiest, 1.0)[:, None]) & np.array(steady, dtype=np.bool_)[
        :, None
    ]
    return {(case, series): float(typical[case, series]) for case, series in np.argwhere(heavy)}
