"""Cells whose work SQLite refused in part, with SQLITE_BUSY: they did less than was asked."""

import warnings
from collections.abc import Mapping

import numpy as np

from sqlitmus.analysis.data import RunData
from sqlitmus.stats.estimate import Array

REFUSED = 0.01
"""The share of operations beyond which a time is that of other work: fewer would not show in it."""

Refusals = Mapping[tuple[int, int], float]


def refusals(run: RunData) -> Refusals:
    """By case and series, the share of operations that ended with SQLITE_BUSY, the mean over the
    blocks, where it is above `REFUSED` and the case is compared by its time."""
    shares: Array = run.samples.figures["busy"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of cells that count none
        mean: Array = np.nanmean(shares, axis=2)
    timed = np.array([case.metric == "steady" for case in run.plan.cases], dtype=np.bool_)
    refused = (mean > REFUSED) & timed[:, None]
    return {(case, series): float(mean[case, series]) for case, series in np.argwhere(refused)}
