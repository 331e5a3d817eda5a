"""Times, use, identities and files of results that cannot be."""

import os
from collections.abc import Callable

from tests.faults.fault import Fault, Seen
from tests.faults.stage import Stage
from tests.faults.verdict import measured, verified

CLOCK = "finish: (start, end) => Math.round(end - start),"
SPENT = "spend(outcome, before, usage());"


def fake(behaviour: str) -> Callable[[Stage], Seen]:
    """A fake of that behaviour, measured."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("planted", behaviour)
        return measured(clone, "planted", case="all", size="s")

    return play


def left(behaviour: str) -> Callable[[Stage], Seen]:
    """A fake that leaves something else than a result, verified."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("planted", behaviour)
        return verified(clone, "planted", "all", size="s")

    return play


def beside(behaviour: str) -> Callable[[Stage], Seen]:
    """What becomes of an honest runner after a fake of that behaviour."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("planted", behaviour)
        clone.runner("honest")
        return measured(clone, "honest", "planted", case="insert", size="s")

    return play


def clock(
    old: str, new: str, file: str = "meeting.js", case: str = "get-pk"
) -> Callable[[Stage], Seen]:
    """JavaScript in which `old` is `new`, measured with Node, pilot included."""

    def play(stage: Stage) -> Seen:
        clone = stage.real()
        clone.replace(f"runners/javascript/{file}", old, new)
        return measured(clone, "node", case=case)

    return play


TIMES = "but its process lived "
# Windows has no such pipes and signals; whether hyperfine sees memory there is not known.
POSIX = [
    Fault("a FIFO as result", "fake", left("leaves-fifo"), "failed", "is no regular file"),
    Fault("/dev/zero as result", "fake", left("leaves-zero"), "failed", "is a link"),
    Fault(
        "a peak memory of 1 GB",
        "fake",
        fake(f"holds={2**30}"),
        "failed",
        "hyperfine saw ",
        slow=True,
    ),
    Fault(
        "a runtime that gets no memory",
        "fake",
        left("traps"),
        "failed",
        "killed by SIGTRAP (exit code 133; runtimes end so, too, when they get no memory)",
    ),
]
FAULTS: list[Fault] = [
    Fault("iterations of 1 ns", "fake", fake("takes=1"), "failed", "take 1 ns on average"),
    Fault("iterations of 95 years", "fake", fake(f"takes={3 * 10**18}"), "failed", TIMES),
    Fault(
        "iterations of 10^30 ns",
        "fake",
        fake(f"takes={10**30}"),
        "failed",
        "of 31 digits",
        slow=True,
    ),
    Fault(
        "a clock 10 times too fast",
        "javascript",
        clock(CLOCK, "finish: (start, end) => Math.round((end - start) / 10),"),
        "failed",
        "its clock or its times are wrong",
        slow=True,
    ),
    Fault(
        "a clock 10 times too slow",
        "javascript",
        clock(CLOCK, "finish: (start, end) => Math.round((end - start) * 10),"),
        "failed",
        TIMES,
        slow=True,
    ),
    Fault(
        "every iteration takes 1 ms",
        "javascript",
        clock(CLOCK, "finish: () => 1e6,"),
        "failed",
        "took exactly 1000000 ns",
        slow=True,
    ),
    Fault(
        "31 years of CPU time",
        "fake",
        fake(f"uses={10**18}"),
        "failed",
        "whole process used",
        slow=True,
    ),
    Fault(
        "no CPU time",
        "javascript",
        clock(SPENT, "", "iterations.js", "scan-full"),
        "failed",
        "it reports 0 ns of CPU time in iterations of ",
        slow=True,
    ),
    Fault(
        "a peak memory of 4 EB",
        "fake",
        fake(f"holds={2**62}"),
        "failed",
        "this machine has ",
        slow=True,
    ),
    Fault(
        "10^18 page faults",
        "fake",
        fake(f"faults={10**18}"),
        "failed",
        "page faults, but its ",
        slow=True,
    ),
    Fault(
        "the result of another cell",
        "fake",
        fake("is=cell"),
        "failed",
        "its result is of get/honest; it was asked for all/planted",
    ),
    Fault(
        "the result of another runner",
        "fake",
        fake("is=runner"),
        "failed",
        "its result is of the runner node; its `describe` says planted",
    ),
    Fault(
        "the result of another driver",
        "fake",
        fake("is=driver"),
        "failed",
        "its result is of the driver faster 9.9; its `describe` says sqlite3 ",
        slow=True,
    ),
    Fault(
        "the result of another SQLite",
        "fake",
        fake("is=sqlite"),
        "failed",
        "its result is of the SQLite version 9.9.9; its `describe` says ",
        slow=True,
    ),
    Fault(
        "a key twice in one object",
        "fake",
        left("writes-keys-twice"),
        "failed",
        "its result has the key rows twice",
    ),
    Fault("a folder as result", "fake", left("leaves-folder"), "failed", "is no regular file"),
    Fault(
        "10^8 numbers as result",
        "fake",
        left("leaves-numbers"),
        "failed",
        "190.7 MB; 32 MB are room",
        slow=True,
    ),
    Fault(
        "the scratch folder removed",
        "fake",
        fake("removes-scratch"),
        "failed",
        "its process removed the folder of the harness's jobs and databases",
        slow=True,
    ),
    Fault(
        "the scratch folder removed beside an honest runner",
        "fake",
        beside("removes-scratch"),
        "ok",
        "insert/planted: failed: its process removed the folder",
    ),
    Fault(
        "unsupported after an ok verification",
        "fake",
        fake("unsupported-when-measured"),
        "failed",
        "it was verified, and says unsupported only now: ",
    ),
    *(POSIX if hasattr(os, "mkfifo") else []),
]
