"""What the pilot's processes showed of a cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import gcd

import numpy as np

from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.run.pace import Pace
from sqlitmus.stats import allocation, warmup
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.terms import Steadiness

TIMED = 5  # iterations of a pilot process that are surely warmed up
POINTS = 24  # of a course: what lies between two is as good as a straight line
HEAVY = 3  # times the median: a mean beyond it is that of stalls, such as waiting for a lock


@dataclass(frozen=True, slots=True)
class PilotProcess:
    """One pilot process: seconds with the harness's share, its iterations in ns, in order, of so
    many `operations`, and the largest size of its memory, None where that is unknown.
    """

    seconds: float
    iterations_ns: list[int]
    operations: int
    peak_bytes: int | None = None


class Observed(Model):
    """The pilot's observation of a cell, from processes that warmed up for `window_ms`.

    `seconds` is the duration of an invocation without its iterations; `operation_ns` that of an
    operation at the last level (None for a cold cell), and `stalled_ns` the mean over iterations
    after the first where stalls make that much longer, None elsewhere. `pace` is the machine's.
    `within` and `between` are standard deviations of ln time; `between` is None for fewer than
    three processes. `peak_bytes` is the most memory that one took, None where it is unknown. From
    `fastest_from_ms` on it was as fast as it ever was, with or without a steady state. `course` has
    (ms since the first iteration, operations done by then) of one process from its start.
    """

    seconds: float
    processes: int
    window_ms: int
    pace: Pace | None = None
    operation_ns: float | None = None
    stalled_ns: float | None = None
    grain_ns: int = 1
    steadiness: Steadiness | None = None
    steady_from_ms: float | None = None
    fastest_from_ms: float | None = None
    within: float = 0.0
    between: float | None = None
    peak_bytes: int | None = None
    course: list[tuple[float, int]] = []

    @property
    def mean_ns(self) -> float:
        """The mean time of an operation that is warmed up, stalls included."""
        return self.stalled_ns or self.operation_ns or 0.0

    def operations_within(self, ms: float) -> float:
        """Operations that a process does in its first `ms`, in which it is slower than later."""
        since, done = self._course()
        if ms <= since[-1]:
            return float(np.interp(ms, since, done))
        return done[-1] + (ms - since[-1]) * 1e6 / self.mean_ns

    def ms_of(self, operations: float) -> float:
        """How long the first `operations` of a process take."""
        since, done = self._course()
        if operations <= done[-1]:
            return float(np.interp(operations, done, since))
        return since[-1] + (operations - done[-1]) * self.mean_ns / 1e6

    def _course(self) -> tuple[list[float], list[float]]:
        return [0.0, *(ms for ms, _ in self.course)], [0.0, *(done for _, done in self.course)]

    def also_stalling(self, factor: float) -> "Observed":
        """The same of a cell whose mean iteration was seen to take `factor` times its median one,
        which a pilot's process alone may not show."""
        mean_ns = factor * (self.operation_ns or 0.0)
        if factor <= HEAVY or mean_ns <= (self.stalled_ns or 0.0):
            return self
        return self.model_copy(update={"stalled_ns": mean_ns})


def observe(processes: Sequence[PilotProcess], case: PlannedCase, window_ms: int) -> Observed:
    """The observation of one cell from its processes, of which there is at least one."""
    overheads = [p.seconds - sum(p.iterations_ns) / 1e9 for p in processes]
    count = len(processes)
    if case.metric == "cold" or case.fixed:
        whole = np.array([[p.seconds] for p in processes])
        between = allocation.components(whole)[1] if count > 2 else None
        seconds = float(np.median(whole))
        return Observed(seconds=seconds, processes=count, window_ms=0, between=between)
    series = [p.iterations_ns for p in processes]
    operations = processes[0].operations
    last = np.array([times[-TIMED:] for times in series], dtype=np.float64)
    within, between = allocation.components(last)
    steady = warmup.classify(series).overall
    median = float(np.median(last))
    mean = float(np.mean([ns for times in series for ns in times[1:] or times]))
    return Observed(
        seconds=float(np.median(overheads)),
        processes=count,
        window_ms=window_ms,
        operation_ns=median / operations,
        stalled_ns=mean / operations if mean > HEAVY * median else None,
        grain_ns=gcd(*chain.from_iterable(series)),
        steadiness=steady.kind,
        steady_from_ms=None if steady.elapsed_ns is None else steady.elapsed_ns / 1e6,
        fastest_from_ms=steady.fastest_ns / 1e6,
        within=within,
        between=between if count > 2 else None,
        peak_bytes=max((p.peak_bytes for p in processes if p.peak_bytes), default=None),
        course=_course(series[0], operations),
    )


def _course(iterations_ns: Sequence[int], operations: int) -> list[tuple[float, int]]:
    """Some points of a process's course; `operations` are those of an iteration."""
    since_ms = np.cumsum(iterations_ns) / 1e6
    chosen = np.unique(np.geomspace(1, len(since_ms), POINTS).round().astype(int))
    return [(round(float(since_ms[count - 1]), 3), int(count) * operations) for count in chosen]
