"""Errors of the pairs of a case, shrunk towards what they have in common."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.stats.estimate import Array, TrimmedMeans, moderate, polygamma, trimmed_means
from tests.stats.oracle import scipy_special

NONE = np.nan


def means(errors: list[float], freedom: float = 4.25) -> TrimmedMeans:
    count = len(errors)
    return TrimmedMeans(
        np.zeros(count), np.array(errors), np.full(count, freedom), np.full(count, 10)
    )


@pytest.mark.parametrize("order", [0, 1])
def test_digamma_and_trigamma_are_scipys(order: int) -> None:
    x = np.array([0.05, 0.3, 0.5, 1, 2.125, 5, 9.99, 30, 1e4])
    assert polygamma(order, x) == pytest.approx(scipy_special.polygamma(order, x), rel=1e-11)


def test_equal_errors_stay_and_have_the_priors_degrees_of_freedom_more() -> None:
    found = moderate(means([0.02] * 6), 6)
    assert found.freedom == pytest.approx(np.full(6, 4.25 + 3))
    # what s^2 says of the true one is a little more than itself: its log is low in the mean
    assert 1 < found.error[0] / 0.02 < 1.2
    assert len(set(found.error.tolist())) == 1


def test_a_small_family_and_rows_without_an_error_are_left_alone() -> None:
    for errors in ([0.01, 0.04], [0.01, NONE, 0.04, 0.02, 0.03, 0.05], [0.0] * 9):
        plain = means(errors)
        found = moderate(plain, len(errors))
        assert np.array_equal(found.error, plain.error, equal_nan=True)
        assert np.array_equal(found.freedom, plain.freedom)


def test_families_do_not_know_of_each_other() -> None:
    quiet = [0.01, 0.012, 0.008, 0.009, 0.011, 0.02]
    loud = [0.1, 0.3, 0.2, 0.25, 0.11, 0.09]
    both = moderate(means(quiet + loud), 6)
    assert both.error[:6] == pytest.approx(moderate(means(quiet), 6).error)
    assert both.error[6:] == pytest.approx(moderate(means(loud), 6).error)


def test_who_is_noisier_than_the_others_keeps_its_own_error() -> None:
    found = moderate(means([0.01] * 9 + [0.5]), 10)
    assert found.error[-1] == pytest.approx(0.5, rel=0.01)
    assert found.freedom[-1] == pytest.approx(4.25, abs=0.1)
    assert np.all(found.freedom[:-1] > 4.5)
    assert np.all(found.error[:-1] > 0.0095)


@given(st.lists(st.floats(1e-6, 10), min_size=6, max_size=40), st.floats(1, 30))
def test_no_row_loses_degrees_of_freedom_or_moves_by_more_than_its_share(
    errors: list[float], freedom: float
) -> None:
    plain = means(errors, freedom)
    found = moderate(plain, len(errors))
    assert np.all(found.freedom >= freedom)
    assert np.all(found.freedom <= freedom + 3.0001)
    assert np.all(np.isfinite(found.error))
    least = np.sqrt(freedom / (freedom + 3))  # of an error that is drawn towards a smaller one
    assert np.all(found.error >= plain.error * least * (1 - 1e-9))


def pairs_of(rng: np.random.Generator, runs: int, runners: int, spread: Array) -> Array:
    """Log ratios of all pairs of equal runners, each with its own noise: pairs x ten blocks."""
    logs = rng.normal(0, 1, (runs, runners, 10)) * spread[:, :, None]
    first, second = np.triu_indices(runners, 1)
    return (logs[:, first] - logs[:, second]).reshape(-1, 10)


@pytest.mark.parametrize("even", [True, False], ids=["equal noise", "noise of 0.5 to 10 %"])
def test_intervals_that_hold_together_are_narrower_and_still_hold(even: bool) -> None:
    rng = np.random.default_rng(5)
    runs, runners = 2000, 9
    each = runners * (runners - 1) // 2
    spread = np.exp(rng.uniform(np.log(0.005), np.log(0.1), (runs, runners)))
    if even:
        spread[:] = 0.02
    plain = trimmed_means(pairs_of(rng, runs, runners, spread))
    found = moderate(plain, each)
    level = 1 - 0.05 / each

    def erring(of: TrimmedMeans) -> tuple[float, float]:
        low, high = of.interval(level)
        wrong = ((low > 0) | (high < 0)).reshape(runs, each).any(axis=1)
        return float(wrong.mean()), float(np.median(high - low))

    (before, wide), (after, narrow) = erring(plain), erring(found)
    assert before <= 0.05
    assert after <= 0.05
    assert narrow < 0.8 * wide
