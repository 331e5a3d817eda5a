"""One process under hyperfine: started, watched, timed, its result read as a stranger's."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any, Self

import psutil
from pydantic import ValidationError

from sqlitmus.machine import plainfiles, process_tree
from sqlitmus.machine.process_tree import Writes
from sqlitmus.vocabulary.contract import Result
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.figures import Tails, growth, tails

# A warm-up of 6 s, the longest of any mode, has room for 4 million iterations of 1.5 µs.
MOST_BYTES = 32 * 2**20
MOST_DIGITS = 19  # of 2**63; nothing that is measured needs more
# Only numbers out of bounds have it, so those of ordinary files are not looked at one by one.
ODD = re.compile(rb"\d{%d}|\d[eE]" % MOST_DIGITS)


class Unreadable(Exception):
    """A result that is there and cannot be taken; the message says why."""


def read(file: Path) -> Result:
    """The result in `file`. Raises FileNotFoundError where there is none, and Unreadable."""
    text = _bytes(file)
    try:
        result = Result.model_validate_json(text)
        if ODD.search(text):
            json.loads(text, object_pairs_hook=_unique, parse_int=_integer, parse_float=_real)
        else:
            json.loads(text, object_pairs_hook=_unique)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "whole file"
        raise Unreadable(f"its result does not fit the contract: {where}: {first['msg']}") from None
    return result


def clear(file: Path) -> None:
    """Remove what stands at `file`, whatever it is."""
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file, ignore_errors=True)
    else:
        with suppress(OSError):
            file.unlink()


def keep(file: Path, target: Path) -> None:
    """Copy `file` to `target` if it is a regular one of at most MOST_BYTES, else do nothing."""
    with suppress(OSError, Unreadable):
        target.write_bytes(_bytes(file))


def _bytes(file: Path) -> bytes:
    if file.is_symlink():
        raise Unreadable("its result is a link, which the harness does not follow")
    try:
        with plainfiles.unbounded(file) as stream:
            size = os.fstat(stream.fileno()).st_size
            text = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise
    except UsageError:
        raise Unreadable("its result is no regular file") from None
    except OSError as error:
        raise Unreadable(f"its result cannot be read: {error.strerror}") from error
    if len(text) > MOST_BYTES:
        raise Unreadable(
            f"its result has {max(size, len(text)) / 2**20:.1f} MB; "
            f"{MOST_BYTES >> 20} MB are room for any job's: let an iteration do more operations"
        )
    return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    whole = dict(pairs)
    if len(whole) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Unreadable(f"its result has the key {twice} twice in one object")
    return whole


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > MOST_DIGITS:
        raise Unreadable(f"its result has an integer of {len(text)} digits: {text[:12]}…")
    return int(text)


def _real(text: str) -> float:
    value = float(text)
    if abs(value) >= 2.0**63:
        raise Unreadable(f"its result has the number {text[:20]}, which is out of all bounds")
    return value


EVERY_S = 0.02
MEMORY_EVERY_S = 0.005
"""A slope needs looks, and what it is taken of should not take long."""
MOST_LOG = 2**30
"""A log that grows beyond it belongs to a writer that nothing stops."""
MIB = 2**20


class Watch:
    """Looks from outside at the `size` of what grows while a runner works, between `with` and its
    end: `sizes` are (ms since its start, bytes), one at each look.

    A size beyond `most` sets `problem`, which says so, and calls `end` once, which should end the
    runner.
    """

    def __init__(
        self,
        size: Callable[[], int],
        end: Callable[[], None],
        *,
        most: float,
        words: str,
        every_s: float,
    ) -> None:
        self.sizes: list[tuple[float, int]] = []
        self.problem: str | None = None
        self._size, self._end, self._most, self._words = size, end, most, words
        self._every_s = every_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._started = 0.0

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def bounded(self, invocation: "Invocation") -> "Invocation":
        """What was looked at, or the problem that ended it."""
        return Invocation(None, None, self.problem) if self.problem else invocation

    def look(self) -> None:
        size = self._size()
        self.sizes.append((round(1e3 * (time.monotonic() - self._started), 1), size))
        if size > self._most and not self.problem:
            self.problem = self._words.format(self._most / MIB)
            self._end()

    def _watch(self) -> None:
        while not self._over.wait(self._every_s):
            self.look()


def of_log(database: Path, end: Callable[[], None], *, most: int = MOST_LOG) -> Watch:
    """A watch of the write-ahead log of `database`; one that is not there has 0 bytes.

    A look is a `stat` of the file, which costs the runner nothing.
    """
    log = database.with_name(f"{database.name}-wal")

    def size() -> int:
        try:
            return log.stat().st_size
        except OSError:
            return 0

    words = "its write-ahead log grew beyond {:g} MiB, so it was ended before the disk was full"
    return Watch(size, end, most=most, words=words, every_s=EVERY_S)


def of_memory(resident: Callable[[], int], end: Callable[[], None], *, most: float) -> Watch:
    words = "its memory grew beyond {:g} MiB, so it was ended before the machine had none left"
    return Watch(resident, end, most=most, words=words, every_s=MEMORY_EVERY_S)


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn as the harness saw it: so many `iterations`, released at `begin_us` and done by
    `end_us` of Unix time, and the CPU time of their thread, None where that is not known."""

    iterations: int
    begin_us: float
    end_us: float
    cpu_ns: int | None


@dataclass(frozen=True, slots=True)
class Timing:
    """A finished process: wall, user and system nanoseconds.

    After a signal, `exit_code` is 128 + its number, as in a shell, or None. `peak_bytes` is its
    largest resident memory, None where the system does not say. `lost_ns` is what others took at
    most of the time that it had work to do, from its warm-up to its last iteration; None where that
    was not looked at, or is not known. `writes` is what it wrote while it timed its work, None
    where that was not looked at. `turns` are those that it took, without the last iteration.
    """

    wall_ns: int
    user_ns: int
    system_ns: int
    exit_code: int | None
    peak_bytes: int | None = None
    lost_ns: float | None = None
    writes: Writes | None = None
    turns: Sequence[Turn] = ()


@dataclass(frozen=True, slots=True)
class Laps:
    """The laps that count of a process that took turns: all of their iterations in ns, without
    lead-ins, the mean one of each lap less what others took, and `steady_ns`, the mean of these.

    `lost` is what others took as a share of their time, `left_out` the share of all rounds that do
    not count; both are None where nobody looked at that. Of all laps, `lost_ns` is what others took
    from each, and `counted` says whose rounds count.
    """

    iterations_ns: Sequence[float]
    levels_ns: Sequence[float]
    steady_ns: float
    lost: float | None
    left_out: float | None
    lost_ns: list[int]
    counted: list[bool]


@dataclass(frozen=True, slots=True)
class Invocation:
    """The timing and the result of one invocation, or the problem that prevented them; `resident`
    is its memory meanwhile where that was looked at, (ms, bytes).

    Of one that took turns, `laps` are None where it did not last; `idle` is the CPU time that it
    took while it waited, as a share of that wait's length, None where none was long enough; `left`
    are processes that it left running.
    """

    timing: Timing | None
    result: Result | None
    problem: str | None
    resident: Sequence[tuple[float, int]] = ()
    laps: Laps | None = None
    idle: float | None = None
    left: Sequence[int] = ()

    @property
    def peak_bytes(self) -> int | None:
        """Its largest resident memory: as the system tells of a process that ended, else as the
        runner does; None where neither says."""
        seen = self.timing and self.timing.peak_bytes
        return seen or (self.result and self.result.peak_rss_bytes)

    @property
    def spread(self) -> "Spread | None":
        """That of its timed iterations; None for fewer than two.

        The p99 is the nearest rank: the least of them that 99 % of all lie at or below (Hyndman and
        Fan, *The American Statistician* 50 (1996) 361-365, their definition 1).
        """
        ordered = sorted(self._timed(self.laps and self.laps.iterations_ns))
        if len(ordered) < 2:
            return None
        rank = -(-99 * len(ordered) // 100)
        p99 = ordered[rank - 1] if len(ordered) >= MANY else None
        return Spread(median(ordered), p99, ordered[-1])

    @property
    def drift(self) -> float | None:
        """The mean of the second half of what it timed over that of the first; None for fewer than
        two. Below 1 a process still becomes faster."""
        times = self._timed(self.laps and self.laps.levels_ns)
        half = len(times) // 2
        return fmean(times[-half:]) / fmean(times[:half]) if half else None

    @property
    def written(self) -> float | None:
        """Bytes written in all iterations; the last one, which nobody sees, as the others."""
        writes = self.timing and self.timing.writes
        if writes is None or self.result is None:
            return None
        return writes.bytes_per_iteration * len(self.result.iterations_ns)

    @property
    def tails(self) -> Tails | None:
        """What the operations of the result took at most."""
        return self.result and tails(self.result)

    @property
    def growth(self) -> float | None:
        """Bytes by which its memory grew per million operations."""
        return self.result and growth(self.resident, self.result)

    def _timed(self, of_laps: Sequence[float] | None) -> Sequence[float]:
        """Those of its laps; of a lone process all of its iterations."""
        if of_laps is not None:
            return of_laps
        return self.result.iterations_ns if self.result else []


@dataclass(frozen=True, slots=True)
class Spread:
    """The median and the longest of some iterations in ns, and the p99 of `MANY` or more."""

    median: float
    p99: float | None
    longest: float


MANY = 100
"""Iterations of fewer than which the p99 is the longest."""


_NO_MEMORY = ("SIGTRAP", "SIGABRT")  # how V8 and others end


def how_it_ended(code: int | None) -> str:
    """An exit code in words; one above 128 means a signal, None an unknown signal."""
    if code is None:
        return "was killed"
    if code - 128 in set(signal.Signals):
        name = signal.Signals(code - 128).name
        hint = "; runtimes end so, too, when they get no memory" if name in _NO_MEMORY else ""
        return f"was killed by {name} (exit code {code}{hint})"
    return f"ended with exit code {code}"


def collect(timing: Timing, output: Path) -> Invocation:
    """The invocation of a process that ended with `timing` and should have written `output`."""
    ended = how_it_ended(timing.exit_code)
    try:
        result = read(output)
    except FileNotFoundError:
        return Invocation(timing, None, f"{ended} and wrote no result")
    except Unreadable as error:
        return Invocation(timing, None, str(error))
    expected = 1 if result.status == "failed" else 0
    if timing.exit_code != expected:
        return Invocation(timing, None, f"{ended}, which does not go with status {result.status}")
    return Invocation(timing, result, None)


class Hyperfine:
    """`hyperfine -N --runs 1` around the command, in a process group of its own."""

    def __init__(self, path: str, scratch: Path) -> None:
        self._path = path
        self._export = scratch / "hyperfine.json"
        self._process: subprocess.Popen[bytes] | None = None
        self._runner: list[psutil.Process] = []

    def execute(
        self,
        command: list[str],
        environment: dict[str, str],
        log: Path,
        timeout_s: float,
        folder: Path | None = None,
    ) -> Timing:
        """Timing of `command`, started in `folder`, by default in this process's own; its output
        goes to `log`. Raises TimeoutError, RuntimeError."""
        self._export.unlink(missing_ok=True)
        with log.open("wb") as output:
            self._runner = []
            process = self._process = subprocess.Popen(
                self.command_line(command),
                env=environment,
                cwd=folder,
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
        """hyperfine's own arguments around `command`, quoted as hyperfine (shell-words) splits it.

        The timing goes to `export`. `piped`: the command reads what hyperfine's stdin is given.
        """
        return [
            self._path,
            *("-N", "--runs", "1", "--ignore-failure", "--style", "none", "--output", "inherit"),
            *(("--input", "/dev/stdin") if piped else ()),
            *("--export-json", str(export or self._export)),
            "--",
            shlex.join(command),
        ]

    def kill(self) -> None:
        if process := self._process:
            process_tree.kill(process)

    def resident(self) -> int:
        """Bytes of memory that the command under way has in use; 0 without one."""
        hyperfine = self._process
        try:
            # a walk over all processes, so only until there is one
            if hyperfine and not self._runner:
                self._runner = psutil.Process(hyperfine.pid).children(recursive=True)
            return sum(process.memory_info().rss for process in self._runner)
        except psutil.Error:
            return 0


def output(log: Path) -> str:
    """A process's output without what hyperfine adds; empty when it was not started."""
    whole = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return whole.removesuffix(" \n  Warning: Ignoring non-zero exit code.\n")


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


def invoke(
    executor: Hyperfine,
    command: list[str],
    environment: dict[str, str],
    output: Path,
    log: Path,
    timeout_s: float,
) -> Invocation:
    """Run one job; every failure becomes `problem`, never an exception."""
    clear(output)
    try:
        timing = executor.execute(command, environment, log, timeout_s)
    except (TimeoutError, RuntimeError) as error:
        return Invocation(None, None, str(error))
    except OSError as error:
        return Invocation(None, None, f"{error.filename}: {error.strerror}")
    return collect(timing, output)
