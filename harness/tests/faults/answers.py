"""Answers that are not the database's."""

from collections.abc import Callable

from tests.faults.fault import Fault, Seen
from tests.faults.stage import Stage
from tests.faults.verdict import measured, verified


def fake(behaviour: str, case: str = "all") -> Callable[[Stage], Seen]:
    """A fake of that behaviour, verified."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("planted", behaviour)
        return verified(clone, "planted", case, size="s")

    return play


def row_skipped_where_timed(stage: Stage) -> Seen:
    """`all` of JavaScript leaves the first row unread, but only where it is timed."""
    clone = stage.real()
    clone.replace(
        "runners/javascript/loops.js",
        "for (let x = 0; x < m; x++)",
        "for (let x = ${verify ? 0 : 1}; x < m; x++)",
    )
    return measured(clone, "node", case="all")


FAULTS = [
    Fault("one row fewer", "fake", fake("one-row-less"), "wrong", "rows: 14; the oracle has 16"),
    Fault("a column skipped", "fake", fake("skips-column"), "wrong", "checksum: "),
    Fault(
        "a row left unread, but only where it is timed",
        "javascript",
        row_skipped_where_timed,
        "wrong",
        "its rows are not those of the database, read by `all` (prepared, object)",
    ),
]
