from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sqlitmus.stats import warmup
from sqlitmus.stats.estimate import Array, TrimmedMeans, trimmed_means
from sqlitmus.stats.power import blocks_to_resolve, components, detectable, rounds
from sqlitmus.stats.verdict import decide, p_values
from sqlitmus.stats.warmup import classify, segments
from tests.stats.noise import spikes, wander
from tests.stats.recorded import trace

PROCESSES = 5
RUNS = 20


def level(kind: str, count: int) -> Array:
    """Log times without noise."""
    at = np.arange(count) / count
    return {
        "flat": np.zeros(count),
        "step": np.where(at < 1 / 6, 0.5, 0.0),
        "steps": np.where(at < 0.1, 0.9, np.where(at < 0.25, 0.2, 0.0)),
        "decay": np.exp(-20 * at),
        "slower": np.where(at < 1 / 2, -0.15, 0.0),
        "little": np.where(at < 1 / 2, -0.05, 0.0),
        "late": np.where(at < 0.85, 0.2, 0.0),
        "drift": -0.5 * at,
    }[kind]


def run(kind: str, count: int, seed: int, lag: float = 0.0) -> Array:
    """Processes x iterations in ns: 3 % noise within and between, 3 % of the values spikes."""
    rng = np.random.default_rng(seed)
    shape = (PROCESSES, count)
    noise = wander(rng, shape, 0.03, lag) + spikes(rng, shape, 0.03)
    return 5e6 * np.exp(level(kind, count) + noise + rng.normal(0, 0.03, (PROCESSES, 1)))


def rates(kind: str, count: int, lag: float) -> tuple[Counter[str], Counter[str]]:
    """Classes of `RUNS` runs together, and of their processes."""
    found = [classify(run(kind, count, seed, lag)) for seed in range(RUNS)]
    each = Counter(process.kind for one in found for process in one.processes)
    return Counter(one.overall.kind for one in found), each


@pytest.mark.parametrize("lag", [0.0, 0.5])
@pytest.mark.parametrize(
    ("kind", "count", "expected"),
    [
        *(("flat", count, "flat") for count in (8, 12, 60, 120)),
        *(("step", count, "warm-up") for count in (8, 12, 60)),
        ("steps", 60, "warm-up"),
        *(("decay", count, "warm-up") for count in (20, 60)),
        ("slower", 60, "slowdown"),
        ("late", 60, "no steady state"),
    ],
)
def test_each_class_is_recognised(kind: str, count: int, expected: str, lag: float) -> None:
    together, each = rates(kind, count, lag)
    assert together[expected] >= 0.9 * together.total()
    assert each[expected] >= 0.85 * each.total()


def test_a_drift_to_the_end_is_no_steady_state() -> None:
    assert rates("drift", 250, 0.0)[0]["no steady state"] == RUNS


def test_a_small_change_takes_many_iterations_to_see() -> None:
    assert rates("little", 120, 0.0)[0]["slowdown"] >= 0.9 * RUNS
    assert rates("little", 20, 0.0)[0]["slowdown"] == 0


@pytest.mark.parametrize(("kind", "begins"), [("step", 10), ("steps", 15)])
def test_the_last_level_begins_where_it_was_put(kind: str, begins: int) -> None:
    for seed in range(RUNS):
        times = run(kind, 60, seed)
        found = classify(times).overall
        assert found.iteration is not None
        assert found.elapsed_ns is not None
        assert begins <= found.iteration <= begins + 2
        assert found.elapsed_ns in times[:, : found.iteration].sum(axis=1)


@pytest.mark.parametrize("end", [5.0, 4.0, 8.0], ids=["wobble", "fast again", "slowdown"])
def test_the_fastest_level_begins_where_it_is_first_reached(end: float) -> None:
    levels = [20.0] * 10 + [4.0] * 20 + [5.0] * 20 + [end] * 30
    noise = np.random.default_rng(1).normal(0, 0.002, (3, len(levels)))
    # the machine was slow when the third one began
    noise[2, :30] += 0.5
    times = np.exp(noise) * levels * 1e6
    found = classify(times)
    assert found.processes[0].fastest_ns == pytest.approx(times[0, :10].sum())
    assert found.overall.fastest_ns == pytest.approx(times[:2, :10].sum(axis=1).max())


def test_recorded_compilation_is_warm_up_of_13_iterations() -> None:
    times = trace("warmup")
    found = classify(times)
    assert (found.overall.kind, found.overall.iteration) == ("warm-up", 13)
    assert all(process.kind == "warm-up" for process in found.processes)
    for first in range(0, len(times), PROCESSES):
        overall = classify(times[first : first + PROCESSES, :60]).overall
        assert overall.kind == "warm-up"
        assert overall.iteration in {12, 13, 14}


def test_recorded_processes_without_a_compiler_are_flat_but_for_a_slow_first_iteration() -> None:
    found = Counter((one.kind, one.iteration) for one in classify(trace("iterations")).processes)
    assert found["flat", 0] + found["warm-up", 1] >= 0.95 * found.total()


def test_a_slow_first_iteration_is_warm_up_although_no_level() -> None:
    times = run("flat", 20, 1)
    times[:, 0] *= 3
    found = classify(times).overall
    assert (found.kind, found.iteration) == ("warm-up", 1)
    assert classify(times[:, 1:]).overall.kind == "flat"


@given(st.integers(0, 19), st.floats(1.2, 50), st.integers(0, 50))
def test_one_long_iteration_changes_no_level(place: int, factor: float, seed: int) -> None:
    times = 5e6 * np.exp(np.random.default_rng(seed).normal(0, 0.01, (1, 20)))
    calm = classify(times).overall
    times[0, place] *= factor
    spoiled = classify(times).overall
    assert spoiled == calm or (place == 0 and spoiled.iteration == 1)


def test_one_process_of_five_cannot_decide() -> None:
    times = run("flat", 60, 2)
    times[3] *= np.exp(level("slower", 60))
    found = classify(times)
    assert [one.kind for one in found.processes].count("slowdown") == 1
    assert found.overall.kind == "flat"


def test_processes_that_disagree_have_no_steady_state_in_common() -> None:
    times = run("flat", 60, 2)
    times[:2] *= np.exp(level("slower", 60))
    overall = classify(times).overall
    assert (overall.kind, overall.iteration, overall.elapsed_ns) == ("no steady state", None, None)


def test_a_level_within_the_tolerance_is_the_same() -> None:
    times = np.full((2, 40), 5e6)
    times[:, :20] *= [[1.019], [1.021]]
    assert classify(times[:1]).overall.kind == "flat"
    assert classify(times[1:]).overall.iteration == 20


def test_the_tolerance_is_a_share_of_the_last_level_however_slow_the_start() -> None:
    times = np.repeat([50e6, 5.15e6, 5e6], 20)
    assert classify([times]).overall.iteration == 40


def test_equal_times_are_flat() -> None:
    assert classify([[5.0] * 8]).overall.kind == "flat"


@pytest.mark.parametrize(
    ("processes", "error"),
    [
        ([], "no process"),
        ([[5.0] * 7], "8 iterations or more"),
        ([[5.0] * 7 + [0.0]], "positive"),
        ([[5.0] * 7 + [float("nan")]], "positive"),
    ],
)
def test_what_cannot_be_classified_is_refused(processes: list[list[float]], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        classify(processes)


def cost(values: Array, starts: list[int]) -> float:
    return sum(part.var() * len(part) for part in np.split(values, starts[1:]))


@given(
    st.lists(st.integers(-8, 8), min_size=6, max_size=11),
    st.sampled_from([0.5, 3.0, 20.0]),
    st.sampled_from([11, 5, 3]),
)
def test_segments_cost_the_least_of_all(numbers: list[int], penalty: float, most: int) -> None:
    values = np.array(numbers, dtype=np.float64)
    step = -(-len(values) // most)
    places = range(step, len(values) - step + 1, step)
    every = [[0]]
    for one in places:
        if 3 <= one <= len(values) - 3:
            every += [[0, one]]
            every += [[0, one, two] for two in places if one + 3 <= two <= len(values) - 3]
    least = min(cost(values, starts) + penalty * len(starts) for starts in every)
    found = segments(values, penalty, most).tolist()
    assert found in every
    assert cost(values, found) + penalty * len(found) == pytest.approx(least)


@pytest.mark.parametrize("kind", ["flat", "step", "steps", "slower", "late", "drift"])
def test_a_long_series_is_classified_as_if_every_place_had_been_tried(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = run(kind, 2500, 3)
    exact = classify(times)
    monkeypatch.setattr(warmup, "PLACES", 500)
    coarse = classify(times)
    assert [one.kind for one in coarse.processes] == [one.kind for one in exact.processes]
    for one, other in zip(coarse.processes, exact.processes, strict=True):
        assert one.iteration == pytest.approx(other.iteration, abs=5)


def test_the_time_is_bounded_by_the_places_where_a_level_may_begin() -> None:
    times = run("step", 300_000, 3)[0]
    assert classify([times]).overall.iteration == pytest.approx(50_000, abs=300_000 / 4000)


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
def test_that_many_blocks_resolve_and_a_third_of_them_would_not(effect: float) -> None:
    assert settled(effect, asked_for(effect)) > 0.75
    if effect in (0.0, 0.03):
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


def test_detectable_scales_with_the_spread_and_needs_two_kept_blocks() -> None:
    blocks = np.array([30, 30, 1])
    found = detectable(np.array([0.02, 0.04, 0.04]), blocks, 4)
    assert found[1] == pytest.approx(2 * found[0])
    assert np.isnan(found[2])
    assert detectable(np.array([0.04]), np.array([60]), 4)[0] < found[1]


def test_no_comparison_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one comparison"):
        detectable(np.array([0.04]), np.array([30]), comparisons=0)


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
