"""Computes the counts of each cell from the pilot's observations. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, pi, sqrt
from typing import NamedTuple

from sqlitmus.catalog.declared import Mode
from sqlitmus.catalog.planned import Cells, Counts, PlannedCase, PlannedCounts
from sqlitmus.run.observed import Observed
from sqlitmus.stats import allocation

LAP_OF_FASTEST = 8  # iterations: the median of fewer does not withstand an interruption
SLACK = 1.25  # on the time until the last level, since the next process may take longer
HARNESS_S = 0.3  # an invocation that was never tried


class _Extent(NamedTuple):
    """How often a process iterates: measured iterations, and the warm-up before them; how many
    turns these are, if any, and how many of each do not count."""

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


def shared_operations(
    cases: Sequence[PlannedCase],
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
    case: PlannedCase,
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
            name: _in_turns(extent, turning, piloted.get(name), operations)
            for name, extent in extents.items()
        }
    if alike and extents:
        largest = _Extent(*map(max, zip(*extents.values(), strict=True)))
        extents = dict.fromkeys(extents, largest)
    return {
        name: _counts(observed[name], operations, extent, predicted=name in piloted)
        for name, extent in extents.items()
    }


def _unpiloted(case: PlannedCase, least_ms: int) -> _Extent:
    """The scenario's own numbers; a case that is not warmed up by time has none of it."""
    warmup_ms = max(case.warmup_ms, least_ms) if case.warmup_ms else 0
    return _Extent(case.iterations, case.warmup_iterations, warmup_ms)


def _piloted(
    case: PlannedCase, observation: Observed, mode: Mode, least_ms: int, operations: int
) -> _Extent:
    """The warm-up until the last level, and the iterations that make best use of the time.

    Without a steady state, until a process is as fast as it becomes: what goes up and down later is
    the machine, or the runtime at work, and no warm-up ends it.
    """
    reached = observation.steady_from_ms
    if reached is None:
        reached = observation.fastest_from_ms
    needed = mode.warmup_ms[1] if reached is None else SLACK * reached
    warmup_ms = max(ceil(min(max(needed, mode.warmup_ms[0]), mode.warmup_ms[1])), least_ms)
    iterations = min(case.iterations, mode.iterations[1])
    if observation.between is not None:
        iterations = allocation.iterations(
            observation.seconds * 1e9,
            warmup_ms * 1e6,
            observation.mean_ns * operations,
            observation.within,
            observation.between,
            iterations,
            mode.iterations[1],
        )
    return _Extent(iterations, mode.warmup_iterations, warmup_ms)


def _in_turns(
    extent: _Extent, turning: Turning, observation: Observed | None, operations: int
) -> _Extent:
    """The same for a process that takes turns: in whole iterations, its warm-up as well, since the
    harness lets it do each. One of unknown time does one iteration of each part of a turn.
    """

    def count(ms: float) -> int:
        if observation is None:
            return 1
        return max(ceil(ms * 1e6 / (observation.mean_ns * operations)), 1)

    warming = observation.operations_within(extent.warmup_ms) / operations if observation else 1
    lead_in = count(turning.lead_in_ms)
    return _Extent(
        iterations=turning.rounds * (lead_in + count(turning.lap_ms)),
        warmup_iterations=max(extent.warmup_iterations, ceil(warming), 1),
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
    iteration_ns = observation.mean_ns * operations
    warming_ns = 1e6 * max(
        extent.warmup_ms, observation.ms_of(extent.warmup_iterations * operations)
    )
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
            "fastest_from_ms": observation.fastest_from_ms,
            "warmed_ms": warming_ns / 1e6,
            "operation_ns": observation.operation_ns,
            "deviation": deviation,
        }
    )


def case_seconds(counts: PlannedCounts, cells: Cells, twice: Mapping[str, str]) -> dict[str, float]:
    """Predicted seconds of each case in a block; `twice` names per case who runs twice."""
    seconds = {case: sum(counts[case][name].seconds for name in cells[case]) for case in cells}
    for case, name in twice.items():
        seconds[case] += counts[case][name].seconds
    return seconds


def block_seconds(counts: PlannedCounts, cells: Cells, twice: Mapping[str, str]) -> float:
    """Predicted seconds of one block; see `case_seconds`."""
    return sum(case_seconds(counts, cells, twice).values())
