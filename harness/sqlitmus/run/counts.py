"""Computes the counts of each cell from the pilot's observations. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil, gcd, pi, sqrt

import numpy as np

from sqlitmus.catalog.definitions import Mode
from sqlitmus.catalog.plan import Case, Cells, Counts, PlannedCounts
from sqlitmus.run.pace import Pace
from sqlitmus.stats import allocation, warmup
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.terms import Steadiness

TIMED = 5  # iterations of a pilot process that are surely warmed up
SLACK = 1.25  # on the time until the last level, since the next process may take longer
HARNESS_S = 0.3  # an invocation that was never tried


@dataclass(frozen=True, slots=True)
class PilotProcess:
    """One pilot process: seconds with the harness's share, and its iterations in ns, in order."""

    seconds: float
    iterations_ns: list[int]


class Observed(Model):
    """The pilot's observation of a cell, from processes that warmed up for `window_ms`.

    `seconds` is the duration of an invocation without its iterations; `operation_ns` that of an
    operation at the last level (None for a cold cell). `pace` is the machine's at that time.
    `within` and `between` are standard deviations of ln time; `between` is None for fewer than
    three processes.
    """

    seconds: float
    processes: int
    window_ms: int
    pace: Pace | None = None
    operation_ns: float | None = None
    grain_ns: int = 1
    steadiness: Steadiness | None = None
    steady_from_ms: float | None = None
    within: float = 0.0
    between: float | None = None


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
    return Observed(
        seconds=float(np.median(overheads)),
        processes=count,
        window_ms=window_ms,
        operation_ns=float(np.median(last)) / case.operations,
        grain_ns=gcd(*chain.from_iterable(series)),
        steadiness=steady.kind,
        steady_from_ms=None if steady.elapsed_ns is None else steady.elapsed_ns / 1e6,
        within=within,
        between=between if count > 2 else None,
    )


def allocate(
    case: Case, observed: Mapping[str, Observed | None], mode: Mode, least_ms: Mapping[str, int]
) -> dict[str, Counts]:
    """Counts of each runner of `case`; `least_ms` is the least warm-up that a runner demands.

    A runner without an observation keeps the scenario's counts.
    """
    timed = {n: o for n, o in observed.items() if o is not None and o.operation_ns is not None}
    operations: dict[str, int] = {}
    if timed and mode.pilot:
        ideal = allocation.operations(
            [o.operation_ns or 0.0 for o in timed.values()],
            [float(o.grain_ns) for o in timed.values()],
        )
        most = case.most_operations or np.inf
        operations = {n: int(min(k, most)) for n, k in zip(timed, ideal.tolist(), strict=True)}
    return {
        name: _counts(case, observation, mode, least_ms.get(name, 0), operations.get(name))
        for name, observation in observed.items()
    }


def _counts(
    case: Case, observation: Observed | None, mode: Mode, least_ms: int, operations: int | None
) -> Counts:
    if observation is None or observation.operation_ns is None or operations is None:
        seconds = observation.seconds if observation else HARNESS_S
        return Counts(
            operations=case.operations,
            iterations=case.iterations,
            warmup_iterations=case.warmup_iterations,
            warmup_ms=max(case.warmup_ms, least_ms) if case.warmup_ms else 0,
            seconds=seconds,
            deviation=observation.between if observation else None,
            operation_ns=1e9 * seconds / case.operations if observation else None,
        )
    iteration_ns = observation.operation_ns * operations
    needed = (
        mode.warmup_ms[1]
        if observation.steady_from_ms is None
        else SLACK * observation.steady_from_ms
    )
    warmup_ms = max(ceil(min(max(needed, mode.warmup_ms[0]), mode.warmup_ms[1])), least_ms)
    lowest = min(case.iterations, mode.iterations[1])
    iterations = lowest
    if observation.between is not None:
        iterations = allocation.iterations(
            observation.seconds * 1e9,
            warmup_ms * 1e6,
            iteration_ns,
            observation.within,
            observation.between,
            lowest,
            mode.iterations[1],
        )
    warming_ns = max(warmup_ms * 1e6, mode.warmup_iterations * iteration_ns)
    return Counts(
        operations=operations,
        iterations=iterations,
        warmup_iterations=mode.warmup_iterations,
        warmup_ms=warmup_ms,
        # the last warm-up iteration overshoots by half of itself
        seconds=observation.seconds + (warming_ns + (iterations + 0.5) * iteration_ns) / 1e9,
        steadiness=observation.steadiness,
        steady_from_ms=observation.steady_from_ms,
        operation_ns=observation.operation_ns,
        deviation=None
        if observation.between is None
        else sqrt(observation.between**2 + pi / 2 * observation.within**2 / iterations),
    )


def block_seconds(counts: PlannedCounts, cells: Cells, canaries: Mapping[str, str]) -> float:
    """Predicted seconds of one block; `canaries` names per case the runner that runs twice."""
    entries = [(case, name) for case, names in cells.items() for name in names]
    entries += canaries.items()
    return sum(counts[case][name].seconds for case, name in entries)
