"""One set-up at a time in a toolchain: a lock that the system lets go when its holder ends."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

POLL_S = 0.2


@contextlib.contextmanager
def exclusive(path: Path, on_wait: Callable[[str], None]) -> Generator[int]:
    """Hold the lock file `path`, and give its descriptor; whoever inherits that holds it, too.

    If another has it, call `on_wait` once with its process id.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if not _try_lock(file.fileno()):
            on_wait(_holder(path))
            while not _try_lock(file.fileno()):
                time.sleep(POLL_S)
        path.with_suffix(".pid").write_text(str(os.getpid()), "utf-8")
        yield file.fileno()  # closing the file lets the lock go


def _holder(path: Path) -> str:
    try:
        return path.with_suffix(".pid").read_text("utf-8").strip() or "unknown"
    except OSError:  # it has the lock and did not come to write yet
        return "unknown"


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
