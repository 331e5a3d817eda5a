"""`compare` as a whole: what it prints, writes and returns, of one run or of two finished ones."""

import json
import os
import re
import sys
from functools import partial
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.calling import Call, check_refusals, ctrl_c
from tests.cli.test_interrupt import cut_off, where
from tests.fakes.clone import Clone, Done, measured_order, planned_order
from tests.fakes.instant import Desk, even
from tests.machines.folders import ask, change, replan
from tests.render.printing import data_of, opened

RUNNERS = ("base", "new")
THIN = "\u202f"  # a space
OPTIONS = ("--size", "s", "--seed", "3", "--blocks", "12")


@pytest.fixture
def desk(desk: Desk) -> Desk:
    desk.instant.paces["new"] = even(1210, "new")
    return desk


@pytest.fixture
def compare(at_desk: Call) -> Call:
    return partial(at_desk, "compare")


# one interleaved run ----------------------------------------------------------------------------

PROGRESS = """\
2 cells in 1 case, 12 blocks of about TIME: done in about TIME
the smallest detectable difference is unknown until it has run
"""


def test_the_whole_of_a_comparison(
    desk: Desk, compare: Call, at_desk: Call, snapshot: SnapshotAssertion
) -> None:
    done = compare("base", "new", *OPTIONS, "--margin", "5", "--label", "try-1", "--explain")
    lines = [line.rstrip() for line in done.out.replace(THIN, " ").splitlines()]
    assert "\n".join(lines) == snapshot
    assert done.code == 0
    assert done.err.startswith(PROGRESS)
    report = "report: CLONE/results/STAMP-try-1/report.html"
    assert done.err.endswith(f"36 invocations in TIME\n{report}\n")
    run = desk.clone.latest()
    written = sorted(file.name for file in run.path.iterdir())
    assert written == ["logs", "report.html", "run.sqlite", "summary.json"]
    plan = run.plan()
    assert (plan.margin, plan.label) == (0.05, "try-1")
    assert at_desk("report", "--format", "text") == Done(0, done.out, "")


def test_each_format_holds_the_same_report_now_and_when_it_is_rendered_again(
    desk: Desk, compare: Call, at_desk: Call
) -> None:
    told: dict[str, str] = {}
    for form in ("md", "node-csv", "html", "json"):
        desk.instant.measured.clear()
        done = compare("base", "new", *OPTIONS, "--format", form, "--label", form, "-q")
        assert (done.code, done.err) == (0, "")
        told[form] = done.out
        if form != "html":
            assert at_desk("report", "--format", form).out == done.out
        else:
            page = (desk.clone.latest().path / "report.html").read_text("utf-8")
            assert done.out == desk.clone.plain(page)
    text = (desk.clone.latest().path / "summary.json").read_text("utf-8")
    assert told["json"] == desk.clone.plain(text)
    found = desk.clone.summary().cases[0].comparisons.of("new", "base")
    assert found is not None
    assert (found.verdict, found.ratio.value) == ("materially slower", pytest.approx(1.1, rel=0.01))
    assert told["html"].lower().startswith("<!doctype html>")
    end = "▼ materially slower | 12 |"
    (row,) = (line for line in told["md"].splitlines() if line.endswith(end))
    assert row.startswith("| `get` | 1.099")
    head, *rows = told["node-csv"].splitlines()
    assert head == '"binary","filename","configuration","rate","time"'
    assert [row.split(",")[:3] for row in rows] == [
        [side, '"get"', '""'] for side in ('"old"', '"new"') for _ in range(12)
    ]


def test_a_run_of_a_suite_has_no_csv_of_nodes(desk: Desk, at_desk: Call) -> None:
    desk.clone.runner("third")
    desk.run(blocks=2)
    done = at_desk("report", "--format", "node-csv")
    assert (done.code, done.out) == (2, "")
    assert "is no comparison of two subjects: it holds 3 runners" in done.err


SLOWER = re.compile(
    r"gate 5 %: slower by more in both runs: get \(\+9\.9 % \[\+9\.4, \+10\.4\], then "
    r"\+\d+\.\d % \[\+\d+\.\d, \+\d+\.\d\]\)\nsecond run: CLONE/results/STAMP-compare-confirm\n"
)


def test_a_gate_tells_its_answer_last_even_if_quiet(compare: Call) -> None:
    done = compare("base", "new", *OPTIONS, "--gate", "5", "--quiet")
    assert done.code == 1
    assert SLOWER.fullmatch(done.err)
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
    desk.instant.before = ctrl_c("new", 5)
    broken = compare("base", "new", *OPTIONS, "--gate", "5", "--quiet")
    assert (broken.code, broken.out) == (130, "")
    command = broken.err.split("./just ")[1].split()
    words = [*command[:2], str(desk.clone.latest().path), "--quiet", "--explain"]
    desk.instant.before = lambda _name, _number: None
    done = at_desk(*words)
    assert done.code == 1
    assert SLOWER.fullmatch(done.err)
    said = done.err.splitlines()[0].replace("gate", "Gate", 1)
    assert done.out.splitlines()[3].startswith(said.partition(", then")[0])
    assert (desk.clone.latest().path / "report.html").exists()


def test_wrong_answers_end_with_5_and_are_told(desk: Desk, compare: Call) -> None:
    desk.instant.lies["new"] = lambda _: {"checksum": 6}
    done = compare("base", "new", *OPTIONS)
    assert done.code == 5
    told = "operation 0: checksum 6; the oracle has 5"
    assert re.search(f"^get +new +wrong answer +{told}$", done.out, re.MULTILINE)


def test_what_cannot_be_compared_is_told(desk: Desk, compare: Call) -> None:
    check_refusals("compare", compare)
    assert desk.instant.verified == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_an_interrupted_comparison_of_two_programs_is_resumed(clone: Clone) -> None:
    for name in ("one", "two"):
        program = clone.write(f"builds/{name}/bin/python", f'#!/bin/sh\nexec {sys.executable} "$@"')
        program.chmod(0o755)
    clone.runner("waits", "waits=3")
    subjects = [f"waits={clone.root}/builds/{name}/bin/python" for name in ("one", "two")]
    done = cut_off(clone, "compare", *subjects, *OPTIONS[:4], "--blocks", "2")
    told = f"interrupted; go on with: ./just run --resume {where(clone)}\n"
    assert (done.out, done.err.endswith(told)) == ("", True)
    run = clone.latest()
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
def runs(desk: Desk) -> list[Path]:
    """A run, and one in which runner `new` is of another version and slower."""
    desk.instant.paces["new"] = even(1100, "new")
    found: list[Path] = []
    for label in ("old", "fresh"):
        desk.run(blocks=12, label=label, seed=len(label))
        found.append(desk.clone.latest().path)
        desk.instant.paces["new"] = even(1320, "new")
    edit(found[1], "new")
    return found


def edit(run: Path, runner: str) -> None:
    """Give a runner of a run other versions."""
    ((text,),) = ask(run, "SELECT plan FROM run")
    runners = json.loads(text)["runners"]
    (entry,) = (each for each in runners if each["name"] == runner)
    described = json.dumps(entry["description"])
    entry["description"] = json.loads(described.replace('"version": "', '"version": "0.', 1))
    replan(run, runners=runners)


def the_case(done: Done) -> tuple[list[str], float]:
    """The verdicts and the first ratio of the only case."""
    (case,) = json.loads(done.out)["cases"]
    return case["comparisons"]["verdict"], case["comparisons"]["ratio"][0]


def test_two_runs_with_a_control_give_a_verdict(
    desk: Desk,
    compare: Call,
    at_desk: Call,
    runs: list[Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = len(desk.instant.measured)
    done = compare(*runs, "--explain")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("new: STAMP-fresh against STAMP-old\n")
    text = " ".join(done.out.split())
    assert "Controls that stayed unchanged (base) show" in text
    assert "base new in STAMP-old · new new in STAMP-fresh" in text
    assert "▼ materially slower between runs 12" in text
    markdown = compare(*runs, "--explain", "--format", "md").out
    assert "| ▼ materially slower between runs |" in markdown
    page = compare(*runs, "--explain", "--format", "html").out
    assert "materially slower between runs" in opened(page)
    assert "materially slower between runs" in json.dumps(data_of(page))  # what the script says
    rows = compare(*runs, "--explain", "--format", "node-csv").out.splitlines()[1:]
    assert [row.split(",")[0] for row in rows] == ['"old"'] * 12 + ['"new"'] * 12
    as_json = compare(*runs, "--explain", "--format", "json")
    assert the_case(as_json)[1] == pytest.approx(1.2, rel=0.01)
    assert len(desk.instant.measured) == before

    # the way to do it again works
    monkeypatch.chdir(desk.clone.root)
    just, *words = json.loads(as_json.out)["rerun"].split()
    assert (just, words[0]) == ("./just", "compare")
    real = {"CLONE": str(desk.clone.root), **{desk.clone.plain(r.name): r.name for r in runs}}
    for plain, name in real.items():
        words = [word.replace(plain, name) for word in words]
    again = at_desk(*words, "--format", "json")
    assert again.code == 0, again.err
    assert json.loads(again.out)["cases"] == json.loads(as_json.out)["cases"]


def test_two_runs_without_a_control_give_figures(compare: Call, runs: list[Path]) -> None:
    edit(runs[1], "base")
    done = compare(*runs, "--explain", "-r", "new")
    assert done.code == 0
    text = " ".join(done.out.split())
    assert "so there are no verdicts" in text
    assert "1 not testable: get" in text
    as_json = compare(*runs, "--explain", "-r", "new", "--format", "json")
    assert the_case(as_json) == (["not testable"], pytest.approx(1.2, rel=0.01))


def test_two_runs_that_cannot_be_compared_are_refused(compare: Call, runs: list[Path]) -> None:
    not_two = (
        "'base' is not a run directory but the other argument is; give two run directories or "
        "two subjects"
    )
    gate = "--gate needs new measurements; leave it out for two finished runs"
    asked = {(runs[0], "base"): not_two, ("base", runs[0]): not_two, (*runs, "--gate", "5"): gate}
    for typed, words in asked.items():
        assert compare(*typed) == Done(2, "", f"sqlitmus: {words}\n")
    change(runs[0], "PRAGMA user_version = 2")
    done = compare(*runs)
    assert (done.code, done.out) == (2, "")
    assert "run.sqlite: version 2 of the file, this sqlitmus reads 1; use the one" in done.err


def test_relative_paths_are_looked_up_where_the_user_is(
    desk: Desk, compare: Call, runs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = desk.clone.root / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("SQLITMUS_CALLED_FROM", str(desk.clone.root))
    done = compare(*(f"results/{run.name}" for run in runs))
    assert done.code == 0, done.err
    done = compare("base", "new", *OPTIONS, "--out", "mine", "--label", "there")
    assert done.code == 0, done.err
    assert "report: CLONE/mine/STAMP-there/report.html" in done.err
