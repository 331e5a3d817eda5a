"""Writes that are in the database but not on the disk."""

from collections.abc import Callable
from pathlib import Path

from tests import worded
from tests.fakes.clone import PROFILES, SCENARIOS, Clone
from tests.faults.fault import Fault, Seen
from tests.faults.planted import around
from tests.faults.stage import Stage, use_tool
from tests.faults.verdict import measured
from tests.known import tools

COUNTER = "sync-counter"
DURABLE = """
[durable]
title = "Durable"
summary = "a sync at each commit"
pragmas = [["journal_mode", "WAL"], ["synchronous", "FULL"]]
"""


def counting(stage: Stage) -> Clone:
    """Fakes whose inserts are counted, in profiles that are durable and as shipped, too."""
    clone = stage.fakes()
    clone.write("scenarios/profiles.toml", PROFILES + DURABLE)
    head, insert = SCENARIOS.split("[insert]")
    profiles = 'axes.profile = ["normalised", "shipped", "durable"]'
    insert = insert.replace('axes.profile = ["normalised"]', profiles)
    clone.write("scenarios/tiny.toml", f"{head}[insert]{insert}")
    use_tool(clone, COUNTER, Path(tools().need(COUNTER)))
    return clone


def noticed(clone: Clone, *runners: str, case: str) -> Seen:
    """What the report of a run says of durability, or that it says nothing."""
    seen = measured(clone, *runners, case=case, size="s")
    if seen.fate != "ok":
        return seen
    report = clone.analysed()
    notices = worded.notices(report, " syncs")
    words = [*notices, *worded.cases(report)]
    shown = bool(notices) or "not counted" in words[-1]
    return Seen("noticed" if shown else "ok", " ".join(words))


def fake(behaviour: str, profile: str) -> Callable[[Stage], Seen]:
    """A fake of that behaviour beside an honest one, in inserts of that profile."""

    def play(stage: Stage) -> Seen:
        clone = counting(stage)
        clone.runner("planted", behaviour)
        clone.runner("honest")
        case = f"insert@profile={profile}"
        return noticed(clone, "planted", "honest", case=case)

    return play


def in_one_transaction(*runners: str, scheme: str = "") -> Callable[[Stage], Seen]:
    """JavaScript that begins before an iteration in autocommit, and commits after it."""

    def play(stage: Stage) -> Seen:
        clone = stage.real()
        around(clone, 'db.exec("BEGIN");', 'db.exec("COMMIT");')
        return measured(clone, *runners, case="insert-autocommit", size="s", scheme=scheme)

    return play


def off_in_the_loop(stage: Stage) -> Seen:
    """JavaScript turns syncs off in its loop, and on again before settings are read back."""
    clone = stage.real()
    around(clone, *(f'db.exec("PRAGMA synchronous={value}");' for value in ("OFF", "FULL")))
    case = "insert-autocommit@profile=durable"
    return noticed(clone, "node", "rust-ffi", case=case)


FAULTS = [
    *(
        Fault(title, "fake", fake(behaviour, profile), "noticed", message, needs=COUNTER)
        for title, behaviour, profile, message in (
            ("syncs off while it is timed, on when it is looked at", "unsynced", "durable",
             "no sync: planted"),
            ("syncs off as shipped, where nothing is set", "unsynced", "shipped",
             "no sync: planted; 4 "),
            ("it starts anew without what counts its syncs", "uncounted", "durable",
             "not counted: not one of its writes to the database was seen"),
        )
    ),
    Fault("syncs off in the loop, on before settings are read back", "javascript", off_in_the_loop,
          "noticed",
          "insert-autocommit@profile=durable: no sync: node; 1 fsync: rust-ffi (the floor).",
          needs=COUNTER),
    *(
        Fault(f"one transaction around an iteration in autocommit, {way}", "javascript",
              in_one_transaction(*runners, scheme=scheme), "apart",
              "did other work: 0 commits per transaction, 1 asked", slow=slow, needs=COUNTER)
        for way, runners, scheme, slow in (
            ("in turns", ("node", "rust"), "", True),
            ("alone", ("node",), "process", False),
        )
    ),
]  # fmt: skip
