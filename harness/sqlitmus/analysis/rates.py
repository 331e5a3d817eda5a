"""Two subjects' rates as Node's own comparison judges them: 1 / time, so that more is better."""

import numpy as np

from sqlitmus.analysis.cells import optional
from sqlitmus.catalog.plan import Plan
from sqlitmus.results.estimate import RateTest
from sqlitmus.stats.estimate import Array, student_t_of
from sqlitmus.stats.multiplicity import p_values
from sqlitmus.stats.unpaired import difference, plain_means

LEVELS = (0.95, 0.99, 0.999)


def rate_tests(base: Array, new: Array) -> list[RateTest | None]:
    """Per row of times (rows x blocks, NaN for none) the test of Node's benchmark/compare.R; None
    where a side has no time.

    The change is that of the mean rate over the base's mean rate, the test Welch's, and an accuracy
    t times the standard error over the base's mean rate: blocks are no pairs there, nothing is
    trimmed or corrected, and the base's own uncertainty is not part of it.
    """
    # a clock that stood still gives no rate
    slow, fast = (plain_means(1e9 / np.where(times > 0, times, np.nan)) for times in (base, new))
    change = difference(fast, slow)
    halves = [change.error * student_t_of(change.freedom, level) / slow.mean for level in LEVELS]
    columns = zip(*map(optional, (change.mean / slow.mean, p_values(change), *halves)), strict=True)
    return [
        None if share is None else RateTest(share, [half for half in accuracy if half], p)
        for share, p, *accuracy in columns
    ]


def rated(plan: Plan, base: int, times: Array) -> list[RateTest | None]:
    """Rates of each case in a comparison of two, whose reference is the series `base`."""
    if plan.kind != "compare" or len(plan.runners) != 2:
        return [None] * len(plan.cases)
    return rate_tests(times[:, base], times[:, 1 - base])
