"""Two subjects' rates, as Node's own comparison asks for them: 1 / time, so that more is better."""

from dataclasses import replace

import numpy as np

from sqlitmus.analysis.cells import optional
from sqlitmus.analysis.pairs import Pairs
from sqlitmus.results.estimate import RateTest, Speedup
from sqlitmus.stats.estimate import TrimmedMeans
from sqlitmus.stats.multiplicity import adjust, p_values
from sqlitmus.stats.verdict import ALPHA, MIN_BLOCKS

LEVELS = (0.95, 0.99, 0.999)


def rates(pairs: Pairs, reference: str, alpha: float) -> list[RateTest | None]:
    """Per case the rate of the other of two subjects over the reference's; None without a ratio.

    `alpha` is the level of a verdict, see `rate_tests`.
    """
    # Pairs are the later name over the earlier one, in time; a rate is the inverse of a time.
    sign = -1.0 if pairs.names[0] == reference else 1.0
    return rate_tests(replace(pairs.logs, mean=sign * pairs.logs.mean), alpha)


def rate_tests(logs: TrimmedMeans, alpha: float = ALPHA) -> list[RateTest | None]:
    """Per row of log ratios of rates the test of no difference; None without a ratio.

    p is corrected by Holm over all rows, whatever correction the verdicts have had, and where these
    are given at a lower level `alpha`, since there were several looks, enlarged by as much.
    """
    columns: list[tuple[list[float | None], list[float | None]]] = []
    for level in LEVELS:
        low, high = logs.interval(level)
        with np.errstate(over="ignore"):  # of two blocks that differ an interval has no end
            columns.append((optional(np.exp(low)), optional(np.exp(high))))
    testable = (logs.count >= MIN_BLOCKS) & ~np.isnan(logs.error)
    raw = np.where(testable, p_values(logs), np.nan)
    p, holm = optional(raw), optional(np.minimum(adjust(raw, "holm") * (ALPHA / alpha), 1))
    found: list[RateTest | None] = []
    for row, ratio in enumerate(optional(np.exp(logs.mean))):
        intervals = [Speedup(ratio or 1.0, low[row], high[row]) for low, high in columns]
        known = intervals if intervals[0].low is not None else []
        found.append(None if ratio is None else RateTest(known, p[row], holm[row]))
    return found
