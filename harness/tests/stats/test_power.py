import numpy as np
import pytest

from sqlitmus.stats.estimate import TrimmedMeans, trimmed_means
from sqlitmus.stats.power import blocks_to_resolve, detectable
from sqlitmus.stats.verdict import adjust, decide, p_values


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


def test_more_comparisons_ask_for_more_blocks() -> None:
    asked = [int(blocks_to_resolve(estimate(0.02, 0.04, 10), 0.02, m, m)[0]) for m in (1, 4, 200)]
    assert asked == sorted(set(asked))


def test_more_blocks_of_sessions_are_more_sessions() -> None:
    three, nine = (
        TrimmedMeans(np.array([0.02]), np.array([0.01]), np.array([k - 1]), np.array([14 * k]))
        for k in (3, 9)
    )
    for means, sessions in ((three, 3), (nine, 9)):
        asked = int(blocks_to_resolve(means, 0.001, sessions=sessions)[0])
        # the same error of a session: as many sessions, however many there were
        count = asked / 14
        error = 0.01 * np.sqrt(sessions / count)
        assert detectable(
            np.array([error * np.sqrt(asked)]), np.array([asked]), sessions=round(count)
        )[0] == pytest.approx(0.02, rel=0.1)


def test_few_sessions_find_little_however_many_blocks_they_have() -> None:
    blocks, spread = np.array([135]), np.array([0.03])
    three, nine, none = (detectable(spread, blocks, 4, k)[0] for k in (3, 9, 1))
    assert three > 2 * nine
    assert nine < 1.3 * none


@pytest.mark.parametrize("blocks", [10, 12, 30])
@pytest.mark.parametrize("comparisons", [1, 4, 200])
def test_what_is_called_detectable_is_found_four_times_in_five(
    blocks: int, comparisons: int
) -> None:
    rng = np.random.default_rng(5)
    noise = trimmed_means(rng.normal(0, 0.04, (20_000, blocks)))
    deviation = np.sqrt(np.mean(np.square(noise.error)) * blocks)
    effect = detectable(np.array([deviation]), np.array([blocks]), comparisons)[0]
    found = p_values(trimmed_means(rng.normal(effect, 0.04, (20_000, blocks))))
    assert (found <= 0.05 / comparisons).mean() == pytest.approx(0.8, abs=0.02)


def test_holm_finds_at_least_as_much_as_detectable_promises() -> None:
    rng = np.random.default_rng(6)
    noise = trimmed_means(rng.normal(0, 0.04, (20_000, 30)))
    deviation = np.sqrt(np.mean(np.square(noise.error)) * 30)
    effect = detectable(np.array([deviation]), np.array([30]), 10)[0]
    draws = rng.normal(effect, 0.04, (300, 10, 30))
    found = [adjust(p_values(trimmed_means(d)), "holm") <= 0.05 for d in draws]
    assert np.mean(found) > 0.8


def test_detectable_scales_with_the_spread_and_needs_two_kept_blocks() -> None:
    blocks = np.array([30, 30, 1])
    found = detectable(np.array([0.02, 0.04, 0.04]), blocks, 4)
    assert found[1] == pytest.approx(2 * found[0])
    assert np.isnan(found[2])
    assert detectable(np.array([0.04]), np.array([60]), 4)[0] < found[1]


def test_no_comparison_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one comparison"):
        detectable(np.array([0.04]), np.array([30]), comparisons=0)
