"""Runners that lie beside an honest one, and files that were changed: who is blamed for it."""

import contextlib
import os
import sqlite3
from collections.abc import Callable
from functools import partial

from tests.faults.fault import Fault, Seen
from tests.faults.stage import Stage
from tests.faults.verdict import cell, measured, of_run


def rows_deleted_in_the_cache(stage: Stage) -> Seen:
    """Of the file that a first command built."""
    clone = stage.fakes()
    clone.runner("honest")
    verify = ("verify", "--size", "s", "--case", "all")
    clone.sqlitmus(*verify)
    (file,) = (clone.root / "toolchain/cache/fixtures").glob("*.db")
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("DELETE FROM tiny WHERE id % 10 <> 1")
        connection.commit()
    done = clone.sqlitmus(*verify)
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
        done = clone.sqlitmus("verify", "--size", "s", "--case", case, "--case", "get")
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


def removes_scratch(stage: Stage) -> Seen:
    """What becomes of an honest runner after one that removes the folder of both."""
    clone = stage.fakes()
    clone.runner("planted", "removes-scratch")
    clone.runner("honest")
    return measured(clone, "honest", "planted", case="insert", size="s")


def uses_half(scheme: str, stage: Stage) -> Seen:
    """Half of the CPU time is told, of iterations of many ms, beside an honest runner in this
    scheme."""
    clone = stage.fakes()
    clone.runner("planted", "uses-share=0.5")
    clone.runner("honest")
    clone.replace("scenarios/tiny.toml", "operations = 4", "operations = 10_000")
    given = ("--mode", "relayed", "--size", "s", "--case", "get", "--suite", "quick")
    done = clone.sqlitmus("run", *given, "--scheme", scheme)
    assert of_run(clone, "honest", "").fate == "ok"
    return of_run(clone, "planted", done.out + done.err)


# of one processor the harness also knows what others took, and looks at that first
ONE = hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) == 1
USED = "of CPU time in iterations of" if ONE else "of CPU time; its thread used "
CHANGED, VANISHED = (
    f"{what} while it ran; a runner must only read it" for what in ("changed", "vanished")
)
FAULTS = [
    Fault("a runner deletes rows of the fixture where it is timed", "fake",
          trespasser_where_timed, "wrong", CHANGED),
    Fault("nine tenths of the rows deleted in the cached fixture", "folder",
          rows_deleted_in_the_cache, "noticed",
          "changed since it was built; it is built again (8 rows)"),
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
TIMES = [
    Fault("the scratch folder removed beside an honest runner", "fake", removes_scratch, "ok",
          "insert/planted: failed: its process removed the folder"),
    *(
        Fault(f"half of the CPU time is missing {word}", "fake", partial(uses_half, scheme),
              "failed", USED)
        for word, scheme in (("in turns", "relay"), ("alone", "process"))
    ),
]  # fmt: skip
