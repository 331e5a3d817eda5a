"""The usual ways to plant a fault: a fake of some behaviour, and changed JavaScript under Node."""

from collections.abc import Callable

from tests.faults.fault import Seen
from tests.faults.stage import Stage
from tests.faults.verdict import measured, verified

Play = Callable[[Stage], Seen]
Change = tuple[str, str, str]  # file, old, new


def fake_verified(behaviour: str) -> Play:
    """A fake of that behaviour, verified."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("planted", behaviour)
        return verified(clone, "planted", "all", size="s")

    return play


def fake_measured(behaviour: str, case: str = "all") -> Play:
    """A fake of that behaviour, measured."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("planted", behaviour)
        return measured(clone, "planted", case=case, size="s")

    return play


def node_measured(case: str, *changes: Change, size: str = "s") -> Play:
    """Node with changed sources, measured, pilot included."""

    def play(stage: Stage) -> Seen:
        clone = stage.real()
        for change in changes:
            clone.replace(*change)
        return measured(clone, "node", case=case, size=size)

    return play


def node_verified(case: str, *changes: Change) -> Play:
    """Node with changed sources, verified."""

    def play(stage: Stage) -> Seen:
        clone = stage.real()
        for change in changes:
            clone.replace(*change)
        return verified(clone, "node", case, size="s")

    return play
