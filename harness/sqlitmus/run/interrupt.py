"""Handles Ctrl-C: the first lets the invocation under way finish, the second kills it."""

import signal
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol


class Killable(Protocol):
    """Something under way that can be killed."""

    def kill(self) -> None:
        """Kill it with all its children; does nothing if nothing is under way."""
        ...


class Stop:
    """Counts requests to stop; the steps of a session read `requested` between invocations."""

    def __init__(self, *under_way: Killable) -> None:
        self.requested = 0
        self._under_way = under_way

    def __call__(self, *_: object) -> None:
        """Signal handler."""
        self.requested += 1
        if self.requested > 1:
            for executor in self._under_way:
                executor.kill()

    @contextmanager
    def listening(self) -> Generator[None]:
        """Handle SIGINT and SIGTERM inside the block, on Windows Ctrl-C and Ctrl-Break."""
        before = {number: signal.signal(number, self) for number in _signals()}
        try:
            yield
        finally:
            # Once asked, saving and telling are under way: more Ctrl-C must not cut them off.
            for number, handler in before.items():
                signal.signal(number, signal.SIG_IGN if self.requested else handler)


def _signals() -> list[int]:
    names = ("SIGINT", "SIGTERM", "SIGBREAK")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]
