"""Means of logarithms and their errors: of one row of blocks, of pairs, of several sessions."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from sqlitmus.stats import estimate
from sqlitmus.stats.estimate import (
    TrimmedMeans,
    combine,
    difference,
    medians,
    moderate,
    paule_mandel,
    relative_means,
    trimmed_means,
)
from tests.stats.noise import Array
from tests.stats.oracle import scipy


def sample(count: int) -> Array:
    return np.random.default_rng(1).lognormal(0, 0.3, (1, count))


def p_of(means: TrimmedMeans) -> Array:
    return estimate.student_p(means.mean / means.error, means.freedom)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize(
    ("first", "second"),
    [(2, 0), (3, 0), (5, 0), (10, 0), (14, 0), (15, 0), (100, 0), (2, 3), (10, 12), (100, 4)],
)
def test_intervals_and_p_of_one_sample_and_of_two_are_yuens(
    first: int, second: int, level: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # as published, which scipy has, without our share of the degrees of freedom
    monkeypatch.setattr(estimate, "FREEDOM", 1.0)
    rng = np.random.default_rng(first + second)
    one, other = rng.lognormal(0, 0.3, (3, first)), rng.normal(1.1, 0.1, (3, second))
    found = trimmed_means(one)
    if second:
        found = difference(found, trimmed_means(other))
    else:  # against a constant second sample it is the one-sample interval
        other = np.zeros((3, first))
    expected = scipy.stats.ttest_ind(one, other, axis=1, equal_var=False, trim=0.2)
    interval = expected.confidence_interval(level)
    low, high = found.interval(level)
    assert found.freedom == pytest.approx(expected.df, rel=1e-9)
    assert p_of(found) == pytest.approx(expected.pvalue, rel=1e-9)
    assert low == pytest.approx(interval.low, rel=1e-9)
    assert high == pytest.approx(interval.high, rel=1e-9)
    assert found.count.tolist() == [min(first, second or first)] * 3


def test_degrees_of_freedom_are_a_share_of_yuens_and_one_at_least() -> None:
    assert [float(trimmed_means(sample(n)).freedom[0]) for n in (1, 2, 3, 10, 30)] == pytest.approx(
        [0, 1, 1.7, 4.25, 14.45]
    )


@pytest.mark.parametrize("count", [10, 30])
def test_normal_noise_exceeds_a_far_quantile_as_often_as_it_says(count: int) -> None:
    p = p_of(trimmed_means(np.random.default_rng(9).normal(size=(200_000, count))))
    for level in (0.05, 0.01, 0.001):
        allowed = level + 4 * np.sqrt(level / 200_000)
        assert 0.75 * level <= np.mean(p <= level) <= allowed


VALUES = st.integers(-(2**20), 2**20) | st.just(np.nan)


@given(arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(0, 40)), elements=VALUES))
def test_each_row_is_estimated_by_itself_as_if_missing_blocks_were_never_run(rows: Array) -> None:
    for of, columns in (
        (trimmed_means, ("mean", "error", "freedom", "count")),
        (medians, ("value", "low", "high", "count")),
    ):
        found = of(rows)
        for at, row in enumerate(rows):
            alone = of(row[None, ~np.isnan(row)])
            for column in columns:
                expected = pytest.approx(getattr(alone, column)[0], nan_ok=True)
                assert getattr(found, column)[at] == expected


def test_what_gives_no_estimate_or_no_interval() -> None:
    values = np.full((4, 30), 0.4)
    values[0] = np.nan
    values[1, 1:] = np.nan
    values[2, :4] = 9.0  # trimmed away: equal values are no perfect measurement
    values[3] += np.linspace(0, 1e-13, 30)
    means = trimmed_means(values, resolution=1e-12)
    assert means.mean == pytest.approx([np.nan, 0.4, 0.4, 0.4], nan_ok=True)
    assert np.isnan(np.array([means.error, *means.interval()])).all()
    assert np.isnan(trimmed_means(values[:3]).error).all()
    assert not np.isnan(trimmed_means(values[3:] * 1e3, resolution=1e-12).error[0])
    assert np.isnan(medians(values).value).tolist() == [True, False, False, False]
    without = difference(means, trimmed_means(np.repeat(sample(30), 4, axis=0)))
    assert np.isnan(without.error).all()
    assert without.freedom.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("count", [6, 9, 10, 31])
def test_median_interval_agrees_with_the_binomial_test(count: int) -> None:
    values = sample(count)
    found = medians(values)
    ordered = np.sort(values[0])
    below = int(scipy.stats.binom.ppf(0.025, count, 0.5))
    assert found.value[0] == np.median(values)
    assert (found.low[0], found.high[0]) == (ordered[below - 1], ordered[count - below])


def means(errors: list[float], freedom: float = 4.25) -> TrimmedMeans:
    count = len(errors)
    return TrimmedMeans(
        np.zeros(count), np.array(errors), np.full(count, freedom), np.full(count, 10)
    )


@pytest.mark.parametrize("order", [0, 1])
def test_digamma_and_trigamma_are_scipys(order: int) -> None:
    x = np.array([0.05, 0.3, 0.5, 1, 2.125, 5, 9.99, 30, 1e4])
    expected = scipy.special.polygamma(order, x)
    assert estimate.polygamma(order, x) == pytest.approx(expected, rel=1e-11)


def test_a_family_lends_to_those_alike_and_not_to_who_is_noisier_or_to_others() -> None:
    found = moderate(means([0.02] * 10 + [0.01] * 9 + [0.5]), 10)
    assert found.freedom[:10] == pytest.approx(np.full(10, 4.25 + 3))
    # what s^2 says of the true one is a little more than itself: its log is low in the mean
    assert 1 < found.error[0] / 0.02 < 1.2
    assert len(set(found.error[:10].tolist())) == 1
    assert found.error[-1] == pytest.approx(0.5, rel=0.01)
    assert found.freedom[-1] == pytest.approx(4.25, abs=0.1)
    assert np.all(found.freedom[10:-1] > 4.5)
    assert np.all(found.error[10:-1] > 0.0095)


def test_a_small_family_and_rows_without_an_error_are_left_alone() -> None:
    for errors in ([0.01, 0.04], [0.01, np.nan, 0.04, 0.02, 0.03, 0.05], [0.0] * 9):
        plain = means(errors)
        found = moderate(plain, len(errors))
        assert np.array_equal(found.error, plain.error, equal_nan=True)
        assert np.array_equal(found.freedom, plain.freedom)


@given(st.lists(st.floats(1e-6, 10), min_size=6, max_size=40), st.floats(1, 30))
def test_no_row_loses_degrees_of_freedom_or_moves_by_more_than_its_share(
    errors: list[float], freedom: float
) -> None:
    plain = means(errors, freedom)
    found = moderate(plain, len(errors))
    assert np.all((found.freedom >= freedom) & (found.freedom <= freedom + 3.0001))
    least = np.sqrt(freedom / (freedom + 3))  # of an error that is drawn towards a smaller one
    assert np.all(found.error >= plain.error * least * (1 - 1e-9))
    assert np.all(np.isfinite(found.error))


@pytest.mark.parametrize("spread", [(0.02, 0.02), (0.005, 0.1)])
def test_intervals_that_hold_together_are_narrower_and_still_hold(
    spread: tuple[float, float],
) -> None:
    """Of all pairs of nine equal runners, each with noise of its own."""
    rng = np.random.default_rng(5)
    first, second = np.triu_indices(9, 1)
    low, high = spread
    deviations = np.exp(rng.uniform(np.log(low), np.log(high), (1000, 9, 1)))
    logs = rng.normal(0, deviations, (1000, 9, 10))
    plain = trimmed_means((logs[:, first] - logs[:, second]).reshape(-1, 10))

    def erring(of: TrimmedMeans) -> tuple[float, float]:
        low, high = of.interval(1 - 0.05 / 36)
        wrong = ((low > 0) | (high < 0)).reshape(1000, 36).any(axis=1)
        return float(wrong.mean()), float(np.median(high - low))

    (before, wide), (after, narrow) = erring(plain), erring(moderate(plain, 36))
    assert max(before, after) <= 0.05
    assert narrow < 0.8 * wide


# BCG vaccine against tuberculosis, 13 trials: events and numbers, vaccinated and not (Colditz et
# al., JAMA 271, 1994, 698-702). The log relative risks are the worked example of the literature.
BCG = (
    (4, 123, 11, 139),
    (6, 306, 29, 303),
    (3, 231, 11, 220),
    (62, 13598, 248, 12867),
    (33, 5069, 47, 5808),
    (180, 1541, 372, 1451),
    (8, 2545, 10, 629),
    (505, 88391, 499, 88391),
    (29, 7499, 45, 7277),
    (17, 1716, 65, 1665),
    (186, 50634, 141, 27338),
    (5, 2498, 3, 2341),
    (27, 16913, 29, 17854),
)


def test_the_vaccine_trials_come_out_as_published() -> None:
    # Viechtbauer, J. Stat. Softw. 36(3), 2010; metafor, method "PM" with the Knapp-Hartung test.
    a, n, c, m = np.array(BCG, dtype=np.float64).T
    mean, error = np.log((a / n) / (c / m)), np.sqrt(1 / a - 1 / n + 1 / c - 1 / m)
    found = combine(mean[None], error[None], np.full((1, 13), 50))
    assert found.between[0] ** 2 == pytest.approx(0.3181, abs=5e-5)
    assert found.mean[0] == pytest.approx(-0.7150, abs=5e-5)
    assert found.count[0] == 13


@pytest.mark.parametrize(
    ("error", "freedom", "degrees"), [([0.01] * 3, [17] * 3, 51), ([0.01, 0.02], [5, 17], 7)]
)
def test_sessions_that_agree_are_no_surer_than_their_errors(
    error: list[float], freedom: list[int], degrees: int
) -> None:
    """Degrees of freedom are Satterthwaite's, rounded down."""
    found = combine(np.full((1, len(error)), 0.02), np.array([error]), np.array([freedom]))
    half = scipy.stats.t.ppf(0.975, degrees) / np.sqrt(sum(each**-2.0 for each in error))
    assert found.between[0] == 0
    assert found.high[0] - found.mean[0] == pytest.approx(half, rel=1e-9)


def test_what_each_number_of_sessions_allows() -> None:
    mean = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, np.nan], [0.1, np.nan, 0.3], [np.nan] * 3])
    error = np.array([[0.1, 0.1, 0.1], [0.1, 0.1, 0.1], [0.1, 0.1, np.nan], [0.1, 0.1, 0.1]])
    found = combine(mean, error, np.full((4, 3), 17))
    assert found.count.tolist() == [3, 2, 1, 0]
    assert found.mean == pytest.approx([0.2, 0.15, 0.1, np.nan], nan_ok=True)
    assert np.isnan(found.low).tolist() == [False, False, True, True]
    assert np.isnan(found.between).tolist() == [False, False, True, True]
    assert np.isnan(found.next_low).tolist() == [False, True, True, True]
    assert found.next_low[0] < found.low[0] < found.high[0] < found.next_high[0]


@given(st.integers(0, 2**32 - 1))
def test_paule_mandel_explains_exactly_the_expected_squares_of_the_sessions_held(seed: int) -> None:
    rng = np.random.default_rng(seed)
    error = rng.uniform(0.005, 0.05, (20, 4))
    mean = rng.normal(rng.normal(0, 0.03, (20, 4)), error)
    tau2 = paule_mandel(mean, error**2)
    weights = 1 / (error**2 + tau2[:, None])
    centre = (weights * mean).sum(axis=1) / weights.sum(axis=1)
    squares = (weights * (mean - centre[:, None]) ** 2).sum(axis=1)
    assert squares[tau2 > 0] == pytest.approx(3, rel=1e-9)
    assert np.all(squares[tau2 == 0] <= 3)
    gap = np.full((20, 1), np.nan)
    plain = combine(mean, error, np.full((20, 4), 17))
    padded = combine(np.hstack([gap, mean]), np.hstack([gap, error]), np.full((20, 5), 17))
    assert padded.low == pytest.approx(plain.low, rel=1e-12)
    assert padded.next_high == pytest.approx(plain.next_high, rel=1e-12)


def test_sessions_far_apart_with_tiny_errors_converge() -> None:
    tau2 = paule_mandel(np.array([[0.0, 1.0, 2.0]]), np.full((1, 3), 1e-24))
    assert tau2[0] == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("between", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize(
    ("sessions", "freedom", "least"), [(2, 5, 0.0), (2, 17, 0.0), (3, 17, 0.95), (5, 17, 0.88)]
)
def test_intervals_cover_the_mean_and_the_next_session(
    sessions: int, freedom: int, least: float, between: float
) -> None:
    rng = np.random.default_rng(sessions)
    shape = (10_000, sessions)
    mean = rng.normal(0, between, shape) + rng.normal(0, 1, shape)
    error = np.sqrt(rng.chisquare(freedom, shape) / freedom)
    found = combine(mean, error, np.full(shape, freedom))
    assert 0.935 < ((found.low <= 0) & (found.high >= 0)).mean() < 0.996
    new = rng.normal(0, between, shape[0])
    assert ((found.next_low <= new) & (found.next_high >= new)).mean() >= least


def logs(seed: int, controls: int, spikes: float, rows: int = 1_000, blocks: int = 30) -> Array:
    """Log times of a subject and its controls (rows x series x blocks): what a block shares, noise
    of 1 % and, in so many processes, a spike of 30 % on average."""
    rng = np.random.default_rng(seed)
    shape = (rows, 1 + controls, blocks)
    spike = np.log1p(rng.exponential(0.3, shape))
    shared = rng.normal(0, 0.05, (rows, 1, blocks))
    return shared + rng.normal(0, 0.01, shape) + np.where(rng.random(shape) < spikes, spike, 0)


def by_control(of: Array) -> TrimmedMeans:
    return relative_means(of[:, 0], of[:, 1:])


def by_mean(of: Array) -> TrimmedMeans:
    """What is biased: the subject less the mean of the controls."""
    return trimmed_means(of[:, 0] - of[:, 1:].mean(axis=1))


def false_families(found: TrimmedMeans) -> float:
    """How many families of 4 cases have a false difference after Holm's correction."""
    return float((p_of(found).reshape(-1, 4).min(axis=1) <= 0.05 / 4).mean())


@pytest.mark.parametrize(
    ("spikes", "most"), [((0.0, 0.1), 0.05), ((0.0, 0.2), 0.05), ((0.1, 0.3), 0.08)]
)
def test_more_one_sided_noise_in_one_run_is_no_difference(
    spikes: tuple[float, float], most: float
) -> None:
    # spikes in 30 % of the processes are more than the trimming takes off
    before, after = (logs(number, 8, share) for number, share in enumerate(spikes))
    biased = difference(by_mean(after), by_mean(before))
    assert biased.mean.mean() < -0.01
    assert false_families(biased) > 0.1
    found = difference(by_control(after), by_control(before))
    assert abs(found.mean.mean()) < 0.001
    assert false_families(found) <= most


@pytest.mark.parametrize(("controls", "blocks"), [(1, 12), (2, 30), (8, 12)])
def test_equal_runs_are_covered_as_promised(controls: int, blocks: int) -> None:
    before, after = (logs(number, controls, 0, blocks=blocks) for number in (10, 11))
    low, high = difference(by_control(after), by_control(before)).interval()
    assert ((low <= 0) & (high >= 0)).mean() == pytest.approx(0.953, abs=0.017)


def test_more_controls_make_it_more_precise() -> None:
    one, eight = (by_control(logs(5, controls, 0.1)) for controls in (1, 8))
    assert eight.mean.std() < 0.85 * one.mean.std()
    assert eight.error.mean() < 0.85 * one.error.mean()


@given(st.integers(0, 2**32 - 1), st.integers(2, 31))
def test_one_control_also_if_given_twice_is_a_plain_difference(seed: int, blocks: int) -> None:
    of = logs(seed, 1, 0.2, rows=3, blocks=blocks)
    plain = by_mean(of)
    for found in (by_control(of), by_control(of[:, [0, 1, 1]])):
        for column in ("mean", "error", "freedom", "count"):
            expected = pytest.approx(getattr(plain, column), rel=1e-9, nan_ok=True)
            assert getattr(found, column) == expected


def test_controls_and_blocks_without_values_are_as_if_never_run() -> None:
    of = logs(2, 3, 0.1, rows=2, blocks=12)
    gone = of.copy()
    gone[0, 2] = np.nan
    gone[1, 1, 5] = np.nan
    found = by_control(gone)
    assert found.mean[0] == by_control(of[:1, [0, 1, 3]]).mean[0]
    assert found.mean[1] == by_control(np.delete(of[1:], 5, axis=2)).mean[0]
    assert found.count.tolist() == [12, 11]
    alone = relative_means(of[:, 0], np.full((2, 3, 12), np.nan))
    assert alone.mean == pytest.approx(trimmed_means(of[:, 0]).mean)
    nothing = relative_means(np.full((2, 12), np.nan), of[:, 1:])
    assert np.isnan(nothing.mean).all()
    assert (nothing.freedom.tolist(), nothing.count.tolist()) == ([0, 0], [0, 0])
