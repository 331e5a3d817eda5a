from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sqlitmus.stats.estimate import Array, medians, trimmed_means
from sqlitmus.stats.verdict import p_values
from tests.stats.oracle import scipy_stats

# Steps of 1/64 add and negate exactly, so that symmetries can be asked for to the last bit.
STEPS = st.integers(-(2**20), 2**20).map(lambda n: n / 64)


def rows(least: int = 2, most: int = 40) -> st.SearchStrategy[Array]:
    shape = st.tuples(st.integers(1, 4), st.integers(least, most))
    return shape.flatmap(lambda s: arrays(np.float64, s, elements=STEPS))


def sample(count: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).lognormal(0, 0.3, (1, count))


@pytest.mark.parametrize("count", [1, 2, 3, 5, 10, 12, 14, 15, 29, 30, 31, 100])
def test_trimmed_mean_agrees_with_scipy(count: int) -> None:
    values = sample(count)
    assert trimmed_means(values).mean[0] == pytest.approx(
        scipy_stats.trim_mean(values[0], 0.2), 1e-9
    )


@pytest.mark.usefixtures("plain_yuen")
@pytest.mark.parametrize("count", [2, 3, 5, 10, 12, 14, 15, 29, 30, 31, 100])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_interval_is_yuens(count: int, level: float) -> None:
    values = sample(count)
    # Yuen's two-sample interval against a constant second sample is the one-sample interval.
    result = scipy_stats.ttest_ind(values[0], np.zeros(count), equal_var=False, trim=0.2)
    expected = result.confidence_interval(level)
    low, high = trimmed_means(values).interval(level)
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_degrees_of_freedom_are_a_share_of_yuens_and_one_at_least() -> None:
    assert [float(trimmed_means(sample(n)).freedom[0]) for n in (1, 2, 3, 10, 30)] == pytest.approx(
        [0, 1, 1.7, 4.25, 14.45]
    )


@pytest.mark.parametrize("count", [10, 15, 30])
def test_normal_noise_exceeds_a_far_quantile_as_often_as_it_says(count: int) -> None:
    means = trimmed_means(np.random.default_rng(9).normal(size=(200_000, count)))
    p = p_values(means)
    for level in (0.05, 0.01, 0.001):
        allowed = level + 4 * np.sqrt(level / 200_000)
        assert 0.75 * level <= np.mean(p <= level) <= allowed


@pytest.mark.usefixtures("plain_yuen")
@pytest.mark.parametrize("count", [10, 15, 30, 45])
def test_interval_is_tukey_mclaughlins_but_for_the_known_factor(count: int) -> None:
    values = sample(count)
    low, high = trimmed_means(values).interval()
    expected = scipy_stats.mstats.trimmed_mean_ci(values[0], limits=(0.2, 0.2), alpha=0.05)
    kept = count - 2 * (count // 5)
    factor = np.sqrt(kept * (count - 1) / (count * (kept - 1)))
    assert high[0] - low[0] == pytest.approx((expected[1] - expected[0]) * factor, rel=1e-9)
    assert high[0] + low[0] == pytest.approx(expected[1] + expected[0], rel=1e-9)


@given(rows(), STEPS)
def test_shifting_shifts_the_trimmed_mean_and_keeps_its_error(values: Array, by: float) -> None:
    plain, shifted = trimmed_means(values), trimmed_means(values + by)
    assert shifted.mean == pytest.approx(plain.mean + by, rel=1e-9, abs=1e-9)
    assert shifted.error == pytest.approx(plain.error, rel=1e-6, abs=1e-9, nan_ok=True)


@given(rows(), st.sampled_from([0.25, 0.5, 2.0, 1024.0]))
def test_scaling_scales_trimmed_mean_and_error(values: Array, by: float) -> None:
    plain, scaled = trimmed_means(values), trimmed_means(values * by)
    assert np.array_equal(scaled.mean, plain.mean * by)
    assert np.array_equal(scaled.error, plain.error * by, equal_nan=True)


@given(rows())
def test_negating_negates_the_trimmed_mean(values: Array) -> None:
    plain, negated = trimmed_means(values), trimmed_means(-values)
    assert negated.mean == pytest.approx(-plain.mean, rel=1e-12, abs=1e-12)
    assert negated.error == pytest.approx(plain.error, rel=1e-12, nan_ok=True)


@given(rows(), st.randoms(use_true_random=False))
def test_order_of_blocks_does_not_matter(values: Array, random: Random) -> None:
    order = list(range(values.shape[1]))
    random.shuffle(order)
    shuffled = values[:, order]
    assert np.array_equal(trimmed_means(values).mean, trimmed_means(shuffled).mean)
    assert np.array_equal(medians(values).value, medians(shuffled).value)


@given(rows(), st.integers(0, 5))
def test_missing_blocks_are_as_if_never_run(values: Array, missing: int) -> None:
    padded = np.hstack([values, np.full((len(values), missing), np.nan)])
    for found, expected in (
        (trimmed_means(padded), trimmed_means(values)),
        (medians(padded), medians(values)),
    ):
        assert np.array_equal(found.count, expected.count)
    assert np.array_equal(trimmed_means(padded).mean, trimmed_means(values).mean)
    assert np.array_equal(medians(padded).low, medians(values).low, equal_nan=True)


@given(rows(least=5))
def test_a_higher_level_never_narrows_the_interval(values: Array) -> None:
    means = trimmed_means(values)
    widths = [high - low for low, high in map(means.interval, (0.5, 0.9, 0.95, 0.99))]
    for narrow, wide in pairwise(widths):
        assert np.all((wide >= narrow) | np.isnan(means.error))


def test_one_outlier_in_thirty_hardly_moves_a_trimmed_mean() -> None:
    values = sample(30)
    spoiled = values.copy()
    spoiled[0, 7] = 1e9
    moved = abs(trimmed_means(spoiled).mean[0] - trimmed_means(values).mean[0])
    assert moved < trimmed_means(values).error[0]


def test_rows_with_different_numbers_of_blocks_are_estimated_each_for_itself() -> None:
    full, part = sample(12, 1), sample(7, 2)
    both = np.full((2, 12), np.nan)
    both[0], both[1, 2:9] = full, part
    means = trimmed_means(both)
    assert means.count.tolist() == [12, 7]
    assert means.freedom.tolist() == pytest.approx([0.85 * 7, 0.85 * 4])
    assert means.error.tolist() == [trimmed_means(full).error[0], trimmed_means(part).error[0]]


def test_no_value_gives_no_estimate() -> None:
    nothing = np.full((1, 4), np.nan)
    assert np.isnan(trimmed_means(nothing).mean[0])
    assert np.isnan(medians(nothing).value[0])
    assert medians(np.empty((1, 0))).count.tolist() == [0]


def test_one_value_gives_no_interval() -> None:
    means = trimmed_means(np.array([[3.0]]))
    assert means.mean[0] == 3.0
    assert np.isnan(means.interval()[0][0])


def test_equal_values_give_no_interval_rather_than_a_perfect_one() -> None:
    values = np.full((1, 30), 0.4)
    values[0, :4] = 9.0  # trimmed away
    assert np.isnan(trimmed_means(values).error[0])


def test_a_spread_within_the_resolution_counts_as_none() -> None:
    values = 0.4 + np.linspace(0, 1e-13, 30)[None, :]
    assert np.isnan(trimmed_means(values, resolution=1e-12).error[0])
    assert not np.isnan(trimmed_means(values * 1e3, resolution=1e-12).error[0])


@pytest.mark.parametrize("count", [6, 9, 10, 30, 31])
def test_median_interval_agrees_with_the_binomial_test(count: int) -> None:
    values = sample(count)
    found = medians(values)
    ordered = np.sort(values[0])
    below = int(scipy_stats.binom.ppf(0.025, count, 0.5))
    assert found.value[0] == np.median(values)
    assert (found.low[0], found.high[0]) == (ordered[below - 1], ordered[count - below])


def test_five_values_give_a_median_without_interval() -> None:
    found = medians(sample(5))
    assert not np.isnan(found.value[0])
    assert np.isnan(found.low[0])


def test_median_interval_covers_the_median_of_a_skewed_law() -> None:
    draws = np.random.default_rng(3).exponential(size=(20_000, 12))
    found = medians(draws)
    covered = ((found.low <= np.log(2)) & (np.log(2) <= found.high)).sum() / len(draws)
    exact = 1 - 2 * scipy_stats.binom.cdf(2, 12, 0.5)  # ranks 3 and 10
    assert covered == pytest.approx(exact, abs=0.005)
