"""Point estimates and intervals for many rows at once; a row is a cell or a pair, a column a block.

NaN marks a block without a value. Rows with the same number of values share one pass.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sqlitmus.stats.distributions import Array, Counts, sign_test_rank, student_t

TRIM = 0.2
LEVEL = 0.95
# The share of Yuen's h - 1 degrees of freedom that normal noise leaves of 10 to 90 blocks, and that
# which it leaves of the mean over many independent rows.
FREEDOM = 0.85
FREEDOM_OF_MANY = 1.4


@dataclass(frozen=True, slots=True, eq=False)
class Medians:
    """Per row the median, its interval (NaN where none can be had) and the number of values."""

    value: Array
    low: Array
    high: Array
    count: Counts


@dataclass(frozen=True, slots=True, eq=False)
class TrimmedMeans:
    """Per row the trimmed mean, its standard error, degrees of freedom and number of values.

    `error` is NaN where no spread can be had: fewer than two values kept, or all of those equal.
    `freedom` need not be whole.
    """

    mean: Array
    error: Array
    freedom: Counts | Array
    count: Counts

    def interval(self, level: float = LEVEL) -> tuple[Array, Array]:
        """Both ends of the two-sided interval at `level`; NaN where `error` is."""
        half = self.error * student_t_of(self.freedom, level)
        return self.mean - half, self.mean + half


def student_t_of(freedom: Counts | Array, level: float) -> Array:
    """The two-sided t for each number of degrees of freedom; NaN below 1."""
    distinct, where = np.unique(freedom, return_inverse=True)
    return _quantiles(level, tuple(distinct.tolist()))[where]


@lru_cache(maxsize=1024)
def _quantiles(level: float, freedom: tuple[float, ...]) -> Array:
    """A report asks for the same few quantiles some thirty times."""
    return student_t(level, freedom)


def medians(values: Array, level: float = LEVEL) -> Medians:
    """Median of each row of `values` (rows x blocks) with the sign test's interval.

    The interval runs from the k-th smallest to the k-th largest value, k from Binomial(n, 1/2):
    exact whatever the distribution, at least `level` (Conover, Practical Nonparametric Statistics,
    3rd ed., 3.2). It needs 6 values at 95 %.
    """
    ordered, count = _sort(values)
    value, low, high = (np.full(len(ordered), np.nan) for _ in range(3))
    for n, rows in _by_count(count):
        block = ordered[rows, :n]
        value[rows] = (block[:, (n - 1) // 2] + block[:, n // 2]) / 2
        rank = sign_test_rank(n, level)
        if rank is not None:
            low[rows] = block[:, rank - 1]
            high[rows] = block[:, n - rank]
    return Medians(value, low, high, count)


def trimmed_means(values: Array, trim: float = TRIM, resolution: float = 0.0) -> TrimmedMeans:
    """Trimmed mean of each row of `values` (rows x blocks) with Yuen's standard error.

    g = floor(trim n) values go from each end, h = n - 2g stay. The squared error is the sum of
    squares of the winsorised values about their mean over h (h - 1) (Yuen, Biometrika 61, 1974,
    165-170), with `freedom_of` h. Kept values that span no more than `resolution` count as equal: a
    spread below the clock's own steps says nothing about noise.
    """
    ordered, count = _sort(values)
    mean, error = np.full(len(ordered), np.nan), np.full(len(ordered), np.nan)
    freedom = np.zeros(len(ordered))
    for n, rows in _by_count(count):
        block = ordered[rows, :n]
        cut = int(trim * n)
        left = n - 2 * cut
        mean[rows] = block[:, cut : n - cut].mean(axis=1)
        freedom[rows] = freedom_of(left)
        if left > 1:
            bottom, top = block[:, cut], block[:, n - cut - 1]
            winsorised = np.clip(block, bottom[:, None], top[:, None])
            spread = top - bottom > resolution
            error[rows] = np.where(spread, yuen_error(winsorised, left), np.nan)
    return TrimmedMeans(mean, error, freedom, count)


def yuen_error(winsorised: Array, left: int) -> Array:
    """Yuen's standard error of each row of winsorised values, of which trimming leaves `left`."""
    squares = winsorised.var(axis=-1) * winsorised.shape[-1]
    return np.sqrt(squares / (left * (left - 1)))


def freedom_of(left: Counts | int, rows: Array | float = 1) -> Array:
    """Degrees of freedom where `left` values stay after trimming: 0.85 (h - 1), at least 1.

    Ours: with Yuen's h - 1 normal noise exceeds t too often, and in the far tail, where a verdict
    among hundreds is decided, much too often. With 0.85 (h - 1) no quantile from 5 % to 0.01 % lies
    noticeably beyond t's, for 10 to 90 values; `./just bench-statistics` prints them. Below two
    values 0.

    The mean over `rows` that are trimmed one by one averages what winsorising does to each, and has
    (1.4 - 0.55 / rows) (h - 1): no quantile of 2 to 10 independent normal rows lies beyond t's.
    """
    values = np.asarray(left, dtype=np.float64)
    share = FREEDOM_OF_MANY - (FREEDOM_OF_MANY - FREEDOM) / rows
    return np.where(values > 1, np.maximum(share * (values - 1), 1.0), 0.0)


def kept(count: Counts, trim: float = TRIM) -> Counts:
    """How many of `count` values a trimmed mean keeps."""
    return count - 2 * np.floor(trim * count).astype(np.int64)


def _sort(values: Array) -> tuple[Array, Counts]:
    ordered = np.sort(values, axis=1)  # NaN last
    return ordered, np.count_nonzero(~np.isnan(ordered), axis=1).astype(np.int64)


def _by_count(count: Counts) -> Iterator[tuple[int, NDArray[np.bool_] | slice]]:
    """Each number of values above 0 and the rows that have it."""
    distinct = np.unique(count)
    for n in distinct[distinct > 0].tolist():
        yield n, slice(None) if len(distinct) == 1 else count == n
