"""Processes that outlive what started them, and what does not end when asked to."""

import os
import signal
import subprocess
import time
from collections.abc import Callable

from tests.fakes.clone import Clone, long_enough, until
from tests.faults.fault import Fault, Seen
from tests.faults.stage import Stage
from tests.faults.verdict import verified

LIMIT_S = 20.0  # less than what would end by itself takes
ALL_KINDS = "group,session,daemon"


def leaves(kind: str) -> Callable[[Stage], Seen]:
    """A runner that leaves a process of that kind at its end, verified."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("planted", f"leaves={kind}")
        seen = verified(clone, "planted", "all", size="s")
        return _none_alive(clone, seen)

    return play


def outlives_a_timeout(stage: Stage) -> Seen:
    """A runner that hangs, with a process in a session of its own."""
    clone = stage.fakes()
    clone.runner("planted", "hangs-with=session")
    pids = clone.root / "pids"

    def attempt(timeout_s: float) -> Seen | None:
        for file in pids.glob("*"):
            file.unlink()
        given = ("--size", "s", "--case", "all", "-r", "planted", "--timeout", str(timeout_s))
        done = clone.sqlitmus("verify", *given)
        told = done.out.partition("/planted: ")[2].strip()
        return Seen("failed", told) if len(clone.pids()) > 1 else None

    return _none_alive(clone, long_enough(attempt, 2))


def _none_alive(clone: Clone, seen: Seen) -> Seen:
    left = clone.alive()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return Seen("ok", f"{len(left)} live on, after: {seen.message}") if left else seen


def ended_by(number: signal.Signals) -> Callable[[Stage], Seen]:
    """The harness gets a signal while a runner hangs with processes of each kind."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        harness = _hanging(clone)
        harness.send_signal(number)
        begin = time.monotonic()
        again = 0.1  # two in a row may arrive as one
        while clone.alive() and (waited := time.monotonic() - begin) < LIMIT_S:
            if waited > again:
                harness.send_signal(number)
                again += 0.1
            time.sleep(0.002)
        if clone.alive():
            harness.kill()
        done = clone.finish(harness)
        return _none_alive(clone, Seen("none left", f"exit {done.code}"))

    return play


def second_run_after_a_kill(stage: Stage) -> Seen:
    """A run started right after the harness of another was killed beside its hanging runner."""
    clone = stage.fakes()
    clone.runner("honest")
    harness = _hanging(clone)
    harness.kill()
    second = clone.sqlitmus("run", "--size", "s", "--case", "all", "-r", "honest")
    clone.finish(harness)
    return _none_alive(clone, Seen("none left", f"exit {second.code}"))


def deaf_while_described(stage: Stage) -> Seen:
    """Ctrl-C while a runner does not say what it is."""
    clone = stage.fakes()
    clone.runner("planted", "describe-hangs")
    harness = clone.start("run", "--size", "s", "--case", "all", "-r", "planted")
    until(clone.alive, "the runner was not asked")
    harness.send_signal(signal.SIGINT)
    begin = time.monotonic()
    done = clone.finish(harness)
    if time.monotonic() - begin > LIMIT_S:
        return _none_alive(clone, Seen("ok", "it went on"))
    # what a test beside it killed just then may be told of first
    last = done.err.strip().splitlines()[-1]
    return _none_alive(clone, Seen("none left", f"exit {done.code}: {last}"))


def _hanging(clone: Clone) -> subprocess.Popen[str]:
    """A run whose runner hangs, with processes of each kind."""
    clone.runner("planted", f"hangs-with={ALL_KINDS}")
    harness = clone.start("run", "--size", "s", "--case", "all", "-r", "planted")
    until(lambda: len(clone.alive()) == 1 + ALL_KINDS.count(",") + 1, "the runner does not hang")
    return harness


FAULTS = [
    *(
        Fault(title, "fake", leaves(kind), "failed", message)
        for title, kind, message in (
            ("a process in the runner's group is left", "group", "left 1"),
            ("one in a session of its own is left", "session", "left 1"),
            ("a daemon without environment is left", "daemon-empty", "left"),
        )
    ),
    Fault("a hanging runner leaves a session", "fake", outlives_a_timeout, "failed",
          " s; killed; left 1 process running"),
    *(
        Fault(title, "harness", play, "none left", message)
        for title, play, message in (
            ("the harness is killed beside a hanging family", ended_by(signal.SIGKILL), "exit -9"),
            ("SIGHUP beside a hanging family", ended_by(signal.SIGHUP), "exit 130"),
            ("two Ctrl-C beside a hanging family", ended_by(signal.SIGINT), "exit 130"),
            ("a second run right after such a kill", second_run_after_a_kill, "exit 0"),
            ("Ctrl-C while a runner does not describe itself", deaf_while_described,
             "exit 130: sqlitmus: interrupted"),
        )
    ),
]  # fmt: skip
