import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.stats.estimate import trimmed_means
from sqlitmus.stats.verdict import alarms, p_values


def test_one_alarm_among_many_cases_is_chance_and_four_are_not() -> None:
    assert alarms(np.array([0.5] * 49 + [0.009])) == (50, 1, False)
    assert alarms(np.array([0.5] * 46 + [0.009] * 4)) == (50, 4, True)


def test_one_gross_alarm_among_many_cases_is_more_than_chance() -> None:
    assert alarms(np.array([0.5] * 49 + [0.00019])) == (50, 1, True)
    assert alarms(np.array([0.5] * 49 + [0.00021])) == (50, 1, False)


def test_cases_that_cannot_be_tested_are_no_part_of_the_family() -> None:
    assert alarms(np.array([0.009] + [np.nan] * 9)) == (1, 1, True)
    assert alarms(np.array([0.009] + [0.5] * 9)) == (10, 1, False)
    assert alarms(np.full(3, np.nan)) == alarms(np.empty(0)) == (0, 0, False)


@given(st.integers(0, 2**32 - 1), st.floats(0.001, 0.1))
def test_exchanging_canary_and_twin_changes_nothing(seed: int, spread: float) -> None:
    values = np.random.default_rng(seed).normal(0, spread, (6, 12))
    one, other = (alarms(p_values(trimmed_means(of))) for of in (values, -values))
    assert one == other


def test_runs_of_equal_programs_are_seldom_told_and_a_slower_canary_is() -> None:
    rng = np.random.default_rng(7)
    runs = [alarms(p_values(trimmed_means(rng.normal(0, 0.01, (100, 30))))) for _ in range(300)]
    assert sum(many for *_, many in runs) <= 15
    slower = trimmed_means(rng.normal(0.005, 0.01, (100, 30)))
    assert alarms(p_values(slower))[2]
