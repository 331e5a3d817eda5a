"""From what a pilot saw to counts and predicted seconds."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.catalog.declared import Mode
from sqlitmus.catalog.planned import Counts, PlannedCase
from sqlitmus.run.counts import (
    HARNESS_S,
    SLACK,
    Turning,
    allocate,
    block_seconds,
    shared_operations,
)
from sqlitmus.run.observed import Observed, PilotProcess, observe
from sqlitmus.run.relay.turns import Turns
from tests.run.planned import planned

MODE = Mode(
    title="m",
    summary="m",
    blocks=10,
    pilot=3,
    iterations=(5, 50),
    warmup_iterations=3,
    warmup_ms=(100, 2000),
)
UNPILOTED = MODE.model_copy(update={"pilot": 0})
US = 1e3


def case(**changes: Any) -> PlannedCase:
    """A steady case of 4 operations, with some facts changed."""
    given: dict[str, Any] = {
        "id": "get",
        "scenario": "get",
        "title": "Get",
        "question": "?",
        "group": "reads",
        "bound_by": "driver",
        "axes": {},
        "metric": "steady",
        "unit": "read",
        "per_operation": 1,
        "operations": 4,
        "iterations": 5,
        "warmup_iterations": 3,
        "warmup_ms": 100,
        "workers": 1,
        "sql": [],
        "pragmas": [],
        "notes": [],
    }
    return PlannedCase.model_validate({**given, **changes})


COLD = case(metric="cold", operations=1, iterations=1, warmup_iterations=0, warmup_ms=0)


def seen(operation_ns: float = 10 * US, **changes: Any) -> Observed:
    """Three processes of a steady cell that start in 50 ms and are flat."""
    given: dict[str, Any] = {
        "seconds": 0.05,
        "processes": 3,
        "window_ms": 300,
        "operation_ns": operation_ns,
        "steadiness": "flat",
        "steady_from_ms": 0.0,
        "within": 0.01,
        "between": 0.01,
    }
    return Observed.model_validate({**given, **changes})


def operations(observed: dict[str, Observed | None], **changes: Any) -> dict[str, int]:
    found = allotted(case(**changes), observed)
    return {name: counts.operations for name, counts in found.items()}


def allotted(
    of: PlannedCase,
    observed: Mapping[str, Observed | None],
    mode: Mode = MODE,
    least_ms: Mapping[str, int] | None = None,
    *,
    alike: bool = False,
) -> dict[str, Counts]:
    """The counts of a case by itself, as the pilot gives them."""
    shared = shared_operations([of], observed.values(), mode)
    return allocate(of, observed, mode, least_ms or {}, shared, alike=alike)


def one(found: Observed | None, mode: Mode = MODE, least_ms: int = 0, **changes: Any) -> Counts:
    return allotted(case(**changes), {"a": found}, mode, {"a": least_ms})["a"]


# observe ----------------------------------------------------------------------------------------


def noisy(level_ns: float, count: int, seed: int) -> list[int]:
    draws = np.random.default_rng(seed).normal(0, 0.002, count)
    return [int(1000 * round(level_ns * float(np.exp(d)) / 1000)) for d in draws]


def test_a_steady_cell_is_timed_at_its_last_level_and_without_the_harness() -> None:
    series = [noisy(4e6, 30, seed) for seed in range(3)]
    found = observe([PilotProcess(0.25 + sum(s) / 1e9, s) for s in series], case(), 300)
    assert found.operation_ns == pytest.approx(1e6, rel=0.01)
    assert found.seconds == pytest.approx(0.25)
    assert (found.processes, found.window_ms, found.grain_ns) == (3, 300, 1000)
    assert (found.steadiness, found.steady_from_ms) == ("flat", 0.0)
    assert 0 < found.within < 0.01


def test_counts_of_a_cell_that_stalls_follow_from_its_mean() -> None:
    calm, stall = 1_000_000, 100_000_000
    series = [calm, calm, calm, stall] * 10
    stalls = observe([PilotProcess(9.0, [*series, *[calm] * 5])], case(), 300)
    assert stalls.operation_ns == calm / 4
    assert stalls.stalled_ns is not None
    assert stalls.stalled_ns > 20 * calm / 4
    smooth = observe([PilotProcess(0.5, [calm] * 45)], case(), 300)
    assert smooth.stalled_ns is None
    turning = Turning(8, 15, 5)
    both = allocate(case(), {"a": stalls, "b": smooth}, MODE, {}, 4, turning)
    assert both["a"].warmup_iterations <= 5
    assert both["a"].iterations == 8 * 2
    assert both["b"].warmup_iterations == 100


def test_iterations_of_a_warm_up_are_those_that_a_process_does_in_that_time() -> None:
    """The first ones are slow: as many as the last level fits in would take longer."""
    series = [10_000_000] * 5 + [1_000_000] * 245
    observed = observe([PilotProcess(0.5, series)], case(), 300)
    assert observed.operations_within(50) == 5 * 4
    assert observed.operations_within(30) == 3 * 4
    assert observed.operations_within(400) == 355 * 4
    assert observed.ms_of(3 * 4) == 30
    assert observed.ms_of(355 * 4) == 400
    turned = allocate(case(), {"a": observed}, MODE, {"a": 150}, 4, Turning(8, 15, 5))["a"]
    assert turned.warmup_iterations == 105
    assert turned.warmed_ms == pytest.approx(150)
    finer = allocate(case(), {"a": observed}, MODE, {"a": 150}, 2, Turning(8, 15, 5))["a"]
    assert finer.warmup_iterations == 210


def test_stalls_that_only_turns_show_count_as_well() -> None:
    smooth = observe([PilotProcess(0.5, [1_000_000] * 45)], case(), 300)
    assert smooth.also_stalling(1.2) is smooth
    assert smooth.also_stalling(40).stalled_ns == 40 * 1_000_000 / 4
    assert smooth.also_stalling(40).also_stalling(5).stalled_ns == 40 * 1_000_000 / 4


def test_a_warm_up_is_left_out_and_its_end_is_told() -> None:
    series = noisy(20e6, 10, 1) + noisy(4e6, 40, 2)
    found = observe([PilotProcess(1.0, series)], case(), 300)
    assert found.operation_ns == pytest.approx(1e6, rel=0.01)
    assert found.steadiness == "warm-up"
    assert found.steady_from_ms == pytest.approx(sum(series[:10]) / 1e6)


def test_a_process_that_never_settles_is_warm_once_it_is_as_fast_as_it_becomes() -> None:
    unsteady = noisy(20e6, 10, 1) + (noisy(4e6, 10, 2) + noisy(5e6, 10, 3)) * 5 + noisy(4e6, 4, 4)
    found = observe([PilotProcess(1.0, unsteady)], case(), 300)
    assert (found.steadiness, found.steady_from_ms) == ("no steady state", None)
    assert found.fastest_from_ms is not None
    assert found.fastest_from_ms == pytest.approx(sum(unsteady[:10]) / 1e6)
    assert one(found).warmup_ms == int(SLACK * found.fastest_from_ms) + 1


@pytest.mark.parametrize("of", [case(), COLD], ids=["steady", "cold"])
def test_processes_differ_only_where_there_are_three(of: PlannedCase) -> None:
    levels = (3e6, 4e6, 5e6)
    each = [PilotProcess(lv / 1e6, noisy(lv, 20, n)) for n, lv in enumerate(levels)]
    assert observe(each[:2], of, 300).between is None
    found = observe(each, of, 300).between
    assert found is not None
    assert 0.1 < found < 0.6
    assert observe(each[:1] * 3, of, 300).between == 0


def test_a_cold_cell_is_its_whole_process() -> None:
    found = observe([PilotProcess(s, []) for s in (0.2, 0.5, 0.3)], COLD, 300)
    assert (found.seconds, found.operation_ns, found.window_ms) == (0.3, None, 0)
    assert (found.steadiness, found.steady_from_ms) == (None, None)


# allocate ---------------------------------------------------------------------------------------


def test_all_runners_do_the_same_operations() -> None:
    # 5 ms of the fastest: 1 µs an operation
    given = {"fast": seen(1 * US), "slow": seen(19 * US), "same": seen(1 * US)}
    assert operations(dict(given)) == {"fast": 5000, "slow": 5000, "same": 5000}


def test_a_runner_30_times_slower_does_the_same_inserts() -> None:
    given = {"fast": seen(1 * US), "far": seen(30 * US)}
    assert operations(dict(given)) == {"fast": 5000, "far": 5000}


def test_a_coarse_clock_asks_for_longer_iterations() -> None:
    given = {"fine": seen(1 * US), "coarse": seen(1 * US, grain_ns=100_000)}
    assert operations(dict(given)) == {"fine": 100_000, "coarse": 100_000}


def test_a_scenario_bounds_the_operations_of_all() -> None:
    given = {"fast": seen(1 * US), "far": seen(21 * US)}
    assert operations(dict(given), most_operations=300) == {"fast": 300, "far": 300}
    assert operations(dict(given), most_operations=5) == {"fast": 5, "far": 5}


def test_who_is_not_known_does_not_decide_for_the_others_and_does_the_same() -> None:
    found = operations({"known": seen(1 * US), "unknown": None})
    assert found == {"known": 5000, "unknown": 5000}


def test_cases_that_are_compared_do_the_same_and_no_more_than_each_bears() -> None:
    fast, slow = case(), case(id="other", most_operations=4000)
    both = [seen(1 * US), seen(3 * US)]
    assert shared_operations([fast], both, MODE) == 5000
    assert shared_operations([fast, slow], both, MODE) == 4000
    assert shared_operations([fast, slow], [None, None], MODE) is None
    assert shared_operations([fast], both, UNPILOTED) is None


def test_operations_of_a_given_plan_are_those_of_new_runners_too() -> None:
    counts = allocate(case(), {"new": seen(1 * US)}, MODE, {}, 300)["new"]
    assert counts.operations == 300
    assert counts.seconds == pytest.approx(0.05 + 0.1 + (counts.iterations + 0.5) * 300e-6)


def process(counts: Counts) -> tuple[int, int, int, int]:
    """What a process is told to do."""
    return counts.operations, counts.iterations, counts.warmup_iterations, counts.warmup_ms


def test_two_subjects_get_the_same_counts_however_their_pilots_differ() -> None:
    early, late = seen(within=0.04), seen(within=0.02, steady_from_ms=1000.0)
    given: dict[str, Observed | None] = {"base": early, "new": late}
    apart = allotted(case(), given, MODE, {"new": 1500})
    assert process(apart["base"]) == (500, 22, 3, 100)
    assert process(apart["new"]) == (500, 36, 3, 1500)
    both = allotted(case(), given, MODE, {"new": 1500}, alike=True)
    assert process(both["base"]) == process(both["new"]) == (500, 36, 3, 1500)
    # what it costs and how much it can tell follow from what is done
    assert both["base"].seconds == pytest.approx(0.05 + 1.5 + 36.5 * 0.005)
    assert both["base"].deviation is not None
    assert apart["base"].deviation is not None
    assert both["base"].deviation < apart["base"].deviation


def test_two_subjects_without_a_pilot_get_the_longer_warm_up_of_the_two() -> None:
    none: dict[str, Observed | None] = {"base": None, "new": None}
    both = allotted(case(), none, UNPILOTED, {"new": 300}, alike=True)
    assert process(both["base"]) == process(both["new"]) == (4, 5, 3, 300)


# turns ------------------------------------------------------------------------------------------

TURNING = Turning(rounds=8, lead_in_ms=10, lap_ms=5)


def turned(observed: Mapping[str, Observed | None], *, alike: bool = False) -> dict[str, Counts]:
    shared = shared_operations([case()], observed.values(), MODE, TURNING)
    return allocate(case(), observed, MODE, {"b": 300}, shared, alike=alike, turning=TURNING)


def test_turns_are_whole_iterations_that_last_as_long_in_all_processes() -> None:
    counts = turned({"a": seen(10 * US), "b": seen(60 * US)})
    # 8 iterations of the fastest are a lap; the slower one does fewer of them in the same time
    assert {c.operations for c in counts.values()} == {80}  # 62.5, rounded up
    fast, slow = (Turns.of(counts[name]) for name in "ab")
    assert (fast.lead_in, fast.lap, fast.rounds) == (13, 7, 8)
    assert (slow.lead_in, slow.lap, slow.rounds) == (3, 2, 8)
    assert [c.warmup_ms for c in counts.values()] == [0, 0]
    assert fast.warmup * 0.8 >= 100
    assert slow.warmup * 4.8 >= 300
    assert counts["a"].seconds == pytest.approx(0.05 + (fast.warmup + 160.5) * 0.8e-3)


def test_two_subjects_take_the_same_turns() -> None:
    both = turned({"a": seen(10 * US), "b": seen(60 * US)}, alike=True)
    assert Turns.of(both["a"]) == Turns.of(both["b"])
    assert Turns.of(both["a"]).lap >= 1


def test_who_was_not_tried_takes_the_shortest_turns() -> None:
    assert Turns.of(turned({"a": None})["a"]) == Turns(warmup=3, rounds=8, lead_in=1, lap=1)


@pytest.mark.parametrize(
    ("steady_from_ms", "least_ms", "expected"),
    [
        (0.0, 0, 100),  # the mode's least
        (400.0, 0, int(400 * SLACK)),
        (1999.0, 0, 2000),  # the mode's most
        (None, 0, 2000),  # never steady, nor known when it was fastest: as long as may be
        (0.0, 700, 700),  # the runner's own least
        (400.0, 100, int(400 * SLACK)),
        (None, 3000, 3000),
    ],
)
def test_warm_up_lasts_beyond_the_last_level_within_bounds(
    steady_from_ms: float | None, least_ms: int, expected: int
) -> None:
    assert one(seen(steady_from_ms=steady_from_ms), least_ms=least_ms).warmup_ms == expected


@pytest.mark.parametrize(
    ("within", "between", "iterations"),
    [(0.0, 0.01, 5), (0.1, 0.0, 50), (0.1, 1e-6, 50), (1e-6, 0.1, 5), (0.1, None, 5)],
)
def test_iterations_follow_from_where_the_noise_is(
    within: float, between: float | None, iterations: int
) -> None:
    assert one(seen(within=within, between=between)).iterations == iterations


def test_iterations_between_the_bounds_grow_with_the_noise_within() -> None:
    # sqrt(150 ms / 5 ms) = 5.5 times within / between
    few, many = (one(seen(within=share * 0.01)).iterations for share in (2, 4))
    assert (few, many) == (11, 22)


def test_a_scenario_with_iterations_of_its_own_keeps_them_as_the_least() -> None:
    assert one(seen(within=0.0), iterations=7).iterations == 7
    assert one(seen(within=0.0), iterations=99).iterations == 50


@pytest.mark.parametrize(("found", "mode"), [(None, MODE), (None, UNPILOTED), (seen(), UNPILOTED)])
def test_without_a_pilot_the_scenarios_counts_stand(found: Observed | None, mode: Mode) -> None:
    counts = one(found, mode)
    assert (counts.operations, counts.iterations) == (4, 5)
    assert (counts.warmup_iterations, counts.warmup_ms) == (3, 100)
    assert counts.seconds == (found.seconds if found else HARNESS_S)
    assert one(found, mode, 700).warmup_ms == 700


def test_a_cold_case_is_one_process_whatever_a_runner_asks_for() -> None:
    found = observe([PilotProcess(s, []) for s in (0.2, 0.5, 0.3)], COLD, 300)
    counts = allotted(COLD, {"a": found}, MODE, {"a": 700})["a"]
    assert (counts.operations, counts.iterations) == (1, 1)
    assert (counts.warmup_iterations, counts.warmup_ms, counts.seconds) == (0, 0, 0.3)
    assert counts.deviation == found.between


def test_seconds_are_predicted_from_start_warm_up_and_iterations() -> None:
    counts = one(seen(10 * US, within=0.0))  # 500 operations of 10 µs: 5 ms
    assert counts.seconds == pytest.approx(0.05 + 0.1 + 5.5 * 0.005)
    # iterations that last longer than the warm-up: 3 of them
    counts = one(seen(1e8, within=0.0))
    assert (counts.operations, counts.warmup_ms) == (1, 100)
    assert counts.seconds == pytest.approx(0.05 + (3 + 5.5) * 0.1)


@given(
    st.floats(1, 1e10),
    st.floats(1e-4, 10),
    st.floats(0, 1),
    st.none() | st.floats(0, 1),
    st.none() | st.floats(0, 1e5),
    st.integers(0, 3000),
)
def test_counts_stay_within_bounds(
    operation_ns: float,
    seconds: float,
    within: float,
    between: float | None,
    steady_from_ms: float | None,
    least_ms: int,
) -> None:
    found = seen(
        operation_ns,
        seconds=seconds,
        within=within,
        between=between,
        steady_from_ms=steady_from_ms,
    )
    counts = one(found, MODE, least_ms, most_operations=1000)
    assert 1 <= counts.operations <= 1000
    assert 5 <= counts.iterations <= 50
    assert max(100, least_ms) <= counts.warmup_ms <= max(2000, least_ms)
    assert counts.seconds > seconds
    assert (counts.deviation is None) == (between is None)


# block_seconds ----------------------------------------------------------------------------------


def test_a_block_is_all_cells_and_the_canary_where_its_runner_is() -> None:
    counts = {
        "x": {"a": planned(seconds=1), "b": planned(seconds=10)},
        "y": {"b": planned(seconds=100)},
    }
    cells = {"x": ["a", "b"], "y": ["b"]}
    assert block_seconds(counts, cells, {}) == 111
    assert block_seconds(counts, cells, {"x": "a"}) == 112
    assert block_seconds(counts, cells, {"x": "b", "y": "b"}) == 221
