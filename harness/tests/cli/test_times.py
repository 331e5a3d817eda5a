"""From fakes with known times to the verdict: what the whole path makes of them."""

import json

from sqlitmus.results import machines as data
from sqlitmus.results.ranking import Comparison
from sqlitmus.results.report import Case
from sqlitmus.vocabulary.verdicts import Verdict
from tests.fakes.clone import Clone

RUN = ("run", "--size", "s", "--seed", "4", "--blocks", "12")


def measured(clone: Clone, reference: str) -> Case:
    """The only case of a run's summary."""
    done = clone.sqlitmus(*RUN, "--reference", reference)
    assert done.code == 0, done.err
    summary = data.load((clone.latest().path / "summary.json").read_bytes())
    (case,) = summary.cases
    return case


def against(case: Case, runner: str, reference: str) -> Comparison:
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
    assert against(case, "twin", "steady").verdict is Verdict.EQUIVALENT
    assert case.canary is not None
    assert case.canary.verdict is Verdict.EQUIVALENT
    # Four operations of a millisecond in all; the summary is per operation.
    (steady,) = [cell for cell in case.cells if cell.runner == "steady"]
    assert steady.time is not None
    assert abs(steady.time.value - 250_000) < 1_000


def test_a_machine_that_grows_slower_favours_nobody(clone: Clone) -> None:
    for name in ("left", "right"):
        clone.runner(name, "drifting", state="machine")
    case = measured(clone, "left")
    found = against(case, "right", "left")
    assert found.verdict is Verdict.EQUIVALENT
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
