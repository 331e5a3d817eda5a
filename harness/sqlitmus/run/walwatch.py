"""The size of a write-ahead log while a runner writes, looked at from outside."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

EVERY_S = 0.02
MOST_BYTES = 2**30
"""A log that grows beyond it belongs to a writer that nothing stops."""


class WalWatch:
    """Between `with` and its end: `sizes` are (ms since its start, bytes), one at each look.

    A look is a `stat` of the file, which costs the runner nothing. A log larger than `most` bytes
    sets `exceeded` and calls `end` once, which should end the runner before the disk is full.
    """

    def __init__(
        self,
        database: Path,
        end: Callable[[], None],
        *,
        most: int = MOST_BYTES,
        every_s: float = EVERY_S,
    ) -> None:
        self.sizes: list[tuple[float, int]] = []
        self.exceeded = False
        self._file = database.with_name(f"{database.name}-wal")
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

    @property
    def problem(self) -> str:
        """Why a runner was ended."""
        return (
            f"its write-ahead log grew beyond {self._most / 2**20:g} MiB, so it was ended before "
            "the disk was full"
        )

    def look(self) -> None:
        """One look at the file; one that is not there has 0 bytes."""
        try:
            size = self._file.stat().st_size
        except OSError:
            size = 0
        self.sizes.append((round(1e3 * (time.monotonic() - self._started), 1), size))
        if size > self._most and not self.exceeded:
            self.exceeded = True
            self._end()

    def _watch(self) -> None:
        while not self._over.wait(self._every_s):
            self.look()
