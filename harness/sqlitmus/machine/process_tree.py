"""A process with all its children: waited for, looked at, killed; nothing of it outlives it."""

import os
import select
import signal
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection, Generator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from bootstrap.guarded import end_orphans, guarded
from bootstrap.guardian import start_of
from sqlitmus.machine import system
from sqlitmus.machine.system import ROOT
from sqlitmus.vocabulary.errors import NotFit
from sqlitmus.vocabulary.text import counted, one_line, some

KILL_GRACE_S = 0.5
OWN_GROUP: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)  # Windows alone has it


def ended(process: subprocess.Popen[bytes], timeout_s: float) -> bool:
    """Whether `process` ended within `timeout_s`; signal handlers run meanwhile.

    Popen.wait would wake up every few milliseconds beside what is measured, notice the end up to
    50 ms late, hold a lock that `kill`, called from a signal handler, could not get, and on Windows
    not see Ctrl-C at all.
    """
    if sys.platform == "win32":
        from multiprocessing.connection import wait

        end = time.monotonic() + timeout_s
        handle: int = vars(process)["_handle"]  # which types do not know
        while True:
            with suppress(InterruptedError):  # Ctrl-C, whose handler has run
                return bool(wait([handle], end - time.monotonic()))
    if sys.platform == "darwin":
        exit_ = (select.KQ_FILTER_PROC, select.KQ_EV_ADD | select.KQ_EV_ONESHOT)
        event = select.kevent(process.pid, *exit_, select.KQ_NOTE_EXIT)
        with closing(select.kqueue()) as queue, suppress(ProcessLookupError):
            return bool(queue.control([event], 1, timeout_s))
        return True
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], timeout_s)[0])
    finally:
        os.close(handle)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End `process` and all that it started; does nothing when none of it lives."""
    if sys.platform != "win32":
        _signal(process.pid, signal.SIGTERM)
        ended(process, KILL_GRACE_S)
        # The group outlives its leader when a runner ignores SIGTERM.
        _signal(process.pid, signal.SIGKILL)
        return
    # Children are looked up first: once their parent is gone, nothing leads to them.
    with suppress(psutil.NoSuchProcess):
        leader = psutil.Process(process.pid)
        for member in [leader, *leader.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                member.kill()


def stop(process: subprocess.Popen[bytes]) -> None:
    """Let `process`, which leads a group of its own, stand still until it may `go_on`; on Linux it
    does, in all of its threads, when this returns."""
    if sys.platform == "win32":
        with suppress(psutil.Error):
            psutil.Process(process.pid).suspend()
        return
    _signal(process.pid, signal.SIGSTOP)
    if sys.platform == "linux":
        # one thread takes the signal, perhaps late; the last to stop tells the parent
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


def go_on(process: subprocess.Popen[bytes]) -> None:
    """End a `stop`."""
    if sys.platform == "win32":
        with suppress(psutil.Error):
            psutil.Process(process.pid).resume()
    else:
        _signal(process.pid, signal.SIGCONT)


def threads(pid: int) -> dict[int, int]:
    """CPU time so far, in ns, of each thread of `pid` and its descendants that live, by its id.

    From Linux's scheduler, whose figures are exact of a thread that sleeps; the clock ticks of
    other places are 10 ms. Empty where it cannot be read.
    """
    return {task: ran for task, (ran, _) in _scheduled(pid).items()}


def waited(pid: int) -> dict[int, int]:
    """The same for the time in which each thread was ready and had no processor."""
    return {task: waited for task, (_, waited) in _scheduled(pid).items()}


def read_bytes(pid: int) -> int | None:
    """Bytes that `pid` and its descendants that live had to read from disks so far; None where it
    cannot be read."""
    return _transferred(pid, b"read_bytes:")


def written_bytes(pid: int) -> int | None:
    """Bytes that they gave the system to write so far, to files and pipes alike; None where it
    cannot be read."""
    return _transferred(pid, b"wchar:")


def _transferred(pid: int, name: bytes) -> int | None:
    try:
        with open(f"/proc/{pid}/io", "rb") as file:  # noqa: PTH123
            (mine,) = [int(line.split()[1]) for line in file if line.startswith(name)]
        below = [
            _transferred(child, name) for task in siblings(pid) for child in _children(pid, task)
        ]
    except (OSError, ValueError):
        return None
    return mine + sum(bytes_ or 0 for bytes_ in below)


def _scheduled(pid: int) -> dict[int, tuple[int, int]]:
    """(ns that it ran, ns that it was ready and did not) of each thread; see `threads`."""
    times: dict[int, tuple[int, int]] = {}
    for task in siblings(pid):
        with suppress(OSError, ValueError):  # it has ended
            times[task] = _schedstat(f"{pid}/task/{task}")
            for child in _children(pid, task):
                times |= _scheduled(child)
    return times


def _schedstat(thread: str) -> tuple[int, int]:
    """(ns that it ran, ns that it was ready and did not), see Linux's sched-stats.rst; OSError or
    ValueError where the system does not tell."""
    with open(f"/proc/{thread}/schedstat", "rb") as file:  # noqa: PTH123
        ran, ready = file.read().split()[:2]
    return int(ran), int(ready)


def _children(pid: int, task: int) -> list[int]:
    with open(f"/proc/{pid}/task/{task}/children", "rb") as file:  # noqa: PTH123
        return [int(child) for child in file.read().split()]


def siblings(thread: int) -> list[int]:
    """Ids of the threads of the process that has `thread`; none where the system does not tell."""
    with suppress(OSError):
        return [int(task) for task in os.listdir(f"/proc/{thread}/task")]  # noqa: PTH208
    return []


def children() -> list[int]:
    """Ids of this process's own children, orphans that it inherited among them; none where the
    system does not tell."""
    with suppress(OSError, ValueError):
        return _children(os.getpid(), os.getpid())
    return []


def waited_ns(thread: int) -> int:
    """Nanoseconds that a thread was ready to run and waited for a processor since its start; 0
    where the system does not tell."""
    with suppress(OSError, ValueError):
        return _schedstat(str(thread))[1]
    return 0


# What others take of its time, and what it writes, as Linux tells it.

TICK_NS = 10_000_000  # of /proc/stat, on every architecture


@dataclass(frozen=True, slots=True)
class Look:
    """Counters at one moment: ns that each thread was ready without a processor, bytes that the
    processes had to read from disks, and ns that interrupts and other guests took of processors."""

    waited_ns: Mapping[int, int]
    read_bytes: int
    away_ns: int


def look(pid: int, processor: int | None, root: Path = ROOT) -> Look | None:
    """Counters of `pid` and its descendants, and of `processor` or, without one, of all; None where
    the system does not tell.
    """
    ready, read = waited(pid), read_bytes(pid)
    if not ready or read is None:
        return None
    ticks = system.away(root)
    away = ticks.values() if processor is None else [ticks.get(str(processor), 0)]
    return Look(ready, read, sum(away) * TICK_NS)


def between(before: Look | None, after: Look | None) -> float | None:
    """ns that others took between two looks, at most; None where that is not known, or where a disk
    was read, which takes a time that nobody counts."""
    if before is None or after is None or after.read_bytes > before.read_bytes:
        return None
    ready_ns = sum(ns - before.waited_ns.get(task, 0) for task, ns in after.waited_ns.items())
    return ready_ns + after.away_ns - before.away_ns


# What a process writes while it times its work, seen from outside: bytes, and its log.

_HEADER = struct.Struct(">4I")  # of a log: magic number, format, page size, checkpoint sequence
_FRAME = 24  # bytes of a log beside each page


@dataclass(frozen=True, slots=True)
class WriteLook:
    """Counters at one moment: bytes written by a process, which log it writes, the log's pages."""

    written_bytes: int
    sequence: int | None
    pages: int


@dataclass(frozen=True, slots=True)
class Writes:
    """Between two looks: bytes written, in how many iterations, and how often the write-ahead log
    began anew, as it does at the first write after a checkpoint of all of it. `pages` is the
    length of its file at the end, `grown` how many of them came meanwhile.
    """

    written_bytes: int
    iterations: int
    checkpoints: int
    pages: int
    grown: int

    @property
    def bytes_per_iteration(self) -> float:
        """Bytes written in an iteration, its share of checkpoints included."""
        return self.written_bytes / self.iterations


def look_at_writes(pid: int, database: Path) -> WriteLook | None:
    """Counters of `pid`, which writes to `database`; None where the system does not tell."""
    written = written_bytes(pid)
    if written is None:
        return None
    return WriteLook(written, *look_at_log(database))


def look_at_log(database: Path) -> tuple[int | None, int]:
    """Which write-ahead log `database` has, by its checkpoint sequence, and the pages of its file;
    None and 0 without one."""
    log = database.with_name(f"{database.name}-wal")
    try:
        with log.open("rb") as file:
            head = file.read(_HEADER.size)
        size = log.stat().st_size
    except OSError:
        return None, 0
    if len(head) < _HEADER.size:
        return None, 0
    _, _, page, sequence = _HEADER.unpack(head)
    return sequence, size // (page + _FRAME)


def written_between(
    before: WriteLook | None, after: WriteLook | None, iterations: int
) -> Writes | None:
    """What was written between two looks, with so many iterations in between; None where that is
    not known."""
    if before is None or after is None or not iterations:
        return None
    begun = after.sequence if before.sequence is None else before.sequence
    return Writes(
        after.written_bytes - before.written_bytes,
        iterations,
        0 if after.sequence is None or begun is None else after.sequence - begun,
        after.pages,
        after.pages - before.pages,
    )


def _signal(leader: int, number: signal.Signals) -> None:
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, number)


# Nothing that an invocation started outlives it, nor the harness; on Linux only.

GRACE_S = 0.1  # for what ends by itself as soon as it sees that its parent is gone
PATIENCE_S = 2.0
_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36


class Leftovers:
    """What is left of an invocation; children that were there before are none of it."""

    def __init__(self) -> None:
        self._before = {child.pid for child in psutil.Process().children()}

    def end(self) -> dict[int, str]:
        """End what is left, and return its names by id; where nothing is, that takes microseconds.

        Raises NotFit when something cannot be ended.
        """
        names: dict[int, str] = {}
        begin = time.monotonic()
        while _has_children() and (left := self._alive()):
            waited = time.monotonic() - begin
            if waited > GRACE_S + PATIENCE_S:
                raise _unending(left)
            if waited > GRACE_S:
                names |= {pid: _name(pid) for pid in left if pid not in names}
                for pid in left:
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL)
            time.sleep(GRACE_S / 20)
        return names

    def _alive(self) -> list[int]:
        """The children that live; those that have ended are reaped.

        The children of one that ended since they were listed are this process's only now, so that
        the list holds only when all on it live.
        """
        while True:
            children = [child.pid for child in psutil.Process().children()]
            left = [pid for pid in children if pid not in self._before]
            ended = [pid for pid in left if _reaped(pid)]
            if not ended:
                return left


def told(names: Collection[str]) -> str:
    """What `Leftovers.end` ended, as part of a sentence; empty for nothing."""
    if not names:
        return ""
    counts = sorted(Counter(names).items())
    kinds = [f"{name} ×{many}" if many > 1 else name for name, many in counts]
    were = "it was" if len(names) == 1 else "they were"
    many = counted(len(names), "process", "processes")
    return f"left {many} running ({some(kinds)}); {were} ended"


@contextmanager
def none_outlive(*held: int) -> Generator[Leftovers]:
    """Nothing started inside the block lives on after it, however this process ends.

    The guardian keeps the descriptors `held` open until that holds.
    """
    if sys.platform != "linux":
        yield Leftovers()
        return
    with guarded(*held):
        leftovers = Leftovers()
        _reap_orphans(yes=True)
        try:
            yield leftovers
        finally:
            try:
                leftovers.end()
            finally:
                _reap_orphans(yes=False)


def of_the_dead() -> int:
    """End what killed harnesses of this user left running, and return how many processes it was.

    Raises NotFit when something cannot be ended.
    """
    ended = end_orphans(PATIENCE_S)
    if alive := [pid for pid in ended if start_of(pid) is not None]:
        raise _unending(alive)
    return len(ended)


def _unending(pids: list[int]) -> NotFit:
    names = some([f"{_name(pid)} (pid {pid})" for pid in pids])
    return NotFit(
        f"{names}, left running by an invocation, cannot be ended and would disturb what is "
        "measured; wait until it ends, or restart the machine"
    )


def _reap_orphans(*, yes: bool) -> None:
    """Whether the children of children that end become this process's own."""
    import ctypes

    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, int(yes), 0, 0, 0)


def die_with(parent: int) -> None:
    """Let this process, a fork of `parent`, be killed when that ends."""
    import ctypes

    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it has ended before
        os.kill(os.getpid(), signal.SIGKILL)


def _has_children() -> bool:
    """Whether this process has any; costs a microsecond, unlike a list of them."""
    if sys.platform != "linux":
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _reaped(pid: int) -> bool:
    """Whether that child has ended; it is gone then."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def _name(pid: int) -> str:
    """Its name as one line: the process chose it."""
    try:
        return one_line(psutil.Process(pid).name())
    except psutil.Error:
        return "?"
