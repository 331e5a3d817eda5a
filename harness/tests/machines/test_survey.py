"""A merged run directory as one report: what counts, what is flagged, what is left out."""

from pathlib import Path

import pytest

from sqlitmus.analysis import read
from sqlitmus.analysis.notices import emulated
from sqlitmus.machines.report import merged_report
from sqlitmus.machines.survey import machine_report, reference_of, survey
from sqlitmus.render.document import sentences
from sqlitmus.results.machines import MergedReport, Row
from sqlitmus.results.report import Report
from sqlitmus.store.file import opened
from sqlitmus.vocabulary.errors import UsageError
from tests.analysis.runs import case, plan
from tests.machines.merged_runs import RUNNERS, Directory
from tests.worded import headline


@pytest.fixture
def made(tmp_path: Path) -> Directory:
    return Directory(tmp_path / "merged")


def titled(report: Report) -> str:
    return report.title


def reported(directory: Directory, reference: str | None = None) -> MergedReport:
    merged = directory.write()
    against = reference_of(merged, reference)
    found = [survey(merged.file, one, against, titled) for one in merged.machines]
    return merged_report(merged, found, against)


def row(report: MergedReport, runner: str, case: str = "get-pk") -> Row:
    (found,) = (one for one in report.rows if (one.case, one.runner) == (case, runner))
    return found


def test_each_pair_has_a_row_with_an_answer_per_machine(made: Directory) -> None:
    made.add("one", ratios={"bun": 0.8})
    made.add("two", ratios={"bun": 0.7})
    report = reported(made)
    assert [(r.case, r.runner) for r in report.rows] == [
        ("get-pk", "bun"),
        ("get-pk", "rust-ffi"),
        ("get-index", "bun"),
        ("get-index", "rust-ffi"),
    ]
    found = row(report, "bun")
    assert found.text == "holds on all 2"
    assert found.verdict == "materially faster"
    values = [answer.ratio.value for answer in found.answers if answer.ratio]
    assert values == pytest.approx([0.8, 0.7], rel=0.02)
    # rust-ffi is the floor: no runtime to choose
    assert headline(report)[0] == (
        "Of 2 comparisons with node, 2 hold on every machine that has an answer."
    )


def test_an_answer_is_that_of_the_machines_own_report(made: Directory) -> None:
    made.add("one", ratios={"bun": 0.8})
    made.add("two", ratios={"bun": 1.02}, spread=0.05)
    report = reported(made)
    merged = made.write()
    for number, machine in enumerate(merged.machines):
        own = machine_report(merged.file, machine, "node")
        for found in report.rows:
            (of,) = (c for c in own.report.cases if c.id == found.case)
            theirs = of.comparisons.of(found.runner, "node")
            assert theirs is not None
            ours = found.answers[number]
            assert (ours.ratio, ours.verdict) == (theirs.ratio, theirs.verdict)


def test_an_emulated_runner_is_flagged_and_counts_for_nothing(made: Directory) -> None:
    for number in range(3):
        made.add(f"native {number}", ratios={"bun": 0.8})
    made.add("odd", ratios={"bun": 3.0}, architecture="aarch64", emulated=["bun"])
    found = row(reported(made), "bun")
    assert [answer.emulated for answer in found.answers] == [False, False, False, True]
    assert found.text == "holds on all 3"
    assert found.beside == "emulated, not counted on: odd"
    (mean,) = found.pooled
    assert mean.machines == 3
    assert mean.ratio.value == pytest.approx(0.8, rel=0.02)


def test_an_emulated_reference_taints_every_pair_of_its_machine(made: Directory) -> None:
    made.add("one")
    made.add("odd", architecture="arm64", emulated=["node"])
    report = reported(made)
    assert all(found.answers[1].emulated for found in report.rows)
    assert report.machines[1].emulated == ["node"]


@pytest.mark.parametrize(
    ("machine", "runners", "found"),
    [
        ("x86_64", "x86_64", []),
        ("AMD64", "x86_64", []),
        ("aarch64", "x86_64", list(RUNNERS)),
        ("unknown", "x86_64", []),
    ],
)
def test_architectures_have_several_names(
    machine: str, runners: str, found: list[str], made: Directory
) -> None:
    made.add("one", architecture=machine, emulated=RUNNERS if runners == "x86_64" else ())
    with opened(made.write().file) as db:
        assert list(emulated(read(db, 1, {}))) == found


def test_three_machines_of_a_kind_are_pooled_and_other_kinds_are_not(made: Directory) -> None:
    for number in range(3):
        made.add(f"linux {number}", ratios={"bun": 0.8})
    for number in range(2):
        made.add(f"mac {number}", kind="macos-arm64", ratios={"bun": 0.5})
    (mean,) = row(reported(made), "bun").pooled
    assert (mean.kind, mean.machines) == ("linux-x64", 3)
    assert mean.ratio.value == pytest.approx(0.8, rel=0.02)


def test_runs_of_a_machine_are_one_and_how_they_differ_is_told(made: Directory) -> None:
    runs = [
        plan(RUNNERS, cases=[case(name)], blocks=blocks)
        for name, blocks in (("get-pk", 12), ("insert", 15))
    ]
    made.add("one", *runs)
    made.add("two", ratios={"bun": 0.9})
    report = reported(made)
    one = report.machines[0]
    assert (one.cases, one.runs) == (2, ["one-0", "one-1"])
    assert sentences.notice(one.notices[0]) == (
        "Numbers of blocks differ between the runs of this machine. 12: one-0; 15: one-1."
    )
    found = row(report, "bun", "get-index")
    assert (found.answers[0].verdict, found.answers[0].said) == (None, "not planned")
    assert found.text == "on two only"


def test_a_runner_that_one_run_lacks_says_why(made: Directory) -> None:
    first, second = (plan(RUNNERS, cases=[case(name)]) for name in ("get-pk", "insert"))
    second["runners"][1] |= {"missing": "bun not found", "description": None}
    made.add("one", first, second)
    merged = made.write()
    found = machine_report(merged.file, merged.machines[0], "node")
    cells = {(c.id, cell.runner): cell for c in found.report.cases for cell in c.cells}
    assert cells["get-pk", "bun"].outcome == "ok"
    assert (cells["insert", "bun"].outcome, cells["insert", "bun"].reason) == (
        "missing",
        "bun not found",
    )


def test_the_reference_is_what_most_runs_have_or_what_is_asked(made: Directory) -> None:
    made.add("one", plan(("bun", "node", "rust-ffi")))
    made.add("two", ratios={"bun": 0.8})
    made.add("three", ratios={"bun": 0.8})
    assert reported(made).reference == "node"
    report = reported(made, "bun")
    assert report.reference == "bun"
    found = row(report, "node")
    assert found.answers[1].ratio is not None
    assert found.answers[1].ratio.value == pytest.approx(1.25, rel=0.02)
    with pytest.raises(UsageError, match=r"'deno' cannot be the reference.*bun, node, rust-ffi"):
        reported(made, "deno")


def test_a_machine_without_the_reference_has_no_answer_but_a_report(made: Directory) -> None:
    made.add("one", plan(("bun", "rust-ffi")))
    made.add("two")
    made.add("three")
    report = reported(made)
    found = row(report, "bun")
    assert (found.answers[0].verdict, found.answers[0].said) == (None, "no node")
    assert found.beside == "no answer on: one (no node)"
    assert report.machines[0].headline
