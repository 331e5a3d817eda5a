from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.analysis.data import Samples
from sqlitmus.catalog import presets
from sqlitmus.catalog.presets import Preset
from sqlitmus.render.document import symbols
from sqlitmus.results.recommendation import Weighed
from sqlitmus.results.report import Fact
from tests.analysis import runs
from tests.refusals import refused


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"schema_version": 1}, r"plan: \$.schema_version: "),
        ({"blocks": 0}, r"plan: \$.blocks: .*greater than or equal to 1"),
        ({"blocks": "x"}, r"plan: \$.blocks: "),
        ({"margin": 0}, r"plan: \$.margin: "),
        ({"runners": []}, r"plan: \$.runners: "),
        ({"reference": "nobody"}, "reference 'nobody' is not among the runners node, bun"),
        ({"canary": "nobody"}, "canary 'nobody'"),
        ({"floor": "nobody"}, "floor 'nobody'"),
        ({"cases": [runs.case("a"), runs.case("a")]}, "case a occurs more than once"),
        (
            {"runners": [runs.runner("node"), runs.runner("node")]},
            "runner node occurs more than once",
        ),
        (
            {"cases": [runs.case("a", metric="warm")]},
            r"\$.cases\[0\].metric: .*'p99' or 'timer_p99'",
        ),
        ({"cases": [runs.case("a", operations=0)]}, r"\$.cases\[0\]: .*at least 1 operation"),
        ({"cases": [runs.case("a", per_operation=0)]}, r"\$.cases\[0\].per_operation: "),
        ({"cases": [{"id": "a"}]}, r"\$.cases\[0\].scenario: Field required"),
    ],
)
def test_a_bad_plan_is_refused_with_its_place(changes: dict[str, object], text: str) -> None:
    with refused(text):
        runs.make({**runs.plan(), **changes}, lines=[], verify=[])


def test_a_cell_checked_twice_keeps_its_last_check() -> None:
    first = {**runs.checks(runs.plan())[0], "outcome": "failed", "reason": "interrupted"}
    assert (
        runs.make(verify=[first, *runs.checks(runs.plan())]).checks["get-pk", "node"].outcome
        == "ok"
    )


def test_completeness_is_what_the_run_says() -> None:
    assert runs.make().samples.complete
    assert not runs.make(
        lines=runs.samples(runs.plan(), runs.noisy(), complete=False)
    ).samples.complete


UNPLANNED = "sample 1: the plan has no "


def spoiled(statement: str) -> Samples:
    """The samples of a run whose file was changed so."""
    of, db = runs.plan(), runs.empty()
    run = runs.filled(db, of, runs.checks(of), runs.samples(of, runs.noisy()), {})
    db.execute(statement)
    return runs.read(db, run, {}).samples


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (
            "UPDATE cell SET verification = json_set(verification, '$.outcome', 'maybe')",
            r"verification of get-pk/node: \$.outcome: ",
        ),
        ("UPDATE sample SET block = 12 WHERE id = 1", UNPLANNED),
        ("UPDATE sample SET label = 'nobody' WHERE id = 1", UNPLANNED),
        (
            "UPDATE cell SET case_id = 'x' WHERE id = (SELECT cell FROM sample WHERE id = 1)",
            UNPLANNED,
        ),
    ],
)
def test_a_file_that_no_plan_knows_is_refused_with_the_place(statement: str, text: str) -> None:
    with refused(text):
        spoiled(statement)


def test_a_figure_that_nobody_recorded_is_unknown() -> None:
    """Of a run from before the figure existed."""
    cpu = "(SELECT id FROM figure WHERE name = 'cpu')"
    older, whole = spoiled(f"DELETE FROM value WHERE figure = {cpu}"), runs.make().samples
    assert np.isnan(older.figures["cpu"]).all()
    assert not np.isnan(whole.figures["cpu"]).all()
    assert np.array_equal(older.time, whole.time, equal_nan=True)


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = runs.load(runs.write(tmp_path))
    assert run.presets == presets.load()
    assert runs.analyse(replace(run, presets={})) == runs.analyse(runs.make())


def test_a_run_killed_before_its_first_sample_is_still_a_run(tmp_path: Path) -> None:
    run = runs.load(runs.write(tmp_path, verify=[], lines=[], machine={}))
    assert (run.checks, run.machine, run.details) == ({}, {}, {})
    assert runs.analyse(run).blocks_complete == 0


def parallel(*workers: int) -> list[dict[str, object]]:
    axes = [{"profile": "normalised", "workers": str(n)} for n in workers]
    return [
        runs.case(f"p@workers={n}", group="parallel", workers=n, axes=of)
        for n, of in zip(workers, axes, strict=True)
    ]


def test_a_scaling_curve_is_units_per_second_over_workers() -> None:
    planned = runs.plan(cases=parallel(4, 1, 2))
    count = [4, 1, 2]
    run = runs.make(planned, lines=runs.samples(planned, lambda c, _l, b: (1000 + b) / count[c]))
    (found,) = runs.analyse(run).scaling
    assert (found.scenario, found.axes, found.cores) == ("p", {"profile": "normalised"}, 4)
    assert [curve.runner for curve in found.curves] == ["node", "bun", "rust-ffi"]
    assert [point.workers for point in found.curves[0].points] == [1, 2, 4]
    rates = [point.rate for point in found.curves[0].points]
    assert [rate.value for rate in rates] == pytest.approx([n * 1e9 / 1005.5 for n in (1, 2, 4)])
    # the bounds change places: ranks 3 and 10 of 12
    assert (rates[0].low, rates[0].high) == pytest.approx((1e9 / 1009, 1e9 / 1002))


def test_one_number_of_workers_is_no_curve() -> None:
    assert runs.analyse(runs.make(runs.plan(cases=parallel(2)))).scaling == []


def test_a_gap_in_a_curve_is_left_out_and_one_point_is_no_curve() -> None:
    planned = runs.plan(cases=parallel(1, 2, 4))
    verify = runs.change(
        runs.checks(planned), {"outcome": "failed"}, runner="bun", case="p@workers=2"
    )
    for name in ("p@workers=1", "p@workers=2"):
        verify = runs.change(
            verify, {"outcome": "failed", "log": name}, runner="rust-ffi", case=name
        )
    curves = runs.analyse(runs.make(planned, verify=verify)).scaling[0].curves
    points = {curve.runner: [point.workers for point in curve.points] for curve in curves}
    assert points == {"node": [1, 2, 4], "bun": [1, 4]}


def test_unknown_cores_call_nothing_oversubscribed() -> None:
    assert (
        runs.analyse(runs.make(runs.plan(cases=parallel(1, 8)), machine={})).scaling[0].cores == 8
    )


def fact(run: runs.RunData, group: str, name: str) -> Fact:
    return next(f for f in runs.analyse(run).provenance if (f.group, f.name) == (group, name))


def test_facts_flag_what_differs() -> None:
    options = {"node": ["THREADSAFE=1", "ENABLE_FTS5"], "bun": ["THREADSAFE=2"]}
    runners = [
        runs.runner(n, description=runs.description(n, options=o)) for n, o in options.items()
    ]
    run = runs.make(runs.plan(list(options), runners=runners))
    assert fact(run, "Compile options", "THREADSAFE").values == {"node": "1", "bun": "2"}
    assert fact(run, "Compile options", "THREADSAFE").differs
    assert fact(run, "Compile options", "ENABLE_FTS5").values == {"node": "set", "bun": "not set"}
    assert not fact(run, "SQLite", "version").differs
    assert fact(run, "Runtime", "runtime").values["bun"] == "bun 1.0"


def test_a_runner_that_could_not_be_asked_is_left_out_of_the_facts() -> None:
    gone = runs.runner("dotnet", missing="no SDK", description=None)
    run = runs.make(runs.plan(runners=[*runs.plan()["runners"], gone]))
    assert "dotnet" not in fact(run, "SQLite", "version").values
    assert runs.analyse(run).runners[-1].sqlite_version is None


def test_pragmas_are_shown_per_profile_as_read_back() -> None:
    cases = [runs.case("a"), runs.case("b", axes={"profile": "shipped"}), runs.case("c")]
    planned = runs.plan(cases=cases)
    new = {"pragmas": {"journal_mode": "delete", "synchronous": None}}
    verify = runs.change(runs.checks(planned), new, runner="bun", case="c")
    run = runs.make(planned, verify=verify)
    found = fact(run, "Pragmas, profile normalised", "journal_mode")
    told = (found.values["bun"], found.values["node"], found.differs)
    assert told == ("wal / delete", "wal", True)
    assert fact(run, "Pragmas, profile normalised", "synchronous").values["bun"] == "1 / none"
    assert not fact(run, "Pragmas, profile shipped", "journal_mode").differs


def test_checks_say_what_was_proven() -> None:
    proof = {"readback": {"rows": 5, "checksum": 1}, "affected": 1}
    verify = [{**check, **proof} for check in runs.checks(runs.plan())]
    assert runs.analyse(runs.make(verify=verify)).cases[0].checks == (
        "Equal in node, bun and rust-ffi: 100 rows, 1 affected row, checksum 000000ff, "
        "SHA-256 of all rows abababababababab…, 5 rows read back afterwards."
    )


def test_the_reference_may_be_chosen_among_those_who_took_part() -> None:
    gone = runs.runner("dotnet", missing="no SDK", description=None)
    run = runs.make(runs.plan(runners=[*runs.plan()["runners"], gone]))
    assert runs.analyse(run).reference == "node"
    assert runs.analyse(run, "bun").reference == "bun"
    for name in ("dotnet", "nobody"):
        with refused(f"'{name}' cannot be the reference.*node, bun"):
            runs.analyse(run, name)


def test_a_missing_reference_gives_way_to_the_next_runner() -> None:
    runners = [runs.runner("node", missing="gone", description=None), *runs.plan()["runners"][1:]]
    assert runs.analyse(runs.make(runs.plan(runners=runners))).reference == "bun"


TURNS = runs.counts(100, iterations=24, rounds=8, lead_in=3)
METHODS: dict[str, dict[str, Any]] = {
    "a margin and a seed": {"margin": 0.035, "seed": 99},
    **{f"correction {name}": {"correction": name} for name in ("none", "holm", "bh")},
    "a gate of three looks": {"gate": 0.05, "looks": 3},
    "two looks": {"looks": 2},
    "three looks": {"looks": 3},
    "three sessions": {"sessions": 3},
    "a p99": {"cases": [runs.case("mixed", metric="p99")]},
    # of the case's 100 operations, 6 and 15 ms
    "turns of two lengths": {
        "counts": {
            "get-pk": {
                name: {**TURNS, "operation_ns": ns} for name, ns in (("node", 2e4), ("bun", 5e4))
            }
        }
    },
}


@pytest.mark.parametrize("name", METHODS)
def test_the_method_in_words(name: str, snapshot: SnapshotAssertion) -> None:
    report = runs.analyse(runs.make(runs.plan(**METHODS[name])))
    assert (report.method, symbols.correction(report)) == snapshot


def test_nothing_measured_at_all_is_still_a_report() -> None:
    report = runs.analyse(runs.make(lines=[], verify=[]))
    assert report.blocks_complete == 0
    assert {cell.outcome for found in report.cases for cell in found.cells} == {"missing"}
    assert all(standing.contrast is None for standing in report.standings)
    empty = runs.analyse(runs.make(runs.plan(cases=[])))
    assert (empty.cases, empty.standings, empty.groups) == ([], [], [])


def test_pragmas_become_text() -> None:
    run = runs.make(runs.plan(cases=[runs.case("a", pragmas=[["cache_size", -16000]])]))
    assert runs.analyse(run).cases[0].pragmas == [("cache_size", "-16000")]


def test_a_run_of_many_blocks_with_drift_keeps_its_ratio() -> None:
    base = runs.noisy({"bun": 1.1})
    run = runs.make(runs.plan(blocks=30), time=lambda c, s, b: base(c, s, b) * (1 + b / 10))
    assert runs.contrast(runs.analyse(run), "bun", "node").ratio.value == pytest.approx(
        1.1, rel=0.01
    )


def weighed(called: str, weights: str | None = None) -> list[str]:
    """The kinds of statement about a run of the cases a and b by a preset that calls a case."""
    planned = runs.plan(cases=[runs.case("a", group="reads"), runs.case("b", group="writes")])
    reading = Preset(title="an API", summary="it reads", calls={called: 600})
    run = replace(runs.make(planned), presets={"reading": reading})
    return [statement.kind for statement in runs.analyse(run, weights=weights).headline]


def test_a_run_without_the_cases_of_any_preset_decides_by_none_unless_asked() -> None:
    assert "weighed" in weighed("a")
    assert "weighed" not in weighed("c")
    assert "weighed" in weighed("c", "a=1")
    with refused("there is no case 'd'"):
        weighed("a", "d=1")


def test_presets_that_the_run_can_decide_stand_in_front() -> None:
    planned = runs.plan(cases=[runs.case("a"), runs.case("b")])
    presets = {
        name: Preset(title=name, summary="", calls={called: 1})
        for name, called in (("lacks", "c"), ("has", "b"))
    }
    for weights, order in ((None, ["has", "lacks"]), ("lacks", ["lacks", "has"])):
        report = runs.analyse(replace(runs.make(planned), presets=presets), weights=weights)
        (said,) = [each for each in report.headline if isinstance(each, Weighed)]
        assert [choice.preset for choice in said.choices] == order
