"""Writes that never reach the database, though the connection that wrote reads them back."""

from collections.abc import Callable

from tests.faults.fault import Fault, Seen
from tests.faults.stage import Stage
from tests.faults.verdict import measured, verified

AUTOCOMMIT, TRANSACTION = "insert-autocommit", "insert-transaction"
LOOP = "runners/javascript/loops.js"
NODE = "runners/javascript/drivers/node-sqlite.js"


def fake(behaviour: str) -> Callable[[Stage], Seen]:
    """A fake of that behaviour, measured; it need not be caught before."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("planted", behaviour)
        return measured(clone, "planted", case="insert", size="s")

    return play


def javascript(case: str, *changes: tuple[str, str, str]) -> Callable[[Stage], Seen]:
    """Node with changed sources, measured."""

    def play(stage: Stage) -> Seen:
        clone = stage.real()
        for file, old, new in changes:
            clone.replace(file, old, new)
        return measured(clone, "node", case=case, size="s")

    return play


def transaction_never_committed(stage: Stage) -> Seen:
    clone = stage.real()
    return verified(clone, "node", AUTOCOMMIT, size="s")


FAULTS = [
    Fault("a transaction begun at the first write, never committed", "fake", fake("never-commits"), "wrong", "x"),
    Fault("the same, but only where it is timed", "fake", fake("never-commits-when-measured"), "wrong", "x"),
    Fault("a copy of the file gets the writes", "fake", fake("writes-elsewhere"), "wrong", "x"),
    Fault("copy, timed", "fake", fake("writes-elsewhere-when-measured"), "wrong", "x"),
    Fault("removed", "fake", fake("removes-database"), "wrong", "x"),
    Fault("moved", "fake", fake("moves-database"), "wrong", "x"),
    Fault("damaged", "fake", fake("damages-database"), "wrong", "x"),
    Fault("honest", "fake", fake("honest"), "ok", ""),
]
