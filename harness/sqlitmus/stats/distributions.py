"""The distributions that intervals and p-values need: Student's t, normal and binomial."""

from functools import lru_cache
from math import comb, exp, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Counts = NDArray[np.int64]


def student_t(coverage: float, freedom: ArrayLike) -> Array:
    """The t with P(|T| <= t) = `coverage` for each of `freedom`, whole or not; NaN below 1.

    Newton's method on the angle atan(t / sqrt(freedom)): coverage is concave in it and the normal
    quantile is always too small, so the steps approach from one side. Good to about 1e-11. Raises
    ValueError for a coverage that is not between 0 and 1.
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
        angle += step
        if not np.any(np.abs(step) > 1e-13 * angle):
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
    tail, centre = np.nonzero(in_tail)[0], np.nonzero(~in_tail)[0]
    a, b = distinct / 2, np.full(len(distinct), 0.5)
    p = np.empty_like(front)
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
