"""A mode with a budget: sets go to the cases in which more of them decide."""

import os
import signal
from collections import Counter

import pytest

from sqlitmus.analysis import analyse, load
from tests.fakes.clone import Clone
from tests.fakes.instant import Desk, even
from tests.worded import notices

MODE = """
[budget]
title = "Budget"
summary = "as much as is of use"
blocks = 10
budget_s = 600
pilot = 3
iterations = [3, 3]
warmup_iterations = 0
warmup_ms = [1, 4]
"""
GET = 4  # operations of the case `get`, 2 of `all`


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    catalogue.two_of_each(MODE)
    desk = Desk.make(catalogue, monkeypatch)
    wild = (0.9, 1.2, 1.0, 1.1, 0.8, 1.05, 0.95)
    desk.instant.paces["a"] = even(1100, "a")
    clear = even(4400, "b")
    desk.instant.paces["b"] = lambda operations, n: (
        clear(operations, n) if operations == GET else 1150 * wild[n % 7]
    )
    return desk


def blocks(desk: Desk) -> dict[str, int]:
    samples = [s for s in desk.clone.latest().samples() if s.label == "a"]
    return dict(Counter(sample.case for sample in samples))


def test_what_is_clear_in_the_pilot_has_the_fewest_blocks(desk: Desk) -> None:
    assert desk.run(mode="budget").exit == 0
    assert blocks(desk) == {"get": 10, "all": 20}
    plan = desk.clone.latest().plan()
    assert (plan.blocks, plan.sets) == (20, {"get": 10})
    first = desk.said().splitlines()[0]
    assert first == "4 cells in 2 cases, 10 to 20 sets of each case: done in about TIME"


def test_the_report_tells_and_misses_nothing(desk: Desk) -> None:
    desk.run(mode="budget")
    made = analyse(load(desk.clone.latest().path))
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
