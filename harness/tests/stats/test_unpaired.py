import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.stats.estimate import Array
from sqlitmus.stats.multiplicity import p_values
from sqlitmus.stats.unpaired import unpaired_means
from sqlitmus.stats.verdict import decide
from tests.stats.oracle import scipy_stats


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
