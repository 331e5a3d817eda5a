"""Progress on stderr, written only between invocations."""

import os
import sys
import time
from typing import TextIO

from sqlitmus.vocabulary.plain import one_line

SILENCE_S = 30.0  # after which a step is told that is no milestone


class Progress:
    """One line that is rewritten on a terminal; elsewhere a line per block, or after a silence."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self._stream = stream or sys.stderr
        self._live = (
            self._stream.isatty() and not os.environ.get("CI") and os.environ.get("TERM") != "dumb"
        )
        self._quiet = quiet
        self._open = False
        self._spoke = time.monotonic()

    def say(self, text: str) -> None:
        """Print a line that stays."""
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
        """Seconds since the start."""
        return time.monotonic() - self._start

    def did(self, predicted_s: float) -> None:
        """Record that work predicted to take that long is done."""
        self._done += predicted_s
        self._left -= predicted_s

    def more(self, predicted_s: float) -> None:
        """Record that more work came up."""
        self._left += predicted_s

    def left(self) -> float:
        """Seconds left."""
        pace = self.spent() / self._done if self._done > 1.0 else 1.0
        return max(0.0, self._left) * pace


def clock(seconds: float) -> str:
    """`3:07`, `1:02:03`, or `4.2 s` below ten seconds."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
