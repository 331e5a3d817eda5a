"""Computes the counts of each cell from the pilot's observations. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil, gcd, pi, sqrt
from typing import NamedTuple

import numpy as np

from sqlitmus.catalog.definitions import Mode
from sqlitmus.catalog.plan import Case, Cells, Counts, PlannedCounts
from sqlitmus.run.pace import Pace
from sqlitmus.stats import allocation, warmup
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.terms import Steadiness

LAP_OF_FASTEST = 8  # iterations: the median of fewer does not withstand an interruption
TIMED = 5  # iterations of a pilot process that are surely warmed up
HEAVY = 3  # times the median: a mean beyond it is that of stalls, such as waiting for a lock
SLACK = 1.25  # on the time until the last level, since the next process may take longer
HARNESS_S = 0.3  # an invocation that was never tried


@dataclass(frozen=True, slots=True)
class PilotProcess:
    """One pilot process: seconds with the harness's share, its iterations in ns, in order, and the
    largest size of its memory, None where that is unknown.
    """

    seconds: float
    iterations_ns: list[int]
    peak_bytes: int | None = None


class Observed(Model):
    """The pilot's observation of a cell, from processes that warmed up for `window_ms`.

    `seconds` is the duration of an invocation without its iterations; `operation_ns` that of an
    operation at the last level (None for a cold cell), and `stalled_ns` the mean over iterations
    after the first where stalls make that much longer, None elsewhere. `pace` is the machine's.
    `within` and `between` are standard deviations of ln time; `between` is None for fewer than
    three processes. `peak_bytes` is the most memory that one took, None where it is unknown.
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
    within: float = 0.0
    between: float | None = None
    peak_bytes: int | None = None

    def also_stalling(self, factor: float) -> "Observed":
        """The same of a cell whose mean iteration was seen to take `factor` times its median one,
        which a pilot's process alone may not show."""
        mean_ns = factor * (self.operation_ns or 0.0)
        if factor <= HEAVY or mean_ns <= (self.stalled_ns or 0.0):
            return self
        return self.model_copy(update={"stalled_ns": mean_ns})


def observe(processes: Sequence[PilotProcess], case: Case, window_ms: int) -> Observed:
    """The observation of one cell from its processes, of which there is at least one."""
    overheads = [p.seconds - sum(p.iterations_ns) / 1e9 for p in processes]
    count = len(processes)
    if case.metric == "cold" or case.fixed:
        whole = np.array([[p.seconds] for p in processes])
        between = allocation.components(whole)[1] if count > 2 else None
        seconds = float(np.median(whole))
        return Observed(seconds=seconds, processes=count, window_ms=0, between=between)
    series = [p.iterations_ns for p in processes]
    last = np.array([times[-TIMED:] for times in series], dtype=np.float64)
    within, between = allocation.components(last)
    steady = warmup.classify(series).overall
    median = float(np.median(last))
    mean = float(np.mean([ns for times in series for ns in times[1:] or times]))
    return Observed(
        seconds=float(np.median(overheads)),
        processes=count,
        window_ms=window_ms,
        operation_ns=median / case.operations,
        stalled_ns=mean / case.operations if mean > HEAVY * median else None,
        grain_ns=gcd(*chain.from_iterable(series)),
        steadiness=steady.kind,
        steady_from_ms=None if steady.elapsed_ns is None else steady.elapsed_ns / 1e6,
        within=within,
        between=between if count > 2 else None,
        peak_bytes=max((p.peak_bytes for p in processes if p.peak_bytes), default=None),
    )


class _Extent(NamedTuple):
    """How often a process iterates: measured iterations, and the warm-up before them; how many
    turns these are, if any, and how many of each do not count.
    """

    iterations: int
    warmup_iterations: int
    warmup_ms: int
    rounds: int = 0
    lead_in: int = 0


@dataclass(frozen=True, slots=True)
class Turning:
    """How the processes of a case take turns: how often, and for how long."""

    rounds: int
    lead_in_ms: float
    lap_ms: float

    @property
    def iteration_ns(self) -> float:
        """The time of an iteration of the fastest: several fit into a lap, for those of the
        others are longer."""
        return self.lap_ms * 1e6 / LAP_OF_FASTEST


def memory_of_all(observed: Iterable[Observed | None]) -> int:
    """Bytes that all processes of a case take that are alive at once, a canary among them."""
    peaks = [o.peak_bytes for o in observed if o and o.peak_bytes]
    return sum(peaks) + max(peaks, default=0)


def shared_operations(
    cases: Sequence[Case],
    observed: Iterable[Observed | None],
    mode: Mode,
    turning: Turning | None = None,
) -> int | None:
    """Operations in an iteration that all cells of `cases` do; None without a pilot of any."""
    timed = [o for o in observed if o and o.operation_ns is not None]
    if not mode.pilot or not timed:
        return None
    needed = allocation.operations(
        [o.operation_ns or 0.0 for o in timed],
        [float(o.grain_ns) for o in timed],
        turning.iteration_ns if turning else allocation.TARGET_NS,
    )
    return min([needed, *(case.most_operations or needed for case in cases)])


def allocate(
    case: Case,
    observed: Mapping[str, Observed | None],
    mode: Mode,
    least_ms: Mapping[str, int],
    operations: int | None,
    turning: Turning | None = None,
    *,
    alike: bool = False,
) -> dict[str, Counts]:
    """Counts of each runner of `case`; `least_ms` is the least warm-up that a runner demands.

    All do the same `operations` in an iteration, the scenario's number for None. `alike` gives all
    of them the largest of their warm-ups and numbers of iterations, too.
    """
    piloted = {n: o for n, o in observed.items() if mode.pilot and o and o.operation_ns is not None}
    operations = operations or case.operations
    extents = {
        name: _piloted(case, piloted[name], mode, least_ms.get(name, 0), operations)
        if name in piloted
        else _unpiloted(case, least_ms.get(name, 0))
        for name in observed
    }
    if turning:
        extents = {
            name: _in_turns(
                extent,
                turning,
                _iteration_ns(piloted[name], operations) if name in piloted else None,
            )
            for name, extent in extents.items()
        }
    if alike and extents:
        largest = _Extent(*map(max, zip(*extents.values(), strict=True)))
        extents = dict.fromkeys(extents, largest)
    return {
        name: _counts(observed[name], operations, extent, predicted=name in piloted)
        for name, extent in extents.items()
    }


def _unpiloted(case: Case, least_ms: int) -> _Extent:
    """The scenario's own numbers; a case that is not warmed up by time has none of it."""
    warmup_ms = max(case.warmup_ms, least_ms) if case.warmup_ms else 0
    return _Extent(case.iterations, case.warmup_iterations, warmup_ms)


def _piloted(
    case: Case, observation: Observed, mode: Mode, least_ms: int, operations: int
) -> _Extent:
    """The warm-up until the last level, and the iterations that make best use of the time."""
    needed = (
        mode.warmup_ms[1]
        if observation.steady_from_ms is None
        else SLACK * observation.steady_from_ms
    )
    warmup_ms = max(ceil(min(max(needed, mode.warmup_ms[0]), mode.warmup_ms[1])), least_ms)
    iterations = min(case.iterations, mode.iterations[1])
    if observation.between is not None:
        iterations = allocation.iterations(
            observation.seconds * 1e9,
            warmup_ms * 1e6,
            _iteration_ns(observation, operations),
            observation.within,
            observation.between,
            iterations,
            mode.iterations[1],
        )
    return _Extent(iterations, mode.warmup_iterations, warmup_ms)


def _iteration_ns(observation: Observed, operations: int) -> float:
    """How long an iteration lasts on average, by which so many fill a time."""
    return (observation.stalled_ns or observation.operation_ns or 0.0) * operations


def _in_turns(extent: _Extent, turning: Turning, iteration_ns: float | None) -> _Extent:
    """The same for a process that takes turns: in whole iterations, its warm-up as well, since the
    harness lets it do each. One of unknown time does one iteration of each part of a turn.
    """

    def count(ms: float) -> int:
        return max(ceil(ms * 1e6 / iteration_ns), 1) if iteration_ns else 1

    lead_in = count(turning.lead_in_ms)
    return _Extent(
        iterations=turning.rounds * (lead_in + count(turning.lap_ms)),
        warmup_iterations=max(extent.warmup_iterations, count(extent.warmup_ms)),
        warmup_ms=0,
        rounds=turning.rounds,
        lead_in=lead_in,
    )


def _counts(
    observation: Observed | None, operations: int, extent: _Extent, *, predicted: bool
) -> Counts:
    """The counts with the invocation's duration, `predicted` from a pilot or as it was tried."""
    counts = Counts(
        operations=operations,
        **extent._asdict(),
        seconds=observation.seconds if observation else HARNESS_S,
        deviation=observation.between if observation else None,
        operation_ns=1e9 * observation.seconds / max(operations, 1) if observation else None,
    )
    if observation is None or not predicted:
        return counts
    iteration_ns = _iteration_ns(observation, operations)
    warming_ns = max(extent.warmup_ms * 1e6, extent.warmup_iterations * iteration_ns)
    deviation = observation.between
    if deviation is not None:
        deviation = sqrt(deviation**2 + pi / 2 * observation.within**2 / extent.iterations)
    # the last warm-up iteration overshoots by half of itself
    timed_ns = (extent.iterations + 0.5) * iteration_ns
    return counts.model_copy(
        update={
            "seconds": observation.seconds + (warming_ns + timed_ns) / 1e9,
            "steadiness": observation.steadiness,
            "steady_from_ms": observation.steady_from_ms,
            "operation_ns": observation.operation_ns,
            "deviation": deviation,
        }
    )


def block_seconds(counts: PlannedCounts, cells: Cells, canaries: Mapping[str, str]) -> float:
    """Predicted seconds of one block; `canaries` names per case the runner that runs twice."""
    entries = [(case, name) for case, names in cells.items() for name in names]
    entries += canaries.items()
    return sum(counts[case][name].seconds for case, name in entries)
