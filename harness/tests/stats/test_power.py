import numpy as np
import pytest

from sqlitmus.stats.estimate import TrimmedMeans, trimmed_means
from sqlitmus.stats.power import blocks_for, blocks_to_resolve
from sqlitmus.stats.verdict import decide


@pytest.mark.parametrize(("effect", "blocks"), [(0.02, 33), (0.03, 15)])
def test_blocks_for_a_spread_of_4_percent(effect: float, blocks: int) -> None:
    assert np.ceil(blocks_for(effect, 0.041)) == blocks


def test_no_effect_needs_infinitely_many_blocks() -> None:
    assert np.isinf(blocks_for(0.0, 0.04))


def estimate(mean: float, deviation: float, count: int) -> TrimmedMeans:
    error = deviation / np.sqrt(count)
    return TrimmedMeans(np.array([mean]), np.array([error]), np.array([9]), np.array([count]))


def settled(effect: float, blocks: int) -> float:
    """Share of simulated comparisons that get a verdict."""
    draws = np.random.default_rng(2).normal(effect, 0.08, (4000, blocks))
    return float((decide(trimmed_means(draws), 0.02).names() != "not resolved").mean())


def asked_for(effect: float) -> int:
    many = trimmed_means(np.random.default_rng(3).normal(0, 0.08, (1, 100_000)))
    deviation = float(many.error[0]) * np.sqrt(100_000)
    return int(blocks_to_resolve(estimate(effect, deviation, 10), 0.02)[0])


@pytest.mark.parametrize("effect", [0.0, 0.008, 0.03, 0.1])
def test_that_many_blocks_resolve(effect: float) -> None:
    assert settled(effect, asked_for(effect)) > 0.75


@pytest.mark.parametrize("effect", [0.0, 0.03])
def test_a_third_of_them_would_not_do(effect: float) -> None:
    assert settled(effect, asked_for(effect) // 3) < 0.6


def test_more_blocks_than_there_are_and_none_without_an_interval() -> None:
    assert blocks_to_resolve(estimate(1.0, 0.01, 30), 0.02)[0] == 31
    assert blocks_to_resolve(estimate(0.5, np.nan, 30), 0.02)[0] == 0
