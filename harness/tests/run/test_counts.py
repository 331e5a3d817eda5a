"""From what a pilot saw to counts and predicted seconds."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sqlitmus.catalog.cases import STAGGERS, Counts, PlannedCase
from sqlitmus.catalog.scenario import Mode
from sqlitmus.run.plan.counts import (
    LONGEST,
    LOOKS,
    SLACK,
    TOGETHER_MS,
    WALK_LAPS,
    Observed,
    PilotProcess,
    Turning,
    Work,
    allocate,
    case_seconds,
    fitting,
    led_in_alike,
    observe,
    work,
)
from sqlitmus.run.processes.turns import Turns
from tests.analysis import runs
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
FOURS = Work(operations=4, lap=8, rounds=8, lead_in=0, whole=True)


def case(**changes: Any) -> PlannedCase:
    """A steady case of 4 operations, with some facts changed."""
    counts = {"operations": 4, "iterations": 5, "warmup_iterations": 3, "warmup_ms": 100}
    return PlannedCase.model_validate(runs.case("get", **{**counts, **changes}))


COLD = case(metric="cold", operations=1, iterations=1, warmup_iterations=0, warmup_ms=0)


def seen(operation_ns: float = 10 * US, **changes: Any) -> Observed:
    """Three processes of a steady cell that start in 50 ms and are flat."""
    processes = {"seconds": 0.05, "processes": 3, "window_ms": 300, "operation_ns": operation_ns}
    flat = {"steadiness": "flat", "steady_from_ms": 0.0, "within": 0.01, "between": 0.01}
    return Observed.model_validate({**processes, **flat, **changes})


def allotted(
    of: PlannedCase,
    observed: Mapping[str, Observed | None],
    mode: Mode = MODE,
    least_ms: Mapping[str, int] | None = None,
    *,
    alike: bool = False,
) -> dict[str, Counts]:
    """The counts of a case by itself, as the pilot gives them."""
    shared = work(of, observed.values(), mode)
    return allocate(of, observed, mode, least_ms or {}, shared, alike=alike)


def one(found: Observed | None, mode: Mode = MODE, least_ms: int = 0, **changes: Any) -> Counts:
    return allotted(case(**changes), {"a": found}, mode, {"a": least_ms})["a"]


def tried(seconds: float, iterations_ns: list[int]) -> PilotProcess:
    """A process of a pilot, with iterations of 4 operations."""
    return PilotProcess(seconds, iterations_ns, 4)


def noisy(level_ns: float, count: int, seed: int) -> list[int]:
    draws = np.random.default_rng(seed).normal(0, 0.002, count)
    return [int(1000 * round(level_ns * float(np.exp(d)) / 1000)) for d in draws]


def test_a_steady_cell_is_timed_at_its_last_level_and_without_the_harness() -> None:
    series = [noisy(4e6, 30, seed) for seed in range(3)]
    found = observe([tried(0.25 + sum(s) / 1e9, s) for s in series], case(), 300)
    assert found.operation_ns == pytest.approx(1e6, rel=0.01)
    assert found.seconds == pytest.approx(0.25)
    assert (found.processes, found.window_ms, found.grain_ns) == (3, 300, 1000)
    assert (found.steadiness, found.steady_from_ms) == ("flat", 0.0)
    assert 0 < found.within < 0.01


def test_counts_of_a_cell_that_stalls_follow_from_its_mean() -> None:
    calm, stall = 1_000_000, 100_000_000
    series = [calm, calm, calm, stall] * 10
    stalls = observe([tried(9.0, [*series, *[calm] * 5])], case(), 300)
    assert stalls.operation_ns == calm / 4
    assert stalls.stalled_ns is not None
    assert stalls.stalled_ns > 20 * calm / 4
    smooth = observe([tried(0.5, [calm] * 45)], case(), 300)
    assert smooth.stalled_ns is None
    # stalls that only turns show count as well
    assert smooth.also_stalling(1.2) is smooth
    assert smooth.also_stalling(40).stalled_ns == 40 * calm / 4
    assert smooth.also_stalling(40).also_stalling(5).stalled_ns == 40 * calm / 4
    both = allocate(case(), {"a": stalls, "b": smooth}, MODE, {}, FOURS)
    assert both["a"].warmup_iterations <= 5
    assert both["b"].warmup_iterations == 100


def test_iterations_of_a_warm_up_are_those_that_a_process_does_in_that_time() -> None:
    """The first ones are slow: as many as the last level fits in would take longer."""
    series = [10_000_000] * 5 + [1_000_000] * 245
    observed = observe([tried(0.5, series)], case(), 300)
    assert observed.operations_within(50) == 5 * 4
    assert observed.operations_within(30) == 3 * 4
    assert observed.operations_within(400) == 355 * 4
    assert observed.ms_of(3 * 4) == 30
    assert observed.ms_of(355 * 4) == 400
    counts = allocate(case(), {"a": observed}, MODE, {"a": 150}, FOURS)["a"]
    assert counts.warmup_iterations == 105
    assert counts.warmed_ms == pytest.approx(150)
    finer = allocate(case(), {"a": observed}, MODE, {"a": 150}, replace(FOURS, operations=2))["a"]
    assert finer.warmup_iterations == 210


def test_a_warm_up_is_left_out_and_its_end_is_told() -> None:
    series = noisy(20e6, 10, 1) + noisy(4e6, 40, 2)
    found = observe([tried(1.0, series)], case(), 300)
    assert found.operation_ns == pytest.approx(1e6, rel=0.01)
    assert found.steadiness == "warm-up"
    assert found.steady_from_ms == pytest.approx(sum(series[:10]) / 1e6)


def test_a_process_that_never_settles_is_warm_once_it_is_as_fast_as_it_becomes() -> None:
    unsteady = noisy(20e6, 10, 1) + (noisy(4e6, 10, 2) + noisy(5e6, 10, 3)) * 5 + noisy(4e6, 4, 4)
    found = observe([tried(1.0, unsteady)], case(), 300)
    assert (found.steadiness, found.steady_from_ms) == ("no steady state", None)
    assert found.fastest_from_ms is not None
    assert found.fastest_from_ms == pytest.approx(sum(unsteady[:10]) / 1e6)
    counts = one(found)
    warmed = found.ms_of((counts.warmup_iterations - 1) * counts.operations)
    assert counts.warmed_ms is not None
    assert warmed < SLACK * found.fastest_from_ms <= counts.warmed_ms


@pytest.mark.parametrize("of", [case(), COLD], ids=["steady", "cold"])
def test_processes_differ_only_where_there_are_three(of: PlannedCase) -> None:
    levels = (3e6, 4e6, 5e6)
    each = [tried(lv / 1e6, noisy(lv, 20, n)) for n, lv in enumerate(levels)]
    assert observe(each[:2], of, 300).between is None
    assert observe([tried(1.0, [1000] * 6)], case(), 300).steadiness is None
    found = observe(each, of, 300).between
    assert found is not None
    assert 0.1 < found < 0.6
    assert observe(each[:1] * 3, of, 300).between == 0


TURNING = Turning(rounds=8, lead_in_ms=10, lap_ms=10)


def found(observed: Mapping[str, Observed | None], **changes: Any) -> Work:
    """The work of a case that a pilot has seen."""
    made = work(case(**changes), observed.values(), MODE)
    assert made
    return made


@pytest.mark.parametrize(
    ("observed", "operations", "lap"),
    [
        ([seen(10 * US)], 128, LOOKS),
        ([seen(1 * US), seen(100 * US)], 128, LOOKS),
        ([seen(), seen(grain_ns=10_000)], 1024, 1),  # a coarse clock asks for longer iterations
    ],
)
def test_an_operation_takes_what_it_takes_most_runners(
    observed: list[Observed], operations: int, lap: int
) -> None:
    """10 ms are 1,000 operations of 10 µs, the geometric mean; a power of two is near."""
    made = found(dict(zip("ab", observed, strict=False)))
    assert (made.operations, made.lap) == (operations, lap)


def test_threads_that_wait_for_each_other_at_its_ends_have_a_long_iteration() -> None:
    """20 ms are 2,000 operations of 10 µs; a lap is as long at least."""
    for together in ({"workers": 2}, {"processes": 2}):
        both = found({"a": seen()}, **together)
        assert (both.operations, both.lap) == (2048, 1)
    longer = found({"a": seen()}, workers=2, walk=32_768)
    # a lap of 20 ms is twice the mode's, so half its rounds, a walk in all
    assert (longer.operations, longer.lap, longer.rounds) == (2048, 4, 4)


def test_a_lap_is_at_least_an_eighth_of_the_walk() -> None:
    short, long = found({"a": seen()}, walk=4096), found({"a": seen()}, walk=16_384)
    assert (short.whole, long.whole) == (True, True)
    assert short.operations * short.lap == 1024  # as long as the mode says
    assert long.operations * long.lap * WALK_LAPS == 16_384
    # an eighth of 1,311 ms is more than sixteen times as long as the mode's laps
    far = found({"a": seen()}, walk=131_072)
    assert not far.whole
    assert far.operations * far.lap == 1024


def test_who_is_not_known_does_not_decide_for_the_others_and_does_the_same() -> None:
    assert work(case(), [None, None], MODE) is None
    assert work(case(), [seen()], UNPILOTED) is None
    both = allotted(case(), {"known": seen(), "unknown": None})
    assert done(both["known"]) == done(both["unknown"])
    assert found({"known": seen()}) == found({"known": seen(), "unknown": None})


POWERS = st.integers(0, 16).map(lambda exponent: 2**exponent)


@given(
    st.lists(st.floats(50, 1e9), min_size=1, max_size=5),
    st.floats(0, 2000),
    st.integers(1, 40),
    POWERS,
    POWERS,
)
def test_all_runners_time_the_same_operations_in_both_schemes(
    times: list[float], steady_from_ms: float, rounds: int, walk: int, grain: int
) -> None:
    observed = {
        str(number): seen(ns, steady_from_ms=steady_from_ms / (number + 1), grain_ns=grain)
        for number, ns in enumerate(times)
    }
    mode = MODE.model_copy(update={"rounds": rounds})
    of = case(walk=walk)
    turns = Turning(fitting([of], rounds), 20, mode.lap_ms)
    alone, relayed = (work(of, observed.values(), mode, how) for how in (None, turns))
    assert alone
    assert relayed
    assert (alone.operations, alone.lap) == (relayed.operations, relayed.lap)
    assert (alone.rounds, alone.whole) == (relayed.rounds, relayed.whole)
    lone = allocate(of, observed, mode, {}, alone)
    turned = allocate(of, observed, mode, {}, relayed, turns)
    for counts in (lone, turned):
        assert len({done(each) for each in counts.values()}) == 1
        starts = {each.warmup_iterations * each.operations for each in counts.values()}
        # before the clock each has walked so often, or all have gone equally far
        assert all(start % walk == 0 for start in starts) if alone.whole else len(starts) == 1
    if alone.whole:
        assert alone.operations * alone.lap * alone.rounds % walk == 0
    assert {each.iterations for each in lone.values()} == {alone.rounds * alone.lap}
    assert {Turns.of(each).lap for each in turned.values()} == {alone.lap}


def writing(warmup: int, timed: int, **changes: Any) -> PlannedCase:
    stated = {"warmup_operations": warmup, "timed_operations": timed}
    return case(writes=True, warmup_ms=0, **stated, **changes)


def test_what_writes_does_the_work_that_is_stated() -> None:
    of = writing(320, 832)
    for observed in ({"a": seen(1 * US)}, {"a": seen(1e8)}, {"a": seen(), "b": seen(30 * US)}):
        for how in (None, replace(TURNING, rounds=4)):
            shared = work(of, observed.values(), MODE, how)
            for counts in allocate(of, observed, MODE, {"a": 700}, shared, how).values():
                assert counts.of(of).total == 320 + 832
                assert counts.operations * counts.warmup_iterations == 320
                assert counts.warmup_ms == 0


def test_a_stated_work_is_looked_at_often_enough_to_see_an_interruption() -> None:
    made = work(writing(320, 832), [seen()], MODE, replace(TURNING, rounds=4))
    assert made
    assert (made.rounds, made.lap, made.operations) == (4, 13, 16)
    # 12 rounds do not divide 32 operations: 8 do
    few = work(writing(8, 32), [seen()], MODE, replace(TURNING, rounds=12))
    assert few
    assert (few.rounds, few.lap, few.operations) == (8, 4, 1)


def test_cases_that_are_compared_have_rounds_that_divide_the_work_of_each() -> None:
    assert fitting([], 16) == 16
    assert fitting([case()], 13) == 16
    assert fitting([writing(8, 32)], 12) == 8
    assert fitting([writing(8, 32), case(), writing(8, 20)], 12) == 4
    assert fitting([writing(16, 8)], 12, [None], 10) == 8  # what no pilot saw
    assert fitting([writing(16, 8)], 1, [seen(1 * US)], 10) == 1


@pytest.mark.parametrize(
    ("operation_us", "rounds"), [(1050, 8), (250, 2), (1, 2), (60_000, 10), (1300, 10)]
)
def test_laps_of_stated_work_are_long_where_two_can_be(operation_us: float, rounds: int) -> None:
    """A lap begins with the caches of another process: of 1 ms it would say little else."""
    each = [seen(operation_us * US / 2), None, seen(operation_us * US * 2)]
    assert fitting([writing(160, 80)], 12, each, 2) == rounds
    assert fitting([writing(160, 160), writing(160, 80)], 12, each, 2) == rounds
    assert fitting([case()], 16, each, 2) == 16


@example(warmup=16, timed=64, unit=1, rounds=2, resets=6, in_turns=True)
@given(
    st.integers(1, 64),
    st.integers(1, 64),
    st.sampled_from([1, 2, 4, 10, 40, 208, 480]),
    st.integers(1, 30),
    st.integers(0, 6),
    st.booleans(),
)
def test_a_stated_work_is_cut_into_laps_without_remainder(
    warmup: int, timed: int, unit: int, rounds: int, resets: int, in_turns: bool
) -> None:
    """Warm-up and timed work are multiples of a unit, as the resets are."""
    reset = resets * unit or None
    of = writing(warmup * unit, timed * unit, reset_every=reset)
    how = Turning(rounds, 20, 10) if in_turns else None
    mode = MODE.model_copy(update={"rounds": rounds})
    made = work(of, [seen()], mode, how)
    assert made
    counts = allocate(of, {"a": seen()}, mode, {}, made, how)["a"]
    assert counts.lead_in == 0
    assert counts.operations * counts.warmup_iterations == warmup * unit
    assert counts.operations * counts.iterations == timed * unit
    assert made.rounds <= rounds
    assert made.rounds * made.lap == counts.iterations
    if in_turns:
        turns = Turns.of(counts)
        assert (turns.rounds, turns.lap) == (made.rounds, made.lap)
    if reset:  # it comes between two iterations
        assert reset % counts.operations == 0


def done(counts: Counts) -> tuple[int, int, int, int]:
    """What a process does once it is warmed up."""
    return counts.operations, counts.iterations, counts.rounds, counts.lead_in


def test_work_of_a_given_plan_is_that_of_new_runners_too() -> None:
    given = Work(operations=300, lap=4, rounds=2, lead_in=0, whole=False)
    counts = allocate(case(), {"new": seen(1 * US)}, MODE, {}, given)["new"]
    assert done(counts) == (300, 8, 0, 0)
    warmed = counts.warmup_iterations * 300
    assert counts.seconds == pytest.approx(0.05 + (warmed + 8 * 300) * 1e-6)


@pytest.mark.parametrize(
    ("steady_from_ms", "least_ms", "expected"),
    [
        (0.0, 0, 100),  # the mode's least
        (400.0, 0, 400 * SLACK),
        (1999.0, 0, 2000),  # the mode's most
        (None, 0, 2000),  # never steady, nor known when it was fastest: as long as may be
        (0.0, 700, 700),  # the runner's own least
        (400.0, 100, 400 * SLACK),
        (None, 3000, 3000),
    ],
)
def test_warm_up_lasts_beyond_the_last_level_within_bounds(
    steady_from_ms: float | None, least_ms: int, expected: float
) -> None:
    iteration_ms, observed = 1.28, seen(steady_from_ms=steady_from_ms)
    counts = one(observed, least_ms=least_ms)
    lasts = observed.ms_of(counts.warmup_iterations * counts.operations)
    assert expected <= lasts <= expected + iteration_ms


def warmed(walk: int, **observed: Observed) -> set[int]:
    """Operations with which the runners warm up."""
    counts = allotted(case(walk=walk), observed).values()
    return {each.warmup_iterations * each.operations for each in counts}


def test_a_warm_up_ends_with_a_walk_or_takes_as_many_operations_of_all() -> None:
    """100 ms are 10,000 operations: two walks are 8,192. Or a walk takes too long."""
    assert warmed(4096, a=seen()) == {3 * 4096}
    (slow,) = warmed(2**20, a=seen(), b=seen(20 * US, steady_from_ms=1600.0))
    assert slow * 20 * US >= 1600e6
    # the slowest bears as much as four of the mode's longest
    crawling = {"a": seen(), "b": seen(5e6)}
    (most,) = warmed(2**20, **crawling)
    each = allotted(case(walk=2**20), crawling)["a"].operations
    assert most * 5e6 <= LONGEST * 2000e6 + 5e6 * each


def test_copies_of_a_runner_warm_up_alike_as_does_the_longest() -> None:
    copies = {f"copy-{ms}": seen(steady_from_ms=ms) for ms in (150.0, 160.0, 200.0, 240.0)}
    (of_all,) = warmed(256, **copies)
    assert {of_all} == warmed(256, alone=copies["copy-240.0"])
    assert min(warmed(256, **copies, slower=seen(steady_from_ms=600.0)) - {of_all}) > 2 * of_all


def test_what_is_slower_for_a_while_is_no_warm_up_but_what_stays_so_is() -> None:
    burst = seen(steadiness="warm-up", steady_from_ms=1600.0, fastest_from_ms=0.0)
    assert warmed(256, a=burst) == warmed(256, a=seen())
    slowed = burst.model_copy(update={"steadiness": "slowdown"})
    assert warmed(256, a=slowed) == warmed(256, a=seen(steady_from_ms=1600.0))


def test_two_subjects_get_the_same_counts_however_their_pilots_differ() -> None:
    early, late = seen(within=0.04), seen(within=0.02, steady_from_ms=1000.0)
    given: dict[str, Observed | None] = {"base": early, "new": late}
    apart = allotted(case(), given, MODE, {"new": 1500})
    assert apart["base"].warmup_iterations < apart["new"].warmup_iterations
    both = allotted(case(), given, MODE, {"new": 1500}, alike=True)
    assert both["base"].warmup_iterations == both["new"].warmup_iterations
    assert both["new"] == apart["new"]
    assert both["base"].seconds == pytest.approx(both["new"].seconds)
    turns = turned({"a": seen(10 * US), "b": seen(60 * US)}, alike=True)
    assert Turns.of(turns["a"]) == Turns.of(turns["b"])
    assert Turns.of(turns["a"]).lap >= 1
    # without a pilot they have the scenario's
    none: dict[str, Observed | None] = {"base": None, "new": None}
    both = allotted(case(), none, UNPILOTED, {"new": 300}, alike=True)
    assert [done(each) for each in both.values()] == [(4, 5, 0, 0)] * 2
    assert {each.warmup_ms for each in both.values()} == {300}


@pytest.mark.parametrize("lead_in_ms", range(3, 13))
@pytest.mark.parametrize("operation_us", [1, 2, 3, 5, 8])
def test_laps_reach_most_rows_of_a_pool_and_those_of_eight_blocks_all(
    lead_in_ms: int, operation_us: int
) -> None:
    turning = Turning(rounds=8, lead_in_ms=lead_in_ms, lap_ms=2)
    of, observed = case(walk=4096), {"a": seen(operation_us * US)}
    mode = MODE.model_copy(update={"stagger_ms": 300, "lap_ms": 2})
    made = work(of, observed.values(), mode, turning)
    (counts,) = allocate(of, observed, mode, {}, made, turning).values()
    turns = Turns.of(counts)
    rows = [
        {
            operation % 4096
            for turn in range(turns.rounds)
            for operation in range(
                (start + turn * turns.per_turn + turns.lead_in) * counts.operations,
                (start + (turn + 1) * turns.per_turn) * counts.operations,
            )
        }
        for start in (counts.staggered(step).warmup_iterations for step in range(STAGGERS))
    ]
    assert {len(each) / 4096 for each in rows} == {counts.timed_share(4096)}
    assert counts.timed_share(4096) >= 0.6
    assert len({row for each in rows for row in each}) == 4096
    assert turns.lead_in * counts.operations * operation_us < 1.5e3 * lead_in_ms + 2000


def test_cases_that_are_compared_time_the_same_rows() -> None:
    base, new = (Turning(rounds=8, lead_in_ms=ms, lap_ms=5) for ms in (3, 9))
    of, observed = case(walk=4096), {"a": seen(5 * US)}
    alike = led_in_alike({"base": base, "new": new})
    first, second = (work(of, observed.values(), MODE, alike[name]) for name in ("base", "new"))
    assert first == second
    assert first == work(of, observed.values(), MODE, new)
    assert led_in_alike({}) == {}


def turned(
    observed: Mapping[str, Observed | None], *, alike: bool = False, **changes: Any
) -> dict[str, Counts]:
    of = case(**changes)
    mode = MODE.model_copy(update={"stagger_ms": 70})
    shared = work(of, observed.values(), mode, TURNING)
    return allocate(of, observed, mode, {"b": 300}, shared, TURNING, alike=alike)


def test_a_process_without_turns_begins_to_count_at_other_moments_in_each_block() -> None:
    """A collection that comes once would fall into what counts in every block, or in none."""
    of, observed = case(workers=2), {"a": seen(5 * US), "b": seen(20 * US)}
    mode = MODE.model_copy(update={"stagger_ms": 70})
    counts = allocate(of, observed, mode, {}, work(of, observed.values(), mode))
    steps = {each.stagger * each.operations * 10 * US / 1e6 for each in counts.values()}
    (step_ms,) = steps
    assert 10 <= step_ms < 10 + TOGETHER_MS
    assert [each.rounds for each in counts.values()] == [0, 0]


def test_turns_are_the_same_operations_of_all_processes() -> None:
    counts = turned({"a": seen(5 * US), "b": seen(20 * US)})
    fast, slow = (Turns.of(counts[name]) for name in "ab")
    assert {each.operations for each in counts.values()} == {128}
    assert (fast.lead_in, fast.lap, fast.rounds) == (slow.lead_in, slow.lap, slow.rounds)
    assert (fast.lap, fast.rounds) == (8, 8)
    assert fast.lead_in * 128 * 10 * US >= TURNING.lead_in_ms * 1e6
    assert [each.warmup_ms for each in counts.values()] == [0, 0]
    assert fast.warmup * 128 * 5 * US >= 100e6
    assert slow.warmup * 128 * 20 * US >= 300e6
    each_s = 128 * 5e-6
    # warm-ups are longer by three and a half steps in the mean; seven take 70 ms in the middle of
    # both, and so many iterations are the same for all
    assert [each.stagger for each in counts.values()] == [9, 9]
    warmup = fast.warmup + 3.5 * 9
    begun_s = 0.05 + 8 * 0.002  # a start, and what eight turns take beside their iterations
    assert counts["a"].seconds == pytest.approx(begun_s + (warmup + fast.iterations) * each_s)


@pytest.mark.parametrize("mode", [MODE, UNPILOTED])
def test_who_was_not_tried_takes_the_shortest_turns(mode: Mode) -> None:
    counts = allocate(case(), {"a": None}, mode, {}, None, TURNING)["a"]
    assert Turns.of(counts) == Turns(warmup=3, rounds=8, lead_in=1, lap=1)
    assert (counts.operations, counts.warmup_ms) == (4, 0)


@pytest.mark.parametrize(("found", "mode"), [(None, MODE), (None, UNPILOTED), (seen(), UNPILOTED)])
def test_without_a_pilot_the_scenarios_counts_stand(found: Observed | None, mode: Mode) -> None:
    counts = one(found, mode)
    assert (counts.operations, counts.iterations) == (4, 5)
    assert (counts.warmup_iterations, counts.warmup_ms) == (3, 100)
    assert counts.seconds == (found.seconds if found else mode.process_s)
    assert one(found, mode, 700).warmup_ms == 700
    # or its tables would grow to another size on each runner
    assert one(None, mode, 700, writes=True, warmup_operations=4, timed_operations=8).warmup_ms == 0


def test_a_cold_cell_is_one_whole_process_whatever_a_runner_asks_for() -> None:
    found = observe([tried(s, []) for s in (0.2, 0.5, 0.3)], COLD, 300)
    assert (found.seconds, found.operation_ns, found.window_ms) == (0.3, None, 0)
    assert (found.steadiness, found.steady_from_ms) == (None, None)
    counts = allotted(COLD, {"a": found}, MODE, {"a": 700})["a"]
    assert (counts.operations, counts.iterations) == (1, 1)
    assert (counts.warmup_iterations, counts.warmup_ms, counts.seconds) == (0, 0, 0.3)
    assert counts.deviation == found.between


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
    counts = one(found, MODE, least_ms)
    lap_ns = counts.iterations / MODE.rounds * counts.operations * operation_ns
    assert lap_ns <= max(2 * MODE.lap_ms * 1e6, operation_ns)
    assert lap_ns * 2 >= MODE.lap_ms * 1e6
    assert counts.warmup_ms == 0
    assert counts.warmup_iterations >= 1
    assert counts.seconds > seconds
    assert (counts.deviation is None) == (between is None)


def test_a_block_is_all_cells_and_the_canary_where_its_runner_is() -> None:
    counts = {
        "x": {"a": planned(seconds=1), "b": planned(seconds=10)},
        "y": {"b": planned(seconds=100)},
    }
    cells = {"x": ["a", "b"], "y": ["b"]}
    assert case_seconds(counts, cells, {}) == {"x": 11, "y": 100}
    assert case_seconds(counts, cells, {"x": "a"}) == {"x": 12, "y": 100}
    assert case_seconds(counts, cells, {"x": "b", "y": "b"}) == {"x": 21, "y": 200}
