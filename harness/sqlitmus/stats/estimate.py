"""Point estimates and intervals for many rows at once; a row is a cell or a pair, a column a
block.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import comb, exp, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Counts = NDArray[np.int64]


def optional(values: Array) -> list[float | None]:
    """The values of a column, None for NaN."""
    listed: list[float | None] = values.tolist()
    for place in np.flatnonzero(np.isnan(values)).tolist():
        listed[place] = None
    return listed


def student_t(coverage: float, freedom: ArrayLike) -> Array:
    """The t with P(|T| <= t) = `coverage` for each of `freedom`, whole or not; NaN below 1.

    Halley's method on the angle atan(t / sqrt(freedom)) from the normal quantile, with steps of at
    most twice Newton's. Good to about 1e-11. Raises ValueError for a coverage not between 0 and 1.
    """
    if not 0 < coverage < 1:
        raise ValueError(f"student_t needs 0 < coverage < 1, got {coverage}")
    given = np.asarray(freedom, dtype=np.float64)
    f = np.where(given >= 1, given, np.nan)
    root, angle = np.sqrt(f), np.arctan2(normal(coverage), np.sqrt(f))
    scale = 2 / sqrt(pi) * np.exp(_log_gamma_ratio(f))
    for _ in range(100):
        missing = student_p(root * np.tan(angle), f) - (1 - coverage)
        step = missing / (scale * np.cos(angle) ** (f - 1))
        step /= np.maximum(1 - step * (f - 1) * np.tan(angle) / 2, 0.5)
        angle += step
        if not np.any(np.abs(step) > np.maximum(1e-6 * np.cos(angle), 1e-13)):
            break
    return root * np.tan(angle)


def student_p(t: Array, freedom: Array | Counts) -> Array:
    """P(|T| >= |t|) for each t and its degrees of freedom, whole or not; NaN below 1.

    The regularised incomplete beta function I_x(freedom / 2, 1 / 2) at x = freedom / (freedom +
    t^2), by the continued fraction of DLMF 8.17.22 on the side of x where that converges fast. In
    the tail no terms cancel: good to about 1e-12 relative up to 1000 degrees of freedom.
    """
    distinct, which = np.unique(np.where(freedom >= 1, freedom, np.nan), return_inverse=True)
    half = distinct[which] / 2
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        r = np.square(t) / (2 * half)
        x, y = 1 / (1 + r), 1 / (1 + 1 / r)
        logs = -half * np.log1p(r) - np.log1p(1 / r) / 2
    front = np.exp(logs + _log_gamma_ratio(distinct)[which]) / sqrt(pi)
    in_tail = x * (half + 2.5) < half + 1
    tail, centre = np.nonzero(in_tail)[0], np.nonzero(~in_tail & ~np.isnan(x))[0]
    a, b = distinct / 2, np.full(len(distinct), 0.5)
    p = np.full_like(front, np.nan)
    p[tail] = front[tail] / half[tail] * _beta_fraction(x[tail], a, b, which[tail])
    p[centre] = 1 - 2 * front[centre] * _beta_fraction(y[centre], b, a, which[centre])
    return p


def _beta_fraction(x: Array, a: Array, b: Array, which: NDArray[np.intp]) -> Array:
    """DLMF 8.17.22 without its first factor, from the inside out; x has the `which`-th a and b.

    For x < (a + 1) / (a + b + 2), a or b = 1/2 and the other f / 2 this depth is exact to 1e-15.
    """
    if not len(x):
        return x
    largest = np.nanmax(a + b, initial=0.5) * 2
    depth = int(min(100, 16 + 6 * np.sqrt(largest)))
    k = np.arange(depth, 0, -1.0)[:, np.newaxis]
    m = k // 2
    factors = np.where(k % 2, -(a + m) * (a + b + m), m * (b - m)) / ((a + k - 1) * (a + k))
    value = np.ones_like(x)
    for factor in factors:
        value = 1 + factor[which] * x / value
    return 1 / value


def _log_gamma_ratio(freedom: Array) -> Array:
    """ln(gamma((f + 1) / 2) / gamma(f / 2)) for each f; NaN for NaN."""
    return np.array([lgamma((f + 1) / 2) - lgamma(f / 2) for f in freedom.tolist()])


def normal(coverage: float) -> float:
    """The z with P(|Z| <= z) = `coverage`."""
    return NormalDist().inv_cdf((1 + coverage) / 2)


@lru_cache(maxsize=4096)
def sign_test_rank(count: int, coverage: float) -> int | None:
    """The rank k for which the k-th smallest and k-th largest of `count` values enclose the median.

    The largest k with P(Binomial(count, 1/2) < k) <= (1 - coverage) / 2; None where even the
    extremes cover too little (fewer than 6 values at 95 %).
    """
    rank, tail = 0, 0
    while rank < count:
        tail += comb(count, rank)
        if tail / 2**count > (1 - coverage) / 2:
            break
        rank += 1
    return rank or None


def binomial_tail(count: int, trials: int, chance: float) -> float:
    """P(Binomial(trials, chance) >= count), for 0 < chance < 1."""
    whole = lgamma(trials + 1)
    tail = sum(
        exp(
            whole
            - lgamma(k + 1)
            - lgamma(trials - k + 1)
            + k * log(chance)
            + (trials - k) * log1p(-chance)
        )
        for k in range(count, trials + 1)
    )
    return min(tail, 1.0)


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of `trials` independent experiments with Wilson's 95 % interval."""

    value: float
    low: float
    high: float
    trials: int


def rate(share: float, trials: int) -> Rate:
    """`share` of `trials` with Wilson's interval (J. Amer. Statist. Assoc. 22, 1927, 209-212)."""
    z = normal(LEVEL)
    weight = 1 / (1 + z**2 / trials)
    centre = weight * (share + z**2 / (2 * trials))
    half = weight * z * sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    return Rate(share, max(centre - half, 0.0), min(centre + half, 1.0), trials)


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

    def rows(self, chosen: Counts | slice) -> "TrimmedMeans":
        """Those rows, by their numbers or as a slice."""
        return TrimmedMeans(
            self.mean[chosen], self.error[chosen], self.freedom[chosen], self.count[chosen]
        )


def student_t_of(freedom: Counts | Array, level: float) -> Array:
    """The two-sided t for each number of degrees of freedom; NaN below 1."""
    distinct, where = np.unique(freedom, return_inverse=True)
    return _quantiles(level, tuple(distinct.tolist()))[where]


@lru_cache(maxsize=1024)
def _quantiles(level: float, freedom: tuple[float, ...]) -> Array:
    """A report asks for the same few quantiles some thirty times."""
    return student_t(level, freedom)


def medians(values: Array) -> Medians:
    """Median of each row of `values` (rows x blocks) with the sign test's interval.

    The interval runs from the k-th smallest to the k-th largest value, k from Binomial(n, 1/2):
    exact whatever the distribution, at least 95 % (Conover, Practical Nonparametric Statistics,
    3rd ed., 3.2). It needs 6 values at 95 %.
    """
    ordered, count = _sort(values)
    value, low, high = (np.full(len(ordered), np.nan) for _ in range(3))
    for n, rows in _by_count(count):
        block = ordered[rows, :n]
        value[rows] = (block[:, (n - 1) // 2] + block[:, n // 2]) / 2
        rank = sign_test_rank(n, LEVEL)
        if rank is not None:
            low[rows] = block[:, rank - 1]
            high[rows] = block[:, n - rank]
    return Medians(value, low, high, count)


def trimmed_means(values: Array, resolution: float = 0.0) -> TrimmedMeans:
    """Trimmed mean of each row of `values` (rows x blocks) with Yuen's standard error.

    g = floor(0.2 n) values go from each end, h = n - 2g stay. The squared error is the sum of
    squares of the winsorised values about their mean over h (h - 1) (Yuen, Biometrika 61, 1974,
    165-170), with `freedom_of` h. Kept values that span no more than `resolution` count as equal: a
    spread below the clock's own steps says nothing about noise.
    """
    ordered, count = _sort(values)
    mean, error = np.full(len(ordered), np.nan), np.full(len(ordered), np.nan)
    freedom = np.zeros(len(ordered))
    for n, rows in _by_count(count):
        middle, clipped, span = winsorised(ordered[rows, :n])
        mean[rows] = middle.mean(axis=1)
        freedom[rows] = freedom_of(middle.shape[1])
        error[rows] = yuen_error(clipped, middle.shape[1], span > resolution)
    return TrimmedMeans(mean, error, freedom, count)


def winsorised(values: Array) -> tuple[Array, Array, Array]:
    """Of values along the last axis, none NaN: those that trimming leaves, in order of size; all,
    with what is trimmed moved to the nearest that is left; and how far those are apart."""
    cut = int(TRIM * values.shape[-1])
    middle = np.sort(values, axis=-1)[..., cut : values.shape[-1] - cut]
    bottom, top = middle[..., :1], middle[..., -1:]
    return middle, np.clip(values, bottom, top), (top - bottom)[..., 0]


def yuen_error(clipped: Array, left: int, spread: NDArray[np.bool_] | np.bool_) -> Array:
    """Yuen's standard error of each row of winsorised values, of which trimming leaves `left`; NaN
    without a `spread`."""
    squares = clipped.var(axis=-1) * clipped.shape[-1]
    return np.sqrt(np.where(spread, squares, np.nan) / (left * max(left - 1, 1)))


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


def kept(count: Counts) -> Counts:
    """How many of `count` values a trimmed mean keeps."""
    return count - 2 * np.floor(TRIM * count).astype(np.int64)


def _sort(values: Array) -> tuple[Array, Counts]:
    ordered = np.sort(values, axis=1)  # NaN last
    return ordered, np.count_nonzero(~np.isnan(ordered), axis=1).astype(np.int64)


def _by_count(count: Counts) -> Iterator[tuple[int, NDArray[np.bool_] | slice]]:
    """Each number of values above 0 and the rows that have it."""
    distinct = np.unique(count)
    for n in distinct[distinct > 0].tolist():
        yield n, slice(None) if len(distinct) == 1 else count == n


MOST_PRIOR = 3.0  # degrees of freedom that a prior may add: more erred where noise differs
LEAST_FAMILY = 6  # rows: the pairs of four runners


def moderate(means: TrimmedMeans, each: int) -> TrimmedMeans:
    """The same means with the errors and degrees of freedom of a moderated t; every `each` rows
    are one family.

    A family's squared errors s^2 with f degrees of freedom are taken as draws of scaled inverse
    chi-squares with a prior s0^2 of d0 degrees, both estimated from the family (Smyth, Stat. Appl.
    Genet. Mol. Biol. 3, 2004, article 3, section 6.2). A row's squared error becomes
    (d s0^2 + f s^2) / (d + f) with f + d degrees. The rows of a family share runners and say less
    of d0 than independent ones, so d is `MOST_PRIOR` at most; and of a row that is noisier than
    the prior d is only its share s0^2 / s^2, since the prior then speaks of others (after Phipson
    et al., Ann. Appl. Stat. 10, 2016, 946-963). Families of fewer than `LEAST_FAMILY` rows that
    have an error stay as they are. `./just bench-statistics` counts how often intervals that hold
    together err where the noise of runners differs.
    """
    error, freedom = means.error.copy(), means.freedom.astype(np.float64)
    for begin in range(0, len(error), max(each, 1)):
        rows = begin + np.flatnonzero(means.error[begin : begin + each] > 0)
        if len(rows) >= LEAST_FAMILY:
            f, squares = freedom[rows], np.square(error[rows])
            most, square = _prior(squares, f)
            prior = most * np.minimum(square / squares, 1.0)
            error[rows] = np.sqrt((prior * square + f * squares) / (prior + f))
            freedom[rows] = f + prior
    return TrimmedMeans(means.mean, error, freedom, means.count)


def _prior(squares: Array, freedom: Array) -> tuple[float, float]:
    """Degrees of freedom and square of the prior of a family."""
    half = freedom / 2
    logs = np.log(squares) - polygamma(0, half) + np.log(half)
    excess = float(logs.var(ddof=1) - polygamma(1, half).mean())
    if excess < 1e-6:  # no more than chance: a prior that is sure
        return MOST_PRIOR, float(np.exp(logs.mean()))
    of_prior = np.array(_trigamma_inverse(excess))
    shift = float(polygamma(0, of_prior) - np.log(of_prior))
    return min(2 * float(of_prior), MOST_PRIOR), float(np.exp(logs.mean() + shift))


def polygamma(order: int, x: Array) -> Array:
    """Digamma (`order` 0) or trigamma (1) of each x > 0; good to about 1e-12.

    By recurrence up to x >= 10 and the asymptotic series there (DLMF 5.5.2, 5.11.2, 5.15.8).
    """
    x = np.asarray(x, dtype=np.float64)
    steps = x[..., None] + np.arange(10)
    y = x + 10
    squared = 1 / np.square(y)
    if order == 0:
        series = squared * (1 / 12 - squared * (1 / 120 - squared * (1 / 252 - squared / 240)))
        return np.log(y) - 1 / (2 * y) - series - (1 / steps).sum(axis=-1)
    series = 1 / 6 - squared * (1 / 30 - squared * (1 / 42 - squared / 30))
    return 1 / y + squared / 2 + squared / y * series + (1 / np.square(steps)).sum(axis=-1)


def _trigamma_inverse(value: float) -> float:
    """The x > 0 whose trigamma, which falls, is `value` > 0: by 64ths of its logarithm's range."""
    low = -30.0
    for width in 60 / 64.0 ** np.arange(10):
        logs = low + width * np.arange(64) / 64
        low = float(logs[max(np.count_nonzero(polygamma(1, np.exp(logs)) > value) - 1, 0)])
    return float(np.exp(low))


# Croux and Rousseeuw, COMPSTAT 1992: brings the median absolute deviation of 2 to 9 normal values
# to the standard deviation on average.
_SMALL = np.array([1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107])


def deviation(values: Array) -> Array:
    """Standard deviation of each row (last axis) by the scaled median absolute deviation.

    1.4826 times the median distance from the median, times the correction for few values; 0 for a
    single value. Up to half of the values may be anything without deciding the result.
    """
    count = values.shape[-1]
    if count < 2:
        return np.zeros(values.shape[:-1])
    factor = _SMALL[count - 2] if count < 10 else count / (count - 0.8)
    centre = np.median(values, axis=-1, keepdims=True)
    return np.asarray(1.4826 * factor * np.median(np.abs(values - centre), axis=-1))


@dataclass(frozen=True, slots=True, eq=False)
class Combined:
    """Per row the mean over sessions and its interval, all log ratios.

    `next_low` and `next_high` enclose the true log ratio of one more session. `between` is the
    standard deviation of true log ratios between sessions, `count` the sessions with an interval of
    their own; the others are not used. NaN: intervals and `between` below 2 sessions, next below 3.
    """

    mean: Array
    low: Array
    high: Array
    next_low: Array
    next_high: Array
    between: Array
    count: Counts


def combine(mean: Array, error: Array, freedom: Counts | Array) -> Combined:
    """Random-effects combination of rows x sessions, with 95 % intervals; NaN marks a session
    without an estimate.

    Weights 1 / (error^2 + tau^2), tau^2 by Paule and Mandel. The half-width is t with k - 1 degrees
    of freedom times Hartung and Knapp's error, but never less than the interval without tau^2, for
    sessions that happen to agree. For the next session tau^2 is added to the squared error, with k
    - 2 degrees of freedom (Higgins, Thompson and Spiegelhalter, J. R. Statist. Soc. A 172, 2009,
    137-159).
    """
    present = ~np.isnan(mean) & ~np.isnan(error)
    count = np.count_nonzero(present, axis=1).astype(np.int64)
    values, variances = np.where(present, mean, 0.0), np.where(present, np.square(error), np.inf)
    tau2 = paule_mandel(values, variances)

    weights = 1 / (variances + tau2[:, None])
    total = weights.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (weights * values).sum(axis=1) / total
        squares = (weights * np.square(values - centre[:, None])).sum(axis=1)
        knapp = np.sqrt(squares / (total * (count - 1)))
    several = count > 1
    t = student_t_of(count - 1, LEVEL)
    floor = _fixed_half(variances, freedom)
    half = np.where(several, np.fmax(t * knapp, floor), np.nan)
    reach = student_t_of(count - 2, LEVEL) * np.hypot(half / t, np.sqrt(tau2))
    return Combined(
        centre,
        centre - half,
        centre + half,
        centre - reach,
        centre + reach,
        np.where(several, np.sqrt(tau2), np.nan),
        count,
    )


def paule_mandel(values: Array, variances: Array) -> Array:
    """The tau^2 >= 0 at which the weighted squares about the mean sum to k - 1, for each row.

    Newton's method from 0, as of DerSimonian and Kacker (Contemp. Clin. Trials 28, 2007, 105-114):
    the sum falls and is convex in tau^2, so it is approached from one side. Absent sessions have an
    infinite variance. 0 where the values agree better than their errors would have them.
    """
    tau2 = np.zeros(len(values))
    expected = np.isfinite(variances).sum(axis=1) - 1
    for _ in range(200):
        weights = 1 / (variances + tau2[:, None])
        total = np.fmax(weights.sum(axis=1), np.finfo(np.float64).tiny)
        centre = (weights * values).sum(axis=1) / total
        squares = weights * np.square(values - centre[:, None])
        excess = squares.sum(axis=1) - expected
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(excess > 0, excess / (weights * squares).sum(axis=1), 0.0)
        tau2 += step
        if not np.any(step > 1e-13 * tau2):
            break
    return tau2


def _fixed_half(variances: Array, freedom: Counts | Array) -> Array:
    """Half-width if all sessions had the same true ratio; Satterthwaite's degrees, rounded down."""
    weights = 1 / variances
    total = weights.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.square(weights / total[:, None])
        degrees = 1 / np.where(shares > 0, shares / freedom, 0.0).sum(axis=1)
        whole = np.where(np.isfinite(degrees), degrees + 1e-9, 0.0).astype(np.int64)
        return student_t_of(whole, LEVEL) / np.sqrt(total)


def relative_means(subject: Array, controls: Array, resolution: float = 0.0) -> TrimmedMeans:
    """The subject less its controls, row by row, from log times (rows x blocks and rows x controls
    x blocks, NaN for none): the mean over the controls of the trimmed means of the differences.

    Each control has a difference of its own, which is symmetric about the true one if both sides
    are equally noisy. The mean of several controls is not: it loses the tail that the subject
    keeps, so its trimmed difference would move with the amount of one-sided noise.

    The differences of a row share the subject. So its error is Yuen's (Biometrika 61, 1974,
    165-170) of the mean over the controls, block by block, of their winsorised differences: to
    first order, that is what each block adds to the estimate. One control gives `trimmed_means`
    of the difference; a control without a value is left out, and without any the subject stands
    alone. A block counts if the subject and all those controls have a value in it.
    """
    mean, error = np.full((2, len(subject)), np.nan)
    count = np.zeros(len(subject), dtype=np.int64)
    for row, (times, of_row) in enumerate(zip(subject, controls, strict=True)):
        beside = of_row[~np.isnan(of_row).all(axis=1)]
        differences = times - beside if len(beside) else times[None]
        differences = differences[:, ~np.isnan(differences).any(axis=0)]
        count[row] = differences.shape[1]
        if count[row]:
            middle, clipped, _ = winsorised(differences)
            each = clipped.mean(axis=0)
            mean[row] = middle.mean()
            error[row] = yuen_error(each, middle.shape[1], np.ptp(each) > resolution)
    return TrimmedMeans(mean, error, freedom_of(kept(count)), count)


def difference(first: TrimmedMeans, second: TrimmedMeans) -> TrimmedMeans:
    """`first` less `second`, row by row, of two runs that share nothing.

    Log times give log ratios. The squared error is the sum of both, the degrees of freedom are
    Welch's: (u + v)^2 / (u^2 / f + v^2 / g) for squared errors u, v with f, g degrees (Yuen,
    Biometrika 61, 1974, 165-170); they need not be whole. `count` is the smaller of the two. No
    error where either has none. What was drift within a run is spread here, and what was drift
    between the runs is in the mean.
    """
    error = np.hypot(first.error, second.error)
    share, rest = np.square(first.error / error), np.square(second.error / error)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = 1 / (np.square(share) / first.freedom + np.square(rest) / second.freedom)
    defined = ~np.isnan(error)
    return TrimmedMeans(
        first.mean - second.mean,
        error,
        np.where(defined, freedom, 0.0),
        np.minimum(first.count, second.count),
    )
