"""Means of logarithms and their errors: of one row of blocks, of pairs, of several sessions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sqlitmus.stats.estimate import (
    Array,
    Combined,
    TrimmedMeans,
    combine,
    difference,
    medians,
    moderate,
    paule_mandel,
    polygamma,
    relative_means,
    trimmed_means,
)
from sqlitmus.stats.verdict import adjust, decide, p_values
from tests.stats.oracle import scipy

# Steps of 1/64 add and negate exactly, so that symmetries can be asked for to the last bit.
STEPS = st.integers(-(2**20), 2**20).map(lambda n: n / 64)


def rows(least: int = 2, most: int = 40) -> st.SearchStrategy[Array]:
    shape = st.tuples(st.integers(1, 4), st.integers(least, most))
    return shape.flatmap(lambda s: arrays(np.float64, s, elements=STEPS))


def sample(count: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).lognormal(0, 0.3, (1, count))


@pytest.mark.usefixtures("plain_yuen")
@pytest.mark.parametrize("count", [2, 3, 5, 10, 12, 14, 15, 29, 30, 31, 100])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_interval_and_p_are_yuens(count: int, level: float) -> None:
    values = sample(count)
    # Yuen's two-sample interval against a constant second sample is the one-sample interval.
    result = scipy.stats.ttest_ind(values[0], np.zeros(count), equal_var=False, trim=0.2)
    expected = result.confidence_interval(level)
    means = trimmed_means(values)
    low, high = means.interval(level)
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert p_values(means)[0] == pytest.approx(float(result.pvalue), rel=1e-9)


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


@pytest.mark.parametrize("count", [6, 9, 10, 12, 30, 31])
def test_median_interval_agrees_with_the_binomial_test(count: int) -> None:
    values = sample(count)
    found = medians(values)
    ordered = np.sort(values[0])
    below = int(scipy.stats.binom.ppf(0.025, count, 0.5))
    assert found.value[0] == np.median(values)
    assert (found.low[0], found.high[0]) == (ordered[below - 1], ordered[count - below])


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


# BCG vaccine against tuberculosis, 13 trials: events and numbers, vaccinated and not (Colditz et
# al., JAMA 271, 1994, 698-702). The log relative risks are the worked example of the literature.
BCG = np.array(
    [
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
    ],
    dtype=np.float64,
)
WHOLE = 50


def bcg() -> tuple[Array, Array]:
    a, n, c, m = BCG.T
    return np.log((a / n) / (c / m)), np.sqrt(1 / a - 1 / n + 1 / c - 1 / m)


def one(mean: Array, error: Array, freedom: int = WHOLE) -> Combined:
    return combine(mean[None], error[None], np.full((1, len(mean)), freedom))


def test_the_vaccine_trials_come_out_as_published() -> None:
    # Viechtbauer, J. Stat. Softw. 36(3), 2010; metafor, method "PM" with the Knapp-Hartung test.
    found = one(*bcg())
    assert found.between[0] ** 2 == pytest.approx(0.3181, abs=5e-5)
    assert found.mean[0] == pytest.approx(-0.7150, abs=5e-5)
    assert found.count[0] == 13


def test_sessions_that_agree_are_no_surer_than_their_errors() -> None:
    found = one(np.full(3, 0.02), np.array([0.01, 0.01, 0.01]), freedom=17)
    half = scipy.stats.t.ppf(0.975, 51) * 0.01 / np.sqrt(3)
    assert found.between[0] == 0
    assert found.high[0] - found.mean[0] == pytest.approx(half, rel=1e-9)


def test_degrees_of_freedom_of_unequal_sessions_are_satterthwaites_rounded_down() -> None:
    error, freedom = np.array([0.01, 0.02]), np.array([[5, 17]])
    found = combine(np.full((1, 2), 0.02), error[None], freedom)
    a = error**-2.0 / (error**-2.0).sum()
    degrees = int(1 / (a**2 / freedom[0]).sum())
    half = scipy.stats.t.ppf(0.975, degrees) / np.sqrt((error**-2.0).sum())
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


def drawn(seed: int, rows: int = 20, sessions: int = 4) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    error = rng.uniform(0.005, 0.05, (rows, sessions))
    return rng.normal(rng.normal(0, 0.03, (rows, sessions)), error), error


SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
def test_an_absent_session_is_as_if_never_held(seed: int) -> None:
    mean, error = drawn(seed)
    gap = np.full((len(mean), 1), np.nan)
    padded = combine(np.hstack([gap, mean]), np.hstack([gap, error]), np.full((20, 5), 17))
    plain = combine(mean, error, np.full((20, 4), 17))
    assert padded.low == pytest.approx(plain.low, rel=1e-12)
    assert padded.next_high == pytest.approx(plain.next_high, rel=1e-12)


@given(SEEDS)
def test_paule_mandel_explains_exactly_the_expected_squares(seed: int) -> None:
    mean, error = drawn(seed)
    tau2 = paule_mandel(mean, error**2)
    weights = 1 / (error**2 + tau2[:, None])
    centre = (weights * mean).sum(axis=1) / weights.sum(axis=1)
    squares = (weights * (mean - centre[:, None]) ** 2).sum(axis=1)
    assert squares[tau2 > 0] == pytest.approx(3, rel=1e-9)
    assert np.all(squares[tau2 == 0] <= 3)


def test_sessions_far_apart_with_tiny_errors_converge() -> None:
    tau2 = paule_mandel(np.array([[0.0, 1.0, 2.0]]), np.full((1, 3), 1e-24))
    assert tau2[0] == pytest.approx(1, rel=1e-9)


def simulated(between: float, sessions: int, freedom: int) -> tuple[float, float]:
    """How often the interval holds the true mean and the next one a new session's truth."""
    rng = np.random.default_rng(sessions)
    shape = (10_000, sessions)
    mean = rng.normal(0, between, shape) + rng.normal(0, 1, shape)
    error = np.sqrt(rng.chisquare(freedom, shape) / freedom)
    found = combine(mean, error, np.full(shape, freedom))
    new = rng.normal(0, between, shape[0])
    return (
        float(((found.low <= 0) & (found.high >= 0)).mean()),
        float(((found.next_low <= new) & (found.next_high >= new)).mean()),
    )


@pytest.mark.parametrize("between", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("sessions", [2, 3, 5])
@pytest.mark.parametrize("freedom", [5, 17])
def test_the_interval_covers_the_mean(between: float, sessions: int, freedom: int) -> None:
    covered, _ = simulated(between, sessions, freedom)
    assert 0.935 < covered < 0.996


@pytest.mark.parametrize("between", [0.0, 0.5, 1.0, 3.0])
def test_the_next_session_lies_where_it_is_said_to(between: float) -> None:
    assert simulated(between, 3, 17)[1] > 0.95
    assert simulated(between, 5, 17)[1] > 0.88


def unpaired_means(first: Array, second: Array) -> TrimmedMeans:
    return difference(trimmed_means(first), trimmed_means(second))


def samples(seed: int, first: int = 30, second: int = 30, rows: int = 3) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.lognormal(0, 0.3, (rows, first)), rng.normal(1.1, 0.1, (rows, second))


@pytest.mark.usefixtures("plain_yuen")
@pytest.mark.parametrize(
    ("first", "second"), [(2, 3), (5, 5), (10, 12), (15, 30), (30, 30), (31, 10), (100, 4)]
)
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_agrees_with_scipy(first: int, second: int, level: float) -> None:
    one, other = samples(first * second, first, second)
    found = unpaired_means(one, other)
    expected = scipy.stats.ttest_ind(one, other, axis=1, equal_var=False, trim=0.2)
    interval = expected.confidence_interval(level)
    low, high = found.interval(level)
    assert found.freedom == pytest.approx(expected.df, rel=1e-9)
    assert p_values(found) == pytest.approx(expected.pvalue, rel=1e-9)
    assert low == pytest.approx(interval.low, rel=1e-9)
    assert high == pytest.approx(interval.high, rel=1e-9)
    assert found.count.tolist() == [min(first, second)] * 3


def test_a_run_without_spread_gives_no_interval() -> None:
    one, other = samples(2)
    for constant in (np.full((3, 30), 0.4), one[:, :1], np.full((3, 4), np.nan)):
        found = unpaired_means(constant, other)
        assert np.isnan(found.error).all()
        assert found.freedom.tolist() == [0, 0, 0]
        assert np.isnan(p_values(found)).all()
        assert set(decide(found, 0.02).names()) == {"not testable"}


def test_a_run_against_itself_differs_by_nothing() -> None:
    one, _ = samples(3)
    assert unpaired_means(one, one).mean.tolist() == [0, 0, 0]
    assert p_values(unpaired_means(one, one)).tolist() == [1, 1, 1]


# several controls ---------------------------------------------------------------------------------


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
    families = p_values(found).reshape(-1, 4)
    return float(np.mean([(adjust(p, "holm") <= 0.05).any() for p in families]))


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


@pytest.mark.parametrize("controls", [1, 2, 8])
@pytest.mark.parametrize("blocks", [12, 30])
def test_equal_runs_are_covered_as_promised(controls: int, blocks: int) -> None:
    before, after = (logs(number, controls, 0, blocks=blocks) for number in (10, 11))
    low, high = difference(by_control(after), by_control(before)).interval()
    assert ((low <= 0) & (high >= 0)).mean() == pytest.approx(0.953, abs=0.017)


def test_more_controls_make_it_more_precise() -> None:
    one, eight = (by_control(logs(5, controls, 0.1)) for controls in (1, 8))
    assert eight.mean.std() < 0.85 * one.mean.std()
    assert eight.error.mean() < 0.85 * one.error.mean()


@given(st.integers(0, 2**32 - 1), st.integers(2, 31))
def test_one_control_is_a_plain_difference(seed: int, blocks: int) -> None:
    of = logs(seed, 1, 0.2, rows=3, blocks=blocks)
    found, plain = by_control(of), by_mean(of)
    assert found.mean == pytest.approx(plain.mean, rel=1e-9)
    assert found.error == pytest.approx(plain.error, rel=1e-9, nan_ok=True)
    assert (found.freedom.tolist(), found.count.tolist()) == (
        plain.freedom.tolist(),
        plain.count.tolist(),
    )


def test_the_same_control_twice_counts_once() -> None:
    of = logs(1, 1, 0.2)
    twice = by_control(of[:, [0, 1, 1]])
    assert twice.mean == pytest.approx(by_control(of).mean)
    assert twice.error == pytest.approx(by_control(of).error)


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
