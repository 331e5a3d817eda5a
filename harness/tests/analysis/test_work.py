"""Figures beside the time are compared only of equal work, in whatever form they are read."""

import csv
import io
import json
from functools import cache
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.analysis.cells import alike, sentences, whole
from sqlitmus.catalog.cases import Counts, PlannedCase
from sqlitmus.cli.export import text_of
from sqlitmus.render import markdown, terminal
from sqlitmus.render.document.build import build
from sqlitmus.render.html import page as html
from sqlitmus.results import machines
from sqlitmus.vocabulary import figures
from tests.analysis import runs
from tests.render.printing import as_html, cards, data_of

FORMATS = ["summary", "html", "markdown", "text", "csv", "json", "bmf", "gha-benchmark"]


def counts(**changes: object) -> runs.Json:
    return {**runs.counts(100, warmup_iterations=3), **changes}


def report_of(
    told: dict[str, runs.Json],
    cold: float = 5.0,
    cpu: float = 5.0,
    memory: float = 5.0,
    **changes: Any,
) -> runs.Report:
    """Two programs in a steady case that take the same time per read; bun's other figures are so
    many times node's."""
    of = runs.plan(["node", "bun"], blocks=30, cases=[runs.case("get-pk")], counts={"get-pk": told})

    def figures_of(line: runs.Json) -> runs.Json:
        factors = (cold, cpu, memory) if line["runner"] == "bun" else (1, 1, 1)
        noise = 1 + (line["position"] ** 2 % 101) / 1e5
        values = [noise * level * f for level, f in zip((2e8, 1e5, 4e7), factors, strict=True)]
        return dict(zip(("cold_ns", "cpu_ns", "peak_rss_bytes"), values, strict=True))

    lines = runs.change(runs.samples(of, runs.noisy(spread=0.003)), figures_of)
    return runs.analyse(runs.make({**of, **changes}, lines=lines))


def steady(**of_bun: object) -> runs.Report:
    """Node and bun warm up for 100 ms; bun was told to do something else."""
    told = {"node": counts(warmup_ms=100), "bun": counts(**{"warmup_ms": 100, **of_bun})}
    return report_of(told)


def bun(report: runs.Report) -> runs.Cell:
    return runs.cell_of(report, "bun")


def written(report: runs.Report, form: str) -> str:
    """The report as a user gets it."""
    document = build(report)
    match form:
        case "summary":
            return machines.render(report)
        case "html":
            return as_html(report) + json.dumps(data_of(html.render(report)))
        case "markdown":
            return markdown.render(document, all_rows=True)
        case "text":
            return terminal.render(document, 200, color=False, all_rows=True)
        case _:
            return text_of([("m", report)], form)


@cache
def warmed(kind: str, *, apart: bool, cold: float, memory: float) -> runs.Report:
    """Of programs that warmed up for the same time, or for 288 ms and 2 s; once for all formats."""
    told = {"node": counts(warmup_ms=288), "bun": counts(warmup_ms=2000)}
    equal = {name: counts() for name in told}
    return report_of(told if apart else equal, cold, 1, memory, kind=kind)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["suite", "compare"])
def test_another_warm_up_is_no_difference_in_any_format(form: str, kind: str) -> None:
    def verdicts(text: str) -> list[int]:
        return [
            text.count(word)
            for word in ("materially", "equivalent", "_ratio", "\N{BLACK UP-POINTING TRIANGLE}")
        ]

    same, longer, larger = (
        written(warmed(kind, apart=True, cold=cold, memory=memory), form)
        for cold, memory in ((1.0, 1.0), (5.0, 1.0), (1.0, 5.0))
    )
    assert longer == same  # the time of the whole process is not there
    assert verdicts(larger) == verdicts(same)
    # of equal work it is, except where only times are
    same, longer = (
        written(warmed(kind, apart=False, cold=cold, memory=1.0), form) for cold in (1.0, 5.0)
    )
    only_times = form == "gha-benchmark" or (kind == "suite" and form in ("markdown", "text"))
    assert (longer == same) == only_times


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "iterations"),
        ({"warmup_ms": 300}, "iterations"),
        ({"warmup_iterations": 4}, "iterations"),
        ({"iterations": 6}, "neither"),
        ({"operations": 80}, "neither"),
    ],
)
def test_cpu_needs_equal_counts_memory_equal_processes(changes: runs.Json, expected: str) -> None:
    report = steady(**changes)
    cell = bun(report)
    assert "cold" not in cell.figures
    memory, cpu = cell.figures["peak_rss"], cell.figures["cpu"]
    assert memory.value == pytest.approx(2e8, rel=0.01)
    assert memory.contrast is None
    assert cpu.value > 0
    judged = "materially slower" if expected == "iterations" else None
    assert (cpu.contrast and cpu.contrast.verdict) == judged


def test_processes_that_did_the_same_are_judged_by_all_figures() -> None:
    cell = bun(steady(warmup_ms=100))
    assert (cell.operations, cell.iterations) == (100, 5)
    assert (cell.warmup_iterations, cell.warmup_ms) == (3, 100)
    told = {name: counts() for name in ("node", "bun")}
    found = bun(report_of(told)).figures
    assert {name: of.contrast and of.contrast.verdict for name, of in found.items()} == {
        "cold": "materially slower",
        "cpu": "materially slower",
        "peak_rss": "materially slower",
    }


@pytest.mark.parametrize(("warmup_ms", "expected"), [(0, False), (100, True)])
def test_cases_of_unequal_work_do_not_count_in_the_correction_of_the_others(
    warmup_ms: int, *, expected: bool
) -> None:
    """What is resolved among 1 case is not among 60, unless 59 of them are not compared."""
    cases = [f"c{number}" for number in range(60)]
    told = {"node": counts(), "bun": counts(warmup_ms=warmup_ms)}
    of = runs.plan(
        *(["node", "bun"],),
        blocks=30,
        canary=None,
        correction="holm",
        cases=[runs.case(name) for name in cases],
        counts=dict.fromkeys(cases[1:], told),
    )

    def memory_of(line: runs.Json) -> runs.Json:
        waves = [-3, 2, 0, 1, -2, 3, -1, 4, -4, 0]
        level = 1.005 + 0.004 * waves[int(line["block"]) % 10] if line["runner"] == "bun" else 1.0
        return {"peak_rss_bytes": round(4e7 * level)}

    lines = runs.change(runs.samples(of, runs.noisy()), memory_of)
    memory = bun(runs.analyse(runs.make(of, lines=lines))).figures["peak_rss"]
    assert (runs.sure(memory.contrast).verdict == "slower") == expected


def test_what_differs_is_told_in_the_details_of_the_case_and_in_rows() -> None:
    report = steady(warmup_ms=300)
    page = json.dumps(data_of(html.render(report)))
    said = "5 iterations after a warm-up of 100 ms: node; 5 iterations after a warm-up of 300 ms"
    assert f"Each process: {said}: bun." in page
    node, other = csv.DictReader(io.StringIO(text_of([("m", report)], "csv"), newline=""))
    assert (node["warmup_ms"], other["warmup_ms"]) == ("100.0", "300.0")
    assert (node["operations"], other["iterations"], other["warmup_iterations"]) == (
        *("100", "5", "3"),
    )
    said = "5 iterations of 100 operations after a warm-up of 100 ms"
    assert said in json.dumps(data_of(html.render(steady(operations=80))))


@pytest.mark.usefixtures("node")
def test_a_case_has_columns_for_what_its_cells_have() -> None:
    report = steady(warmup_ms=300)
    table, _, rows = cards(report)[0].partition("</thead>")
    assert ">unknown<" not in rows
    for figure in figures.FIGURES:
        column = f'<th scope="col">{figure.heading}</th>'
        assert (column in table) == (figure.name in ("cpu", "peak_rss"))
    embedded = data_of(html.render(report))
    assert list(embedded["cases"][0]["figures"]) == ["cpu", "peak_rss"]


def test_a_case_without_counts_is_alike_unless_it_warms_up_by_time() -> None:
    of = runs.Plan.model_validate(runs.plan(), extra="ignore")
    cold, timed = (PlannedCase.model_validate(runs.case("x", warmup_ms=ms)) for ms in (0, 100))
    assert (alike(of, cold), alike(of, timed)) == ("processes", "iterations")
    assert (whole(cold, None), whole(timed, None)) == (100, None)
    asked = Counts.model_validate(counts())
    assert whole(cold, asked) == 100 * (3 + 5)
    assert whole(cold, Counts.model_validate(counts(warmup_ms=1))) is None


@pytest.mark.parametrize(
    ("checkpoints", "said"), [((), False), ((None, 0.0), True), ((0.0, 1.0), False)]
)
def test_a_page_says_where_no_checkpoint_is_timed(
    checkpoints: tuple[float | None, ...], *, said: bool
) -> None:
    of = runs.Plan.model_validate(runs.plan(counts={"x": {"node": counts()}}), extra="ignore")
    each = PlannedCase.model_validate(runs.case("x", pragmas=[("journal_mode", "WAL")]))
    measures = [None if value is None else runs.Measure(value) for value in checkpoints]
    assert ("No checkpoint falls into them." in sentences(of, each, measures)) == said


WORK: dict[str, tuple[int, runs.Json]] = {
    "binds all parameters once": (2_000, {}),
    "times half of them": (4_000, {}),
    "binds some": (8_000, {}),
    "has no parameters": (1, {}),
    # lead-ins are no part of what is timed: laps of 3 iterations, each 5 after the last
    "takes turns": (4_000, {"rounds": 4, "lead_in": 2}),
    "one of two pools begins again after 1,000 operations": (8_000, {"walks": [1_000, 8_000]}),
    "warms up by time, with as many operations as that takes": (4_000, {"warmup_ms": 5}),
}


@pytest.mark.parametrize("name", WORK)
def test_a_page_says_what_a_process_does(name: str, snapshot: SnapshotAssertion) -> None:
    walk, changes = WORK[name]
    each = {"operations": 100, "iterations": 20, **changes}
    walks = {"walk": walk, "walks": each.pop("walks", [])}
    warmups = {"node": 20, "bun": 40}
    told = {who: counts(**each, warmup_iterations=n) for who, n in warmups.items()}
    of = runs.plan(["node", "bun"], cases=[runs.case("get-pk", **walks)], counts={"get-pk": told})
    assert runs.analyse(runs.make(of)).cases[0].work == snapshot


def test_what_a_reset_writes_is_not_given_as_its_cases_own() -> None:
    once = {"reset_every": 4096, "warmup_operations": 100, "timed_operations": 400}
    cases = [{**runs.case("delete"), "reset_every": 40}, {**runs.case("insert"), **once}]
    of = runs.plan(
        ["node", "bun"], cases=cases, counts={c["id"]: {"node": counts()} for c in cases}
    )
    counted = {"written_bytes": 4096.0, "checkpoints": 2.0, "pages_read": 1.0}
    lines = runs.change(runs.samples(of, runs.noisy()), lambda _: counted)
    resets, grows = runs.analyse(runs.make(of, lines=lines)).cases
    assert resets.cells[0].figures.keys() & {"written", "checkpoints", "pages_read"} == {
        "pages_read"
    }
    assert {"written", "checkpoints", "pages_read"} <= grows.cells[0].figures.keys()
    assert resets.work.endswith(
        " A reset comes before every 40 operations, off the clock; its writes and "
        "checkpoints cannot be separated from theirs, so neither is given."
    )
    assert "reset" not in grows.work
