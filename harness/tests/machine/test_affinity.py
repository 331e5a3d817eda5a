"""Pins and priority: set for a moment, and taken back whatever happens."""

import os
from typing import Any

import pytest

from sqlitmus.machine import system
from sqlitmus.vocabulary.errors import NotFit, UsageError

pins_here = pytest.mark.skipif(system.unsupported() is not None, reason="no pins here")


@pins_here
def test_a_pin_holds_inside_the_block_only() -> None:
    here = system.allowed()
    with system.pinned(here[-1]):
        assert system.allowed() == [here[-1]]
    assert system.allowed() == here
    with pytest.raises(ValueError, match="inside"), system.pinned(here[0]):
        raise ValueError("inside")
    assert system.allowed() == here


@pins_here
def test_whoever_keeps_away_from_a_processor_does_so_inside_the_block_only() -> None:
    here = system.allowed()
    with system.away_from(here[-1]):
        assert system.allowed() == (here[:-1] or here)
    assert system.allowed() == here
    with pytest.raises(ValueError, match="inside"), system.away_from(here[0]):
        raise ValueError("inside")
    assert system.allowed() == here
    with system.away_from(None):
        assert system.allowed() == here
    with system.pinned(here[0]), system.away_from(here[0]):  # there is no other
        assert system.allowed() == [here[0]]


@pins_here
def test_no_pin_changes_nothing() -> None:
    here = system.allowed()
    with system.pinned(None):
        assert system.allowed() == here


@pins_here
def test_a_pin_must_be_a_processor_that_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def two(_pid: int) -> set[int]:
        return {5, 2}

    monkeypatch.setattr(os, "sched_getaffinity", two)
    system.check([2, 5, 2])
    with pytest.raises(UsageError, match=r"pin 3: there is no such .* usable are 2, 5$"):
        system.check([2, 3])


@pins_here
def test_the_first_processors_are_those_that_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def some(_: int) -> set[int]:
        return {5, 2, 7}

    monkeypatch.setattr(os, "sched_getaffinity", some)
    assert [system.first_processor(count) for count in (0, 2, 3, 4)] == [[], [2, 5], [2, 5, 7], []]
    monkeypatch.delattr(os, "sched_setaffinity")
    assert system.first_processor(2) == []


@pins_here
def test_of_the_fastest_processors_the_last_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    speeds = {0: 5, 1: 9, 2: 5}
    _grant(monkeypatch, {0, 1, 2})
    monkeypatch.setattr(system, "_speed", speeds.__getitem__)
    assert system.fastest() == 1
    speeds[1] = 5
    assert system.fastest() == 2


@pins_here
def test_nothing_is_bound_where_there_is_no_choice_or_no_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError

    _grant(monkeypatch, {3})
    assert system.fastest() is None
    _grant(monkeypatch, {0, 1})
    assert system.fastest() is not None
    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    assert system.fastest() is None


def _grant(monkeypatch: pytest.MonkeyPatch, processors: set[int]) -> None:
    def allowed(_: int) -> set[int]:
        return processors

    def set_it(*_: Any) -> None:
        pass

    monkeypatch.setattr(os, "sched_getaffinity", allowed)
    monkeypatch.setattr(os, "sched_setaffinity", set_it)


def test_a_system_without_pins_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    system.check([])
    with pytest.raises(NotFit, match=r"pins 0, 1: processes cannot be pinned .* Leave the pins"):
        system.check([0, 1])


@pytest.mark.skipif(not hasattr(os, "sched_setscheduler"), reason="no scheduling policies")
def test_priority_is_given_back() -> None:
    before = os.sched_getscheduler(0)
    with system.highest() as granted:
        assert (os.sched_getscheduler(0) == os.SCHED_FIFO) == granted
    assert os.sched_getscheduler(0) == before


@pytest.mark.skipif(not hasattr(os, "sched_setscheduler"), reason="no scheduling policies")
def test_without_the_right_to_priority_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError

    before = os.sched_getscheduler(0)
    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    with system.highest() as granted:
        assert not granted
        assert os.sched_getscheduler(0) == before
