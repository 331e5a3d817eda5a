"""From what a pilot saw to counts and predicted seconds."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from sqlitmus.catalog.cases import STAGGERS, Counts, PlannedCase
from sqlitmus.catalog.scenario import Mode
from sqlitmus.run.plan.counts import (
    SLACK,
    Observed,
    Pace,
    PilotProcess,
    Turning,
    Work,
    allocate,
    case_seconds,
    fitting,
    led_in_alike,
    observe,
    pace,
    work,
)
from tests.analysis import runs
from tests.run.made import planned

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
STAGGERED = MODE.model_copy(update={"stagger_ms": 70})
TURNING = Turning(rounds=8, lead_in_ms=10, lap_ms=10)
US = 1e3


def case(**changes: Any) -> PlannedCase:
    """A steady case of 4 operations, with some facts changed."""
    counts = {"operations": 4, "iterations": 5, "warmup_iterations": 3, "warmup_ms": 100}
    return PlannedCase.model_validate(runs.case("get", **{**counts, **changes}))


COLD = case(metric="cold", operations=1, iterations=1, warmup_iterations=0, warmup_ms=0)


def writing(warmup: int, timed: int, **changes: Any) -> PlannedCase:
    stated = {"warmup_operations": warmup, "timed_operations": timed}
    return case(writes=True, warmup_ms=0, **stated, **changes)


def seen(operation_ns: float = 10 * US, **changes: Any) -> Observed:
    """Three processes of a steady cell that start in 50 ms and are flat."""
    processes = {"seconds": 0.05, "processes": 3, "window_ms": 300, "operation_ns": operation_ns}
    flat = {"steadiness": "flat", "steady_from_ms": 0.0, "within": 0.01, "between": 0.01}
    return Observed.model_validate({**processes, **flat, **changes})


def allotted(
    of: PlannedCase,
    observed: Mapping[str, Observed | None],
    mode: Mode = MODE,
    how: Turning | None = None,
    *,
    alike: bool = False,
    **least_ms: int,
) -> dict[str, Counts]:
    """The counts of a case by itself, as the pilot gives them."""
    shared = work(of, observed.values(), mode, how)
    return allocate(of, observed, mode, least_ms, shared, how, alike=alike)


def told(counts: Mapping[str, Counts]) -> list[str]:
    """Each runner's warm-up and laps, in iterations of so many operations, and its seconds."""
    lines: list[str] = []
    for each in counts.values():
        laps = f"{each.iterations}"
        if each.rounds:
            lap = each.iterations // each.rounds - each.lead_in
            laps = f"{each.rounds} x ({each.lead_in} + {lap})"
        warm = f"{each.warmup_iterations}" + f" or {each.warmup_ms} ms" * bool(each.warmup_ms)
        later = f", later by {each.stagger}" * bool(each.stagger)
        lines.append(f"{warm} + {laps} of {each.operations}{later}: {each.seconds:.3f} s")
    return lines


def tried(seconds: float, iterations_ns: list[int]) -> PilotProcess:
    """A process of a pilot, with iterations of 4 operations."""
    return PilotProcess(seconds, iterations_ns, 4)


def noisy(level_ns: float, count: int, seed: int) -> list[int]:
    draws = np.random.default_rng(seed).normal(0, 0.002, count)
    return [int(1000 * round(level_ns * float(np.exp(d)) / 1000)) for d in draws]


BURST = seen(steadiness="warm-up", steady_from_ms=1600.0, fastest_from_ms=0.0)
SLOWED = BURST.model_copy(update={"steadiness": "slowdown"})
LATER = {"a": seen(), "b": seen(steady_from_ms=1000.0)}
COPIES = {str(ms): seen(steady_from_ms=ms) for ms in (150.0, 240.0, 600.0)}
STARTS = observe([tried(seconds, []) for seconds in (0.2, 0.5, 0.3)], COLD, 300)
TURNS = {"how": TURNING, "mode": STAGGERED, "b": 300}


@pytest.mark.parametrize(
    ("of", "observed", "given", "expected"),
    [
        # 10 ms are a lap of 1,000 operations of 10 µs; a power of two is near
        (case(), {"a": seen()}, {}, ["79 + 64 of 128: 0.233 s"]),
        # which is the geometric mean of all
        (case(), {"a": seen(1 * US), "b": seen(100 * US)}, {},
         ["782 + 64 of 128: 0.158 s", "8 + 64 of 128: 0.972 s"]),
        # a coarse clock asks for longer iterations of all, who is not known too
        (case(), {"a": seen(grain_ns=10_000), "b": None}, {},
         ["10 + 8 of 1024: 0.234 s", "10 + 8 of 1024: 0.300 s"]),
        # threads and processes that wait for each other have iterations, and laps, of 20 ms
        (case(workers=2), {"a": seen()}, {"mode": STAGGERED},
         ["5 + 4 of 2048, later by 1: 0.306 s"]),
        (case(processes=2), {"a": seen()}, {}, ["5 + 4 of 2048: 0.234 s"]),
        # twice the mode's lap, so half its rounds, a walk in all
        (case(workers=2, walk=32_768), {"a": seen()}, {}, ["16 + 16 of 2048: 0.705 s"]),
        # a lap is at least an eighth of the walk, unless that were over sixteen times as long
        (case(walk=16_384), {"a": seen()}, {}, ["64 + 64 of 256: 0.378 s"]),
        (case(walk=131_072), {"a": seen()}, {}, ["79 + 64 of 128: 0.233 s"]),
        # 100 ms of warm-up are 10,000 operations, in whole walks 12,288
        (case(walk=4096), {"a": seen()}, {}, ["96 + 64 of 128: 0.255 s"]),
        # where a walk takes too long, as many operations of all, as far as the slowest bears
        (case(walk=2**20), {"a": seen(), "b": seen(20 * US, steady_from_ms=1600.0)}, {},
         ["1563 + 64 of 64: 1.091 s", "1563 + 64 of 64: 2.133 s"]),
        (case(walk=2**20), {"a": seen(), "b": seen(5e6)}, {},
         ["400 + 64 of 4: 0.069 s", "400 + 64 of 4: 9.330 s"]),
        # a quarter longer than until it is warm, within the mode's bounds and the runner's own
        (case(), {"a": seen(steady_from_ms=400.0)}, {"a": 100}, ["391 + 64 of 128: 0.632 s"]),
        (case(), {"a": seen(steady_from_ms=1999.0)}, {}, ["1563 + 64 of 128: 2.133 s"]),
        (case(), {"a": seen(steady_from_ms=None)}, {}, ["1563 + 64 of 128: 2.133 s"]),
        (case(), {"a": seen()}, {"a": 700}, ["547 + 64 of 128: 0.832 s"]),
        (case(), {"a": seen(steady_from_ms=None)}, {"a": 3000}, ["2344 + 64 of 128: 3.132 s"]),
        # what is slower for a while is no warm-up, but what stays so is
        (case(), {"a": BURST}, {}, ["79 + 64 of 128: 0.233 s"]),
        (case(), {"a": SLOWED}, {}, ["1563 + 64 of 128: 2.133 s"]),
        # copies of a runner warm up as the longest does
        (case(walk=256), COPIES, {},
         ["236 + 64 of 128: 0.434 s", "236 + 64 of 128: 0.434 s", "586 + 64 of 128: 0.882 s"]),
        # as do two subjects, with a pilot or without
        (case(), LATER, {"b": 1500}, ["79 + 64 of 128: 0.233 s", "1172 + 64 of 128: 1.632 s"]),
        (case(), LATER, {"b": 1500, "alike": True}, ["1172 + 64 of 128: 1.632 s"] * 2),
        (case(), {"a": None, "b": None}, {"b": 300, "alike": True, "mode": UNPILOTED},
         ["3 or 300 ms + 5 of 4: 0.300 s"] * 2),
        # turns are the same operations of all, and take 2 ms each beside their iterations
        (case(), {"a": seen(5 * US), "b": seen(20 * US)}, TURNS,
         ["157 + 8 x (8 + 8) of 128, later by 9: 0.269 s",
          "157 + 8 x (8 + 8) of 128, later by 9: 0.876 s"]),
        (case(), {"a": seen(), "b": seen(60 * US)}, {"how": TURNING, "alike": True},
         ["157 + 8 x (7 + 8) of 64: 0.243 s", "157 + 8 x (7 + 8) of 64: 1.130 s"]),
        (case(), {"a": seen()}, {"how": replace(TURNING, at_once=2)},
         ["79 + 8 x (8 + 8) of 128: 0.280 s"]),
        # the shortest turns of who was not tried
        (case(), {"a": None}, {"how": TURNING}, ["3 + 8 x (1 + 1) of 4: 0.300 s"]),
        (case(), {"a": None}, {"how": TURNING, "mode": UNPILOTED},
         ["3 + 8 x (1 + 1) of 4: 0.300 s"]),
        # without a pilot the scenario's counts
        (case(), {"a": None}, {}, ["3 or 100 ms + 5 of 4: 0.300 s"]),
        (case(), {"a": None, "b": seen()}, {"mode": UNPILOTED, "b": 700},
         ["3 or 100 ms + 5 of 4: 0.300 s", "3 or 700 ms + 5 of 4: 0.050 s"]),
        # what writes does the work that is stated, or its tables would grow to other sizes
        (case(writes=True), {"a": None}, {"mode": UNPILOTED, "a": 700}, ["3 + 5 of 4: 0.300 s"]),
        (writing(320, 832), {"a": seen(1 * US), "b": seen(1e8)}, {"a": 700},
         ["40 + 104 of 8: 0.051 s", "40 + 104 of 8: 115.250 s"]),
        (writing(320, 832), {"a": seen()}, {"how": replace(TURNING, rounds=4)},
         ["20 + 4 x (0 + 13) of 16: 0.070 s"]),
        # 12 rounds do not divide 32 operations: 8 do
        (writing(8, 32), {"a": seen()}, {"how": replace(TURNING, rounds=12)},
         ["8 + 8 x (0 + 4) of 1: 0.066 s"]),
        # a cold cell is one whole process
        (COLD, {"a": STARTS}, {"a": 700}, ["0 + 1 of 1: 0.300 s"]),
    ],
)  # fmt: skip
def test_counts_follow_from_what_was_observed(
    of: PlannedCase, observed: dict[str, Observed | None], given: Any, expected: list[str]
) -> None:
    assert told(allotted(of, observed, **given)) == expected


def done(counts: Counts) -> tuple[int, int, int, int]:
    """What a process does once it is warmed up."""
    return counts.operations, counts.iterations, counts.rounds, counts.lead_in


def test_a_steady_cell_is_timed_at_its_last_level_and_without_the_harness() -> None:
    series = [noisy(4e6, 30, seed) for seed in range(3)]
    found = observe([tried(0.25 + sum(s) / 1e9, s) for s in series], case(), 300)
    assert found.operation_ns == pytest.approx(1e6, rel=0.01)
    assert found.seconds == pytest.approx(0.25)
    assert (found.processes, found.window_ms, found.grain_ns) == (3, 300, 1000)
    assert (found.steadiness, found.steady_from_ms) == ("flat", 0.0)
    assert 0 < found.within < 0.01
    assert observe([tried(1.0, [1000] * 6)], case(), 300).steadiness is None


def test_counts_of_a_cell_that_stalls_follow_from_its_mean() -> None:
    calm, stall = 1_000_000, 100_000_000
    series = [calm, calm, calm, stall] * 10
    stalls = observe([tried(9.0, [*series, *[calm] * 5])], case(), 300)
    assert (stalls.operation_ns, stalls.stalled_ns) == (calm / 4, pytest.approx(23.5 * calm / 4))
    smooth = observe([tried(0.5, [calm] * 45)], case(), 300)
    assert smooth.stalled_ns is None
    # stalls that only turns show count as well
    assert smooth.also_stalling(1.2) is smooth
    assert smooth.also_stalling(40).also_stalling(5).stalled_ns == 40 * calm / 4
    fours = Work(operations=4, lap=8, rounds=8, lead_in=0, whole=True)
    both = allocate(case(), {"a": stalls, "b": smooth}, MODE, {}, fours)
    assert [each.warmup_iterations for each in both.values()] == [4, 100]


def test_iterations_of_a_warm_up_are_those_that_a_process_does_in_that_time() -> None:
    """The first ones are slow: as many as the last level fits in would take longer."""
    series = [10_000_000] * 5 + [1_000_000] * 245
    observed = observe([tried(0.5, series)], case(), 300)
    for ms, iterations in ((30, 3), (50, 5), (400, 355)):
        assert observed.operations_within(ms) == iterations * 4
        assert observed.ms_of(iterations * 4) == ms
    given = Work(operations=2, lap=4, rounds=2, lead_in=0, whole=False)
    counts = allocate(case(), {"a": observed}, MODE, {"a": 150}, given)["a"]
    assert (counts.warmup_iterations, done(counts)) == (210, (2, 8, 0, 0))
    assert counts.warmed_ms == pytest.approx(150)


def test_a_process_is_warm_once_it_is_as_fast_as_it_becomes() -> None:
    slow, fast = noisy(20e6, 10, 1), noisy(4e6, 40, 2)
    warms = observe([tried(1.0, slow + fast)], case(), 300)
    assert warms.operation_ns == pytest.approx(1e6, rel=0.01)
    assert warms.steadiness == "warm-up"
    assert warms.steady_from_ms == pytest.approx(sum(slow) / 1e6)
    unsteady = slow + (fast[:10] + noisy(5e6, 10, 3)) * 5 + noisy(4e6, 4, 4)
    found = observe([tried(1.0, unsteady)], case(), 300)
    assert (found.steadiness, found.steady_from_ms) == ("no steady state", None)
    assert found.fastest_from_ms == pytest.approx(sum(slow) / 1e6)
    counts = allotted(case(), {"a": found})["a"]
    warmed = found.ms_of((counts.warmup_iterations - 1) * counts.operations)
    assert found.fastest_from_ms is not None
    assert counts.warmed_ms is not None
    assert warmed < SLACK * found.fastest_from_ms <= counts.warmed_ms


@pytest.mark.parametrize("of", [case(), COLD], ids=["steady", "cold"])
def test_processes_differ_only_where_there_are_three(of: PlannedCase) -> None:
    levels = (3e6, 4e6, 5e6)
    each = [tried(lv / 1e6, noisy(lv, 20, n)) for n, lv in enumerate(levels)]
    assert observe(each[:2], of, 300).between is None
    assert observe(each[:1] * 3, of, 300).between == 0
    found = observe(each, of, 300)
    assert found.between is not None
    assert 0.1 < found.between < 0.6
    counts = allotted(of, {"a": found})["a"]
    within = np.pi / 2 * found.within**2 / counts.iterations
    assert counts.deviation == pytest.approx((found.between**2 + within) ** 0.5)


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
    assert replace(relayed, lead_in=0, stagger=0) == replace(alone, stagger=0)
    for how, made in ((None, alone), (turns, relayed)):
        counts = allocate(of, observed, mode, {}, made, how)
        timed = made.rounds * (made.lap + made.lead_in)
        work_of_all = (made.operations, timed, made.rounds * bool(how), made.lead_in)
        assert {done(each) for each in counts.values()} == {work_of_all}
        starts = {each.warmup_iterations * each.operations for each in counts.values()}
        # before the clock each has walked so often, or all have gone equally far
        assert all(start % walk == 0 for start in starts) if alone.whole else len(starts) == 1
    assert not alone.whole or alone.operations * alone.lap * alone.rounds % walk == 0


def test_cases_that_are_compared_have_rounds_that_divide_the_work_of_each() -> None:
    assert [fitting([], 16), fitting([case()], 13), fitting([writing(8, 32)], 12)] == [16, 16, 8]
    assert fitting([writing(8, 32), case(), writing(8, 20)], 12) == 4
    assert fitting([writing(16, 8)], 12, [None], 10) == 8  # what no pilot saw
    assert fitting([writing(16, 8)], 1, [seen(1 * US)], 10) == 1


@pytest.mark.parametrize(
    ("operation_us", "rounds"), [(1050, 8), (250, 2), (1, 2), (60_000, 10), (1300, 10)]
)
def test_laps_of_stated_work_are_long_where_two_can_be(operation_us: float, rounds: int) -> None:
    """A lap begins with the caches of another process: of 1 ms it would say little else."""
    each = [seen(operation_us * US / 2), None, seen(operation_us * US * 2)]
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
    assert counts.operations * counts.warmup_iterations == warmup * unit
    assert counts.operations * counts.iterations == timed * unit
    assert done(counts)[1:] == (made.rounds * made.lap, made.rounds * in_turns, 0)
    assert made.rounds <= rounds
    if reset:  # it comes between two iterations
        assert reset % counts.operations == 0


@pytest.mark.parametrize("lead_in_ms", range(3, 13))
@pytest.mark.parametrize("operation_us", [1, 2, 3, 5, 8])
def test_laps_reach_most_rows_of_a_pool_and_those_of_eight_blocks_all(
    lead_in_ms: int, operation_us: int
) -> None:
    turning = Turning(rounds=8, lead_in_ms=lead_in_ms, lap_ms=2)
    mode = MODE.model_copy(update={"stagger_ms": 300, "lap_ms": 2})
    (counts,) = allotted(case(walk=4096), {"a": seen(operation_us * US)}, mode, turning).values()
    operations, lead_in = counts.operations, counts.lead_in
    per_turn = counts.iterations // counts.rounds
    rows = [
        {
            operation % 4096
            for turn in range(counts.rounds)
            for operation in range(
                (start + turn * per_turn + lead_in) * operations,
                (start + (turn + 1) * per_turn) * operations,
            )
        }
        for start in (counts.staggered(step).warmup_iterations for step in range(STAGGERS))
    ]
    assert {len(each) / 4096 for each in rows} == {counts.timed_share(4096)}
    assert counts.timed_share(4096) >= 0.6
    assert len({row for each in rows for row in each}) == 4096
    assert lead_in * operations * operation_us < 1.5e3 * lead_in_ms + 2000


def test_cases_that_are_compared_time_the_same_rows() -> None:
    shorter = replace(TURNING, lead_in_ms=3)
    assert led_in_alike({"a": shorter, "b": TURNING}) == {"a": TURNING, "b": TURNING}
    assert led_in_alike({}) == {}


def test_a_block_is_all_cells_and_the_canary_where_its_runner_is() -> None:
    counts = {
        "x": {"a": planned(seconds=1), "b": planned(seconds=10)},
        "y": {"b": planned(seconds=100)},
    }
    cells = {"x": ["a", "b"], "y": ["b"]}
    assert case_seconds(counts, cells, {}) == {"x": 11, "y": 100}
    assert case_seconds(counts, cells, {"x": "b", "y": "b"}) == {"x": 21, "y": 200}


@pytest.mark.parametrize(
    ("level", "spread", "agrees"),
    [
        (1.05, 0.02, True),
        (0.95, 0.06, True),
        (1.2, 0.02, False),  # another clock
        (0.8, 0.02, False),
        (1.0, 0.1, False),  # it became noisy
        (1.0, 0.004, False),  # it became quiet
    ],
)
def test_another_level_or_another_noise_is_another_pace(
    level: float, spread: float, agrees: bool
) -> None:
    earlier = Pace(level_ns=30e6, spread=0.022)
    assert Pace(level_ns=level * 30e6, spread=spread).agrees(earlier) == agrees


def test_a_pace_agrees_with_itself_and_quiet_ones_whatever_their_rest_of_noise() -> None:
    now = pace()
    assert now.agrees(now)
    assert Pace(level_ns=1, spread=0.0).agrees(Pace(level_ns=1, spread=0.001))
