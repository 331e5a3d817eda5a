"""Two subjects' rates, as Node's own comparison asks for them: 1 / time, so that more is better."""

import numpy as np

from sqlitmus.report.model import Interval, RateTest
from sqlitmus.stats.multiplicity import adjust

from .cells import optional
from .pairs import Pairs

LEVELS = (0.95, 0.99, 0.999)


def rates(pairs: Pairs, reference: str) -> list[RateTest | None]:
    """Per case the rate of the other of two subjects over the reference's; None without a ratio.

    p is corrected by Holm over all cases, whatever correction the verdicts have had.
    """
    # Pairs are the later name over the earlier one, in time; a rate is the inverse of a time.
    sign = -1.0 if pairs.names[0] == reference else 1.0
    value = sign * pairs.logs.mean
    columns: list[tuple[list[float | None], list[float | None]]] = []
    for level in LEVELS:
        low, high = pairs.logs.interval(level)
        ends = (-high, -low) if sign < 0 else (low, high)
        columns.append((optional(np.exp(ends[0])), optional(np.exp(ends[1]))))
    p, holm = optional(pairs.p), optional(adjust(pairs.p, "holm"))
    found: list[RateTest | None] = []
    for case, ratio in enumerate(optional(np.exp(value))):
        intervals = [Interval(ratio or 1.0, low[case], high[case]) for low, high in columns]
        known = intervals if intervals[0].low is not None else []
        found.append(None if ratio is None else RateTest(known, p[case], holm[case]))
    return found
