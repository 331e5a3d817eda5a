"""The table of figures: where each is read, and what an invocation gives."""

from operator import attrgetter
from types import SimpleNamespace
from typing import get_args, get_type_hints

import pytest

from sqlitmus.run.processes.process import Invocation, Laps, Timing
from sqlitmus.vocabulary.contract import Identity, Result, Versioned
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
    laps = Laps(iterations_ns=[4, 6, 8], levels_ns=[5, 6], lost=0.25, left_out=0.5)
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
