"""The order of turns, laps, and the time that stands for a seat."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.run.processes.turns import LOST, Turns, kept, laps, level_ns, order, timed


def test_the_order_is_the_seeds() -> None:
    assert order(4, 3, "7/0/get") == [[3, 0, 2, 1], [3, 2, 1, 0], [2, 3, 0, 1]]
    assert order(4, 3, "7/1/get") != order(4, 3, "7/0/get")


@given(st.integers(1, 12), st.integers(1, 20))
def test_every_seat_has_one_turn_in_each_round(seats: int, rounds: int) -> None:
    for each in order(seats, rounds, "seed"):
        assert sorted(each) == list(range(seats))


def test_a_lap_is_what_follows_the_lead_in() -> None:
    turns = Turns(warmup=5, rounds=2, lead_in=2, lap=2)
    assert (turns.per_turn, turns.iterations, turns.releases) == (4, 8, 13)
    rows = timed([90, 80, 10, 20, 99, 70, 30, 50], turns)
    assert rows.tolist() == [[10, 20], [30, 50]]
    assert laps(rows).tolist() == [15.0, 40.0]
    stalled = Turns(warmup=3, rounds=1, lead_in=1, lap=3)
    assert laps(timed([90, 10, 900, 20], stalled)).tolist() == [310.0]  # all that it takes counts


def test_what_others_took_is_no_part_of_a_lap() -> None:
    turns = Turns(warmup=5, rounds=2, lead_in=2, lap=2)
    rows = timed([90, 80, 10, 20, 99, 70, 30, 50], turns)
    assert laps(rows, [0, 40]).tolist() == [15.0, 20.0]
    # a tenth is left of a lap, whatever the system says
    assert laps(rows, [30, 1000]).tolist() == [1.5, 4.0]


def test_a_round_in_which_others_took_much_of_a_lap_counts_for_nobody() -> None:
    shares = np.zeros((3, 5))
    shares[1, 2] = LOST * 1.01
    shares[2, 4] = LOST
    assert kept(shares).tolist() == [True, True, False, True, True]
    shares[0] = np.nan  # it did not last, and says nothing
    assert kept(shares).tolist() == [True, True, False, True, True]


@pytest.mark.parametrize(("rounds", "least"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_half_of_the_rounds_count_however_busy_the_machine_is(rounds: int, least: int) -> None:
    shares = np.linspace(0.9, 0.5, rounds)[None, :]
    assert kept(shares).tolist() == [False] * (rounds - least) + [True] * least


SHARES = st.integers(1, 4).flatmap(
    lambda seats: st.lists(
        st.lists(st.floats(0, 5), min_size=seats, max_size=seats), min_size=1, max_size=20
    )
)


@given(SHARES)
def test_the_rounds_that_count_lost_least(rounds: list[list[float]]) -> None:
    shares = np.array(rounds).T
    counted, worst = kept(shares), shares.max(axis=0)
    assert 2 * counted.sum() >= len(rounds)
    assert counted[worst <= LOST].all()
    assert worst[counted].max() <= worst[~counted].min(initial=np.inf)
    if 2 * (worst <= LOST).sum() >= len(rounds):
        assert (counted == (worst <= LOST)).all()


def test_only_rounds_that_count_are_in_a_level() -> None:
    table = np.array([[10.0, 90.0, 20.0], [5.0, 5.0, 7.0]])
    counted = np.array([True, False, True])
    assert level_ns(table, counted).tolist() == [15.0, 6.0]
    assert level_ns(table).tolist() == [40.0, pytest.approx(17 / 3)]


def test_what_slows_a_round_down_leaves_ratios_alone() -> None:
    quiet = np.outer([100.0, 120.0, 50.0], np.ones(8))
    loud = quiet * np.linspace(1, 3, 8)
    for table in (quiet, loud):
        levels = level_ns(table)
        assert levels[1] / levels[0] == pytest.approx(1.2)
        assert levels[2] / levels[0] == pytest.approx(0.5)


def test_a_cost_that_comes_now_and_then_is_in_the_level() -> None:
    table = np.outer([100.0, 120.0, 50.0], np.ones(8))
    table[1, 3] += 80
    assert level_ns(table).tolist() == pytest.approx([100.0, 130.0, 50.0])


def test_a_seat_that_did_not_last_leaves_the_others_alone() -> None:
    table = np.outer([100.0, 120.0, 50.0], np.ones(4))
    table[0, 2:] = np.nan
    levels = level_ns(table)
    assert np.isnan(levels[0])
    assert levels[1] / levels[2] == pytest.approx(2.4)
    assert np.isnan(level_ns(np.full((2, 4), np.nan))).all()


@given(st.integers(0, 2**32), st.floats(-3, 3))
def test_levels_follow_the_unit(seed: int, shift: float) -> None:
    table = np.exp(np.random.default_rng(seed).normal(10, 0.1, (4, 9)))
    assert level_ns(table * np.exp(shift)) == pytest.approx(level_ns(table) * np.exp(shift))
