"""Figures beside the time are compared only of equal work, in whatever form they are read."""

import csv
import io
from functools import cache
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.vocabulary import figures
from tests.analysis import formats, runs
from tests.render.printing import cards


def counts(**changes: object) -> runs.Json:
    return {**runs.counts(100, warmup_iterations=3), **changes}


def report_of(
    of_node: runs.Json,
    of_bun: runs.Json,
    factors: tuple[float, float, float] = (5, 5, 5),
    **changes: Any,
) -> runs.Report:
    """Two programs that take the same time per read, told to do so much; bun's other figures are
    so many times node's."""
    told = {"node": of_node, "bun": of_bun}
    of = runs.plan(["node", "bun"], blocks=30, cases=[runs.case("get-pk")], counts={"get-pk": told})

    def figures_of(line: runs.Json) -> runs.Json:
        times = factors if line["runner"] == "bun" else (1, 1, 1)
        noise = 1 + (line["position"] ** 2 % 101) / 1e5
        values = [noise * level * f for level, f in zip((2e8, 1e5, 4e7), times, strict=True)]
        return dict(zip(("cold_ns", "cpu_ns", "peak_rss_bytes"), values, strict=True))

    time = runs.noisy(spread=0.003)
    return runs.report({**of, **changes}, time=time, sampled=[({}, figures_of)])


def steady(**of_bun: object) -> runs.Report:
    """Node and bun warm up for 100 ms; bun was told to do something else."""
    return report_of(counts(warmup_ms=100), counts(**{"warmup_ms": 100, **of_bun}))


@cache
def warmed(kind: str, *, apart: bool, cold: float, memory: float) -> runs.Report:
    """Of programs that warmed up for the same time, or for 288 ms and 2 s; once for all formats."""
    node, bun = (counts(warmup_ms=ms if apart else 0) for ms in (288, 2000))
    return report_of(node, bun, (cold, 1, memory), kind=kind)


@pytest.mark.parametrize("form", formats.FORMS)
@pytest.mark.parametrize("kind", ["suite", "compare"])
def test_another_warm_up_is_no_difference_in_any_format(form: str, kind: str) -> None:
    def verdicts(text: str) -> list[int]:
        words = ("materially", "equivalent", "_ratio", "\N{BLACK UP-POINTING TRIANGLE}")
        return [text.count(word) for word in words]

    same, longer, larger = (
        formats.written(warmed(kind, apart=True, cold=cold, memory=memory), form)
        for cold, memory in ((1.0, 1.0), (5.0, 1.0), (1.0, 5.0))
    )
    assert longer == same  # the time of the whole process is not there
    assert verdicts(larger) == verdicts(same)
    # of equal work it is, except where only times are
    same, longer = (
        formats.written(warmed(kind, apart=False, cold=cold, memory=1.0), form)
        for cold in (1.0, 5.0)
    )
    only_times = form == "gha-benchmark" or (kind == "suite" and form in ("markdown", "text"))
    assert (longer == same) == only_times


SLOWER = "materially slower"


@pytest.mark.parametrize(
    ("report", "verdicts"),
    [
        (steady, {"cpu": SLOWER, "peak_rss": None}),
        (lambda: steady(warmup_ms=300), {"cpu": SLOWER, "peak_rss": None}),
        (lambda: steady(warmup_iterations=4), {"cpu": SLOWER, "peak_rss": None}),
        (lambda: steady(iterations=6), {"cpu": None, "peak_rss": None}),
        (lambda: steady(operations=80), {"cpu": None, "peak_rss": None}),
        (
            lambda: report_of(counts(), counts()),
            {"cold": SLOWER, "cpu": SLOWER, "peak_rss": SLOWER},
        ),
        # without counts a case is alike unless it warms up by time
        (
            lambda: report_of(counts(), counts(), counts={}),
            {"cold": SLOWER, "cpu": SLOWER, "peak_rss": SLOWER},
        ),
        (
            lambda: report_of(
                counts(), counts(), counts={}, cases=[runs.case("get-pk", warmup_ms=100)]
            ),
            {"cpu": SLOWER, "peak_rss": None},
        ),
    ],
)
def test_cpu_needs_equal_counts_and_memory_and_wall_time_equal_processes(
    report: Any, verdicts: dict[str, str | None]
) -> None:
    found = runs.cell_of(report(), "bun").figures
    assert {n: of.contrast and of.contrast.verdict for n, of in found.items()} == verdicts
    assert found["peak_rss"].value == pytest.approx(2e8, rel=0.01)
    assert found["cpu"].value > 0


@pytest.mark.parametrize(
    ("correction", "warmup_ms", "slower"),
    [
        *(("holm", 0, False), ("holm", 100, True)),
        *(("bh", 0, False), ("bh", 100, True)),
        ("none", 0, True),
    ],
)
def test_cases_of_unequal_work_do_not_count_in_the_correction_of_the_others(
    correction: str, warmup_ms: int, *, slower: bool
) -> None:
    """What is resolved among 1 case is not among 60, unless 59 of them are not compared."""
    cases = [f"c{number}" for number in range(60)]
    told = {"node": counts(), "bun": counts(warmup_ms=warmup_ms)}
    of = runs.plan(
        *(["node", "bun"],),
        blocks=30,
        canary=None,
        correction=correction,
        cases=[runs.case(name) for name in cases],
        counts=dict.fromkeys(cases[1:], told),
    )

    def memory_of(line: runs.Json) -> runs.Json:
        wave = [-3, 2, 0, 1, -2, 3, -1, 4, -4, 0][int(line["block"]) % 10]
        level = 1.005 if line["case"] == "c0" else 1.0
        return {"peak_rss_bytes": round(4e7 * (level + 0.004 * wave))}

    report = runs.report(of, sampled=[({"runner": "bun"}, memory_of)])
    memory = runs.sure(runs.cell_of(report, "bun").figures["peak_rss"].contrast)
    assert (memory.verdict == "slower") == slower


def test_what_differs_is_told_in_the_details_of_the_case_and_in_rows() -> None:
    report = steady(warmup_ms=300)
    page = formats.written(report, "html")
    said = "5 iterations after a warm-up of 100 ms: node; 5 iterations after a warm-up of 300 ms"
    assert f"Each process: {said}: bun." in page
    assert '"figures": {"cpu":' in page
    rows = csv.DictReader(io.StringIO(formats.written(report, "csv"), newline=""))
    work = ("operations", "iterations", "warmup_iterations", "warmup_ms")
    assert [[row[name] for name in work] for row in rows] == [
        ["100", "5", "3", "100.0"],
        ["100", "5", "3", "300.0"],
    ]
    said = "5 iterations of 100 operations after a warm-up of 100 ms"
    assert said in formats.written(steady(operations=80), "html")


@pytest.mark.usefixtures("node")
def test_a_case_has_columns_for_what_its_cells_have() -> None:
    table, _, rows = cards(steady(warmup_ms=300))[0].partition("</thead>")
    assert ">unknown<" not in rows
    for figure in figures.FIGURES:
        column = f'<th scope="col">{figure.heading}</th>'
        assert (column in table) == (figure.name in ("cpu", "peak_rss"))


RESETS = {"reset_every": 40}
ONCE = {"reset_every": 4096, "warmup_operations": 100, "timed_operations": 400}
WAL = {"pragmas": [("journal_mode", "WAL")]}
DELETE = {"pragmas": [("journal_mode", "DELETE")]}
WORK: dict[str, tuple[int, runs.Json, runs.Json, float | None]] = {
    "binds all parameters once": (2_000, {}, {}, None),
    "times half of them": (4_000, {}, {}, None),
    "times half of what it writes": (4_000, {}, {"writes": True}, None),
    "binds some": (8_000, {}, {}, None),
    "has no parameters": (1, {}, {}, None),
    # lead-ins are no part of what is timed: laps of 3 iterations, each 5 after the last
    "takes turns": (4_000, {"rounds": 4, "lead_in": 2}, {}, None),
    "one of two pools begins again after 1,000 operations": (
        8_000, {}, {"walks": [1_000, 8_000]}, None
    ),
    "warms up by time, with as many operations as that takes": (
        4_000, {"warmup_ms": 5}, {}, None
    ),
    "makes no checkpoint": (1, {}, WAL, 0.0),
    "makes one": (1, {}, WAL, 1.0),
    "has no log": (1, {}, DELETE, 0.0),
    "resets what it wrote": (1, {}, RESETS, 2.0),
    "resets nothing that it times": (1, {}, ONCE, 2.0),
}  # fmt: skip


@pytest.mark.parametrize("name", WORK)
def test_what_a_process_does_and_which_writes_are_its_own(
    name: str, snapshot: SnapshotAssertion
) -> None:
    walk, told, case, checkpoints = WORK[name]
    each = {"operations": 100, "iterations": 20, **told}
    warmups = {"node": 20, "bun": 40}
    told = {who: counts(**each, warmup_iterations=n) for who, n in warmups.items()}
    cases = [{**runs.case("get-pk", walk=walk, walks=()), **case}]
    of = runs.plan(["node", "bun"], cases=cases, counts={"get-pk": told})
    counted = {"written_bytes": 4096.0, "checkpoints": checkpoints, "pages_read": 1.0}
    none = checkpoints is None
    (found,) = runs.report(of, sampled=[] if none else [({}, counted)]).cases
    own = found.cells[0].figures.keys() & {"written", "checkpoints", "pages_read"}
    assert (found.work, sorted(own)) == snapshot
