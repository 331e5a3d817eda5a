"""`compare` as a whole: what it prints, writes and returns, of one run or of two finished ones."""

import json
import os
import re
import signal
import sys
from functools import partial

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.render.document.format import THIN
from sqlitmus.results import machines as data
from sqlitmus.store.folder import RunDirectory
from tests.cli.calling import Call, refusals
from tests.cli.test_interrupt import let_go, under_way
from tests.fakes.clone import Clone, Done, measured_order, planned_order
from tests.fakes.instant import Desk, even
from tests.machines.folders import ask, change, replan
from tests.render.printing import data_of, opened

OPTIONS = ("--size", "s", "--seed", "3", "--blocks", "12")


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    for name in ("base", "new"):
        catalogue.runner(name)
    made = Desk.make(catalogue, monkeypatch)
    made.instant.paces["new"] = even(1210, "new")
    return made


@pytest.fixture
def compare(at_desk: Call) -> Call:
    return partial(at_desk, "compare")


# one interleaved run ----------------------------------------------------------------------------

PROGRESS = """\
2 cells in 1 case, 12 blocks of about TIME: done in about TIME
the smallest detectable difference is unknown until it has run
"""


def test_the_whole_of_a_comparison(desk: Desk, compare: Call, snapshot: SnapshotAssertion) -> None:
    done = compare("base", "new", *OPTIONS, "--explain")
    lines = [line.rstrip() for line in done.out.replace(THIN, " ").splitlines()]
    assert "\n".join(lines) == snapshot
    assert done.code == 0
    assert done.err.startswith(PROGRESS)
    assert done.err.endswith(
        "36 invocations in TIME\nreport: CLONE/results/STAMP-compare/report.html\n"
    )
    written = sorted(file.name for file in desk.clone.latest().path.iterdir())
    assert written == [
        "logs",
        "report.html",
        "run.sqlite",
        "summary.json",
    ]


def test_the_csv_of_nodes_own_tool(compare: Call) -> None:
    done = compare("base", "new", *OPTIONS, "--format", "node-csv", "--quiet")
    assert (done.code, done.err) == (0, "")
    head, *rows = done.out.splitlines()
    assert head == '"binary","filename","configuration","rate","time"'
    assert [row.split(",")[:3] for row in rows] == [
        [side, '"get"', '""'] for side in ('"old"', '"new"') for _ in range(12)
    ]


def test_other_formats_hold_the_same_report(desk: Desk, compare: Call) -> None:
    as_json = compare("base", "new", *OPTIONS, "--format", "json", "--label", "one")
    assert as_json.code == 0
    folder = desk.clone.latest().path
    assert as_json.out == desk.clone.plain((folder / "summary.json").read_text("utf-8"))
    summary = data.load((folder / "summary.json").read_bytes())
    found = summary.cases[0].comparisons.of("new", "base")
    assert found is not None
    assert (found.verdict, found.ratio.value) == ("materially slower", pytest.approx(1.1, rel=0.01))

    html = compare("base", "new", *OPTIONS, "--format", "html", "--label", "two")
    page = (desk.clone.latest().path / "report.html").read_text("utf-8")
    assert html.out == desk.clone.plain(page)
    assert html.out.lower().startswith("<!doctype html>")

    markdown = compare("base", "new", *OPTIONS, "--format", "md", "--label", "three")
    (row,) = (x for x in markdown.out.splitlines() if x.endswith("▼ materially slower | 12 |"))
    assert row.startswith("| `get` | 1.099")


def test_a_finished_comparison_is_rendered_again_in_each_format(
    compare: Call, at_desk: Call
) -> None:
    for form in ("text", "md", "node-csv", "json"):
        first = compare("base", "new", *OPTIONS, "--format", form, "--label", form, "--explain")
        again = at_desk("report", "--format", form)
        assert (again.code, again.out) == (0, first.out)


def test_a_run_of_a_suite_has_no_csv_of_nodes(desk: Desk, at_desk: Call) -> None:
    desk.clone.runner("third")
    desk.run(blocks=2)
    done = at_desk("report", "--format", "node-csv")
    assert (done.code, done.out) == (2, "")
    assert "is no comparison of two subjects: it holds 3 runners" in done.err


def test_the_run_can_be_asked_for_again_as_it_was(desk: Desk, compare: Call) -> None:
    done = compare("base", "new", *OPTIONS, "--margin", "5", "--label", "try-1")
    assert done.err.endswith("report: CLONE/results/STAMP-try-1/report.html\n")
    plan = desk.clone.latest().plan()
    assert plan.rerun == (
        "./just compare base new --size s --seed 3 --blocks 12 --margin 5 --label try-1"
    )
    assert (plan.margin, plan.label) == (0.05, "try-1")


def test_a_gate_tells_its_answer_last_even_if_quiet(compare: Call) -> None:
    done = compare("base", "new", *OPTIONS, "--gate", "5", "--quiet")
    first, second = done.err.splitlines()
    assert done.code == 1
    assert re.fullmatch(
        r"gate 5 %: slower by more in both runs: get \(\+9\.9 % \[\+9\.4, \+10\.4\], then "
        r"\+\d+\.\d % \[\+\d+\.\d, \+\d+\.\d\]\)",
        first,
    )
    assert second == "second run: CLONE/results/STAMP-compare-confirm"
    passed = compare("base", "new", *OPTIONS, "--gate", "50", "--quiet", "--label", "wide")
    assert (passed.code, passed.err) == (0, "gate 50 %: no case is slower by more\n")


def test_strict_ends_with_6_where_noise_hides_the_answer(desk: Desk, compare: Call) -> None:
    wild = (0.9, 1.2, 1.0, 1.1, 1.05)
    desk.instant.paces["new"] = lambda _, n: 1100 * wild[n % 5]
    strict = compare("base", "new", *OPTIONS, "--gate", "5", "--strict", "--quiet")
    assert strict.code == 6
    assert strict.err.startswith("gate 5 %: too noisy to tell: get (+")
    desk.instant.measured.clear()
    lenient = compare("base", "new", *OPTIONS, "--gate", "5", "--quiet", "--label", "lenient")
    assert (lenient.code, lenient.err) == (0, strict.err)


def test_an_interrupted_gate_resumed_ends_as_the_comparison_would_have(
    desk: Desk, compare: Call, at_desk: Call
) -> None:
    def interrupt(_name: str, number: int) -> None:
        if number == 5:
            os.kill(os.getpid(), signal.SIGINT)

    desk.instant.before = interrupt
    broken = compare("base", "new", *OPTIONS, "--gate", "5", "--quiet")
    assert (broken.code, broken.out) == (130, "")
    command = broken.err.split("./just ")[1].split()
    words = [*command[:2], str(desk.clone.latest().path), "--quiet", "--explain"]
    desk.instant.before = lambda _name, _number: None
    done = at_desk(*words)
    assert done.code == 1
    assert done.out.splitlines()[3].startswith(
        "Gate 5 %: slower by more in both runs: get (+9.9 % [+9.4, +10.4], then +"
    )
    assert [re.sub(r" \(.*\)", "", line) for line in done.err.splitlines()] == [
        "gate 5 %: slower by more in both runs: get",
        "second run: CLONE/results/STAMP-compare-confirm",
    ]
    assert (desk.clone.latest().path / "report.html").exists()


def test_relative_paths_are_looked_up_where_the_user_is(
    desk: Desk, compare: Call, runs: list[RunDirectory], monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = desk.clone.root / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("SQLITMUS_CALLED_FROM", str(desk.clone.root))
    done = compare(*(f"results/{run.path.name}" for run in runs))
    assert done.code == 0, done.err
    done = compare("base", "new", *OPTIONS, "--out", "mine", "--label", "there")
    assert done.code == 0, done.err
    assert "report: CLONE/mine/STAMP-there/report.html" in done.err


def test_wrong_answers_end_with_5_and_are_told(desk: Desk, compare: Call) -> None:
    desk.instant.lies["new"] = lambda _: {"checksum": 6}
    done = compare("base", "new", *OPTIONS)
    assert done.code == 5
    told = "operation 0: checksum 6; the oracle has 5"
    assert re.search(f"^get +new +wrong answer +{told}$", done.out, re.MULTILINE)


@refusals("compare")
def test_what_cannot_be_compared_is_told(
    desk: Desk, compare: Call, typed: list[str], message: str
) -> None:
    done = compare(*typed)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"sqlitmus: {message}")
    assert desk.instant.verified == []


pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")


@pipes
def test_an_interrupted_comparison_of_two_programs_is_resumed(clone: Clone) -> None:
    for name in ("one", "two"):
        program = clone.write(f"builds/{name}/bin/python", f'#!/bin/sh\nexec {sys.executable} "$@"')
        program.chmod(0o755)
    clone.runner("waits", "waits=3")
    subjects = [f"waits={clone.root}/builds/{name}/bin/python" for name in ("one", "two")]
    process = under_way(clone, "compare", *subjects, *OPTIONS[:4], "--blocks", "2")
    process.send_signal(signal.SIGINT)
    let_go(clone)
    done = clone.finish(process)
    assert (done.code, done.out) == (130, "")
    run = clone.latest()
    where = f"CLONE/results/{clone.plain(run.path.name)}"
    assert done.err.endswith(f"interrupted; go on with: ./just run --resume {where}\n")
    assert len(measured_order(run)) == 3
    labels = [f"waits=…/{name}/bin/python" for name in ("one", "two")]
    assert [r.name for r in run.plan().runners if r.role == "runner"] == labels

    clone.state("waits").with_suffix(".gate").unlink()
    resumed = clone.sqlitmus("run", "--resume", str(run.path))
    assert resumed.code == 0, resumed.err
    assert measured_order(run) == planned_order(run)
    assert run.complete()
    assert f"base {labels[0]} · new {labels[1]}" in " ".join(resumed.out.split())


# two finished runs ------------------------------------------------------------------------------


@pytest.fixture
def runs(desk: Desk) -> list[RunDirectory]:
    """A run, and one in which runner `new` is of another version and slower."""
    desk.instant.paces["new"] = even(1100, "new")
    found: list[RunDirectory] = []
    for label in ("old", "fresh"):
        desk.run(blocks=12, label=label, seed=len(label))
        found.append(desk.clone.latest())
        desk.instant.paces["new"] = even(1320, "new")
    edit(found[1], "new")
    return found


def edit(run: RunDirectory, runner: str) -> None:
    """Give a runner of a run other versions."""
    ((text,),) = ask(run.path, "SELECT plan FROM run")
    runners = json.loads(text)["runners"]
    (entry,) = (each for each in runners if each["name"] == runner)
    described = json.dumps(entry["description"])
    entry["description"] = json.loads(described.replace('"version": "', '"version": "0.', 1))
    replan(run.path, runners=runners)


def told(done: Done) -> str:
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("sqlitmus: ")
    return done.err.removeprefix("sqlitmus: ").rstrip("\n")


def paths(runs: list[RunDirectory]) -> list[str]:
    return [str(run.path) for run in runs]


def test_two_runs_with_a_control_give_a_verdict(
    desk: Desk, compare: Call, runs: list[RunDirectory]
) -> None:
    before = len(desk.instant.measured)
    done = compare(*paths(runs), "--explain")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("new: STAMP-fresh against STAMP-old\n")
    text = " ".join(done.out.split())
    assert "Controls that stayed unchanged (base) show" in text
    assert "base new in STAMP-old · new new in STAMP-fresh" in text
    assert "▼ materially slower between runs 12" in text
    markdown = compare(*paths(runs), "--explain", "--format", "md").out
    assert "| ▼ materially slower between runs |" in markdown
    page = compare(*paths(runs), "--explain", "--format", "html").out
    assert "materially slower between runs" in opened(page)
    assert "materially slower between runs" in json.dumps(data_of(page))  # what the script says
    assert len(desk.instant.measured) == before
    as_json = compare(*paths(runs), "--explain", "--format", "json")
    (case,) = json.loads(as_json.out)["cases"]
    assert case["comparisons"]["ratio"][0] == pytest.approx(1.2, rel=0.01)


def test_two_runs_without_a_control_give_figures(compare: Call, runs: list[RunDirectory]) -> None:
    edit(runs[1], "base")
    done = compare(*paths(runs), "--explain", "-r", "new")
    assert done.code == 0
    text = " ".join(done.out.split())
    assert "so there are no verdicts" in text
    assert "1 not testable: get" in text
    as_json = compare(*paths(runs), "--explain", "-r", "new", "--format", "json")
    (case,) = json.loads(as_json.out)["cases"]
    assert case["comparisons"]["verdict"] == ["not testable"]
    assert case["comparisons"]["ratio"][0] == pytest.approx(1.2, rel=0.01)


def test_two_runs_as_the_csv_of_nodes_own_tool(compare: Call, runs: list[RunDirectory]) -> None:
    done = compare(*paths(runs), "--explain", "--format", "node-csv")
    assert done.code == 0
    binaries = [row.split(",")[0] for row in done.out.splitlines()[1:]]
    assert binaries == ['"old"'] * 12 + ['"new"'] * 12


def test_runs_written_by_another_version_are_refused(
    compare: Call, runs: list[RunDirectory]
) -> None:
    change(runs[0].path, "PRAGMA user_version = 2")
    message = told(compare(*paths(runs), "--explain"))
    assert "run.sqlite: version 2 of the file, this sqlitmus reads 1; use the one" in message


def test_a_run_and_a_runner_are_not_two_of_a_kind_and_runs_have_no_gate(
    compare: Call, runs: list[RunDirectory]
) -> None:
    one = str(runs[0].path)
    message = (
        "'base' is not a run directory but the other argument is; give two run directories or "
        "two subjects"
    )
    assert told(compare(one, "base")) == told(compare("base", one)) == message
    assert told(compare(*paths(runs), "--explain", "--gate", "5")) == (
        "--gate needs new measurements; leave it out for two finished runs"
    )


def test_the_way_to_do_it_again_works(
    desk: Desk,
    compare: Call,
    at_desk: Call,
    runs: list[RunDirectory],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(desk.clone.root)
    first = compare(*paths(runs), "--explain", "--format", "json")
    words = json.loads(first.out)["rerun"].split()
    assert words[:2] == ["./just", "compare"]
    stamps = {desk.clone.plain(run.path.name): run.path.name for run in runs}
    real = [w.replace("CLONE", str(desk.clone.root)) for w in words[1:]]
    for stamp, name in stamps.items():
        real = [w.replace(stamp, name) for w in real]
    again = at_desk(*real, "--format", "json")
    assert again.code == 0, again.err
    assert json.loads(again.out)["cases"] == json.loads(first.out)["cases"]
