"""Processes: they are waited for, killed with all that they left, and seen from outside."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

import os
import select
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from multiprocessing import connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from bootstrap import guardian
from bootstrap.guarded import marked
from sqlitmus.machine import process_tree
from sqlitmus.run.processes.progress import Stop
from tests.fakes.clone import running, until
from tests.machine.linux import build
from tests.refusals import unfit

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux reaps and marks")

PYTHON = [sys.executable, "-I", "-S", "-c"]
SLEEP = [*PYTHON, "import time; time.sleep(600)"]
FAMILY = f"""
import subprocess, time
print(subprocess.Popen({SLEEP!r}, stdout=-3).pid, flush=True)
time.sleep(600)
"""


@contextmanager
def started(*command: str, **more: Any) -> Generator[tuple[subprocess.Popen[Any], int]]:
    """A process, and the number that it prints first, if any."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more
    ) as process:
        assert process.stdout
        try:
            yield process, int(process.stdout.readline() or 0)
        finally:
            process.kill()


@pytest.mark.parametrize("platform", [sys.platform, "win32"])
def test_a_process_is_killed_with_what_it_started(
    monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    """By its group, or where there is none, by looking its children up."""
    with started(*PYTHON, FAMILY, start_new_session=True) as (process, child):
        monkeypatch.setattr(sys, "platform", platform)
        process_tree.kill(process)
        # on a machine that is held up the second signal may come before the first was heard
        assert process.wait() in (-signal.SIGTERM, -signal.SIGKILL)
        until(lambda: not running(child), "the child lives on")
        process_tree.kill(process)  # nothing is left of it


def test_an_end_is_waited_for_without_looking_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def look(*_: object) -> None:
        pytest.fail("polls, which takes time beside what is measured")

    reads = "import sys; print(0, flush=True); sys.stdin.read()"
    with started(*PYTHON, reads) as (reader, _):
        assert not process_tree.ended(reader, 0)
        assert not process_tree.ended(reader, 0.001)
        assert reader.stdin
        ending = threading.Thread(target=reader.stdin.close)
        with monkeypatch.context() as patch:
            patch.setattr(time, "sleep", look)
            patch.setattr(os, "waitpid", look)
            ending.start()
            assert process_tree.ended(reader, 60)
        ending.join()
        assert reader.wait() == 0


FOREIGN: Any = SimpleNamespace(pid=4711, _handle=42)


@pytest.mark.parametrize(
    ("answers", "asked", "told"),
    [
        ([[42]], [5.0], True),
        ([[]], [5.0], False),
        # after Ctrl-C it goes on for the rest of the time
        ([InterruptedError(), [42]], [5.0, 2.0], True),
    ],
)
def test_windows_waits_for_the_handle(
    monkeypatch: pytest.MonkeyPatch, answers: list[Any], asked: list[float], told: bool
) -> None:
    now, left, waited = iter([100.0, 100.0, 103.0]), iter(answers), list[Any]()

    def wait(handles: list[int], timeout: float) -> Any:
        waited.append((handles, timeout))
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(time, "monotonic", now.__next__)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(connection, "wait", wait)
    assert process_tree.ended(FOREIGN, 5) is told
    assert waited == [([42], timeout) for timeout in asked]


@pytest.mark.parametrize(("answer", "told"), [(["exit"], True), ([], False), (None, True)])
def test_macos_waits_for_the_event_of_an_exit(
    monkeypatch: pytest.MonkeyPatch, answer: list[object] | None, told: bool
) -> None:
    done: list[object] = []

    def control(*asked: object) -> list[object]:
        done.append(asked)
        if answer is None:
            raise ProcessLookupError
        return answer

    queue = SimpleNamespace(control=control, close=lambda: done.append("closed"))
    facts = {"KQ_FILTER_PROC": -5, "KQ_EV_ADD": 1, "KQ_EV_ONESHOT": 16, "KQ_NOTE_EXIT": 2**31}
    calls = {"kevent": lambda *made_of: made_of, "kqueue": lambda: queue}
    for name, value in {**facts, **calls}.items():
        monkeypatch.setattr(select, name, value, raising=False)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert process_tree.ended(FOREIGN, 3) is told
    assert done == [([(4711, -5, 17, 2**31)], 1, 3), "closed"]


def test_ctrl_break_is_heard_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    set_: dict[int, Callable[..., object]] = {}

    def handle(number: int, handler: Any) -> str:
        set_[number] = handler
        return "before"

    fake = SimpleNamespace(SIGINT=2, SIGTERM=15, SIGBREAK=21, SIG_IGN="ignored", signal=handle)
    monkeypatch.setattr("sqlitmus.run.processes.progress.signal", fake)
    stop = Stop()
    with stop.listening():
        assert set_ == {2: stop, 15: stop, 21: stop}
    assert set(set_.values()) == {"before"}


DETACHED = f"""
import subprocess, sys
print(subprocess.Popen({SLEEP!r}, start_new_session=True, stdout=-3, stderr=-3).pid, flush=True)
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


def sleeping() -> AbstractContextManager[tuple[subprocess.Popen[Any], int]]:
    """A process that does nothing."""
    return started(*PYTHON, "import time; print(0, flush=True); time.sleep(600)")


def detached() -> int:
    """A process whose parent has ended."""
    return int(subprocess.run([*PYTHON, DETACHED], capture_output=True, check=True).stdout)


@contextmanager
def harness() -> Generator[tuple[subprocess.Popen[Any], int, int]]:
    """A process with a guardian, what it has started, and the guardian."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    own = (sys.executable, "-c", HARNESS, guardian.VARIABLE)
    with started(*own, env=environment) as (process, child):
        mark = f"-{process.pid:010d}-"
        every: Iterator[Any] = psutil.process_iter(["cmdline"])
        (watch,) = (p.pid for p in every if mark in " ".join(p.info["cmdline"] or []))
        yield process, child, watch


def test_what_is_left_is_ended_named_and_reaped_and_nothing_else() -> None:
    with sleeping() as (before, _):
        with process_tree.none_outlive() as left:
            forks = "import os; os._exit(0) if os.fork() else None"
            subprocess.run([*PYTHON, forks], check=True)
            assert left.end() == {}  # it ended by itself
            pids = {detached(), detached()}
            found = left.end()
            assert found.keys() == pids
            assert not any(map(psutil.pid_exists, pids))
            assert left.end() == {}
        name, _ = found.values()
        assert running(before.pid)
    assert process_tree.told([name]) == f"left 1 process running ({name}); it was ended"
    both = f"left 2 processes running ({name} ×2); they were ended"
    assert process_tree.told(found.values()) == both
    assert process_tree.told([]) == ""


def test_what_is_inherited_while_children_are_listed_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A child that ends between being listed and being reaped leaves its own children behind."""
    listed = psutil.Process.children
    with process_tree.none_outlive() as left, started(*PYTHON, FAMILY) as (process, orphan):

        def children(self: psutil.Process) -> list[psutil.Process]:
            before = listed(self)
            if process.pid in [child.pid for child in before]:
                process.kill()
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            return before

        monkeypatch.setattr(psutil.Process, "children", children)
        assert left.end().keys() == {orphan}
        assert not psutil.pid_exists(orphan)


def test_what_is_left_at_the_end_of_the_block_is_ended() -> None:
    pid = 0
    with pytest.raises(ZeroDivisionError), process_tree.none_outlive():  # noqa: PT012
        pid = detached()
        raise ZeroDivisionError
    assert not psutil.pid_exists(pid)


def test_what_cannot_be_ended_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_tree, "PATIENCE_S", 0)
    with process_tree.none_outlive() as left:
        with monkeypatch.context() as patch:
            patch.setattr(os, "kill", print)
            pid = detached()
            with unfit(rf"\(pid {pid}\), left running by an invocation"):
                left.end()
        os.kill(pid, signal.SIGKILL)
        until(lambda: not running(pid), "it lives on")


def test_a_killed_harness_has_a_deaf_guardian_that_ends_what_it_started() -> None:
    with harness() as (process, child, watch):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(watch, number)
        streams = {Path(f"/proc/{process.pid}/fd/{number}").readlink() for number in (0, 1, 2)}
        files = Path(f"/proc/{watch}/fd").iterdir()
        assert streams.isdisjoint(file.readlink() for file in files)
        assert os.getsid(watch) != os.getsid(process.pid)
        assert running(watch)
        assert running(child)
        process.kill()
        until(lambda: not running(child), "the child lives on")
        until(lambda: not running(watch), "the guardian lives on")


def test_the_guardian_goes_when_the_harness_ends() -> None:
    with harness() as (process, child, watch):
        process.communicate()
        assert not running(watch)
        assert not running(child)


def test_what_killed_harness_and_guardian_left_is_ended_by_the_next_harness(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # a mark of its own: sessions of other tests leave such processes, and end them
    monkeypatch.setattr(guardian, "VARIABLE", "SQLITMUS_RUN_OF_LEFTOVERS")
    with harness() as (process, child, watch):
        assert process_tree.of_the_dead() == 0
        assert running(child)
        os.kill(watch, signal.SIGKILL)
        process.kill()
        process.wait()
        assert process_tree.of_the_dead() == 1
        assert not running(child)


def test_marks_have_the_same_length_and_tell_the_dead_from_the_living() -> None:
    with sleeping() as (other, _):
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


def test_what_others_took() -> None:
    at_first = process_tree.Look({1: 10, 2: 500}, read_bytes=4096, away_ns=70)
    later = process_tree.Look({1: 30, 2: 500, 3: 7}, read_bytes=4096, away_ns=100)
    for of, taken in (
        (later, 20 + 7 + 30),  # of all threads and of the processor
        (replace(later, waited_ns={1: 30}), 20 + 30),  # one has ended
        (replace(later, read_bytes=8192), None),  # a disk was read
        (None, None),
    ):
        assert process_tree.between(at_first, of) == taken
    assert process_tree.between(None, at_first) is None


def test_this_process_and_what_it_started(tmp_path: Path) -> None:
    stat = "cpu0 1 1 1 1 1 2 3 4 0 0\ncpu1 1 1 1 1 1 20 30 40 0 0\n"
    build(tmp_path, {"proc/stat": stat})
    with sleeping() as (child, _):
        looks = [process_tree.look(os.getpid(), processor, tmp_path) for processor in (1, None)]
        assert process_tree.read_bytes(child.pid) is not None
    assert [look and look.away_ns for look in looks] == [90 * 10**7, 99 * 10**7]
    assert all(look and {os.getpid(), child.pid} <= look.waited_ns.keys() for look in looks)
    assert process_tree.look(2**22 + 1, None) is None


def test_who_has_to_share_a_processor_waits_for_it() -> None:
    here = min(os.sched_getaffinity(0))
    spin = f"import os; os.sched_setaffinity(0, {{{here}}}); print(0, flush=True)\nwhile 1: pass"
    with started(*PYTHON, spin), started(*PYTHON, spin) as (child, _):
        before = process_tree.look(child.pid, here)
        while (process_tree.between(before, process_tree.look(child.pid, here)) or 0) <= 10**6:
            os.sched_yield()


def written(file: Path, pragmas: str, inserts: int) -> process_tree.Writes:
    """What so many inserts into a new table write, seen from outside."""
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.executescript(pragmas)
        db.execute("CREATE TABLE t(a)")
        before = process_tree.look_at_writes(os.getpid(), file)
        for number in range(inserts):
            db.execute("INSERT INTO t VALUES (?)", (number,))
        after = process_tree.look_at_writes(os.getpid(), file)
    assert process_tree.written_between(None, after, inserts) is None
    found = process_tree.written_between(before, after, inserts)
    assert found
    return found


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="no such counters here")
def test_bytes_and_checkpoints_of_a_log(tmp_path: Path) -> None:
    log = "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint="
    found = written(tmp_path / "a.db", f"{log}20; PRAGMA synchronous=NORMAL", 100)
    # a page and its head for each row, and what checkpoints write
    assert 4120 <= found.bytes_per_iteration < 5000
    assert 4 <= found.checkpoints <= 5
    assert 20 <= found.pages <= 24
    found = written(tmp_path / "only-grows.db", f"{log}0", 100)
    assert (found.checkpoints, found.grown) == (0, 100)
    found = written(tmp_path / "without.db", "", 1)
    assert (found.checkpoints, found.pages) == (0, 0)
    assert found.written_bytes > 4096
    assert process_tree.look_at_writes(2**22 + 1, tmp_path / "a.db") is None
