"""From fakes with known times to the verdict: what the whole path makes of them."""

import json
from collections import Counter
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.calling import Call, ctrl_c
from tests.fakes.clone import Clone
from tests.fakes.instant import Desk, even
from tests.worded import notices

RUN = ("run", "--size", "s", "--seed", "4", "--blocks", "10")


def compared(clone: Clone, reference: str) -> dict[str, Any]:
    """The only case of a run's summary, and what it says of each runner beside the reference."""
    done = clone.sqlitmus(*RUN, "--reference", reference)
    assert done.code == 0, done.err
    (case,) = clone.summary().cases
    pairs = {cell.runner: case.comparisons.of(cell.runner, reference) for cell in case.cells}
    cells = {cell.runner: cell for cell in case.cells}
    return {"case": case, "cells": cells, "against": pairs}


def test_a_runner_slower_by_3_percent_is_found_and_the_canary_is_not(clone: Clone) -> None:
    clone.runner("steady", "steady")
    clone.runner("slow", "slow3pct")
    clone.runner("twin", "steady")
    found = compared(clone, "steady")
    case, slow = found["case"], found["against"]["slow"]
    assert (slow.blocks, slow.verdict) == (10, "materially slower")
    assert slow.ratio.low < 1.03 < slow.ratio.high
    assert slow.ratio.value == pytest.approx(1.03, abs=0.003)
    assert case.comparisons.of("steady", "slow").verdict == "materially faster"
    assert found["against"]["twin"].verdict == case.canary.verdict == "equivalent"
    # Four operations of a millisecond in all; the summary is per operation.
    assert found["cells"]["steady"].time.value == pytest.approx(250_000, abs=1_000)


def test_a_machine_that_grows_slower_favours_nobody(clone: Clone) -> None:
    for name in ("left", "right"):
        clone.runner(name, "drifting", state="machine")
    found = compared(clone, "left")
    right = found["against"]["right"]
    assert right.verdict == "equivalent"
    assert right.ratio.low < 1 < right.ratio.high
    first, *_, last = found["cells"]["left"].samples
    assert last > 1.08 * first


GET = 4  # operations of the case `get`, 2 of `all`


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    catalogue.two_of_each()
    desk = Desk.make(catalogue, monkeypatch)
    wild = (0.9, 1.2, 1.0, 1.1, 0.8, 1.05, 0.95)
    desk.instant.paces["a"], clear = even(1100, "a"), even(4400, "b")
    desk.instant.paces["b"] = lambda operations, n: (
        clear(operations, n) if operations == GET else 1150 * wild[n % 7]
    )
    return desk


def blocks(desk: Desk) -> dict[str, int]:
    return dict(Counter(s.case for s in desk.clone.latest().samples() if s.label == "a"))


def test_what_is_clear_in_the_pilot_has_the_fewest_blocks(desk: Desk) -> None:
    desk.instant.before = ctrl_c("a", 18)
    assert desk.run(mode="budget").exit == 130
    first = desk.said().splitlines()[0]
    assert first == "4 cells in 2 cases, 10 to 20 sets of each case: done in about TIME"
    desk.instant.before = lambda _name, _number: None
    run = desk.clone.latest()
    assert desk.resume(run.path).exit == 0, "with the same sets"
    assert blocks(desk) == {"get": 10, "all": 20}
    plan = run.plan()
    assert (plan.blocks, plan.sets) == (20, {"get": 10})
    assert "--blocks" not in plan.rerun
    made = desk.clone.analysed()
    assert (made.blocks_complete, made.blocks_planned) == (20, 20)
    (told,) = (text for text in notices(made) if "pilot foretold" in text)
    assert told == (
        "1 case got 10 blocks and the others 20: the time went where the pilot foretold that more "
        "blocks answer more."
    )
    counts = {case.id: max(case.comparisons.blocks) for case in made.cases}
    assert counts == {"get": 10, "all": 20}


def test_who_says_how_many_blocks_gets_these(desk: Desk) -> None:
    assert desk.run(mode="budget", blocks=2).exit == 0
    assert blocks(desk) == {"get": 2, "all": 2}
    assert desk.clone.latest().plan().sets == {}


def test_a_budget_too_short_for_a_verdict_is_exceeded_and_the_run_says_so(desk: Desk) -> None:
    desk.clone.replace("scenarios/modes.toml", "budget_s = 600", "budget_s = 0.01")
    assert desk.run(mode="budget").exit == 0
    assert blocks(desk) == {"get": 10, "all": 10}
    assert desk.said().splitlines()[0] == (
        "the time budget allows 0 blocks; 10 are the fewest that give a word, so the run takes "
        "longer than that (choose less to shorten it)"
    )


def test_a_report_is_made_again_from_the_run_alone(desk: Desk, at_desk: Call) -> None:
    desk.instant.lies["b"] = lambda _number: None
    assert at_desk("run", "--size", "s", "--blocks", "2", "-q").code == 4
    run = desk.clone.latest()
    first = (run.path / "report.html").read_bytes()
    (run.path / "report.html").unlink()
    done = at_desk("report", run.path)
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith("/report.html\n")
    assert (run.path / "report.html").read_bytes() == first
    as_json = at_desk("report", "--format", "json")
    assert json.loads(as_json.out)["cases"][0]["id"] == "get"
    notes = desk.clone.root / "notes/run.md"
    done = at_desk("report", "--format", "md", "--out", notes)
    assert (done.code, done.out, done.err) == (0, "", "CLONE/notes/run.md\n")
    assert "ended with exit code 7 and wrote no result" in notes.read_text("utf-8")
    done = at_desk("report", "--format", "md", "--out", notes / "run.md")
    words = "cannot be written: File exists; free some space or choose another file"
    assert (done.code, done.err) == (3, f"sqlitmus: CLONE/notes/run.md/run.md: {words}\n")


def stripped(text: str) -> str:
    """The text without the blanks around a table's lines."""
    return "\n".join(line.strip() for line in text.splitlines()).strip()


def test_a_plan_says_what_a_run_takes_and_starts_nothing(
    desk: Desk, call: Call, snapshot: SnapshotAssertion
) -> None:
    def plan() -> str:
        done = call("run", "--plan", "--mode", "budget", "--size", "s")
        assert (done.code, done.err) == (0, "")
        return stripped(done.out)

    with desk.monkeypatch.context() as nothing:
        for starting in (
            "catalog.runners.describe",
            "run.verify.context.prove",
            "machine.lock.hold",
        ):
            nothing.setattr(f"sqlitmus.{starting}", None)
        assert plan() == snapshot
    assert stripped(call("list", "suites").out) == snapshot(name="suites")
    assert desk.run(mode="budget").exit == 0
    foretold = plan().splitlines()
    assert foretold[0] == desk.stderr.getvalue().splitlines()[0]
    assert foretold[2:5:2] == [
        "before that, verification and pilot take about 0.0 s",
        "0 of 4 cells were never tried here: a process of them counts as 0.3 s",
    ]
