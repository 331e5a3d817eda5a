"""Runs one invocation under hyperfine: start, time, limit, collect the result."""

import json
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Protocol

import psutil

from sqlitmus.machine import process_tree
from sqlitmus.run import resultfile
from sqlitmus.vocabulary.contract.result import Result
from sqlitmus.vocabulary.growth import growth
from sqlitmus.vocabulary.tails import Tails, tails


@dataclass(frozen=True, slots=True)
class Timing:
    """A finished process: wall, user and system nanoseconds.

    After a signal, `exit_code` is 128 + its number, as in a shell, or None. `peak_bytes` is its
    largest resident memory, None where the system does not say.
    """

    wall_ns: int
    user_ns: int
    system_ns: int
    exit_code: int | None
    peak_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Invocation:
    """The timing and the result of one invocation, or the problem that prevented them; `resident`
    is its memory meanwhile where that was looked at, (ms, bytes)."""

    timing: Timing | None
    result: Result | None
    problem: str | None
    resident: Sequence[tuple[float, int]] = ()

    @property
    def mean_over_median(self) -> float | None:
        """The mean iteration over the median one; None for fewer than two."""
        times = self.result.iterations_ns if self.result else []
        return fmean(times) / median(times) if len(times) > 1 and median(times) else None

    @property
    def tails(self) -> Tails | None:
        """What the operations of the result took at most."""
        return self.result and tails(self.result)

    @property
    def growth(self) -> float | None:
        """Bytes by which its memory grew per million operations."""
        return self.result and growth(self.resident, self.result)


_NO_MEMORY = ("SIGTRAP", "SIGABRT")  # how V8 and others end


class Executor(Protocol):
    """Runs one command to its end. Hyperfine is the real one; tests have their own."""

    def execute(
        self, command: list[str], environment: dict[str, str], log: Path, timeout_s: float
    ) -> Timing:
        """Timing of `command`; its output goes to `log`. Raises TimeoutError, RuntimeError."""
        ...

    def kill(self) -> None:
        """End the command under way, if any, with all its children."""
        ...

    def resident(self) -> int:
        """Bytes of memory that the command under way has in use; 0 without one."""
        ...


class Hyperfine:
    """`hyperfine -N --runs 1` around the command, in a process group of its own."""

    def __init__(self, path: str, scratch: Path) -> None:
        self._path = path
        self._export = scratch / "hyperfine.json"
        self._process: subprocess.Popen[bytes] | None = None
        self._runner: list[psutil.Process] = []

    def execute(
        self, command: list[str], environment: dict[str, str], log: Path, timeout_s: float
    ) -> Timing:
        """See Executor."""
        self._export.unlink(missing_ok=True)
        with log.open("wb") as output:
            self._runner = []
            process = self._process = subprocess.Popen(
                self.command_line(command),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                creationflags=process_tree.OWN_GROUP,
            )
        try:
            in_time = process_tree.ended(process, timeout_s)
            if not in_time:
                self.kill()
            process.wait()
        finally:
            self._process = None
        if not in_time:
            raise TimeoutError(f"no end within {timeout_s:g} s; killed")
        timing = timing_in(self._export)
        if timing is None:
            raise RuntimeError(f"hyperfine gave no timing; its output is in {log.name}")
        return timing

    def command_line(
        self, command: list[str], export: Path | None = None, *, piped: bool = False
    ) -> list[str]:
        """hyperfine's own arguments around `command`, quoted as hyperfine splits it.

        The timing goes to `export`. `piped`: the command reads what hyperfine's stdin is given.
        """
        return [
            self._path,
            *("-N", "--runs", "1", "--ignore-failure", "--style", "none", "--output", "inherit"),
            *(("--input", "/dev/stdin") if piped else ()),
            *("--export-json", str(export or self._export)),
            "--",
            quote(command),
        ]

    def kill(self) -> None:
        """See Executor."""
        if process := self._process:
            process_tree.kill(process)

    def resident(self) -> int:
        """See Executor."""
        hyperfine = self._process
        try:
            # a walk over all processes, so only until there is one
            if hyperfine and not self._runner:
                self._runner = psutil.Process(hyperfine.pid).children(recursive=True)
            return sum(process.memory_info().rss for process in self._runner)
        except psutil.Error:
            return 0


def timing_in(export: Path) -> Timing | None:
    """The timing of the one run that hyperfine exported; None where there is none."""
    try:
        (run,) = json.loads(export.read_bytes())["results"]
    except (OSError, ValueError, KeyError):
        return None
    return Timing(
        wall_ns=round(run["times"][0] * 1e9),
        user_ns=round(run["user"] * 1e9),
        system_ns=round(run["system"] * 1e9),
        exit_code=run["exit_codes"][0],
        peak_bytes=next(iter(run.get("memory_usage_byte", [])), None) or None,
    )


def quote(command: list[str]) -> str:
    """A command as one string that hyperfine (shell-words) splits back into `command`."""
    import shlex

    return shlex.join(command)


def how_it_ended(code: int | None) -> str:
    """An exit code in words; one above 128 means a signal, None an unknown signal."""
    if code is None:
        return "was killed"
    if code - 128 in set(signal.Signals):
        name = signal.Signals(code - 128).name
        hint = "; runtimes end so, too, when they get no memory" if name in _NO_MEMORY else ""
        return f"was killed by {name} (exit code {code}{hint})"
    return f"ended with exit code {code}"


def invoke(
    executor: Executor,
    command: list[str],
    environment: dict[str, str],
    output: Path,
    log: Path,
    timeout_s: float,
) -> Invocation:
    """Run one job; every failure becomes `problem`, never an exception."""
    resultfile.clear(output)
    try:
        timing = executor.execute(command, environment, log, timeout_s)
    except (TimeoutError, RuntimeError) as error:
        return Invocation(None, None, str(error))
    except OSError as error:
        return Invocation(None, None, f"{error.filename}: {error.strerror}")
    return collect(timing, output)


def collect(timing: Timing, output: Path) -> Invocation:
    """The invocation of a process that ended with `timing` and should have written `output`."""
    ended = how_it_ended(timing.exit_code)
    try:
        result = resultfile.read(output)
    except FileNotFoundError:
        return Invocation(timing, None, f"{ended} and wrote no result")
    except resultfile.Unreadable as error:
        return Invocation(timing, None, str(error))
    expected = 1 if result.status == "failed" else 0
    if timing.exit_code != expected:
        return Invocation(timing, None, f"{ended}, which does not go with status {result.status}")
    return Invocation(timing, result, None)
