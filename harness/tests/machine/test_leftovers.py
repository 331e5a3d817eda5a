"""What a process leaves running is ended by whoever started it, or by that one's guardian."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from bootstrap import guardian
from bootstrap.guarded import marked
from sqlitmus.machine import process_tree
from sqlitmus.vocabulary.errors import NotFit
from tests.fakes.clone import running, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux reaps and marks")

SLEEP = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
DETACHED = f"""
import subprocess, sys
print(subprocess.Popen({SLEEP!r}, start_new_session=True, stdout=-3, stderr=-3).pid)
"""
HARNESS = f"""
import subprocess, sys
from bootstrap import guardian
from bootstrap.guarded import marked
from sqlitmus.machine import process_tree
guardian.VARIABLE = sys.argv[1]
with process_tree.none_outlive():
    child = subprocess.Popen({SLEEP!r}, env=marked({{}}), start_new_session=True,
        stdout=subprocess.DEVNULL)
    print(child.pid, flush=True)
    sys.stdin.read()
"""


@contextmanager
def sleeping() -> Generator[subprocess.Popen[bytes]]:
    """A process that does nothing."""
    with subprocess.Popen(SLEEP) as process:
        try:
            yield process
        finally:
            process.kill()


def detached() -> int:
    """A process whose parent has ended."""
    done = subprocess.run([sys.executable, "-c", DETACHED], capture_output=True, check=True)
    return int(done.stdout)


def harness() -> tuple[subprocess.Popen[str], int]:
    """A process with a guardian, and what it has started."""
    process = subprocess.Popen(
        [sys.executable, "-c", HARNESS, guardian.VARIABLE],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    return process, int(process.stdout.readline())


def guardians_of(pid: int) -> list[int]:
    """The guardians that watch over a process."""
    mark = f"-{pid:010d}-"
    every: Iterator[Any] = psutil.process_iter(["cmdline"])
    return [p.pid for p in every if mark in " ".join(p.info["cmdline"] or [])]


def test_what_is_left_is_ended_named_and_reaped() -> None:
    with process_tree.none_outlive() as left:
        pids = {detached(), detached()}
        names = list(left.end().values())
        assert len(names) == len(pids)
        assert not any(map(psutil.pid_exists, pids))
        assert left.end() == {}
    assert process_tree.told(names) == f"left 2 processes running ({names[0]} ×2); they were ended"


def test_what_is_inherited_while_children_are_listed_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A child that ends between being listed and being reaped leaves its own children behind."""
    listed = psutil.Process.children
    code = DETACHED + "sys.stdout.flush(); sys.stdin.read()"
    with process_tree.none_outlive() as left:
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin
        assert process.stdout
        orphan = int(process.stdout.readline())

        def children(self: psutil.Process) -> list[psutil.Process]:
            before = listed(self)
            if process.pid in [child.pid for child in before]:
                process.kill()
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            return before

        monkeypatch.setattr(psutil.Process, "children", children)
        assert len(left.end()) == 1
        assert not psutil.pid_exists(orphan)
        process.stdin.close()
        process.stdout.close()
        process.wait()


def test_what_ends_by_itself_is_not_told() -> None:
    with process_tree.none_outlive() as left:
        code = "import os; os._exit(0) if os.fork() else None"
        subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)
        assert left.end() == {}


def test_children_from_before_live_on() -> None:
    with sleeping() as before:
        with process_tree.none_outlive() as left:
            detached()
            assert len(left.end()) == 1
        assert running(before.pid)


def test_what_is_left_at_the_end_of_the_block_is_ended() -> None:
    pids: list[int] = []

    def fail() -> None:
        with process_tree.none_outlive():
            pids.append(detached())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not psutil.pid_exists(pids[0])


def test_what_cannot_be_ended_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_tree, "PATIENCE_S", 0)
    with process_tree.none_outlive() as left:
        with monkeypatch.context() as patch:
            patch.setattr(os, "kill", print)
            pid = detached()
            with pytest.raises(NotFit, match=rf"\(pid {pid}\), left running by an invocation"):
                left.end()
        os.kill(pid, signal.SIGKILL)


def test_a_killed_harness_has_a_guardian_that_ends_what_it_started() -> None:
    process, child = harness()
    (watch,) = guardians_of(process.pid)
    process.kill()
    process.communicate()
    until(lambda: not running(child), "the child lives on")
    until(lambda: not running(watch), "the guardian lives on")


def test_the_guardian_goes_when_the_harness_ends() -> None:
    process, child = harness()
    process.communicate()
    assert guardians_of(process.pid) == []
    assert not running(child)


def test_the_guardian_is_deaf_and_keeps_no_stream_open() -> None:
    process, child = harness()
    (watch,) = guardians_of(process.pid)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(watch, number)
    streams = {Path(f"/proc/{process.pid}/fd/{number}").readlink() for number in (0, 1, 2)}
    files = Path(f"/proc/{watch}/fd").iterdir()
    assert streams.isdisjoint(file.readlink() for file in files)
    assert os.getsid(watch) != os.getsid(process.pid)
    assert running(watch)
    process.kill()
    process.communicate()
    until(lambda: not running(child), "the child lives on")


def test_what_killed_harness_and_guardian_left_is_ended_by_the_next_harness(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # a mark of its own: sessions of other tests leave such processes, and end them
    monkeypatch.setattr(guardian, "VARIABLE", "SQLITMUS_RUN_OF_LEFTOVERS")
    process, child = harness()
    (watch,) = guardians_of(process.pid)
    assert process_tree.of_the_dead() == 0
    assert running(child)
    os.kill(watch, signal.SIGKILL)
    process.kill()
    process.communicate()
    assert process_tree.of_the_dead() == 1
    assert not running(child)


def test_marks_have_the_same_length_and_tell_the_dead_from_the_living() -> None:
    with sleeping() as other:
        mine = guardian.mark()
        assert mine is not None
        space, _, start = mine.split("-")
        assert len(mine) == len(marked({})[guardian.VARIABLE]) == 40
        theirs = f"{space}-{other.pid:010d}-{guardian.start_of(other.pid):016d}"
        assert not guardian.is_orphaned(mine)
        assert not guardian.is_orphaned(theirs)
    assert guardian.is_orphaned(theirs)
    # another process of the same number
    assert guardian.is_orphaned(f"{space}-{os.getpid():010d}-{int(start) + 1:016d}")
    # of a namespace whose processes cannot be seen, and no mark at all
    assert not guardian.is_orphaned(f"{int(space) + 1:012d}-{other.pid:010d}-{start}")
    assert not guardian.is_orphaned("night")
