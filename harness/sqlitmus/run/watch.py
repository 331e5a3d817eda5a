"""Looks from outside at what grows while a runner works: its write-ahead log, its memory."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

EVERY_S = 0.02
MEMORY_EVERY_S = 0.005
"""A slope needs looks, and what it is taken of should not take long."""
MOST_LOG = 2**30
"""A log that grows beyond it belongs to a writer that nothing stops."""
MIB = 2**20


class Watch:
    """Between `with` and its end: `sizes` are (ms since its start, bytes), one at each look.

    A size beyond `most` sets `exceeded` and calls `end` once, which should end the runner;
    `problem` then says why.
    """

    def __init__(
        self,
        size: Callable[[], int],
        end: Callable[[], None],
        *,
        most: float,
        problem: str,
        every_s: float = EVERY_S,
    ) -> None:
        self.sizes: list[tuple[float, int]] = []
        self.exceeded = False
        self.problem = problem
        self._size = size
        self._end = end
        self._most = most
        self._every_s = every_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._started = 0.0

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def look(self) -> None:
        """One look."""
        size = self._size()
        self.sizes.append((round(1e3 * (time.monotonic() - self._started), 1), size))
        if size > self._most and not self.exceeded:
            self.exceeded = True
            self._end()

    def _watch(self) -> None:
        while not self._over.wait(self._every_s):
            self.look()


def of_log(
    database: Path, end: Callable[[], None], *, most: int = MOST_LOG, every_s: float = EVERY_S
) -> Watch:
    """A watch of the write-ahead log of `database`; one that is not there has 0 bytes.

    A look is a `stat` of the file, which costs the runner nothing.
    """
    log = database.with_name(f"{database.name}-wal")

    def size() -> int:
        try:
            return log.stat().st_size
        except OSError:
            return 0

    problem = (
        f"its write-ahead log grew beyond {most / MIB:g} MiB, so it was ended before the disk "
        "was full"
    )
    return Watch(size, end, most=most, problem=problem, every_s=every_s)


def of_memory(
    resident: Callable[[], int],
    end: Callable[[], None],
    *,
    most: float,
    every_s: float = MEMORY_EVERY_S,
) -> Watch:
    """A watch of the `resident` memory of a process."""
    problem = (
        f"its memory grew beyond {most / MIB:g} MiB, so it was ended before the machine had none "
        "left"
    )
    return Watch(resident, end, most=most, problem=problem, every_s=every_s)
