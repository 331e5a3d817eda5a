"""Figures of each cell."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.outcomes import Outcomes
from sqlitmus.analysis.samples import NONE, Samples
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.results.comparisons import Comparisons
from sqlitmus.results.report import Cell, Interval, Measure
from sqlitmus.stats.estimate import Array, Medians, medians, trimmed_means

T = TypeVar("T", bound=np.generic)

# Far below the step of any clock: closer than this, two nanosecond figures are the same figure.
_RESOLUTION_NS = 1e-6


def build_cells(
    run: RunData,
    outcomes: Outcomes,
    times: Array,
    measures: dict[str, list[list[Measure | None]]],
    compared: Sequence[Comparisons],
) -> list[list[Cell]]:
    """The cells of each case, in the order of the plan's runners.

    Per case and runner, `measures` are its figures by name; `compared` are the comparisons of each
    case.
    """
    samples = run.samples
    n_runners, n_blocks = len(run.plan.runners), times.shape[2]

    def flat(values: Array) -> Array:
        return values[:, :n_runners].reshape(-1, n_blocks)

    typical = intervals(medians(flat(times)))
    overheads = _overheads(run, times)
    values, positions = _drifts(samples, n_runners)
    cells: list[list[Cell]] = []
    for c, case in enumerate(run.plan.cases):
        row: list[Cell] = []
        planned = run.plan.counts.get(case.id, {})
        over_floor = compared[c].against(run.plan.floor) if run.plan.floor else {}
        for r, runner in enumerate(run.plan.runners):
            place = c * n_runners + r
            outcome = outcomes.outcome[c][r]
            check = run.checks.get((case.id, runner.name))
            counts = planned.get(runner.name)
            against = over_floor.get(runner.name)
            timed = outcome == "ok"
            drawn = outcome in ("ok", "failed")
            row.append(
                Cell(
                    runner=runner.name,
                    outcome=outcome,
                    reason=outcomes.reason[c][r],
                    time=typical[place] if timed else None,
                    samples=values[place] if drawn else [],
                    positions=positions[place] if drawn else [],
                    overhead=overheads[place] if timed else None,
                    overhead_verdict=against.verdict if timed and against else None,
                    figures={
                        name: measure
                        for name, of_cells in measures.items()
                        if timed and name != case.metric and (measure := of_cells[c][r])
                    },
                    steadiness=counts.steadiness if counts else None,
                    operations=counts.operations if counts else case.operations,
                    iterations=counts.iterations if counts else 0,
                    warmup_iterations=counts.warmup_iterations if counts else 0,
                    warmup_ms=counts.warmup_ms if counts else case.warmup_ms,
                    plans=check.plans if check else [],
                    syncs=check.syncs if check and timed else None,
                    uncounted=check.uncounted if check and timed else None,
                    command=check.command if check else "",
                    log=check.log if check else None,
                )
            )
        cells.append(row)
    return cells


def has_overhead(case: PlannedCase) -> bool:
    """Binding overhead is a time on one thread: not of a process, nor of work shared by workers."""
    return case.metric == "steady" and case.workers == 1


def _drifts(samples: Samples, n_runners: int) -> tuple[list[list[float | None]], list[list[int]]]:
    """Per cell its values and positions, one for each block that was recorded, None if unusable."""
    n_blocks = samples.code.shape[2]

    def rows(values: NDArray[T]) -> NDArray[T]:
        return values[:, :n_runners].reshape(-1, n_blocks)

    present, time, position = rows(samples.code) != NONE, rows(samples.time), rows(samples.position)
    with np.errstate(invalid="ignore"):
        usable = np.where((time > 0) & (time < np.inf), time, np.nan)
    values: list[list[float | None]] = usable.tolist()
    positions: list[list[int]] = position.tolist()
    for place in np.flatnonzero(~present.all(axis=1) | np.isnan(usable).any(axis=1)).tolist():
        kept = present[place]
        values[place] = optional(usable[place, kept])
        positions[place] = position[place, kept].tolist()
    return values, positions


def _overheads(run: RunData, times: Array) -> list[Interval | None]:
    """Per cell the trimmed mean of its time minus the floor's in the same block, in ns per unit."""
    names = run.plan.names
    floor = run.plan.floor
    none: list[Interval | None] = [None] * (len(run.plan.cases) * len(names))
    if floor is None:
        return none
    own = names.index(floor)
    differences = times[:, : len(names)] - times[:, own : own + 1]
    differences[:, own] = np.nan
    differences[[not has_overhead(case) for case in run.plan.cases]] = np.nan
    means = trimmed_means(differences.reshape(-1, times.shape[2]), resolution=_RESOLUTION_NS)
    low, high = means.interval()
    # one block is a difference, but not an estimate of one
    return intervals(Medians(np.where(means.count > 1, means.mean, np.nan), low, high, means.count))


def intervals(estimates: Medians) -> list[Interval | None]:
    """Each row's median with its interval; None for a row without values."""
    columns = (optional(c) for c in (estimates.value, estimates.low, estimates.high))
    return [
        None if v is None else Interval(v, low, high) for v, low, high in zip(*columns, strict=True)
    ]


def optional(values: Array) -> list[float | None]:
    """The values of a column, None for NaN."""
    listed: list[float | None] = values.tolist()
    for place in np.flatnonzero(np.isnan(values)).tolist():
        listed[place] = None
    return listed
