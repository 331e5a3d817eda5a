"""Handles Ctrl-C: the first lets the invocation under way finish, the second ends all at once."""

import signal
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

PATIENCE_S = 1.0  # after a Ctrl-C that ends all, in which more of them cut nothing off


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
        self._left_in_peace_until = float("-inf")

    def __call__(self, *_: object) -> None:
        """Signal handler: raises KeyboardInterrupt from the second request on."""
        self.requested += 1
        if self.requested > 1 and time.monotonic() > self._left_in_peace_until:
            self._left_in_peace_until = time.monotonic() + PATIENCE_S
            for executor in self._under_way:
                executor.kill()
            raise KeyboardInterrupt

    def asked(self) -> bool:
        """Whether anybody asked."""
        return self.requested > 0

    @contextmanager
    def listening(self) -> Generator[None]:
        """Handle SIGINT, SIGTERM and SIGHUP inside the block, on Windows Ctrl-C and Ctrl-Break."""
        before = {number: signal.signal(number, self) for number in heard()}
        try:
            yield
        finally:
            self._left_in_peace_until = time.monotonic() + PATIENCE_S
            for number, handler in before.items():
                signal.signal(number, self if self.requested else handler)


def heard() -> list[int]:
    """The signals that ask to stop; not SIGHUP where `nohup` has it ignored."""
    names = ("SIGINT", "SIGTERM", "SIGBREAK", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    ignored = getattr(signal, "SIGHUP", None)
    if ignored is not None and signal.getsignal(ignored) == signal.SIG_IGN:
        numbers.remove(ignored)
    return numbers


@contextmanager
def all_like_ctrl_c() -> Generator[None]:
    """Outside a session each of these signals raises KeyboardInterrupt inside the block."""
    handler = signal.default_int_handler
    before = {number: signal.signal(number, handler) for number in heard()}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
