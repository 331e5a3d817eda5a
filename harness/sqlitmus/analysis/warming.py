"""Cells whose processes still became faster while they were timed: their level is of no use."""

from collections.abc import Mapping

import numpy as np

from sqlitmus.analysis.data import RunData
from sqlitmus.stats.estimate import Array, trimmed_means
from sqlitmus.stats.verdict import MIN_BLOCKS

Warming = Mapping[tuple[int, int], float]


def warming(run: RunData) -> Warming:
    """By case and series, the time of the second half of the timed work over that of the first,
    where it is surely below 1 and by more than the plan's margin.

    Over the blocks it is the trimmed mean of its logarithm with Yuen's interval, at 95 %. A process
    that grows slower does not warm up: a table that it fills grows with it.
    Fewer blocks than a verdict needs say nothing of it.
    """
    drift: Array = run.samples.figures["drift"]
    shape = drift.shape[:2]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = trimmed_means(np.log(drift).reshape(-1, drift.shape[2]))
    _, high = logs.interval()
    found = (logs.count >= MIN_BLOCKS) & (high < 0) & (logs.mean < np.log1p(-run.plan.margin))
    steady = np.array([case.metric == "steady" for case in run.plan.cases], dtype=np.bool_)
    found = found.reshape(shape) & steady[:, None]
    means = np.exp(logs.mean).reshape(shape)
    return {(case, series): float(means[case, series]) for case, series in np.argwhere(found)}
