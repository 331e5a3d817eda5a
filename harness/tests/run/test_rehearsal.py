"""The set that is played before the plan is frozen: who sits there, and whose fault it is."""

from collections.abc import Sequence
from typing import Any

import pytest

from sqlitmus.run import blocks
from sqlitmus.run.blocks import Seating, Turned
from tests.fakes.clone import Clone
from tests.fakes.instant import Desk
from tests.run.test_selftest import one_by_one


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    catalogue.runner("a")
    catalogue.replace("scenarios/modes.toml", "pilot = 2", "pilot = 1\nscheme = 'relay'")
    return Desk.make(catalogue, monkeypatch)


def rehearsed(desk: Desk) -> Sequence[Seating]:
    """The seats of the first set of a run."""
    sittings: list[Sequence[Seating]] = []

    def seated(*given: Any) -> list[Turned]:
        sittings.append(given[2])
        return one_by_one(*given)

    desk.monkeypatch.setattr(blocks, "play", seated)
    desk.run(mode="piloted", cases=["get"], blocks=1)
    return sittings[0]


def test_the_runners_of_a_case_sit_together(desk: Desk) -> None:
    desk.clone.runner("b")
    assert [seat.label for seat in rehearsed(desk)] == ["a", "b"]


def test_an_only_runner_sits_there_twice(desk: Desk) -> None:
    """Alone it would keep its caches, and its lead-in would come out too short."""
    seats = rehearsed(desk)
    assert [(seat.runner.spec.name, seat.label) for seat in seats] == [("a", "a"), ("a", "a again")]
    assert seats[0].turns == seats[1].turns


def test_whichever_process_goes_wrong_it_is_the_runner(desk: Desk) -> None:
    desk.instant.lies["a"] = lambda number: {"checksum": 6} if number == 3 else {}
    assert rehearsed(desk)[1].label == "a again"  # after one process by itself
    reason = "iteration 0 (operations 0 to 1023): checksum 5121; the oracle has 5120"
    assert f"get/a: wrong in the pilot: {reason}\n" in desk.said()
