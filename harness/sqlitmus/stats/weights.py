"""Log ratios of two runners' sums of calls × time, for any calls from a few numbers per pair.

The sum of a runner is Σ c_i exp(m_i) over operations i, with m_i the level of ln t_i. Of a pair
with log times x and y, the mean of x - y over blocks is taken and not the difference of means, so
that what both have in common in a block cancels. With that difference d and the mean a of
(x + y) / 2, the levels of the two are a + d / 2 and a - d / 2.

The error is that of the linear part: with p and q the operations' shares of both sums, a deviation
of d_i moves the log ratio by (p_i + q_i) / 2 of it, and one of a_i by p_i - q_i. The page's script,
which gets d, a and their common squares, comes to what this module comes to.
"""

from dataclasses import dataclass

import numpy as np

from sqlitmus.stats.estimate import TRIM, Array, Counts, TrimmedMeans, freedom_of


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Per row (a pair, or a session of it) what its log ratio of sums is made of.

    `difference` and `middle` are rows x operations, NaN where one of the two lacks the operation.
    `square` is rows x 2 operations x 2 operations, the differences first: Yuen's squared errors on
    the diagonal, and beside it what they have in common. Those of a difference are NaN where its
    kept values are all equal. `count` blocks have a value of both in every operation that both
    have, `left` stay after trimming.
    """

    difference: Array
    middle: Array
    square: Array
    left: Counts
    count: Counts


def parts(logs: Array, others: Array, trim: float = TRIM, resolution: float = 0.0) -> Parts:
    """The parts of `logs` against `others`, the log times of operations x rows x blocks.

    Each operation is trimmed and winsorised on its own, so that a disturbed one does not spoil the
    block for the others.
    """
    size, rows, _ = logs.shape
    difference, middle = np.full((2, rows, size), np.nan)
    square = np.full((rows, 2 * size, 2 * size), np.nan)
    left, count = np.zeros((2, rows), dtype=np.int64)
    for row in range(rows):
        both = np.stack([logs[:, row] - others[:, row], (logs[:, row] + others[:, row]) / 2])
        has = np.flatnonzero(~np.isnan(both[0]).all(axis=1))
        whole = ~np.isnan(both[0, has]).any(axis=0)
        n = int(whole.sum()) if len(has) else 0
        cut = int(trim * n)
        count[row], left[row] = n, n - 2 * cut
        if not n:
            continue
        values = both[:, has][:, :, whole]
        ordered = np.sort(values, axis=2)[:, :, cut : n - cut]
        difference[row, has], middle[row, has] = ordered.mean(axis=2)
        if left[row] < 2:
            continue
        bottom, top = ordered[:, :, :1], ordered[:, :, -1:]
        clipped = np.clip(values, bottom, top)
        clipped[0][(top - bottom)[0, :, 0] <= resolution] = np.nan
        clipped -= clipped.mean(axis=2, keepdims=True)
        flat = clipped.reshape(2 * len(has), n)
        at = np.concatenate([has, has + size])
        square[row][np.ix_(at, at)] = flat @ flat.T / (left[row] * (left[row] - 1))
    return Parts(difference, middle, square, left, count)


def shares(levels: Array, calls: Array) -> Array:
    """Each operation's share of the sum of calls × exp(level); operations are the last axis."""
    with np.errstate(divide="ignore"):
        logs = np.log(calls) + levels
    terms = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return terms / terms.sum(axis=-1, keepdims=True)


def summed(of: Parts, calls: Array) -> TrimmedMeans:
    """Each row's log ratio of sums; NaN where an operation that is called lacks in the row.

    The degrees of freedom are those of a mean over as many rows as the error's parts are worth:
    1 / the sum of the squares of their shares of the squared error (`estimate.freedom_of`).
    """
    used = calls > 0
    size = len(calls)
    some = calls[used]
    upper = of.middle[:, used] + of.difference[:, used] / 2
    lower = upper - of.difference[:, used]
    p, q = shares(upper, some), shares(lower, some)
    # ln Σ c exp(x) - ln Σ c exp(y), by the share of the sum that the first operation has
    mean = upper[:, 0] - lower[:, 0] - np.log(p[:, 0]) + np.log(q[:, 0])
    slope = np.concatenate([(p + q) / 2, p - q], axis=1)
    at = np.concatenate([np.flatnonzero(used), np.flatnonzero(used) + size])
    square = of.square[:, at][:, :, at]
    whole = np.einsum("ri,rij,rj->r", slope, square, slope)
    single = np.square(slope) * np.einsum("rii->ri", square)
    total = single.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        worth = np.where(total > 0, total**2 / np.square(single).sum(axis=1), 1.0)
    # rounding may leave a hair below 0
    error = np.sqrt(np.where(np.isnan(whole), np.nan, np.fmax(whole, 0.0)))
    return TrimmedMeans(mean, error, freedom_of(of.left, worth), of.count)
