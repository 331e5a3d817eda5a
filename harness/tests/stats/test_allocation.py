import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sqlitmus.stats.power import components, rounds


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


def test_no_case_gets_too_few_rounds_to_leave_some_out() -> None:
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
