"""Mean log ratios over the cases of a group, and what may be said of all of them at once."""

from dataclasses import dataclass

import numpy as np

from sqlitmus.stats.estimate import TRIM, Array, Counts, TrimmedMeans, freedom_of, yuen_error
from sqlitmus.stats.verdict import ALPHA, MIN_BLOCKS, Rows, Verdicts
from sqlitmus.vocabulary.verdicts import Verdict


def group_means(logs: Array, trim: float = TRIM, resolution: float = 0.0) -> TrimmedMeans:
    """The mean over cases of their trimmed means, a row per pair; `logs` is cases x pairs x blocks.

    A block counts for a pair only if it has a value in every case. Each case is trimmed and
    winsorised on its own, as in `trimmed_means`, so that a disturbed case does not spoil the block
    for the others; Yuen's squared error is then taken of the blocks' means of the winsorised
    values. What cases of a block have in common is thereby in the error, whatever it is. With one
    case this is `trimmed_means`. No error where the kept values of some case are all equal.
    """
    whole: Rows = np.logical_not(np.isnan(logs).any(axis=0))
    ordered = np.sort(np.where(whole, logs, np.nan), axis=2)
    count: Counts = np.count_nonzero(whole, axis=1).astype(np.int64)
    mean, error = np.full(len(count), np.nan), np.full(len(count), np.nan)
    freedom = np.zeros(len(count))
    for n in np.unique(count[count > 0]).tolist():
        rows = np.flatnonzero(count == n)
        values, sorted_ = logs[:, rows], ordered[:, rows, :n]
        cut = int(trim * n)
        left = n - 2 * cut
        mean[rows] = sorted_[:, :, cut : n - cut].mean(axis=(0, 2))
        freedom[rows] = freedom_of(left, len(logs))
        if left > 1:
            bottom, top = sorted_[:, :, cut], sorted_[:, :, n - cut - 1]
            winsorised: Array = np.clip(values, bottom[..., None], top[..., None]).mean(axis=0)
            blocks = winsorised[whole[rows]].reshape(len(rows), n)
            spread = (top - bottom > resolution).all(axis=0)
            error[rows] = np.where(spread, yuen_error(blocks, left), np.nan)
    return TrimmedMeans(mean, error, freedom, count)


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Per row the interval and the verdict that hold for all rows at once."""

    low: Array
    high: Array
    verdicts: Verdicts


def together(
    logs: TrimmedMeans,
    margin: float,
    guard: Array | float = 0.0,
    alpha: float = ALPHA,
    share: Array | float = 1.0,
) -> Together:
    """Intervals that all contain their truth with probability 1 - `alpha`, and what they say.

    Each of the m rows that can be tested gets its interval at 1 - alpha share / m (Bonferroni), so
    whatever is read off them, in whatever order and of whichever rows the data suggest, is false
    with probability `alpha` at most. Holm's procedure would find a little more, but the intervals
    that belong to it say only "beyond 0" of what it finds.

    faster, slower: the interval lies beyond 0 and beyond `guard`, a log ratio >= 0; materially: it
    lies beyond ln(1 + margin) too; equivalent: it lies within that, where there is no guard. Rows
    of fewer than `MIN_BLOCKS` blocks or without an error are not testable: they get no interval and
    do not count.
    """
    testable = (logs.count >= MIN_BLOCKS) & ~np.isnan(logs.error)
    low, high = np.full((2, len(testable)), np.nan)
    shares = np.broadcast_to(share, testable.shape)
    for each in np.unique(shares).tolist():
        ends = logs.interval(1 - alpha * each / max(int(testable.sum()), 1))
        rows = testable & (shares == each)
        low[rows], high[rows] = (end[rows] for end in ends)
    return _told(low, high, margin, guard, testable)


def at_level(logs: TrimmedMeans, margin: float, guard: Array | float, level: float) -> Together:
    """The same where each interval has the coverage `level`, whatever family that comes from."""
    testable = (logs.count >= MIN_BLOCKS) & ~np.isnan(logs.error)
    low, high = (np.where(testable, end, np.nan) for end in logs.interval(level))
    return _told(low, high, margin, guard, testable)


def _told(low: Array, high: Array, margin: float, guard: Array | float, testable: Rows) -> Together:
    near = np.fmax(low, -high)  # how far the nearer end lies beyond 0
    differs, limit = (near > guard) & (near > 0), np.log1p(margin)
    within = (np.fmax(-low, high) < limit) & (np.asarray(guard) == 0)
    return Together(low, high, Verdicts.by(testable, high < 0, differs, near > limit, within))


def capped(verdicts: Verdicts, case: Verdicts) -> Verdicts:
    """What `verdicts` on groups of one case say that the verdicts on that `case` say, too."""
    return Verdicts(_BOTH[verdicts.code, case.code])


def _both(group: Verdict, case: Verdict) -> Verdict:
    """The weaker of two verdicts on the same side; not resolved where they are not."""
    if group.side != case.side:
        return Verdict.NOT_TESTABLE if group is Verdict.NOT_TESTABLE else Verdict.NOT_RESOLVED
    return case if group.material else group


_BOTH = np.array([[_both(group, case).code for case in Verdict] for group in Verdict], np.int8)
