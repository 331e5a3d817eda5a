"""Database files that were changed, and who is blamed for it."""

import contextlib
import sqlite3
from collections.abc import Callable

from tests.fakes.clone import Clone, Done
from tests.faults.fault import Fault, Seen
from tests.faults.stage import Stage
from tests.faults.verdict import cell, measured


def verify(clone: Clone, *cases: str) -> Done:
    """`verify` at size s of all runners there are."""
    names = [part for name in cases for part in ("--case", name)]
    return clone.sqlitmus("verify", "--size", "s", *names)


def rows_deleted_in_the_cache(stage: Stage) -> Seen:
    """Of the file that a first command built."""
    clone = stage.fakes()
    clone.runner("honest")
    verify(clone, "all")
    (file,) = (clone.root / "toolchain/cache/fixtures").glob("*.db")
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("DELETE FROM tiny WHERE id % 10 <> 1")
        connection.commit()
    done = verify(clone, "all")
    with contextlib.closing(sqlite3.connect(file)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM tiny").fetchone()
    assert cell(done, "all", "honest").fate == "ok"
    return Seen("noticed" if count == 8 else "ok", f"{done.err.strip()} ({count} rows)")


def trespasser(behaviour: str, case: str = "all") -> Callable[[Stage], Seen]:
    """A fake of that behaviour before an honest one, which must not be blamed."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("planted", behaviour)
        clone.runner("zealous", "honest")
        done = verify(clone, case, "get")
        for honest in (cell(done, case, "zealous"), cell(done, "get", "zealous")):
            if honest.fate != "ok":
                return Seen(honest.fate, f"the honest runner is blamed: {honest.message}")
        return cell(done, case, "planted")

    return play


def trespasser_where_timed(stage: Stage) -> Seen:
    """Measured beside an honest runner, whose invocations must all be good."""
    clone = stage.fakes()
    clone.runner("planted", "deletes-rows=measure")
    clone.runner("zealous", "honest")
    seen = measured(clone, "planted", "zealous", case="all", size="s", blocks=4)
    honest = [s.outcome for s in clone.samples() if s.runner == "zealous"]
    if honest != ["ok"] * len(honest) or len(honest) < 4:
        return Seen("ok", f"the honest runner has the samples {honest}")
    return seen


CHANGED, VANISHED = (
    f"{what} while it ran; a runner must only read it" for what in ("changed", "vanished")
)
FAULTS = [
    Fault(
        "a runner deletes rows of the fixture where it is timed",
        "fake",
        trespasser_where_timed,
        "wrong",
        CHANGED,
    ),
    Fault(
        "nine tenths of the rows deleted in the cached fixture",
        "folder",
        rows_deleted_in_the_cache,
        "noticed",
        "changed since it was built; it is built again (8 rows)",
    ),
    *(
        Fault(f"a runner {title}", "fake", trespasser(behaviour, case), "wrong", message)
        for title, behaviour, case, message in (
            ("deletes rows of the fixture that it reads", "deletes-rows", "all", CHANGED),
            ("leaves rows deleted in the fixture's log", "leaves-wal", "all", CHANGED),
            ("deletes the fixture that it reads", "deletes-database", "all", VANISHED),
            ("that writes its copy deletes rows of the fixture", "deletes-elsewhere", "insert",
             CHANGED),
        )
    ),
]  # fmt: skip
