"""The set that is played before the plan is frozen: who sits there, and whose fault it is."""

from collections.abc import Sequence
from typing import Any

import pytest

from sqlitmus.run.measure import blocks
from sqlitmus.run.measure.blocks import Seating, Turned
from tests.fakes.clone import Clone
from tests.fakes.instant import Desk, one_by_one


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    catalogue.runner("a")
    catalogue.replace("scenarios/modes.toml", "pilot = 2", "pilot = 1\nscheme = 'relay'")
    return Desk.make(catalogue, monkeypatch)


def sets(desk: Desk, *cases: str) -> list[Sequence[Seating]]:
    """The seats of each set of a run, of which the first is rehearsed."""
    sittings: list[Sequence[Seating]] = []

    def seated(*given: Any) -> list[Turned]:
        sittings.append(given[2])
        return one_by_one(*given)

    desk.monkeypatch.setattr(blocks, "play", seated)
    desk.run(mode="piloted", cases=[*(cases or ["get"])], blocks=1)
    return sittings


def rehearsed(desk: Desk) -> Sequence[Seating]:
    """The seats of the first set."""
    return sets(desk)[0]


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


def test_a_set_has_the_collections_that_the_mode_asks_for(desk: Desk) -> None:
    """A process gives a digest in the rehearsal, because some tell of collections only then."""
    desk.clone.runner("b")
    desk.clone.replace("scenarios/modes.toml", "pilot = 1", "pilot = 1\ncollections = 6")
    desk.instant.lies["a"] = lambda number: {"collections": 1} if number == 2 else {}
    first, then = sets(desk)
    assert [seat.digest for seat in first] == [True, True]
    assert first[0].turns.rounds == 4
    assert then[0].turns.rounds == 6 * first[0].turns.rounds


def test_what_writes_is_rehearsed_only_where_nothing_else_tells_of_noise(desk: Desk) -> None:
    desk.clone.runner("b")
    assert [each[0].case.id for each in sets(desk, "get", "insert")].count("insert") == 1
    assert [each[0].case.id for each in sets(desk, "insert")] == ["insert", "insert"]
