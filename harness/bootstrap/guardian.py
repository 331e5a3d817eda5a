"""Ends what a killed harness or set-up leaves running; a program of the standard library alone.

`python -I -S guardian.py MARK` sleeps until its stdin ends. A byte before that is a farewell: it
goes. The bare end means that it was killed: every process whose environment carries MARK
is ended, with all that it started. Until then it holds the locks that it inherits.

Only Linux shows the environment of other processes, in /proc.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

VARIABLE = "SQLITMUS_RUN"
CLEAN_LOOKS = 5  # a process that is just being started has no mark for a moment
BETWEEN_S = 0.02


def mark() -> str | None:
    """What marks the processes of this process: its pid namespace, number and start.

    Of the same length for all, because the size of the environment moves a program's stack. None
    where there is no such /proc.
    """
    start = start_of("self")
    if start is None:
        return None
    return f"{_namespace():012d}-{os.getpid():010d}-{start:016d}"


def is_orphaned(of: str) -> bool:
    """Whether `of` is the mark of a process that is dead; one of another namespace may live."""
    words = of.split("-")
    if len(words) != 3 or not all(word.isdecimal() for word in words):
        return False
    namespace, pid, start = map(int, words)
    return namespace == _namespace() and start_of(pid) != start


def start_of(pid: int | str) -> int | None:
    """The start of a process in ticks of the system; None when it does not live."""
    words = _status(pid)
    return int(words[19]) if words and words[0] not in "ZX" else None


def end(
    ours: Callable[[str], bool], clean_looks: int, patience_s: float = float("inf")
) -> set[int]:
    """End the processes with a mark that is `ours`, and what they started; returns their numbers.

    Ends when so many looks in a row show none, or after `patience_s`: nothing ends a process that
    waits for a disk.
    """
    ended: set[int] = set()
    clean, begin = 0, time.monotonic()
    while time.monotonic() - begin < patience_s:
        left = _marked(ours)
        ended |= left
        clean = 0 if left else clean + 1
        if clean >= clean_looks:
            break
        for pid in left:
            _kill(pid)
        time.sleep(BETWEEN_S)
    return ended


def _marked(ours: Callable[[str], bool]) -> set[int]:
    """Processes whose mark is `ours`, and all their descendants, whatever their environment."""
    names = (entry.name for entry in Path("/proc").iterdir())
    pids = {int(name) for name in names if name.isdigit()} - {os.getpid()}
    family = {pid for pid in pids if (theirs := variable(pid, VARIABLE)) and ours(theirs)}
    if not family:
        return family
    parents = {pid: int(words[1]) for pid in pids if (words := _status(pid)) and words[0] != "Z"}
    while children := {p for p, parent in parents.items() if parent in family} - family:
        family |= children
    return family


def variable(pid: int, name: str) -> str | None:
    """What the process `pid` was started with as its environment's `name`; None where the system
    does not tell, or it has none."""
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:  # noqa: PTH123
            variables = file.read().split(b"\0")
    except OSError:  # it has ended, or is another user's
        return None
    start = f"{name}=".encode()
    values = [text[len(start) :] for text in variables if text.startswith(start)]
    return values[0].decode("utf-8", "replace") if values else None


def _status(pid: int | str) -> list[str]:
    """The words of /proc/PID/stat behind the name, from the state on; empty without a process."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].decode().split()
    except OSError:
        return []


def _namespace() -> int:
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def main(marked: str) -> None:
    """Guard the process that holds the other end of stdin."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # Not a child of what it guards, which then sees at once whether it has any.
    if os.fork():
        os._exit(0)
    if not os.read(0, 1):
        end(marked.__eq__, CLEAN_LOOKS)


if __name__ == "__main__":
    main(sys.argv[1])
