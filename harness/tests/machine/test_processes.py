"""Processes: they are waited for, killed with all that they left, and seen from outside."""

import os
import select
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from multiprocessing import connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from bootstrap import guardian
from bootstrap.guarded import marked
from sqlitmus.machine import proc, process_tree
from sqlitmus.machine.proc import Look, between
from sqlitmus.run.processes.progress import Stop
from tests.fakes.clone import running, until
from tests.refusals import unfit

CHILD = "import pathlib, os, sys, time; pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))"
FAMILY = f"""
import subprocess, sys, time
subprocess.Popen([sys.executable, "-I", "-S", "-c", {CHILD + "; time.sleep(600)"!r}, sys.argv[1]])
time.sleep(600)
"""


@pytest.fixture
def family(tmp_path: Path) -> Any:
    """A process, and the number of the one that it started."""
    file = tmp_path / "pid"
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", FAMILY, str(file)],
        start_new_session=True,
        creationflags=process_tree.OWN_GROUP,
    )
    until(lambda: file.exists() and file.read_text(), "the child did not start")
    yield process, int(file.read_text())
    process_tree.kill(process)
    process.wait()


def test_a_process_is_killed_with_what_it_started(family: Any) -> None:
    process, child = family
    process_tree.kill(process)
    # on a machine that is held up the second signal may come before the first was heard
    ended = (-signal.SIGTERM, -signal.SIGKILL) if os.name == "posix" else (15,)
    assert process.wait() in ended
    until(lambda: not running(child), "the child lives on")


def test_without_process_groups_children_are_looked_up(
    family: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    process, child = family
    process_tree.kill(process)
    process.wait()
    until(lambda: not running(child), "the child lives on")
    process_tree.kill(process)  # nothing is left of it


@pytest.fixture
def reader() -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends when its stdin does."""
    code = "import sys; sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code], stdin=subprocess.PIPE
    ) as process:
        yield process


def test_a_process_that_lives_has_not_ended_in_time(reader: subprocess.Popen[bytes]) -> None:
    assert not process_tree.ended(reader, 0)
    assert not process_tree.ended(reader, 0.001)


def test_its_end_is_waited_for_without_looking_again_and_again(
    reader: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(*_: object) -> None:
        pytest.fail("polls, which takes time beside what is measured")

    assert reader.stdin
    ending = threading.Thread(target=reader.stdin.close)
    with monkeypatch.context() as patch:
        patch.setattr(time, "sleep", look)
        patch.setattr(os, "waitpid", look)
        ending.start()
        assert process_tree.ended(reader, 60)
    ending.join()
    assert reader.wait() == 0


class Fake:
    """A process of another system, as far as waiting for it needs."""

    def __init__(self) -> None:
        self.pid = 4711
        self._handle = 42


def waits(monkeypatch: pytest.MonkeyPatch, answers: list[Any]) -> list[Any]:
    """What WaitForMultipleObjects is asked and, in turn, answers."""
    asked: list[Any] = []

    def wait(handles: list[int], timeout: float) -> Any:
        asked.append((handles, timeout))
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(connection, "wait", wait)
    return asked


@pytest.mark.parametrize(("answer", "told"), [([42], True), ([], False)])
def test_windows_waits_for_the_handle(
    monkeypatch: pytest.MonkeyPatch, answer: list[int], told: bool
) -> None:
    asked = waits(monkeypatch, [answer])
    assert process_tree.ended(Fake(), 5) is told  # pyright: ignore[reportArgumentType]
    assert asked[0][0] == [42]
    assert 0 < asked[0][1] <= 5


def test_windows_goes_on_waiting_after_ctrl_c_for_the_rest_of_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = iter([100.0, 100.0, 103.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    asked = waits(monkeypatch, [InterruptedError(), [42]])
    assert process_tree.ended(Fake(), 5)  # pyright: ignore[reportArgumentType]
    assert [timeout for _, timeout in asked] == [5.0, 2.0]


class Queue:
    """A kqueue: what it is asked, and what it answers or raises."""

    def __init__(self, answer: list[object] | None) -> None:
        self.answer = answer
        self.asked: list[object] = []
        self.closed = False

    def control(self, changes: list[object], most: int, timeout: float) -> list[object]:
        self.asked = [*changes, most, timeout]
        if self.answer is None:
            raise ProcessLookupError
        return self.answer

    def close(self) -> None:
        self.closed = True


def event(*facts: int) -> tuple[int, ...]:
    """A kevent, as what it is made of."""
    return facts


@pytest.mark.parametrize(("answer", "told"), [(["exit"], True), ([], False), (None, True)])
def test_macos_waits_for_the_event_of_an_exit(
    monkeypatch: pytest.MonkeyPatch, answer: list[object] | None, told: bool
) -> None:
    queue = Queue(answer)
    constants = {"KQ_FILTER_PROC": -5, "KQ_EV_ADD": 1, "KQ_EV_ONESHOT": 16, "KQ_NOTE_EXIT": 2**31}
    for name, value in constants.items():
        monkeypatch.setattr(select, name, value, raising=False)
    monkeypatch.setattr(select, "kevent", event, raising=False)
    monkeypatch.setattr(select, "kqueue", lambda: queue, raising=False)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert process_tree.ended(Fake(), 3) is told  # pyright: ignore[reportArgumentType]
    assert queue.asked == [(4711, -5, 17, 2**31), 1, 3]
    assert queue.closed


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
            with unfit(rf"\(pid {pid}\), left running by an invocation"):
                left.end()
        os.kill(pid, signal.SIGKILL)
        until(lambda: not running(pid), "it lives on")


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


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux's counters")
AT_FIRST = Look({1: 10, 2: 500}, read_bytes=4096, away_ns=70)


@pytest.mark.parametrize(
    ("later", "taken"),
    [
        (Look({1: 30, 2: 500, 3: 7}, read_bytes=4096, away_ns=100), 20 + 7 + 30),
        (Look({1: 30}, read_bytes=4096, away_ns=70), 20),
        (Look({1: 30}, read_bytes=8192, away_ns=70), None),
        (None, None),
    ],
    ids=["all threads and the processor", "a thread has ended", "beside a disk", "not told"],
)
def test_what_others_took(later: Look | None, taken: int | None) -> None:
    assert between(AT_FIRST, later) == taken
    assert between(None, AT_FIRST) is None
    assert proc.look(2**22 + 1, None) is None


@needs_linux
def test_this_process_and_what_it_started(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    stat = "cpu0 1 1 1 1 1 2 3 4 0 0\ncpu1 1 1 1 1 1 20 30 40 0 0\n"
    (tmp_path / "proc/stat").write_text(stat)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        before = proc.look(os.getpid(), 1, tmp_path)
        assert before is not None
        assert {os.getpid(), child.pid} <= before.waited_ns.keys()
        assert before.away_ns == 90 * 10**7
        everywhere = proc.look(os.getpid(), None, tmp_path)
        assert everywhere is not None
        assert everywhere.away_ns == 99 * 10**7
        assert process_tree.read_bytes(child.pid) is not None
        assert child.stdin
        child.stdin.close()


@needs_linux
def test_who_has_to_share_a_processor_waits_for_it() -> None:
    here = min(os.sched_getaffinity(0))
    spin = f"import os; os.sched_setaffinity(0, {{{here}}}); print(flush=True)\nwhile True: pass"
    command = [sys.executable, "-I", "-S", "-c", spin]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for child in children:
            assert child.stdout
            child.stdout.readline()
        before = proc.look(children[0].pid, here)
        while not (between(before, proc.look(children[0].pid, here)) or 0) > 1_000_000:
            os.sched_yield()
    finally:
        for child in children:
            child.kill()
            child.communicate()


counts_writes = pytest.mark.skipif(
    not Path("/proc/self/io").exists(), reason="no such counters here"
)


def written(file: Path, pragmas: Iterable[str], inserts: int) -> proc.Writes:
    """What so many inserts into a new table write, seen from outside."""
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        for pragma in pragmas:
            db.execute(f"PRAGMA {pragma}")
        db.execute("CREATE TABLE t(a)")
        before = proc.look_at_writes(os.getpid(), file)
        for number in range(inserts):
            db.execute("INSERT INTO t VALUES (?)", (number,))
        after = proc.look_at_writes(os.getpid(), file)
    found = proc.written_between(before, after, inserts)
    assert found
    return found


@counts_writes
def test_bytes_and_checkpoints_of_a_log(tmp_path: Path) -> None:
    pragmas = ("journal_mode=WAL", "wal_autocheckpoint=20", "synchronous=NORMAL")
    found = written(tmp_path / "a.db", pragmas, 100)
    # a page and its head for each row, and what checkpoints write
    assert 4120 <= found.bytes_per_iteration < 5000
    assert 4 <= found.checkpoints <= 5
    assert 20 <= found.pages <= 24


@counts_writes
def test_a_log_that_only_grows(tmp_path: Path) -> None:
    found = written(tmp_path / "a.db", ("journal_mode=WAL", "wal_autocheckpoint=0"), 100)
    assert (found.checkpoints, found.grown) == (0, 100)


@counts_writes
def test_a_database_without_a_log_has_no_checkpoints(tmp_path: Path) -> None:
    found = written(tmp_path / "a.db", (), 1)
    assert (found.checkpoints, found.pages) == (0, 0)
    assert found.written_bytes > 4096


@counts_writes
def test_what_ended_is_not_known(tmp_path: Path) -> None:
    assert proc.look_at_writes(2**22 + 1, tmp_path / "a.db") is None
    assert (
        proc.written_between(None, proc.look_at_writes(os.getpid(), tmp_path / "a.db"), 5) is None
    )
