"""What a report tells of counted syncs."""

import pytest

from sqlitmus.analysis import analyse
from sqlitmus.render.document.parts import in_words
from sqlitmus.results.report import Report
from tests import worded
from tests.analysis.runs import Json, case, change, checks, make, plan

FULL = [["journal_mode", "WAL"], ["synchronous", "FULL"]]
NODE, BUN, FLOOR = "node", "bun", "rust-ffi"


def counted(
    profile: str, *, of: int = 10, ids: tuple[str, ...] = ("insert",), **calls: int
) -> Report:
    """A report of writes in which `of` transactions of a runner made so many calls of fsync."""
    pragmas = {"durable": FULL, "shipped": [], "normalised": [["synchronous", "NORMAL"]]}[profile]
    planned = plan(cases=[case(i, axes={"profile": profile}, pragmas=pragmas) for i in ids])
    verify = checks(planned)
    for runner, fsync in calls.items():
        syncs: Json = {"transactions": of, "fsync": fsync, "fdatasync": 0, "bytes": 41_000}
        verify = change(verify, {"syncs": syncs}, runner=runner.replace("_", "-"))
    return analyse(make(planned, verify=verify))


def facts(report: Report) -> list[tuple[str, dict[str, str], bool]]:
    return [
        (fact.group, fact.values, fact.differs)
        for fact in report.provenance
        if fact.name == "syncs per transaction"
    ]


def test_equal_syncs_are_no_notice() -> None:
    assert worded.notices(counted("durable", node=10, bun=10, rust_ffi=10)) == []
    assert worded.notices(counted("shipped", node=40, bun=40, rust_ffi=40)) == []


def test_a_durable_cell_that_syncs_less_often_than_the_floor() -> None:
    (text,) = worded.notices(counted("durable", node=10, bun=40, rust_ffi=40))
    assert text.startswith(
        "Syncs per transaction in insert: 1 fsync: node; 4 fsync: rust-ffi (the floor)."
    )


def test_a_durable_cell_that_does_not_sync_is_told_without_the_floor() -> None:
    (text,) = worded.notices(counted("durable", node=9, bun=10))
    assert text.startswith("Syncs per transaction in insert: 0.9 fsync: node. ")


def test_a_floor_that_does_not_sync_is_told_itself() -> None:
    (text,) = worded.notices(counted("durable", node=10, rust_ffi=0))
    assert text.startswith("Syncs per transaction in insert: no sync: rust-ffi. ")


def test_checkpoints_beside_the_commits_are_no_notice() -> None:
    assert worded.notices(counted("durable", of=100, node=100, rust_ffi=106)) == []


def test_what_promises_no_sync_is_no_notice() -> None:
    assert worded.notices(counted("normalised", node=0, bun=3, rust_ffi=3)) == []


@pytest.mark.parametrize("node", [0, 39, 41])
def test_runners_as_shipped_that_sync_differently(node: int) -> None:
    (text,) = worded.notices(counted("shipped", node=node, bun=40, rust_ffi=40))
    assert "Durability differs in the profile shipped, as counted in insert." in text
    assert "4 fsync: bun and rust-ffi" in text


def test_cases_in_which_the_same_is_said_share_a_notice() -> None:
    report = counted("durable", ids=("insert", "update"), node=0, rust_ffi=10)
    (text,) = worded.notices(report)
    assert "in insert and update: no sync: node; 1 fsync: rust-ffi (the floor)." in text


def test_a_cell_without_a_time_is_not_told() -> None:
    planned = plan(cases=[case("insert", axes={"profile": "durable"}, pragmas=FULL)])
    syncs: Json = {"transactions": 10, "fsync": 0, "fdatasync": 0, "bytes": 41_000}
    verify = change(checks(planned), {"syncs": syncs, "outcome": "wrong"}, runner=NODE)
    assert worded.notices(analyse(make(planned, verify=verify))) == []


def test_it_stands_beside_the_profile() -> None:
    report = counted("shipped", node=40, rust_ffi=40)
    values = {NODE: "4 fsync", FLOOR: "4 fsync"}
    assert facts(report) == [("Pragmas, profile shipped", values, False)]


def test_why_it_was_not_counted_is_told() -> None:
    planned = plan(cases=[case("insert", axes={"profile": "durable"}, pragmas=FULL)])
    verify = change(checks(planned), {"uncounted": "no C compiler found"}, runner=BUN)
    report = analyse(make(planned, verify=verify))
    assert in_words(report.cases[0]) == "not counted: no C compiler found: bun"
    assert facts(report) == [("Pragmas, profile durable", {BUN: "not counted"}, False)]
    assert worded.notices(report) == []


def test_runs_from_before_it_was_counted_say_nothing() -> None:
    report = analyse(make())
    assert facts(report) == []
    assert [in_words(one) for one in report.cases] == ["", ""]
