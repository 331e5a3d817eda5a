"""What set-up says on stderr: one line when a step starts and one when it ends."""

import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

WIDTH = 22  # of the longest step
_COLOURS = {"done": "32", "missing": "33", "failed": "31"}


class Progress:
    """Writes whole lines, so that steps side by side do not mix."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out if out is not None else sys.stderr
        self._lock = threading.Lock()
        self._colour = self._out.isatty() and not os.environ.get("NO_COLOR")

    def say(self, text: str) -> None:
        """A line of its own."""
        with self._lock:
            print(text, file=self._out, flush=True)

    def start(self, step: str, title: str) -> None:
        """A step begins."""
        self.say(f"  {step:<{WIDTH}} {title} ...")

    def done(self, step: str, seconds: float) -> None:
        """A step is complete."""
        self.say(f"  {step:<{WIDTH}} {self._paint('done')} in {seconds:.1f} s")

    def missing(self, step: str, reason: str) -> None:
        """A step cannot be done on this machine."""
        self.say(f"  {step:<{WIDTH}} {self._paint('missing')}: {reason}")

    def failed(self, step: str, reason: str, log: Path, lines: Iterable[str]) -> None:
        """A step went wrong; the end of its log follows."""
        text = [f"  {step:<{WIDTH}} {self._paint('failed')}: {reason}; log: {log}"]
        self.say("\n".join([*text, *(f"  {'':<{WIDTH}} | {line}" for line in lines)]))

    def _paint(self, word: str) -> str:
        return f"\x1b[{_COLOURS[word]}m{word}\x1b[0m" if self._colour else word
