"""What a user sees of a session, and how Ctrl-C ends it."""

import os
import signal
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from sqlitmus.vocabulary.text import one_line

PATIENCE_S = 1.0  # after a Ctrl-C that ends all, in which more of them cut nothing off


class Stop:
    """Counts requests to stop; the steps of a session read `requested` between invocations. `kill`
    are what ends whatever is under way, with all its children."""

    def __init__(self, *kill: Callable[[], None]) -> None:
        self.requested = 0
        self._kill, self._spared = kill, 1
        self._left_in_peace_until = float("-inf")

    def __call__(self, *_: object) -> None:
        """Signal handler: raises KeyboardInterrupt from the second request on, or the first one
        `at_once`."""
        self.requested += 1
        if self.requested > self._spared and time.monotonic() > self._left_in_peace_until:
            self._left_in_peace_until = time.monotonic() + PATIENCE_S
            for kill in self._kill:
                kill()
            raise KeyboardInterrupt

    @contextmanager
    def at_once(self) -> Generator[None]:
        """Nothing is lost in the block: the first request ends what is under way, and the block."""
        self._spared = 0
        try:
            with suppress(KeyboardInterrupt):
                yield
        finally:
            self._spared = 1

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


SILENCE_S = 30.0  # after which a step is told that is no milestone
SHARE, PAGE_S = 0.02, 1.0  # of a run's time, for its pages; what the first is taken to cost


class Progress:
    """On stderr, between invocations: one line that is rewritten on a terminal; elsewhere a line
    per block, or after a silence."""

    so_far: Callable[[Path], None] | None = None  # makes the page of a run, tells where it stands

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self._stream = stream or sys.stderr
        self._live = (
            self._stream.isatty() and not os.environ.get("CI") and os.environ.get("TERM") != "dumb"
        )
        self._quiet = quiet
        self._open = False
        self._spoke = time.monotonic()
        self._page_s, self._paged = PAGE_S, float("-inf")

    def block_ended(self, run: Path, remaining: "Remaining") -> None:
        """Let the page of `run` be made, if it keeps to its share of the time."""
        begin, used = time.monotonic(), time.process_time()
        if self.so_far and min(remaining.left(), begin - self._paged) * SHARE >= self._page_s:
            self.so_far(run)
            self._paged = time.monotonic()
            self._page_s = time.process_time() - used
            remaining.did(self._paged - begin)

    def say(self, text: str) -> None:
        if not self._quiet:
            self.insist(text)

    def insist(self, text: str) -> None:
        """Print a line that stays, even when progress is off."""
        self.clear()
        self._print(one_line(text))

    def step(self, text: str, *, milestone: bool = False) -> None:
        """Print a line that the next one replaces; without a terminal, milestones and what comes
        after a silence."""
        if self._quiet:
            return
        text = one_line(text)
        if self._live:
            width = os.get_terminal_size(self._stream.fileno()).columns - 1
            self._stream.write(f"\r\x1b[2K{text[:width]}")
            self._stream.flush()
            self._open = True
        elif milestone or time.monotonic() - self._spoke >= SILENCE_S:
            self._print(text)

    def _print(self, text: str) -> None:
        print(text, file=self._stream, flush=True)
        self._spoke = time.monotonic()

    def clear(self) -> None:
        """Remove the replaceable line, so that other output starts on an empty line."""
        if self._open:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
            self._open = False


class Remaining:
    """Predicts the seconds left, corrected by how accurate the prediction was so far."""

    def __init__(self, predicted_s: float) -> None:
        self._left = predicted_s
        self._done = 0.0
        self._start = time.monotonic()

    def spent(self) -> float:
        return time.monotonic() - self._start

    def did(self, predicted_s: float) -> None:
        self._done += predicted_s
        self._left -= predicted_s

    def left(self) -> float:
        pace = self.spent() / self._done if self._done > 1.0 else 1.0
        return max(0.0, self._left) * pace


def clock(seconds: float) -> str:
    """`3:07`, `1:02:03`, or `4.2 s` below ten seconds."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
