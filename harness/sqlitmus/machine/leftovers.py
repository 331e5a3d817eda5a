"""Nothing that an invocation started outlives it, nor the harness; on Linux only.

The harness is the reaper of all its descendants, so that what a runner detaches becomes a child of
the harness, which ends it before the next invocation. Should the harness be killed, its guardian
ends what carries the harness's mark.
"""

import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Collection, Generator
from contextlib import contextmanager, suppress

import psutil

from bootstrap.guarded import end_orphans, guarded
from bootstrap.guardian import start_of
from sqlitmus.vocabulary.errors import NotFit
from sqlitmus.vocabulary.nouns import counted, some
from sqlitmus.vocabulary.plain import one_line

GRACE_S = 0.1  # for what ends by itself as soon as it sees that its parent is gone
PATIENCE_S = 2.0
_SET_CHILD_SUBREAPER = 36


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
