import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sqlitmus.stats.estimate import Array, TrimmedMeans, medians, moderate, polygamma, trimmed_means
from sqlitmus.stats.verdict import p_values
from tests.stats.oracle import scipy

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
        scipy.stats.trim_mean(values[0], 0.2), 1e-9
    )


@pytest.mark.usefixtures("plain_yuen")
@pytest.mark.parametrize("count", [2, 3, 5, 10, 12, 14, 15, 29, 30, 31, 100])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_interval_is_yuens(count: int, level: float) -> None:
    values = sample(count)
    # Yuen's two-sample interval against a constant second sample is the one-sample interval.
    result = scipy.stats.ttest_ind(values[0], np.zeros(count), equal_var=False, trim=0.2)
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
    expected = scipy.stats.mstats.trimmed_mean_ci(values[0], limits=(0.2, 0.2), alpha=0.05)
    kept = count - 2 * (count // 5)
    factor = np.sqrt(kept * (count - 1) / (count * (kept - 1)))
    assert high[0] - low[0] == pytest.approx((expected[1] - expected[0]) * factor, rel=1e-9)
    assert high[0] + low[0] == pytest.approx(expected[1] + expected[0], rel=1e-9)


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
    below = int(scipy.stats.binom.ppf(0.025, count, 0.5))
    assert found.value[0] == np.median(values)
    assert (found.low[0], found.high[0]) == (ordered[below - 1], ordered[count - below])


def test_median_interval_covers_the_median_of_a_skewed_law() -> None:
    draws = np.random.default_rng(3).exponential(size=(20_000, 12))
    found = medians(draws)
    covered = ((found.low <= np.log(2)) & (np.log(2) <= found.high)).sum() / len(draws)
    exact = 1 - 2 * scipy.stats.binom.cdf(2, 12, 0.5)  # ranks 3 and 10
    assert covered == pytest.approx(exact, abs=0.005)


NONE = np.nan


def means(errors: list[float], freedom: float = 4.25) -> TrimmedMeans:
    count = len(errors)
    return TrimmedMeans(
        np.zeros(count), np.array(errors), np.full(count, freedom), np.full(count, 10)
    )


@pytest.mark.parametrize("order", [0, 1])
def test_digamma_and_trigamma_are_scipys(order: int) -> None:
    x = np.array([0.05, 0.3, 0.5, 1, 2.125, 5, 9.99, 30, 1e4])
    assert polygamma(order, x) == pytest.approx(scipy.special.polygamma(order, x), rel=1e-11)


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
