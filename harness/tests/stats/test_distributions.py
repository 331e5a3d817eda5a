import math

import pytest

from sqlitmus.stats.distributions import normal, sign_test_rank, student_t
from tests.stats.oracle import scipy_stats

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)


@pytest.mark.parametrize("coverage", LEVELS)
def test_student_t_agrees_with_scipy(coverage: float) -> None:
    for freedom in [*range(1, 200), 1000, 1001, 9999]:
        expected = float(scipy_stats.t.ppf((1 + coverage) / 2, freedom))
        assert student_t(coverage, freedom) == pytest.approx(expected, rel=1e-9)


def test_normal_agrees_with_scipy() -> None:
    for coverage in LEVELS:
        expected = float(scipy_stats.norm.ppf((1 + coverage) / 2))
        assert normal(coverage) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("coverage", "freedom"), [(0.95, 0), (0.0, 5), (1.0, 5), (math.nan, 5)])
def test_student_t_refuses_what_has_no_quantile(coverage: float, freedom: int) -> None:
    with pytest.raises(ValueError, match="student_t needs"):
        student_t(coverage, freedom)


def test_sign_test_needs_six_values_at_95_percent() -> None:
    assert [sign_test_rank(n, 0.95) for n in (1, 5, 6, 8, 9)] == [None, None, 1, 1, 2]


@pytest.mark.parametrize("coverage", [0.9, 0.95, 0.99])
def test_sign_test_rank_is_the_largest_with_enough_coverage(coverage: float) -> None:
    for count in range(1, 400):
        rank = sign_test_rank(count, coverage)
        alpha = (1 - coverage) / 2
        if rank is not None:
            assert scipy_stats.binom.cdf(rank - 1, count, 0.5) <= alpha + 1e-12
        assert scipy_stats.binom.cdf(rank or 0, count, 0.5) > alpha
