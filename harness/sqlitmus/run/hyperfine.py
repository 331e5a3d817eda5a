"""Runs one invocation under hyperfine: start, time, limit, collect the result."""

import json
import subprocess
from pathlib import Path
from typing import Protocol

import psutil

from sqlitmus.machine import process_tree
from sqlitmus.run import resultfile
from sqlitmus.run.finished import Invocation, Timing, collect


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
