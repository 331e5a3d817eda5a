"""Planned looks of a suite: settled cases end there, and the others get their time."""

from collections import Counter

import pytest

from sqlitmus.analysis import analyse, load
from sqlitmus.results.report import Report
from sqlitmus.store.folder import RunDirectory
from tests.fakes.clone import Clone
from tests.fakes.instant import Desk, even
from tests.machines.folders import change
from tests.worded import notices

MODE = """
[looking]
title = "Looking"
summary = "with one earlier look"
blocks = 30
looks = 2
pilot = 0
iterations = [3, 3]
warmup_iterations = 0
warmup_ms = [0, 0]
"""
EACH = 3  # invocations of a case in a block: a, b, canary
ALL = 2  # operations of the case `all`, 4 of `get`


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    catalogue.two_of_each(MODE)
    return Desk.make(catalogue, monkeypatch)


def clear_and_open(desk: Desk) -> None:
    """`get` takes b three times as long, `all` about as long, with noise."""
    wild = (0.9, 1.2, 1.0, 1.1, 0.8, 1.05, 0.95)
    quick, late = even(1100, "a"), even(3300, "b")
    desk.instant.paces["a"] = quick
    desk.instant.paces["b"] = lambda operations, n: (
        1100 * wild[n % 7] if operations == ALL else late(operations, n)
    )


def blocks(desk: Desk) -> dict[str, int]:
    """Blocks of each case of the latest run."""
    seen = Counter({sample.case: 0 for sample in desk.clone.latest().samples()})
    seen.update(s.case for s in desk.clone.latest().samples() if s.label == "a")
    return dict(seen)


def report(desk: Desk) -> Report:
    return analyse(load(desk.clone.latest().path))


def test_a_settled_case_ends_and_the_other_gets_its_time(desk: Desk) -> None:
    clear_and_open(desk)
    assert desk.run(mode="looking").exit == 0
    seen = blocks(desk)
    assert seen["get"] == 15
    assert 30 < seen["all"] <= 60
    assert seen["all"] % 2 == 0
    more = seen["all"] - 15
    said = f"1 case settled at the planned look after 15 blocks; the others get {more} more\n"
    assert said in desk.said()
    assert desk.clone.latest().complete()


def test_the_report_tells_and_misses_nothing(desk: Desk) -> None:
    clear_and_open(desk)
    desk.run(mode="looking")
    until = blocks(desk)["all"]
    made = report(desk)
    assert (made.blocks_complete, made.blocks_planned) == (until, until)
    (told,) = (text for text in notices(made) if "planned look" in text)
    assert told == (
        "1 case had an answer to every comparison at the planned look after 15 blocks and ended "
        f"there; the time saved went to the others, which have {until}."
    )
    (how,) = (text for text in made.method if "Earlier looks spend 10 % of the error" in text)
    assert "Pocock" not in how
    counts = {case.id: case.comparisons.blocks for case in made.cases}
    assert counts == {"get": [15], "all": [until]}


def test_a_run_without_a_settled_case_goes_on_as_planned(desk: Desk) -> None:
    for name in ("a", "b"):
        desk.instant.paces[name] = lambda _, n: 1100 * (0.9, 1.2, 1.0, 1.1)[n % 4]
    desk.run(mode="looking")
    assert blocks(desk) == {"get": 30, "all": 30}
    assert [look.settled for look in desk.clone.latest().looks()] == [[]]


def test_a_run_whose_cases_are_all_settled_ends(desk: Desk) -> None:
    for name, ns in (("a", 1100), ("b", 3300)):
        desk.instant.paces[name] = even(ns, name)
    desk.run(mode="looking")
    assert blocks(desk) == {"get": 15, "all": 15}
    assert report(desk).blocks_complete == 15
    assert desk.clone.latest().complete()


@pytest.mark.parametrize("options", [{"mode": "quick"}, {"mode": "looking", "blocks": 12}])
def test_no_look_without_blocks_for_a_verdict(desk: Desk, options: dict[str, object]) -> None:
    clear_and_open(desk)
    desk.run(**options)
    assert desk.clone.latest().looks() == []
    assert desk.clone.latest().plan().looks == 1


def test_a_resumed_run_keeps_to_what_the_look_decided(desk: Desk) -> None:
    clear_and_open(desk)
    desk.run(mode="looking", label="x")
    whole = desk.clone.latest()
    expected = blocks(desk)
    cut(whole, 15 * 2 * EACH + 10 * EACH)
    desk.instant.paces["a"] = desk.instant.paces["b"] = even(1100, "later")
    desk.resume(whole.path)
    assert blocks(desk) == expected
    assert len(whole.looks()) == 1


def cut(run: RunDirectory, invocations: int) -> None:
    """Let the run have been interrupted after so many invocations, after its look."""
    for table in ("value", "iteration"):
        change(run.path, f"DELETE FROM {table} WHERE sample > {invocations}")
    change(run.path, f"DELETE FROM sample WHERE id > {invocations}")
    change(run.path, "DELETE FROM block WHERE block >= 15")
    change(run.path, "UPDATE run SET complete = 0")
