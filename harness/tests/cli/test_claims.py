"""`claims` as a whole: what it lists, measures, prints and writes."""

import json
from collections.abc import Callable

import pytest

from sqlitmus import paths
from sqlitmus.report import data
from tests.fakes.clone import MODES, Clone, Done
from tests.fakes.instant import Desk, even

CLAIM = """
title = "The new one is faster"
source = "A post"
published_on = "8 cores"
hypothesis = "It takes less time."
untestable = ["a build that nobody has"]

[lessons]
reproduced = "Take the new one."
different = "Take the new one, for less."
unresolved = "It cannot be told."
reversed = "Keep the old one."
untestable = "Ask elsewhere."

[[groups]]
title = "get(): times as fast"
metric = "steady"
base = { case = "get", runner = "old" }
new = { case = "get", runner = "new" }
rows = [{ name = "a row", published = 1.2, said = "+20 %", key = true }]
"""
MODE = MODES[MODES.index("[standard]") :].split("\n\n")[0].replace("[standard]", "[claims]")
OPTIONS = ("--size", "s", "--seed", "3", "--blocks", "12")
Call = Callable[..., Done]


@pytest.fixture
def desk(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    for name in ("old", "new", "other"):
        clone.runner(name)
    clone.write("scenarios/claims/a-faster.toml", CLAIM)
    clone.write("scenarios/modes.toml", f"{MODES}\n{MODE}\n")
    monkeypatch.setattr(paths, "SCENARIOS", clone.root / "scenarios")
    made = Desk.make(clone, monkeypatch)
    made.instant.paces["old"] = even(1200, "old")
    made.instant.paces["new"] = even(1000, "new")
    return made


@pytest.fixture
def claims(desk: Desk, capsys: pytest.CaptureFixture[str]) -> Call:
    return lambda *arguments: desk.sqlitmus(capsys, "claims", *arguments)


def test_a_claim_is_measured_and_judged(desk: Desk, claims: Call) -> None:
    done = claims("faster", *OPTIONS)
    assert done.code == 0, done.err
    assert "The new one is faster: reproduced." in done.out
    assert "✓ reproduced: " in done.out
    assert "Run again: ./just claims faster --blocks 12" in done.out
    assert "report: CLONE/results/STAMP-claims/report.html" in done.err
    run = desk.clone.latest()
    assert {sample.runner for sample in run.samples()} == {"old", "new"}
    report = data.load((run.path / "summary.json").read_bytes())
    assert report.kind == "claims"
    assert report.claims[0].counts == {"reproduced": 1}
    assert 'id="claim-faster"' in (run.path / "report.html").read_text("utf-8")


def test_only_a_claims_run_keeps_what_only_claims_show(
    desk: Desk, claims: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    claims(*OPTIONS, "-q")
    told = (desk.clone.latest().path / "details.jsonl").read_text("utf-8").splitlines()
    assert len(told) == 3 * 12  # the canary, too
    done = desk.sqlitmus(capsys, "run", "--case", "get", *OPTIONS, "-q")
    assert done.code == 0, done.err
    assert not (desk.clone.latest().path / "details.jsonl").exists()


def test_a_claims_run_is_rendered_again_from_its_folder(
    desk: Desk, claims: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    done = claims(*OPTIONS, "-q")
    (desk.clone.root / "scenarios/claims/a-faster.toml").unlink()
    path = str(desk.clone.latest().path)
    again = desk.sqlitmus(capsys, "report", path, "--format", "text")
    assert (again.code, again.out) == (0, done.out)


def test_node_s_form_is_one_of_the_outputs(claims: Call) -> None:
    done = claims(*OPTIONS, "-q", "--format", "node")
    assert done.out.startswith("The new one is faster: old, new\n\n")
    assert "get(): times as fast: a row        ***" in done.out


def test_the_list_measures_nothing(desk: Desk, claims: Call) -> None:
    done = claims("--list")
    assert done.code == 0
    assert "faster" in done.out
    assert json.loads(claims("--list", "--json").out) == [
        {
            "claim": "faster",
            "title": "The new one is faster",
            "source": "A post",
            "rows": 1,
            "cells": 2,
        }
    ]
    assert not (desk.clone.root / "results").exists()


ERRORS = [
    (["fastr"], "there is no claim 'fastr'; did you mean faster?"),
    (["--format", "pdf"], "there is no format 'pdf'"),
    (["--json"], "--json belongs to --list"),
    (["--pins", "a"], "--pins 'a': expected numbers of processors, such as 0,1"),
    (["-r", "other"], "other"),
]


@pytest.mark.parametrize(("arguments", "said"), ERRORS)
def test_what_cannot_be_asked_is_exit_2(claims: Call, arguments: list[str], said: str) -> None:
    done = claims(*arguments)
    assert done.code == 2
    assert said in done.err


def test_a_broken_claim_is_named(desk: Desk, claims: Call) -> None:
    desk.clone.replace("scenarios/claims/a-faster.toml", 'runner = "old"', 'runner = "odd"')
    done = claims()
    assert done.code == 2
    assert "a-faster.toml: groups[0].rows[0]: there is no runner 'odd'" in done.err
