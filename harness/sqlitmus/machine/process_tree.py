"""Waits for a process with all its children, and kills it with all its children.

Start it with `start_new_session=True, creationflags=OWN_GROUP`: then Ctrl-C reaches only the
harness, which lets the invocation under way finish.
"""

import os
import select
import signal
import subprocess
import sys
import time
from contextlib import closing, suppress

import psutil

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


def cpu_ns(pid: int) -> int:
    """CPU time so far of `pid` and its descendants that live, in ns; 0 where it cannot be read."""
    return sum(threads(pid).values())


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


def run_delay_ns(thread: int) -> int | None:
    """Nanoseconds that a thread was ready to run and waited for a processor, since its start; None
    where the system does not tell."""
    with suppress(OSError, ValueError):
        return _schedstat(str(thread))[1]
    return None


def variable(pid: int, name: str) -> str | None:
    """What the process `pid` was started with as its environment's `name`; None where the system
    does not tell, or it has none."""
    with suppress(OSError, ValueError):
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            pairs = dict(
                entry.split(b"=", 1) for entry in file.read().split(b"\0") if b"=" in entry
            )
        value = pairs.get(name.encode())
        return None if value is None else value.decode("utf-8", "replace")
    return None


def _signal(leader: int, number: signal.Signals) -> None:
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, number)
