"""The table of figures: where each is read, and what an invocation gives."""

import math
from collections.abc import Callable
from operator import attrgetter
from types import SimpleNamespace
from typing import get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.run.processes.process import Invocation, Laps, Timing
from sqlitmus.vocabulary import detail
from sqlitmus.vocabulary.contract import Histogram, Identity, Phases, Result, Versioned, Worker
from sqlitmus.vocabulary.detail import LEAST, MANY, Tails, bucket, growth, merged, tails
from sqlitmus.vocabulary.figures import FIGURES, Figure, named, reported
from sqlitmus.vocabulary.verdicts import Verdict

PROGRAM = Versioned(name="x", version="1")
TIMING = Timing(wall_ns=50_000, user_ns=3000, system_ns=1000, exit_code=0)
RESULT = Result(
    contract=2,
    cell="a/x",
    status="ok",
    identity=Identity(runner="x", runtime=PROGRAM, driver=PROGRAM, architecture="x86_64"),
    cpu_ns=800,
    peak_rss_bytes=4096,
)
INVOCATION = Invocation(TIMING, RESULT, None)


def test_names_and_columns_are_unique() -> None:
    for of in ("name", "with_unit", "column", "title", "heading"):
        values = [getattr(figure, of) for figure in FIGURES]
        assert len(set(values)) == len(values), of


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_each_source_is_a_number_of_an_invocation(figure: Figure) -> None:
    for path in (*figure.source, *figure.whole):
        kind: object = Invocation
        for part in path.split("."):
            if isinstance(derived := getattr(kind, part, None), property):
                kind = get_args(get_type_hints(derived.fget)["return"])[0]
                continue
            declared = get_type_hints(kind)[part]
            kind = (get_args(declared) or (declared,))[0]  # of `int | None` the first
        assert kind in (int, float), path


def test_a_figure_per_operation_is_of_one_iteration_and_one_per_process_is_whole() -> None:
    assert named("cpu").measured(INVOCATION, 4) == 200
    assert named("peak_rss").measured(INVOCATION, 4) == 4096
    assert named("cold").measured(INVOCATION, 4) == 50_000


def test_a_case_about_the_whole_process_has_its_cpu_time_from_outside() -> None:
    assert named("cpu").measured(INVOCATION, 0) == 4000
    assert named("cold").measured(INVOCATION, 0) == 50_000
    inside_only = Figure(
        "x", "X", "X", "x", "count", "operation", ("result.operations",), judged=False
    )
    assert inside_only.measured(INVOCATION, 0) is None


@pytest.mark.parametrize("name", ["cpu", "peak_rss"])
def test_what_a_runner_does_not_tell_is_unknown(name: str) -> None:
    bare = RESULT.model_copy(update={"cpu_ns": None, "peak_rss_bytes": None})
    assert named(name).measured(Invocation(TIMING, bare, None), 4) is None


SPREAD = ("iteration_median", "iteration_p99", "iteration_longest")


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([], (None, None, None)),
        ([5], (None, None, None)),
        ([1, 9, 1, 2], (1.5, None, 9)),
        ([*range(99, 0, -1)], (50, None, 99)),  # 99 % of fewer than 100 are all of them
        ([*range(100, 0, -1)], (50.5, 99, 100)),
        ([*range(101, 0, -1)], (51, 100, 101)),  # 99 are less than 99 % of 101
    ],
)
def test_the_median_the_p99_and_the_longest_are_of_the_timed_iterations(
    times: list[int], expected: tuple[float | None, ...]
) -> None:
    result = RESULT.model_copy(update={"iterations_ns": times})
    lone = Invocation(TIMING, result, None)
    assert tuple(named(name).measured(lone, len(times)) for name in SPREAD) == expected
    assert [named(name).measured(lone, 1) for name in ("lost", "left_out")] == [None, None]
    # of one that took turns they are those of its laps, without lead-ins
    laps = Laps([4, 6, 8], [5, 6], 5.5, lost=0.25, left_out=0.5, lost_ns=[], counted=[])
    turned = Invocation(TIMING, result, None, laps=laps)
    assert tuple(named(name).measured(turned, len(times)) for name in SPREAD) == (6, None, 8)
    assert [named(name).measured(turned, 1) for name in ("drift", "lost", "left_out")] == [
        1.2,
        0.25,
        0.5,
    ]


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    figure = Figure("x", "X", "X", "x", "count", "process", ("timing.a", "timing.b"))
    parts = SimpleNamespace(timing=SimpleNamespace(a=1, b=None))
    assert figure.measured(parts, 1) is None
    parts.timing.b = 0
    assert figure.measured(parts, 1) == 1


def test_what_runners_report_is_named_as_in_the_contract() -> None:
    assert {"cpu_ns", "switches.voluntary", "peak_rss_bytes"} <= set(reported())
    for path in reported():
        attrgetter(path.partition(".")[0])(RESULT)


def test_columns_end_in_the_unit() -> None:
    columns = {figure.name: (figure.with_unit, figure.column) for figure in FIGURES}
    assert columns["cold"] == ("cold_ns", "cold_ns")
    assert columns["cpu"] == ("cpu_ns", "cpu_ns_per_unit")
    assert columns["peak_rss"] == ("peak_rss_bytes", "peak_rss_bytes")
    assert columns["lost"] == ("lost", "lost")
    longest = "iteration_longest_ns"
    assert columns["iteration_longest"] == (longest, f"{longest}_per_unit")


def test_less_memory_is_not_called_faster() -> None:
    assert named("peak_rss").said(Verdict.FASTER) == "less"
    assert named("cold").said(Verdict.FASTER) == "faster"


MS = 1_000_000


def recorded(times: list[int]) -> Histogram:
    counted = merged([(bucket(time), 1)] for time in times)
    return Histogram(buckets=sorted(counted.items()))


def worker(times: list[int], *, iterations: tuple[int, ...] = (10 * MS,), **more: object) -> Worker:
    return Worker.model_validate(
        {
            "operations": len(times),
            "rows": 0,
            "checksum": 0,
            "iterations_ns": list(iterations),
            "latencies": recorded(times),
            **more,
        }
    )


def of(*workers: Worker, timer: Histogram | None = None) -> Tails:
    """The tails of a process with these workers."""
    found = tails(RESULT.model_copy(update={"workers": list(workers), "timer": timer}))
    assert found is not None
    return found


def test_quantiles_are_those_of_all_workers_together() -> None:
    found = of(worker([100] * 990), worker([200] * 9 + [250]))
    assert (found.p50, found.p99, found.p999, found.longest) == (100, 100, 200, 250)


def test_99_9_percent_of_fewer_operations_than_1000_is_unknown() -> None:
    assert [of(worker([7] * count)).p999 for count in (MANY - 1, MANY)] == [None, 7]


def test_what_works_beside_has_a_figure_of_its_own_and_all_busy_operations_count() -> None:
    found = of(worker([100] * 10, busy=2), worker([MS] * 10, role="writer", busy=3))
    assert found.longest == 100
    assert found.writer_p99 == pytest.approx(MS, rel=1 / 128)
    assert found.busy == 5 / 20


def test_a_starving_connection_is_slower_than_the_fastest() -> None:
    teams = [[worker([1], iterations=(ns,)) for ns in t] for t in ((10,), (10, 10), (10, 40, 20))]
    assert [of(*team).unfair for team in teams] == [None, 1, 4]


def test_pacing_is_how_late_operations_started() -> None:
    assert of(worker([1] * 100, pacing=recorded([50] * 98 + [200] * 2))).pacing == 200


def test_without_recorded_latencies_there_is_nothing() -> None:
    for workers in ([], [worker([1]).model_copy(update={"latencies": None})]):
        assert tails(RESULT.model_copy(update={"workers": workers})) is None


def test_delays_of_a_timer_beside_tasks_are_figures_too() -> None:
    delays = recorded([40] * 98 + [90, 200])
    both = [of(worker([100] * 10), timer=timer) for timer in (delays, None)]
    assert [(each.timer_p99, each.timer_longest) for each in both] == [(90, 200), (None, None)]


NS = st.integers(min_value=0, max_value=2**50)


@given(NS)
def test_a_bucket_holds_what_is_put_into_it_and_is_narrow(ns: int) -> None:
    low, high = detail.bounds(detail.bucket(ns))
    assert low <= ns <= high
    assert high - low <= low / 128


@given(NS)
def test_the_formula_of_the_contract(ns: int) -> None:
    e = max(0, math.floor(math.log2(ns)) - 7) if ns else 0
    if ns < 2**40:  # beyond, log2 of a float may round up
        assert detail.bucket(ns) == e * 128 + (ns >> e)


@given(st.integers(min_value=0, max_value=7000))
def test_buckets_lie_beside_each_other(number: int) -> None:
    assert detail.bounds(number)[1] + 1 == detail.bounds(number + 1)[0]


@given(st.lists(NS, min_size=1, max_size=300), st.sampled_from([0.5, 0.99, 0.999, 1.0]))
def test_a_quantile_lies_in_the_bucket_of_the_ordered_value(times: list[int], q: float) -> None:
    found = detail.quantile(detail.merged([[(detail.bucket(t), 1)] for t in times]), q)
    exact = sorted(times)[math.ceil(q * len(times)) - 1]
    low, high = detail.bounds(detail.bucket(exact))
    assert found is not None
    assert low <= found <= high


def test_nothing_has_no_quantile() -> None:
    assert detail.quantile({}, 0.5) is None


MIB = 2**20


def grown(*, close_ms: float = 0, operations: int = 1000) -> Result:
    """Of two timed iterations of half a second, of so many operations each."""
    return Result.model_construct(
        operations=2 * operations,
        warmup_ns=[],
        iterations_ns=[500_000_000, 500_000_000],
        phases_ns=Phases.model_construct(close=round(close_ms * 1e6)),
    )


def looks(until_ms: int, size: Callable[[float], float]) -> list[tuple[float, int]]:
    """Every 20 ms, and twice after the process has ended."""
    alive = [(float(ms), round(size(ms))) for ms in range(0, until_ms + 1, 20)]
    return [*alive, (until_ms + 20.0, 0), (until_ms + 40.0, 0)]


Size = Callable[[float], float]
GROWING: dict[str, tuple[Size, float]] = {
    # 2,000 operations in 1,000 ms, each of which keeps 64 bytes
    "a leak": (lambda ms: 50 * MIB + 64 * 2 * ms, 64e6),
    "before the timed operations": (lambda ms: 10 * MIB + min(ms, 500) * 40_000, 0),
    "shrinking": (lambda ms: 50 * MIB - 10 * ms, -5e6),
}


@pytest.mark.parametrize(("size", "expected"), GROWING.values(), ids=GROWING)
def test_growth_is_that_of_the_timed_operations(size: Size, expected: float) -> None:
    assert growth(looks(1500, size), grown()) == pytest.approx(expected, abs=1)


def test_the_time_of_closing_does_not_count() -> None:
    seen = looks(1700, lambda ms: 10 * MIB - max(0, ms - 1500) * 40_000)
    assert growth(seen, grown(close_ms=200)) == pytest.approx(0, abs=1)
    included = growth(seen, grown())
    assert included is not None
    assert included < -1e6


@pytest.mark.parametrize(
    "seen",
    [
        [],
        [(0.0, 0), (20.0, 0)],
        [(20.0 * n, MIB) for n in range(LEAST - 1)],
    ],
)
def test_too_few_looks_say_nothing(seen: list[tuple[float, int]]) -> None:
    assert growth(seen, grown()) is None


def test_a_process_without_timed_operations_has_none() -> None:
    untimed = grown(operations=0).model_copy(update={"iterations_ns": []})
    assert growth(looks(1500, float), untimed) is None
