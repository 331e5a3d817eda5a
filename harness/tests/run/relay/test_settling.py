"""The lead-in: long enough that what a switch costs is gone, for whoever settles slowest."""

import numpy as np
import pytest

from sqlitmus.run.processes.turns import Settling, Turns, lead_in_ms, settling, spreads

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


def test_whoever_is_not_slowed_needs_the_least() -> None:
    assert lead_in_ms([process(0.0, 1.0, 1.0, 0.0, 1)], LIMIT, LAP_MS, BOUNDS) == BOUNDS[0]


def test_who_never_settles_or_was_never_seen_gets_the_longest() -> None:
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


def test_of_two_processes_each_has_half_of_the_difference() -> None:
    table = np.exp(np.random.default_rng(1).normal(0, [[0.01], [0.03]], (2, 400)))
    assert spreads(table) == pytest.approx([(0.01**2 / 2 + 0.03**2 / 2) ** 0.5] * 2, rel=0.1)


def test_a_process_alone_has_no_spread_to_others() -> None:
    assert spreads(np.array([[1.0, 2.0]])) == [None]
    assert spreads(np.array([])) == []


def test_a_stall_shows_in_the_mean_and_not_in_the_median() -> None:
    turns = Turns(warmup=1, rounds=4, lead_in=3, lap=2)
    calm = [1_000_000] * 20
    assert settling(calm, turns).stalled == 1
    assert settling([*calm[:-1], 981_000_000], turns).stalled == pytest.approx(50)
