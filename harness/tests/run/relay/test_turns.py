"""The order of turns, laps, and the time that stands for a seat."""

import numpy as np
import pytest

from sqlitmus.run.processes.turns import (
    LOST,
    Settling,
    Turns,
    kept,
    laps,
    lead_in_ms,
    level_ns,
    order,
    settling,
    spreads,
    timed,
)


def test_the_order_is_the_seeds_and_every_seat_has_one_turn_in_each_round() -> None:
    assert order(4, 3, "7/0/get") == [[3, 0, 2, 1], [3, 2, 1, 0], [2, 3, 0, 1]]
    assert order(4, 3, "7/1/get") != order(4, 3, "7/0/get")


def test_a_lap_is_what_follows_the_lead_in_less_what_others_took() -> None:
    turns = Turns(warmup=5, rounds=2, lead_in=2, lap=2)
    assert (turns.per_turn, turns.iterations, turns.releases) == (4, 8, 13)
    rows = timed([90, 80, 10, 20, 99, 70, 30, 50], turns)
    assert rows.tolist() == [[10, 20], [30, 50]]
    assert laps(rows).tolist() == [15.0, 40.0]
    stalled = Turns(warmup=3, rounds=1, lead_in=1, lap=3)
    assert laps(timed([90, 10, 900, 20], stalled)).tolist() == [310.0]  # all that it takes counts
    assert laps(rows, [0, 40]).tolist() == [15.0, 20.0]
    # a tenth is left of a lap, whatever the system says
    assert laps(rows, [30, 1000]).tolist() == [1.5, 4.0]


@pytest.mark.parametrize(
    ("lost", "counted"),
    [
        ([[0] * 5, [0, 0, LOST * 1.01, 0, 0], [0, 0, 0, 0, LOST]], [1, 1, 0, 1, 1]),
        # who did not last says nothing
        ([[np.nan] * 5, [0, 0, LOST * 1.01, 0, 0], [0, 0, 0, 0, LOST]], [1, 1, 0, 1, 1]),
        # half of the rounds count in any case
        ([[0.9]], [1]),
        ([[0.9, 0.5]], [0, 1]),
        ([[0.9, 0.7, 0.5]], [0, 1, 1]),
        ([[0.9, 0.8, 0.6, 0.5]], [0, 0, 1, 1]),
    ],
)
def test_a_round_in_which_others_took_much_of_a_lap_counts_for_nobody(
    lost: list[list[float]], counted: list[int]
) -> None:
    assert kept(np.array(lost)).tolist() == [*map(bool, counted)]


def test_all_of_the_rounds_that_count_is_in_a_level_and_who_did_not_last_has_none() -> None:
    table = np.array([[10.0, 90.0, 20.0], [5.0, 5.0, 7.0], [1.0, np.nan, np.nan]])
    counted = np.array([True, False, True])
    assert level_ns(table, counted)[:2].tolist() == [15.0, 6.0]
    assert level_ns(table)[:2].tolist() == [40.0, pytest.approx(17 / 3)]
    assert np.isnan(level_ns(table, counted)[2])
    assert np.isnan(level_ns(np.full((2, 4), np.nan))).all()


LIMIT, LAP_MS, BOUNDS = 0.005, 5.0, (2, 30)


def process(
    extent: float,
    constant_ms: float,
    iteration_ms: float,
    noise: float,
    seed: int,
    interrupted: float = 0.0,
) -> Settling:
    """What a pilot sees of a process that a switch makes slower by `extent`, fading; a share of the
    iterations is `interrupted` for as long as they take."""
    rng = np.random.default_rng(seed)
    turns = Turns(warmup=1, rounds=4, lead_in=int(30 / iteration_ms), lap=int(5 / iteration_ms) + 1)
    since = (np.arange(turns.per_turn) + 0.5) * iteration_ms
    slow = np.exp(extent * np.exp(-since / constant_ms))
    rounds = np.exp(rng.normal(0, 0.05, (turns.rounds, 1)))
    noises = np.exp(rng.normal(0, noise, (turns.rounds, len(slow))))
    noises *= 1 + (rng.random(noises.shape) < interrupted)
    times = iteration_ms * 1e6 * slow * rounds * noises
    return settling(times.round().astype(int).ravel().tolist(), turns)


def bias(extent: float, constant_ms: float, lead_in: float) -> float:
    """How much slower a lap after `lead_in` is than in the end."""
    since = lead_in + np.linspace(0, LAP_MS, 200)
    return extent * float(np.exp(-since / constant_ms).mean())


@pytest.mark.parametrize("constant_ms", [1.0, 2.5, 5.0])
def test_without_noise_it_is_the_shortest_that_leaves_less_than_the_limit(
    constant_ms: float,
) -> None:
    seen = [process(extent, constant_ms, 1.0, 0.0, 1) for extent in (0.05, 0.3)]
    lead_in = lead_in_ms(seen, LIMIT, LAP_MS, BOUNDS)
    assert bias(0.3, constant_ms, lead_in) < 1.5 * LIMIT
    assert bias(0.3, constant_ms, lead_in - 4) > LIMIT


@pytest.mark.parametrize("seed", range(8))
def test_noise_of_single_iterations_is_averaged_over_the_processes(seed: int) -> None:
    seen = [process(0.2, 2.0, 2.0, 0.05, 10 * seed + number, 0.1) for number in range(9)]
    lead_in = lead_in_ms(seen, LIMIT, LAP_MS, BOUNDS)
    assert bias(0.2, 2.0, lead_in) < 2 * LIMIT
    assert lead_in < 22  # of 30: chance lengthens it, and hardly ever shortens it


def test_who_is_not_slowed_needs_the_least_and_who_never_settles_or_was_not_seen_the_most() -> None:
    assert lead_in_ms([process(0.0, 1.0, 1.0, 0.0, 1)], LIMIT, LAP_MS, BOUNDS) == BOUNDS[0]
    slow = process(3.0, 20.0, 1.0, 0.0, 1)
    assert lead_in_ms([slow], LIMIT, LAP_MS, BOUNDS) == BOUNDS[1]
    assert lead_in_ms([], LIMIT, LAP_MS, BOUNDS) == BOUNDS[1]
    once = Settling(since_ms=[20.0], excess=[0.0])  # an iteration longer than a turn says nothing
    assert lead_in_ms([once], LIMIT, LAP_MS, BOUNDS) == BOUNDS[1]


def test_spreads_are_of_what_a_round_does_not_have_in_common() -> None:
    rng = np.random.default_rng(1)
    own = rng.normal(0, [[0.01], [0.01], [0.04]], (3, 400))
    table = 1e6 * np.exp(own + rng.normal(0, 0.3, (1, 400)))
    quiet, _, loud = (spread or 0.0 for spread in spreads(table))
    assert quiet == pytest.approx(0.01, rel=0.3)
    assert loud == pytest.approx(0.04, rel=0.15)
    # of two processes each has half of the difference, and one alone has none
    assert spreads(table[1:]) == pytest.approx([(0.01**2 / 2 + 0.04**2 / 2) ** 0.5] * 2, rel=0.1)
    assert spreads(table[:1]) == [None]
    assert spreads(np.array([])) == []


def test_a_stall_shows_in_the_mean_and_not_in_the_median() -> None:
    turns = Turns(warmup=1, rounds=4, lead_in=3, lap=2)
    calm = [1_000_000] * 20
    assert settling(calm, turns).stalled == 1
    assert settling([*calm[:-1], 981_000_000], turns).stalled == pytest.approx(50)
