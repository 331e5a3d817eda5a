"""One set-up at a time in a toolchain: a lock that the system lets go when its holder ends."""

import contextlib
import os
import sys
from collections.abc import Callable, Generator
from pathlib import Path


@contextlib.contextmanager
def exclusive(path: Path, on_wait: Callable[[str], None]) -> Generator[int]:
    """Hold the lock file `path`, and give its descriptor; whoever inherits that holds it, too.

    If another has it, call `on_wait` once with its process id.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if not lock(file.fileno()):
            on_wait(_holder(path))
            lock(file.fileno(), wait=True)
        path.with_suffix(".pid").write_text(str(os.getpid()), "utf-8")
        yield file.fileno()  # closing the file lets the lock go


def _holder(path: Path) -> str:
    try:
        return path.with_suffix(".pid").read_text("utf-8").strip() or "unknown"
    except OSError:  # it has the lock and did not come to write yet
        return "unknown"


if sys.platform == "win32":
    import msvcrt

    _PLACE = 2**30  # far behind a text, because Windows lets nobody read a locked byte

    def lock(descriptor: int, *, wait: bool = False) -> bool:
        """Whether this process holds the file's lock now; with `wait` once it does."""
        while True:
            os.lseek(descriptor, _PLACE, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
            except OSError:  # LK_LOCK gives up after ten seconds
                if not wait:
                    return False
            else:
                return True
else:
    import fcntl

    def lock(descriptor: int, *, wait: bool = False) -> bool:
        """Whether this process holds the file's lock now; with `wait` once it does."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True
