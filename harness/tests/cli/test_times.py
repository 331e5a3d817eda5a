"""From fakes with known times to the verdict: what the whole path makes of them."""

import json
import os
import signal
from collections import Counter

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.results.ranking import Contrast
from sqlitmus.results.report import Case
from tests.cli.calling import Call
from tests.fakes.clone import Clone
from tests.fakes.instant import Desk, even
from tests.worded import notices

RUN = ("run", "--size", "s", "--seed", "4", "--blocks", "12")


def measured(clone: Clone, reference: str) -> Case:
    """The only case of a run's summary."""
    done = clone.sqlitmus(*RUN, "--reference", reference)
    assert done.code == 0, done.err
    summary = clone.summary()
    (case,) = summary.cases
    return case


def against(case: Case, runner: str, reference: str) -> Contrast:
    """One comparison of a case."""
    found = case.comparisons.of(runner, reference)
    assert found is not None
    return found


def test_a_runner_slower_by_3_percent_is_found_and_the_canary_is_not(clone: Clone) -> None:
    clone.runner("steady", "steady")
    clone.runner("slow", "slow3pct")
    clone.runner("twin", "steady")
    case = measured(clone, "steady")
    found = against(case, "slow", "steady")
    assert found.blocks == 12
    assert found.verdict == "materially slower"
    assert found.ratio.low is not None
    assert found.ratio.high is not None
    assert found.ratio.low < 1.03 < found.ratio.high
    assert abs(found.ratio.value - 1.03) < 0.003
    assert against(case, "steady", "slow").verdict == "materially faster"
    assert against(case, "twin", "steady").verdict == "equivalent"
    assert case.canary is not None
    assert case.canary.verdict == "equivalent"
    # Four operations of a millisecond in all; the summary is per operation.
    (steady,) = [cell for cell in case.cells if cell.runner == "steady"]
    assert steady.time is not None
    assert abs(steady.time.value - 250_000) < 1_000


def test_a_machine_that_grows_slower_favours_nobody(clone: Clone) -> None:
    for name in ("left", "right"):
        clone.runner(name, "drifting", state="machine")
    case = measured(clone, "left")
    found = against(case, "right", "left")
    assert found.verdict == "equivalent"
    assert found.ratio.low is not None
    assert found.ratio.high is not None
    assert found.ratio.low < 1 < found.ratio.high
    (left,) = [cell for cell in case.cells if cell.runner == "left"]
    first, *_, last = left.samples
    assert first is not None
    assert last is not None
    assert last > 1.08 * first


def test_a_report_is_made_again_from_the_run_alone(clone: Clone) -> None:
    clone.runner("a", "steady")
    clone.runner("b", "crash")
    assert clone.sqlitmus("run", "--size", "s", "--blocks", "2").code == 4
    run = clone.latest()
    first = (run.path / "report.html").read_bytes()
    (run.path / "report.html").unlink()
    done = clone.sqlitmus("report", str(run.path))
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith("/report.html\n")
    assert (run.path / "report.html").read_bytes() == first
    as_json = clone.sqlitmus("report", "--format", "json")
    assert json.loads(as_json.out)["cases"][0]["id"] == "get"
    markdown = clone.sqlitmus("report", "--format", "md", "--out", "notes/run.md")
    assert (markdown.code, markdown.out, markdown.err) == (0, "", "notes/run.md\n")
    assert "ended with exit code 3 and wrote no result" in (clone.root / "notes/run.md").read_text(
        "utf-8"
    )
    clone.write("full", "")
    full = clone.sqlitmus("report", "--format", "md", "--out", "full/run.md")
    assert (full.code, full.err) == (
        3,
        (
            "sqlitmus: full/run.md: cannot be written: File exists; free some space or choose "
            "another file\n"
        ),
    )


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
    assert desk.run(mode="budget").exit == 0
    assert blocks(desk) == {"get": 10, "all": 20}
    plan = desk.clone.latest().plan()
    assert (plan.blocks, plan.sets) == (20, {"get": 10})
    first = desk.said().splitlines()[0]
    assert first == "4 cells in 2 cases, 10 to 20 sets of each case: done in about TIME"


def test_the_report_tells_and_misses_nothing(desk: Desk) -> None:
    desk.run(mode="budget")
    made = desk.clone.analysed()
    assert (made.blocks_complete, made.blocks_planned) == (20, 20)
    (told,) = (text for text in notices(made) if "pilot foretold" in text)
    assert told == (
        "1 case got 10 blocks and the others 20: the time went where the pilot foretold that more "
        "blocks answer more."
    )
    counts = {case.id: list(case.comparisons.blocks) for case in made.cases}
    assert (max(counts["get"]), max(counts["all"])) == (10, 20)
    assert "--blocks" not in desk.clone.latest().plan().rerun


def test_a_run_that_was_cut_off_goes_on_with_the_same_sets(desk: Desk) -> None:
    def interrupt(name: str, number: int) -> None:
        if (name, number) == ("a", 18):
            os.kill(os.getpid(), signal.SIGINT)

    desk.instant.before = interrupt
    assert desk.run(mode="budget").exit == 130
    desk.instant.before = lambda _name, _number: None
    assert desk.resume(desk.clone.latest().path).exit == 0
    assert blocks(desk) == {"get": 10, "all": 20}


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


def stripped(text: str) -> str:
    """The text without the blanks around a table's lines."""
    return "\n".join(line.strip() for line in text.splitlines()).strip()


def test_a_plan_says_what_a_run_takes_and_starts_nothing(
    desk: Desk, call: Call, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    def plan() -> str:
        done = call("run", "--plan", "--mode", "budget", "--size", "s")
        assert (done.code, done.err) == (0, "")
        return stripped(done.out)

    with monkeypatch.context() as nothing:
        for starting in (
            "catalog.runners.describe",
            "run.verify.context.prove",
            "machine.lock.hold",
        ):
            nothing.setattr(f"sqlitmus.{starting}", None)
        assert plan() == snapshot
    assert desk.run(mode="budget").exit == 0
    foretold = plan().splitlines()
    assert foretold[0] == desk.stderr.getvalue().splitlines()[0]
    assert foretold[2:5:2] == [
        "before that, verification and pilot take about 0.0 s",
        "0 of 4 cells were never tried here: a process of them counts as 0.3 s",
    ]


@pytest.mark.usefixtures("desk")
def test_the_list_of_suites_tells_how_long_each_takes(
    call: Call, snapshot: SnapshotAssertion
) -> None:
    assert stripped(call("list", "suites").out) == snapshot
