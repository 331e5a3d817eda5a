"""Child processes of the set-up: logged, without input, ended together on an interrupt."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from bootstrap.guarded import marked

TAIL_LINES = 15


class StepError(Exception):
    """A step could not be done; the text says what failed."""


class InterruptedStepError(StepError):
    """A step was ended because set-up as a whole was; nothing about it failed."""


class Commands:
    """Starts commands for steps that run side by side."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def run(
        self, log: Path, argv: Sequence[str | Path], cwd: Path, environ: Mapping[str, str]
    ) -> None:
        """Run one command to its end, appending its output to `log`. Raises `StepError`."""
        words = [str(word) for word in argv]
        with log.open("ab") as out:
            out.write(f"$ {subprocess.list2cmdline(words)}\n".encode())
            out.flush()
            with self._lock:
                if self._stopped:
                    raise InterruptedStepError("interrupted")
                # a session of its own, so that compilers started by cargo or npm end with it
                child = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    cwd=cwd,
                    env=marked(environ),
                    start_new_session=True,
                )
                self._running.add(child)
            code = child.wait()
        with self._lock:
            self._running.discard(child)
            if self._stopped:
                raise InterruptedStepError("interrupted")
        if code != 0:
            raise StepError(f"{Path(words[0]).stem} {words[1]} ended with {code}")

    def stop(self) -> None:
        """End what runs, with its children, and refuse to start more."""
        with self._lock:
            self._stopped = True
            for child in self._running:
                _end_tree(child.pid)


def _end_tree(pid: int) -> None:
    """End a process with all that it started."""
    if sys.platform == "win32":
        words = ["taskkill", "/F", "/T", "/PID", str(pid)]
        subprocess.run(words, capture_output=True, check=False)
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGTERM)


def tail(log: Path) -> list[str]:
    """The last lines of a log, for the message on failure."""
    try:
        return log.read_text("utf-8", "replace").splitlines()[-TAIL_LINES:]
    except OSError:
        return []


def complaint(log: Path) -> str:
    """The last line of a log that names an error, or else its last one; "" for an empty log.

    Compilers say below their error where it stands, and in pictures.
    """
    lines = [line.strip() for line in tail(log) if line.strip() and not line.startswith("$ ")]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or [""])[-1]
