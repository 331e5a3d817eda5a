import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.stats.estimate import Array, Combined, combine, paule_mandel
from tests.stats.oracle import scipy_optimize, scipy_stats

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


def one(mean: Array, error: Array, level: float = 0.95, freedom: int = WHOLE) -> Combined:
    return combine(mean[None], error[None], np.full((1, len(mean)), freedom), level)


def test_the_vaccine_trials_come_out_as_published() -> None:
    # Viechtbauer, J. Stat. Softw. 36(3), 2010; metafor, method "PM" with the Knapp-Hartung test.
    found = one(*bcg())
    assert found.between[0] ** 2 == pytest.approx(0.3181, abs=5e-5)
    assert found.mean[0] == pytest.approx(-0.7150, abs=5e-5)
    assert found.count[0] == 13


def test_the_vaccine_trials_from_the_formulas() -> None:
    mean, error = bcg()
    k = len(mean)

    def centre(tau2: float) -> tuple[Array, float]:
        w = 1 / (error**2 + tau2)
        return w, float((w * mean).sum() / w.sum())

    def excess(tau2: float) -> float:
        w, mu = centre(tau2)
        return float((w * (mean - mu) ** 2).sum() - (k - 1))

    tau2 = scipy_optimize.brentq(excess, 0, 10, xtol=1e-14)
    w, mu = centre(tau2)
    error_of_mean = np.sqrt((w * (mean - mu) ** 2).sum() / (k - 1) / w.sum())
    half = scipy_stats.t.ppf(0.975, k - 1) * error_of_mean
    reach = scipy_stats.t.ppf(0.975, k - 2) * np.sqrt(tau2 + error_of_mean**2)
    found = one(mean, error)
    assert found.between[0] == pytest.approx(np.sqrt(tau2), rel=1e-9)
    assert (found.low[0], found.high[0]) == pytest.approx((mu - half, mu + half), rel=1e-9)
    assert (found.next_low[0], found.next_high[0]) == pytest.approx(
        (mu - reach, mu + reach), rel=1e-9
    )


def test_sessions_that_agree_are_no_surer_than_their_errors() -> None:
    found = one(np.full(3, 0.02), np.array([0.01, 0.01, 0.01]), freedom=17)
    half = scipy_stats.t.ppf(0.975, 51) * 0.01 / np.sqrt(3)
    assert found.between[0] == 0
    assert found.high[0] - found.mean[0] == pytest.approx(half, rel=1e-9)


def test_degrees_of_freedom_of_unequal_sessions_are_satterthwaites_rounded_down() -> None:
    error, freedom = np.array([0.01, 0.02]), np.array([[5, 17]])
    found = combine(np.full((1, 2), 0.02), error[None], freedom)
    a = error**-2.0 / (error**-2.0).sum()
    degrees = int(1 / (a**2 / freedom[0]).sum())
    half = scipy_stats.t.ppf(0.975, degrees) / np.sqrt((error**-2.0).sum())
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


def drawn(seed: int, rows: int = 20, sessions: int = 4) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    error = rng.uniform(0.005, 0.05, (rows, sessions))
    return rng.normal(rng.normal(0, 0.03, (rows, sessions)), error), error


SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.sampled_from([0.25, 2.0, 1024.0]))
def test_neither_unit_nor_order_of_sessions_nor_direction_matters(seed: int, by: float) -> None:
    mean, error = drawn(seed)
    freedom = np.full(mean.shape, 17)
    plain, scaled = combine(mean, error, freedom), combine(mean * by, error * by, freedom)
    shuffled = combine(mean[:, ::-1], error[:, ::-1], freedom)
    mirrored = combine(-mean, error, freedom)
    for name in ("mean", "low", "next_high", "between"):
        value = getattr(plain, name)
        assert getattr(scaled, name) == pytest.approx(value * by, rel=1e-6, abs=1e-9 * by)
        assert getattr(shuffled, name) == pytest.approx(value, rel=1e-6, abs=1e-9)
    assert mirrored.low == pytest.approx(-plain.high, rel=1e-9)
    assert mirrored.next_low == pytest.approx(-plain.next_high, rel=1e-9)


@given(SEEDS)
def test_intervals_nest(seed: int) -> None:
    mean, error = drawn(seed)
    freedom = np.full(mean.shape, 17)
    narrow, wide = combine(mean, error, freedom, 0.9), combine(mean, error, freedom, 0.99)
    assert np.all(wide.low < narrow.low)
    assert np.all(wide.next_high > narrow.next_high)
    assert np.all(narrow.next_low < narrow.low)


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
