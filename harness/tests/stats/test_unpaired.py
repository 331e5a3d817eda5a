import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.stats.estimate import Array, TrimmedMeans, difference, relative_means, trimmed_means
from sqlitmus.stats.verdict import adjust, decide, p_values
from tests.stats.oracle import scipy_stats


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
    expected = scipy_stats.ttest_ind(one, other, axis=1, equal_var=False, trim=0.2)
    interval = expected.confidence_interval(level)
    low, high = found.interval(level)
    assert found.freedom == pytest.approx(expected.df, rel=1e-9)
    assert p_values(found) == pytest.approx(expected.pvalue, rel=1e-9)
    assert low == pytest.approx(interval.low, rel=1e-9)
    assert high == pytest.approx(interval.high, rel=1e-9)
    assert found.count.tolist() == [min(first, second)] * 3


@given(st.integers(0, 2**32 - 1))
def test_exchanging_the_runs_mirrors_everything(seed: int) -> None:
    one, other = samples(seed, 12, 15)
    forth, back = unpaired_means(one, other), unpaired_means(other, one)
    assert np.array_equal(forth.mean, -back.mean)
    assert forth.error == pytest.approx(back.error, rel=1e-12)
    assert forth.freedom == pytest.approx(back.freedom, rel=1e-9)
    opposites = [verdict.opposite for verdict in decide(forth, 0.02).names()]
    assert opposites == decide(back, 0.02).names().tolist()


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.25, 2.0, 1024.0]))
def test_neither_unit_nor_order_of_blocks_matters(seed: int, by: float) -> None:
    one, other = samples(seed, 12, 15)
    plain, scaled = unpaired_means(one, other), unpaired_means(one * by, other * by)
    assert np.array_equal(scaled.mean, plain.mean * by)
    assert scaled.error == pytest.approx(plain.error * by, rel=1e-12)
    assert scaled.freedom == pytest.approx(plain.freedom, rel=1e-9)
    shuffled = unpaired_means(one[:, ::-1], np.roll(other, 4, axis=1))
    assert np.array_equal(shuffled.error, plain.error)


@given(st.integers(0, 2**32 - 1))
def test_a_higher_level_contains_a_lower_one(seed: int) -> None:
    found = unpaired_means(*samples(seed, 10, 12))
    low, high = found.interval(0.9)
    lower, higher = found.interval(0.99)
    assert np.all(lower < low)
    assert np.all(high < higher)


def test_missing_blocks_are_as_if_never_run() -> None:
    one, other = samples(1, 12, 15)
    padded = np.hstack([one, np.full((3, 5), np.nan)])
    assert np.array_equal(unpaired_means(padded, other).error, unpaired_means(one, other).error)


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


def test_unequal_spreads_and_counts_cover_as_promised() -> None:
    rng = np.random.default_rng(4)
    low, high = unpaired_means(
        rng.normal(0, 1, (20_000, 12)), rng.normal(0, 3, (20_000, 30))
    ).interval()
    assert ((low <= 0) & (high >= 0)).mean() == pytest.approx(0.945, abs=0.012)


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
