"""What is read of a run's file, what is refused of it, and the parts of a report that show it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.render.document import symbols
from tests.analysis import runs
from tests.refusals import refused

GONE = runs.runner("dotnet", missing="no SDK", description=None)
NONE = runs.counts(1, iterations=0)
TWICE = "occurs more than once"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"schema_version": 1}, r"plan: \$.schema_version: "),
        ({"blocks": 0}, r"plan: \$.blocks: .*greater than or equal to 1"),
        (
            {"blocks": 35, "sessions": 3},
            r"plan: \$: .*, 35 blocks cannot be divided into 3 sessions$",
        ),
        ({"counts": {"get-pk": {"node": NONE}}}, r"counts\.get-pk\.node\.iterations"),
        ({"blocks": "x"}, r"plan: \$.blocks: "),
        ({"margin": 0}, r"plan: \$.margin: "),
        ({"runners": []}, r"plan: \$.runners: "),
        ({"reference": "nobody"}, "reference 'nobody' is not among the runners node, bun"),
        ({"canary": "nobody"}, "canary 'nobody'"),
        ({"floor": "nobody"}, "floor 'nobody'"),
        ({"cases": [runs.case("a"), runs.case("a")]}, f"case a {TWICE}"),
        ({"runners": [runs.runner("node"), runs.runner("node")]}, f"runner node {TWICE}"),
        ({"cases": [runs.case("a", metric="warm")]}, r"\$.cases\[0\].metric: .* or 'timer_p99'"),
        ({"cases": [runs.case("a", operations=0)]}, r"\$.cases\[0\]: .*at least 1 operation"),
        ({"cases": [runs.case("a", per_operation=0)]}, r"\$.cases\[0\].per_operation: "),
        ({"cases": [{"id": "a"}]}, r"\$.cases\[0\].scenario: Field required"),
    ],
)
def test_a_bad_plan_is_refused_with_its_place(changes: dict[str, object], text: str) -> None:
    with refused(text):
        runs.make({**runs.plan(), **changes}, lines=[], verify=[])


CELL = "UPDATE cell SET "
FIRST = "WHERE id = (SELECT cell FROM sample WHERE id = 1)"
UNPLANNED = "sample 1: the plan has no "


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (
            f"{CELL} verification = json_set(verification, '$.outcome', 'maybe')",
            r"verification of get-pk/node: \$.outcome: ",
        ),
        ("UPDATE sample SET block = 12 WHERE id = 1", UNPLANNED),
        ("UPDATE sample SET label = 'nobody' WHERE id = 1", UNPLANNED),
        (f"{CELL} case_id = 'x' {FIRST}", UNPLANNED),
        ("UPDATE detail SET record = '{\"launch\": {}}'", r"detail of sample 2: \$\.launch\.proc"),
    ],
)
def test_a_file_that_no_plan_knows_is_refused_with_the_place(statement: str, text: str) -> None:
    details = [{"position": 1, "latencies": [(5, 1)]}]
    with refused(text):
        runs.make(spoilt=statement, details=details)


def test_a_figure_that_nobody_recorded_is_unknown() -> None:
    """Of a run from before the figure existed."""
    cpu = "(SELECT id FROM figure WHERE name = 'cpu')"
    older, whole = (
        runs.make(spoilt=statement).samples
        for statement in (f"DELETE FROM value WHERE figure = {cpu}", "")
    )
    unknown = [np.isnan(samples.figures["cpu"]).all() for samples in (older, whole)]
    assert unknown == [True, False]
    assert np.array_equal(older.time, whole.time, equal_nan=True)


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    verify = runs.checks(runs.plan())
    first = {**verify[0], "outcome": "failed", "reason": "of two checks the last counts"}
    run = runs.load(runs.write(tmp_path, verify=[first, *verify]))
    assert {"read-heavy-api", "write-heavy-ingest"} < run.presets.keys()
    assert runs.analyse(replace(run, presets={})) == runs.report()
    assert run.samples.complete


def test_a_run_killed_before_its_first_sample_is_still_a_run(tmp_path: Path) -> None:
    run = runs.load(runs.write(tmp_path, verify=[], lines=[], machine={}))
    assert (run.checks, run.machine, run.details) == ({}, {}, {})
    assert not run.samples.complete
    report = runs.analyse(replace(run, presets={}))
    assert report.blocks_complete == 0
    assert {cell.outcome for found in report.cases for cell in found.cells} == {"missing"}
    assert all(standing.contrast is None for standing in report.standings)
    empty = runs.report(runs.plan(cases=[]))
    assert (empty.cases, empty.standings, empty.groups) == ([], [], [])


def parallel(*workers: int) -> runs.Json:
    axes = [{"profile": "normalised", "workers": str(n)} for n in workers]
    of = dict(zip(workers, axes, strict=True))
    cases = [
        runs.case(f"p@workers={n}", group="parallel", workers=n, axes=axes)
        for n, axes in of.items()
    ]
    return runs.plan(cases=cases)


def test_a_scaling_curve_is_units_per_second_over_workers() -> None:
    count = [4, 1, 2]
    run = runs.report(parallel(*count), time=lambda c, _l, b: (1000 + b) / count[c])
    (found,) = run.scaling
    assert (found.scenario, found.axes, found.cores) == ("p", {"profile": "normalised"}, 4)
    assert [curve.runner for curve in found.curves] == ["node", "bun", "rust-ffi"]
    assert [point.workers for point in found.curves[0].points] == [1, 2, 4]
    rates = [point.rate for point in found.curves[0].points]
    assert [rate.value for rate in rates] == pytest.approx([n * 1e9 / 1005.5 for n in (1, 2, 4)])
    # the bounds change places: ranks 3 and 10 of 12
    assert (rates[0].low, rates[0].high) == pytest.approx((1e9 / 1009, 1e9 / 1002))


def test_a_gap_in_a_curve_is_left_out_and_one_point_is_no_curve() -> None:
    lacking = [
        ({"case": f"p@workers={workers}", "runner": name}, {"outcome": "failed"})
        for name, workers in (("bun", 2), ("rust-ffi", 1), ("rust-ffi", 2))
    ]
    curves = runs.report(parallel(1, 2, 4), checked=lacking).scaling[0].curves
    points = {curve.runner: [point.workers for point in curve.points] for curve in curves}
    assert points == {"node": [1, 2, 4], "bun": [1, 4]}
    assert runs.report(parallel(2)).scaling == []
    # unknown cores call nothing oversubscribed
    assert runs.report(parallel(1, 8), machine={}).scaling[0].cores == 8


def test_facts_of_all_who_could_be_asked(snapshot: SnapshotAssertion) -> None:
    """Pragmas are told per profile, as read back; a fact is marked where it differs."""
    options = {"node": ["THREADSAFE=1", "ENABLE_FTS5"], "bun": ["THREADSAFE=2"]}
    runners = [
        runs.runner(n, description=runs.description(n, options=o)) for n, o in options.items()
    ]
    cases = [
        runs.case("a", pragmas=[["cache_size", -16000]]),
        runs.case("b", axes={"profile": "shipped"}),
        runs.case("c"),
    ]
    other = {"pragmas": {"journal_mode": "delete", "synchronous": None}}
    report = runs.report(
        runs.plan([*options], runners=[*runners, GONE], cases=cases),
        checked=[({"runner": "bun", "case": "c"}, other)],
    )
    assert [
        f"{'≠' if fact.differs else '='} {fact.group}: {fact.name}: {fact.values}"
        for fact in report.provenance
    ] == snapshot
    assert report.runners[-1].sqlite_version is None
    assert report.cases[0].pragmas == [("cache_size", "-16000")]


def test_checks_say_what_was_proven() -> None:
    proof = {"readback": {"rows": 5, "checksum": 1}, "affected": 1}
    assert runs.report(checked=[({}, proof)]).cases[0].checks == (
        "Equal in node, bun and rust-ffi: 100 rows, 1 affected row, checksum 000000ff, "
        "SHA-256 of all rows abababababababab…, 5 rows read back afterwards."
    )


def test_the_reference_may_be_chosen_among_those_who_took_part() -> None:
    of = runs.plan(runners=[*runs.plan()["runners"], GONE])
    assert runs.report(of).reference == "node"
    assert runs.report(of, reference="bun").reference == "bun"
    for name in ("dotnet", "nobody"):
        with refused(f"'{name}' cannot be the reference.*node, bun"):
            runs.report(of, reference=name)
    # a missing one gives way to the next runner
    runners = [{**GONE, "name": "node"}, *runs.plan()["runners"][1:]]
    assert runs.report(runs.plan(runners=runners)).reference == "bun"


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
    report = runs.report(runs.plan(**METHODS[name]))
    assert (report.method, symbols.correction(report)) == snapshot


def weighed(weights: str | None = None, **called: str) -> list[str]:
    """By which presets a run of the cases a and b is decided, each of which calls a case."""
    presets = {name: {"title": "", "summary": "", "calls": {of: 1}} for name, of in called.items()}
    of = runs.plan(cases=[runs.case("a", group="reads"), runs.case("b", group="writes")])
    report = runs.report(of, presets=presets, weights=weights)
    found = [each.choices for each in report.headline if each.kind == "weighed"]
    return [choice.preset for choices in found for choice in choices]


def test_presets_that_the_run_can_decide_stand_in_front_but_for_the_one_that_is_asked_for() -> None:
    assert weighed(lacks="c", has="b") == ["has", "lacks"]
    assert weighed("lacks", lacks="c", has="b") == ["lacks", "has"]
    # none, unless somebody asks
    assert weighed(lacks="c") == []
    assert weighed("a=1", lacks="c") == ["own calls", "lacks"]
    with refused("there is no case 'd'"):
        weighed("d=1", has="a")
