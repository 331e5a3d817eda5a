"""Whether and when a process is steady, of simulated levels and of recorded processes."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sqlitmus.stats import warmup
from sqlitmus.stats.warmup import Steady, classify, segments
from tests.stats.noise import Array, spikes, wander
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


def share(found: list[Steady], kind: str) -> float:
    return sum(one.kind == kind for one in found) / len(found)


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
def test_each_class_is_recognised_and_the_last_level_begins_where_it_was_put(
    kind: str, count: int, expected: str, lag: float
) -> None:
    of_runs = [run(kind, count, seed, lag) for seed in range(RUNS)]
    found = [classify(times) for times in of_runs]
    assert share([one.overall for one in found], expected) >= 0.9
    assert share([process for one in found for process in one.processes], expected) >= 0.85
    begins = {"step": 10, "steps": 15}.get(kind)
    if begins and count == 60 and not lag:
        for times, one in zip(of_runs, found, strict=True):
            first = one.overall.iteration or 0
            assert begins <= first <= begins + 2
            assert one.overall.elapsed_ns in times[:, :first].sum(axis=1)


def test_a_drift_has_no_steady_state_and_a_small_change_takes_many_iterations_to_see() -> None:
    drift, many, few = (
        [classify(run(kind, count, seed)).overall for seed in range(RUNS)]
        for kind, count in (("drift", 250), ("little", 120), ("little", 20))
    )
    assert share(drift, "no steady state") == 1
    assert share(many, "slowdown") >= 0.9
    assert share(few, "slowdown") == 0


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


def test_a_slow_first_iteration_is_warm_up_although_no_level() -> None:
    recorded = classify(trace("iterations")).processes  # without a compiler
    found = Counter((one.kind, one.iteration) for one in recorded)
    assert found["flat", 0] + found["warm-up", 1] >= 0.95 * found.total()
    times = run("flat", 20, 1)
    times[:, 0] *= 3
    overall = classify(times).overall
    assert (overall.kind, overall.iteration) == ("warm-up", 1)
    assert classify(times[:, 1:]).overall.kind == "flat"


@given(st.integers(0, 19), st.floats(1.2, 50), st.integers(0, 50))
def test_one_long_iteration_changes_no_level(place: int, factor: float, seed: int) -> None:
    times = 5e6 * np.exp(np.random.default_rng(seed).normal(0, 0.01, (1, 20)))
    calm = classify(times).overall
    times[0, place] *= factor
    spoiled = classify(times).overall
    assert spoiled == calm or (place == 0 and spoiled.iteration == 1)


def test_one_process_of_five_cannot_decide_and_two_leave_no_steady_state_in_common() -> None:
    times = run("flat", 60, 2)
    times[3] *= np.exp(level("slower", 60))
    found = classify(times)
    assert [one.kind for one in found.processes].count("slowdown") == 1
    assert found.overall.kind == "flat"
    times[2] *= np.exp(level("slower", 60))
    overall = classify(times).overall
    assert (overall.kind, overall.iteration, overall.elapsed_ns) == ("no steady state", None, None)


@pytest.mark.parametrize(
    ("levels", "iteration"),
    [
        ([5.0] * 8, 0),
        ([5.095] * 20 + [5.0] * 20, 0),
        ([5.105] * 20 + [5.0] * 20, 20),
        # the tolerance is a share of the last level however slow the start
        ([50.0] * 20 + [5.15] * 20 + [5.0] * 20, 40),
    ],
)
def test_a_level_within_the_tolerance_is_the_same(levels: list[float], iteration: int) -> None:
    overall = classify([levels]).overall
    assert (overall.kind, overall.iteration) == ("warm-up" if iteration else "flat", iteration)


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


@pytest.mark.parametrize("kind", ["step", "late", "drift"])
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
    logs = np.random.default_rng(3).normal(0, 0.03, 300_000)
    times = np.exp(logs + level("step", len(logs)))
    assert classify([times]).overall.iteration == pytest.approx(50_000, abs=300_000 / 4000)
