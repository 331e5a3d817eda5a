import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sqlitmus.stats.allocation import components, iterations, operations, rounded_up, rounds
from tests.stats.recorded import trace

TIMES = st.lists(st.floats(1, 1e9), min_size=1, max_size=10)


def test_all_runners_of_a_case_get_the_fastest_ones_count() -> None:
    assert operations([900, 1500, 4000]) == 6000


def test_a_runner_30_times_slower_gets_the_same_count() -> None:
    assert operations([1000, 20_000, 30_000]) == 5000


def test_what_the_slowest_runner_cannot_bear_is_less_for_all() -> None:
    # 200 ms of the slowest are 1000 of its operations, 5 ms of the fastest are 5000
    assert operations([1000, 200_000]) == 1000
    # yet never less than the clock of the fastest can tell
    assert operations([1000, 200_000], clock_grain_ns=[2000, 1]) == 2000


def test_a_coarse_clock_asks_for_longer_iterations() -> None:
    assert operations([1e6, 2e6], clock_grain_ns=1e6) == 1000
    assert operations([1e6, 2e6], clock_grain_ns=[1, 1e6]) == 500


@given(TIMES, st.floats(0, 1e5))
def test_iterations_are_long_enough_and_not_much_longer(times: list[float], grain: float) -> None:
    count = operations(times, grain)
    fastest, slowest = count * min(times), count * max(times)
    short = 1 - 1e-12
    assert fastest >= 1000 * grain * short
    assert fastest >= 5e6 * short or slowest >= 200e6 * short
    # rounding at most doubles it, and of one operation there is no half
    needed = fastest <= 2 * max(5e6, 1000 * grain)
    assert count == 1 or (needed and (slowest <= 2 * 200e6 or fastest <= 2 * 1000 * grain))


@pytest.mark.parametrize("times", [[], [0.0], [1.0, float("nan")], [-1.0]])
def test_a_trial_without_a_time_is_refused(times: list[float]) -> None:
    with pytest.raises(ValueError, match="positive time per operation"):
        operations(times)


def test_counts_are_rounded_up_to_few_digits() -> None:
    asked = [0.2, 1, 1.1, 6.1, 8.5, 10.1, 12.5, 99, 101, 2600, 8001]
    assert [rounded_up(n) for n in asked] == [1, 1, 2, 8, 10, 12, 15, 100, 120, 3000, 10_000]


@given(st.floats(3, 1e9))
def test_rounding_adds_a_third_at_most_and_is_its_own_fixed_point(count: float) -> None:
    rounded = rounded_up(count)
    assert count <= rounded <= count * 4 / 3
    assert rounded_up(rounded) == rounded


@pytest.mark.parametrize(("processes", "count"), [(5, 40), (10, 12), (60, 100)])
def test_components_of_simulated_noise_are_those_put_in(processes: int, count: int) -> None:
    rng = np.random.default_rng(1)
    found = [
        components(
            np.exp(rng.normal(0, 0.02, (processes, 1)) + rng.normal(0, 0.04, (processes, count)))
        )
        for _ in range(200)
    ]
    within, between = np.mean(found, axis=0)
    assert within == pytest.approx(0.04, rel=0.05)
    assert between == pytest.approx(0.02, rel=0.1)


def test_processes_that_agree_have_nothing_between_them() -> None:
    times = np.random.default_rng(2).lognormal(0, 0.05, (1, 30))
    assert components(np.repeat(times, 5, axis=0))[1] == 0


def test_one_odd_process_does_not_decide() -> None:
    rng = np.random.default_rng(3)
    times = np.exp(rng.normal(0, 0.02, (9, 1)) + rng.normal(0, 0.04, (9, 30)))
    times[4] *= 10
    assert components(times)[1] < 0.05


@given(st.floats(1e-3, 1e6), st.integers(0, 1000))
def test_components_do_not_depend_on_the_unit(scale: float, seed: int) -> None:
    times = np.random.default_rng(seed).lognormal(0, 0.05, (5, 20))
    assert components(times * scale) == pytest.approx(components(times), rel=1e-6, abs=1e-6)


def test_kalibera_and_jones_by_hand() -> None:
    # sqrt(100 / 2.2) x 4.6 / 3.0 = 10.3
    assert iterations(57e6, 43e6, 2.2e6, within=0.046, between=0.03) == 11


def test_recorded_compilation_wants_about_ten_iterations() -> None:
    within, between = components(trace("warmup")[:, 13:])
    assert 5 <= iterations(57e6, 43e6, 2.2e6, within, between) <= 15


def test_iterations_stay_within_bounds() -> None:
    assert iterations(57e6, 43e6, 2.2e6, within=0.046, between=0.0) == 50
    assert iterations(57e6, 43e6, 2.2e6, within=0.0, between=0.0) == 5
    assert iterations(1e6, 0, 5e6, within=0.01, between=0.03) == 5
    assert iterations(9e9, 0, 5e6, within=0.05, between=0.001, highest=30) == 30


# rounds -----------------------------------------------------------------------------------------


def test_cases_alike_get_the_usual_rounds() -> None:
    assert rounds([0.1] * 3, [5.0] * 3, 8) == [8, 8, 8]
    assert rounds([0.0, 0.0], [1.0, 2.0], 8) == [8, 8]
    assert rounds([], [], 8) == []


def test_rounds_go_where_laps_differ_most_and_cost_least() -> None:
    assert rounds([0.1, 0.2], [1.0, 1.0], 9) == [6, 12]
    assert rounds([0.1, 0.1], [1.0, 4.0], 8) == [13, 7]
    # the bounds hold, and what one case cannot take the others share
    assert rounds([0.01, 1.0, 0.1, 0.1], [1.0] * 4, 8) == [4, 16, 6, 6]


def test_no_case_gets_too_few_rounds_to_trim() -> None:
    assert rounds([0.01, 1.0], [1.0, 1.0], 5) == [4, 6]
    assert rounds([0.01, 1.0], [1.0, 1.0], 4) == [4, 4]
    assert rounds([0.01, 1.0], [1.0, 1.0], 3) == [3, 3]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0.001, 1000)), min_size=1, max_size=30),
    st.integers(1, 40),
)
@example([(0.0, 1.0), (1e-308, 1.0)], 1)
def test_rounds_take_no_longer_than_the_usual_ones(
    cases: list[tuple[float, float]], usual: int
) -> None:
    spreads, costs = zip(*cases, strict=True)
    each = rounds(spreads, costs, usual)
    assert all(-(-usual // 2) <= count <= 2 * usual for count in each)
    # each is rounded by at most a half
    assert np.dot(each, costs) <= (usual + 0.5) * sum(costs) * (1 + 1e-9)
