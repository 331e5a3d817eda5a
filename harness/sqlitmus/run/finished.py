"""A process that has ended: what it took, and its result or the problem that prevented one."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from sqlitmus.machine.written import Writes
from sqlitmus.run import resultfile
from sqlitmus.vocabulary.contract.result import Result
from sqlitmus.vocabulary.growth import growth
from sqlitmus.vocabulary.tails import Tails, tails


@dataclass(frozen=True, slots=True)
class Timing:
    """A finished process: wall, user and system nanoseconds.

    After a signal, `exit_code` is 128 + its number, as in a shell, or None. `peak_bytes` is its
    largest resident memory, None where the system does not say. `lost_ns` is what others took at
    most of the time that it had work to do, from its warm-up to its last iteration; None where that
    was not looked at, or is not known. `writes` is what it wrote while it timed its work, None
    where that was not looked at.
    """

    wall_ns: int
    user_ns: int
    system_ns: int
    exit_code: int | None
    peak_bytes: int | None = None
    lost_ns: float | None = None
    writes: Writes | None = None


@dataclass(frozen=True, slots=True)
class Laps:
    """The laps that count of a process that took turns: all of their iterations in ns, without
    lead-ins, and the mean one of each lap less what others took.

    `lost` is what others took as a share of their time, `left_out` the share of all rounds that do
    not count; both are None where nobody looked at that.
    """

    iterations_ns: Sequence[float]
    levels_ns: Sequence[float]
    lost: float | None
    left_out: float | None


@dataclass(frozen=True, slots=True)
class Invocation:
    """The timing and the result of one invocation, or the problem that prevented them; `resident`
    is its memory meanwhile where that was looked at, (ms, bytes), `laps` are those of its turns."""

    timing: Timing | None
    result: Result | None
    problem: str | None
    resident: Sequence[tuple[float, int]] = ()
    laps: Laps | None = None

    @property
    def spread(self) -> "Spread | None":
        """How long its timed iterations took."""
        return spread(self._timed(self.laps and self.laps.iterations_ns))

    @property
    def drift(self) -> float | None:
        """The mean of the second half of what it timed over that of the first."""
        return drift(self._timed(self.laps and self.laps.levels_ns))

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


def spread(times: Sequence[float]) -> Spread | None:
    """That of `times`; None for fewer than two.

    The p99 is the nearest rank: the least of them that 99 % of all lie at or below (Hyndman and
    Fan, *The American Statistician* 50 (1996) 361-365, their definition 1).
    """
    if len(times) < 2:
        return None
    ordered = sorted(times)
    rank = -(-99 * len(ordered) // 100)
    p99 = ordered[rank - 1] if len(ordered) >= MANY else None
    return Spread(median(ordered), p99, ordered[-1])


def drift(times: Sequence[float]) -> float | None:
    """The mean of the second half of `times`, in order, over that of the first; None for fewer than
    two. Below 1 a process still becomes faster."""
    half = len(times) // 2
    return fmean(times[-half:]) / fmean(times[:half]) if half else None


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
        result = resultfile.read(output)
    except FileNotFoundError:
        return Invocation(timing, None, f"{ended} and wrote no result")
    except resultfile.Unreadable as error:
        return Invocation(timing, None, str(error))
    expected = 1 if result.status == "failed" else 0
    if timing.exit_code != expected:
        return Invocation(timing, None, f"{ended}, which does not go with status {result.status}")
    return Invocation(timing, result, None)
