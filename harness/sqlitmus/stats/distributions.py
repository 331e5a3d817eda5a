"""The two distributions that the intervals need, exact for whole numbers of blocks."""

from functools import lru_cache
from math import atan2, comb, cos, exp, lgamma, pi, sin, sqrt, tan
from statistics import NormalDist


def _t_coverage(angle: float, freedom: int) -> float:
    """P(|T| <= sqrt(freedom) tan(angle)), by Abramowitz and Stegun 26.7.3 and 26.7.4."""
    s, c = sin(angle), cos(angle)
    odd = freedom % 2
    term = c if odd else 1.0
    total = 0.0
    for k in range(1 + odd, freedom, 2):
        total += term
        term *= c * c * k / (k + 1)
    return 2 / pi * (angle + s * total) if odd else s * total


@lru_cache(maxsize=4096)
def student_t(coverage: float, freedom: int) -> float:
    """The t with P(|T| <= t) = `coverage` for `freedom` >= 1 degrees of freedom.

    Newton's method on the angle atan(t / sqrt(freedom)): coverage is concave in it and the normal
    quantile is always too small, so the steps approach from one side. Good to about 1e-14.
    """
    if freedom < 1 or not 0 < coverage < 1:
        raise ValueError(
            f"student_t needs 0 < coverage < 1 and freedom >= 1, got {coverage} and {freedom}"
        )
    scale = 2 * exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(pi)
    angle = atan2(normal(coverage), sqrt(freedom))
    for _ in range(100):
        step = (coverage - _t_coverage(angle, freedom)) / (scale * cos(angle) ** (freedom - 1))
        angle += step
        if abs(step) <= 1e-15 * angle:
            break
    return sqrt(freedom) * tan(angle)


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
