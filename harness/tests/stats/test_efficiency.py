"""Which way of measuring needs less time: its ratio, and when it says that it cannot tell."""

import numpy as np
import pytest

from sqlitmus.stats.estimate import Array
from sqlitmus.stats.relabel import Passes, gain

BLOCKS, SLOTS = 60, 6


def passes(spread: float, seconds: float, seed: int, blocks: int = BLOCKS) -> Passes:
    rng = np.random.default_rng(seed)
    logs = rng.normal(0, spread, (blocks, SLOTS))
    return Passes(logs, seconds * np.exp(rng.normal(0, 0.05, blocks)))


def scaled(recording: Passes, spread: float, seconds: float) -> Passes:
    return Passes(spread * recording.logs, seconds * recording.seconds)


def test_half_the_noise_is_worth_four_times_the_time() -> None:
    first = passes(0.02, 2.0, seed=1)
    ratio = gain(first, scaled(first, 0.5, 1.5))
    assert ratio
    ends = [ratio.value, ratio.low, ratio.high]
    assert ends == pytest.approx([4 / 1.5] * 3)  # of the same blocks: nothing is left to chance
    assert ratio.resolved


def test_what_all_slots_of_a_pass_share_is_no_noise() -> None:
    first, other = passes(0.02, 2.0, seed=1), passes(0.02, 2.0, seed=2)
    drift: Array = np.linspace(0, 1, BLOCKS)[:, None]
    drifting = gain(Passes(first.logs + drift, first.seconds), other)
    steady = gain(first, other)
    assert drifting
    assert steady
    assert drifting.value == pytest.approx(steady.value)


def test_the_other_way_round_is_the_inverse() -> None:
    first, other = passes(0.03, 2.0, seed=1), passes(0.02, 3.0, seed=2)
    one, back = gain(first, other), gain(other, first)
    assert one
    assert back
    inverse = [1 / back.value, 1 / back.high, 1 / back.low]
    assert [one.value, one.low, one.high] == pytest.approx(inverse)
    assert one.low < 9 / 4 * 2 / 3 < one.high


@pytest.mark.parametrize("blocks", [30, 60])
def test_equal_ways_are_rarely_told_apart(blocks: int) -> None:
    trials = [
        gain(passes(0.02, 2.0, seed, blocks), passes(0.02, 2.0, 1000 + seed, blocks), 200)
        for seed in range(100)
    ]
    assert sum(trial is None or trial.resolved for trial in trials) <= 5


def test_a_clear_difference_is_resolved_on_the_right_side() -> None:
    first, other = passes(0.04, 2.0, seed=1), passes(0.01, 2.0, seed=2)
    one, back = gain(first, other), gain(other, first)
    assert one
    assert back
    assert one.low > 1 > back.high
    assert one.resolved
    assert back.resolved


def test_without_noise_there_is_nothing_to_compare() -> None:
    first = passes(0.02, 2.0, seed=1)
    assert gain(first, scaled(first, 0.0, 1.0)) is None
    assert gain(scaled(first, 0.0, 1.0), first) is None


def test_the_interval_is_the_same_again() -> None:
    first, other = passes(0.03, 2.0, seed=1), passes(0.02, 3.0, seed=2)
    assert gain(first, other) == gain(first, other) != gain(first, other, seed=2)
