"""The table of figures: where each is read, and what an invocation gives."""

import math
from collections.abc import Callable
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from hypothesis import given, strategies as st
from syrupy.assertion import SnapshotAssertion

from sqlitmus.run.processes.process import Invocation, Laps, Timing
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.contract import Result
from sqlitmus.vocabulary.figures import FIGURES, Figure, named, reported
from tests.analysis.runs import Verdict

PROGRAM = {"name": "x", "version": "1"}
TIMING = Timing(wall_ns=50_000, user_ns=3000, system_ns=1000, exit_code=0)
MS = 1_000_000
MIB = 2**20
ALIKE = get_args(figures.Alike)
Json = dict[str, Any]


def result(**more: Any) -> Result:
    identity = {"runner": "x", "runtime": PROGRAM, "driver": PROGRAM, "architecture": "x86_64"}
    given = {"contract": 2, "cell": "a/x", "status": "ok", "identity": identity}
    return Result.model_validate({**given, **more})


def recorded(times: list[int]) -> Json:
    counted = figures.merged([(figures.bucket(time), 1)] for time in times)
    return {"buckets": sorted(counted.items())}


def worker(times: list[int], *, iterations: tuple[int, ...] = (10 * MS,), **more: Any) -> Json:
    given = {"operations": len(times), "rows": 0, "checksum": 0, "iterations_ns": list(iterations)}
    return {**given, "latencies": recorded(times), **more}


FULL: Json = {
    "cpu_ns": 800,
    "peak_rss_bytes": 4096,
    "allocated_bytes": 64,
    "collections": 2,
    "page_faults": {"minor": 12, "major": 4},
    "switches": {"voluntary": 8, "involuntary": 6},
    "page_cache": {"hits": 30, "misses": 10},
    "operations": 1000,
    "iterations_ns": [*range(101, 0, -1)],
    "timer": recorded([40] * 98 + [90, 200]),
    "workers": [
        worker([100] * 990, busy=2, pacing=recorded([50] * 98 + [200] * 2)),
        worker([200] * 9 + [250], iterations=(40 * MS, 20 * MS, 5 * MS)),
        worker([MS] * 10, role="writer", busy=3),
    ],
}


def test_what_an_invocation_gives(snapshot: SnapshotAssertion) -> None:
    """Of 4 iterations, of a whole process, and of one that tells nothing; and in how many of three
    kinds of cases a figure is shown, and compared."""
    writes: Any = SimpleNamespace(bytes_per_iteration=500, checkpoints=3)
    timing = Timing(50_000, 3000, 1000, 0, peak_bytes=8192, writes=writes)
    laps = Laps([*range(100)], [5, 6], 5.5, lost=0.25, left_out=0.5, lost_ns=[], counted=[])
    resident = [(n / 1e6, MIB + n) for n in range(5151)]
    full = Invocation(timing, result(**FULL), None, resident, laps)
    bare = Invocation(TIMING, result(), None)
    lines = [
        f"{figure.column} {figure.said(Verdict.FASTER)} "
        f"{sum(map(figure.shown, ALIKE))} {sum(map(figure.compared, ALIKE))}: "
        f"{figure.measured(full, 4)} {figure.measured(full, 0)} {figure.measured(bare, 0)}"
        for figure in FIGURES
    ]
    assert "\n".join(lines) == snapshot
    assert named("peak_rss").measured(Invocation(TIMING, result(peak_rss_bytes=7), None), 4) == 7


def test_names_and_columns_are_unique() -> None:
    for of in ("name", "with_unit", "column", "title", "heading"):
        values = [getattr(figure, of) for figure in FIGURES]
        assert len(set(values)) == len(values), of


def spread(times: list[int]) -> list[float | None]:
    """The figures of the timed iterations of one that took no turns."""
    lone = Invocation(TIMING, result(iterations_ns=times), None)
    assert [named(name).measured(lone, 1) for name in ("lost", "left_out")] == [None, None]
    names = ("iteration_median", "iteration_p99", "iteration_longest")
    return [named(name).measured(lone, len(times)) for name in names]


def test_the_median_the_p99_and_the_longest_are_of_the_timed_iterations() -> None:
    assert spread([]) == spread([5]) == [None, None, None]
    assert spread([1, 9, 1, 2]) == [1.5, None, 9]
    assert spread([*range(99, 0, -1)]) == [50, None, 99]  # 99 % of fewer than 100 are all of them
    assert spread([*range(100, 0, -1)]) == [50.5, 99, 100]
    assert spread([*range(101, 0, -1)]) == [51, 100, 101]  # 99 are less than 99 % of 101


def test_what_lacks_a_part_of_its_source_is_unknown() -> None:
    figure = Figure("x", "X", "X", "x", "count", "process", ("timing.a", "timing.b"))
    told = [
        figure.measured(SimpleNamespace(timing=SimpleNamespace(a=1, b=b)), 1) for b in (None, 0)
    ]
    assert told == [None, 1]


def test_what_runners_report_is_named_as_in_the_contract() -> None:
    assert {"cpu_ns", "switches.voluntary", "peak_rss_bytes"} <= set(reported())
    for path in reported():
        attrgetter(path.partition(".")[0])(result())


def tails(*workers: Json, **more: Any) -> Json:
    """Those of a process with these workers, where they are known."""
    found = figures.tails(result(workers=list(workers), **more))
    assert found is not None
    names = figures.Tails.__dataclass_fields__
    return {name: value for name in names if (value := getattr(found, name)) is not None}


def test_what_a_process_without_others_beside_it_has_of_tails() -> None:
    alone = {"p50": 100, "p99": 100, "longest": 100, "busy": 0}
    assert tails(worker([100] * (figures.MANY - 1))) == alone
    assert tails(worker([100] * figures.MANY)) == {**alone, "p999": 100}
    assert tails(worker([1], iterations=(10,)), worker([1], iterations=(10,)))["unfair"] == 1
    for workers in ([], [worker([1], latencies=None)]):
        assert figures.tails(result(workers=workers)) is None


NS = st.integers(min_value=0, max_value=2**50)


@given(NS, st.integers(min_value=0, max_value=7000))
def test_a_bucket_holds_what_the_contract_says_is_narrow_and_lies_beside_the_next(
    ns: int, number: int
) -> None:
    low, high = figures.bounds(figures.bucket(ns))
    assert low <= ns <= high
    assert high - low <= low / 128
    e = max(0, math.floor(math.log2(ns)) - 7) if ns else 0
    if ns < 2**40:  # beyond, log2 of a float may round up
        assert figures.bucket(ns) == e * 128 + (ns >> e)
    assert figures.bounds(number)[1] + 1 == figures.bounds(number + 1)[0]


@given(st.lists(NS, min_size=1, max_size=300), st.sampled_from([0.5, 0.99, 0.999, 1.0]))
def test_a_quantile_lies_in_the_bucket_of_the_ordered_value(times: list[int], q: float) -> None:
    found = figures.quantile(figures.merged([[(figures.bucket(t), 1)] for t in times]), q)
    exact = sorted(times)[math.ceil(q * len(times)) - 1]
    low, high = figures.bounds(figures.bucket(exact))
    assert found is not None
    assert low <= found <= high
    assert figures.quantile({}, q) is None


Size = Callable[[float], float]


def grown(until_ms: int, size: Size, *, close_ms: int = 0, **more: Any) -> float | None:
    """The growth seen every 20 ms, and twice after the end, of a process that timed two iterations
    of half a second, of 1,000 operations each."""
    alive = [(float(ms), round(size(ms))) for ms in range(0, until_ms + 1, 20)]
    timed = {"operations": 2000, "iterations_ns": [500 * MS] * 2, **more}
    told = result(phases_ns={"close": close_ms * MS}, **timed)
    return figures.growth([*alive, (until_ms + 20.0, 0), (until_ms + 40.0, 0)], told)


def leaks(ms: float) -> float:
    """2,000 operations in 1,000 ms, each of which keeps 64 bytes."""
    return 50 * MIB + 64 * 2 * ms


def frees(ms: float) -> float:
    """At the end, as the connection is closed."""
    return 10 * MIB - max(0, ms - 1500) * 40_000


def test_growth_is_that_of_the_timed_operations_without_the_closing() -> None:
    assert grown(1500, leaks) == pytest.approx(64e6, abs=1)
    assert grown(1500, lambda ms: 10 * MIB + min(ms, 500) * 40_000) == pytest.approx(0, abs=1)
    assert grown(1500, lambda ms: 50 * MIB - 10 * ms) == pytest.approx(-5e6, abs=1)
    assert grown(1700, frees, close_ms=200) == pytest.approx(0, abs=1)
    assert (grown(1700, frees) or 0) < -1e6


def test_too_few_looks_and_no_timed_operations_say_nothing() -> None:
    least = 20 * (figures.LEAST - 1)
    assert [grown(ms, leaks) is None for ms in (least - 20, least)] == [True, False]
    assert grown(1500, lambda _: 0) is None
    assert grown(1500, leaks, operations=0, iterations_ns=[]) is None
