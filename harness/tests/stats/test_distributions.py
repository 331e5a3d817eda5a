import math

import numpy as np
import pytest

from sqlitmus.stats.estimate import binomial_tail, normal, sign_test_rank, student_p, student_t
from tests.stats.oracle import scipy_stats

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)


def test_normal_agrees_with_scipy() -> None:
    for coverage in LEVELS:
        expected = float(scipy_stats.norm.ppf((1 + coverage) / 2))
        assert normal(coverage) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("coverage", "freedom"), [(0.0, 5), (1.0, 5), (math.nan, 5)])
def test_student_t_refuses_what_has_no_quantile(coverage: float, freedom: int) -> None:
    with pytest.raises(ValueError, match="student_t needs"):
        student_t(coverage, freedom)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 7.25, 17, 26, 59.5, 200, 1000, 20_000])
def test_p_of_t_agrees_with_scipy_from_the_centre_far_into_the_tail(freedom: float) -> None:
    tails = scipy_stats.t.isf(np.geomspace(1e-14, 0.5, 200) / 2, freedom)
    t = np.concatenate([np.linspace(0, 6, 200), tails])
    p = student_p(t, np.full(len(t), freedom))
    assert p == pytest.approx(2 * scipy_stats.t.sf(t, freedom), rel=1e-9)
    assert np.array_equal(student_p(-t, np.full(len(t), freedom)), p)


def test_p_of_t_for_rows_of_all_sorts_at_once() -> None:
    t = np.array([0.0, np.inf, 2.0, 2.0, np.nan, 1e200, 2.0])
    freedom = np.array([3, 3, 0, 1, 5, 2, 50])
    expected = 2 * scipy_stats.t.sf(t, freedom)
    assert student_p(t, freedom) == pytest.approx(expected, rel=1e-9, nan_ok=True)
    assert len(student_p(np.empty(0), np.empty(0))) == 0


@pytest.mark.parametrize("coverage", LEVELS)
def test_student_t_agrees_with_scipy_also_between_whole_degrees(coverage: float) -> None:
    freedom = np.concatenate([np.linspace(1, 60, 300), np.arange(1, 200), [123.4, 1000, 5000.5]])
    expected = scipy_stats.t.ppf((1 + coverage) / 2, freedom)
    assert student_t(coverage, freedom) == pytest.approx(expected, rel=1e-9)
    assert np.isnan(student_t(coverage, np.array([0.5, np.nan]))).all()


@pytest.mark.parametrize("trials", [1, 20, 300, 5000])
def test_binomial_tail_agrees_with_scipy(trials: int) -> None:
    for count in {0, 1, trials // 50, trials // 20, trials}:
        expected = float(scipy_stats.binom.sf(count - 1, trials, 0.01))
        assert binomial_tail(count, trials, 0.01) == pytest.approx(expected, rel=1e-9)


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
