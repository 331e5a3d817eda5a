"""Figures of each cell, and the work that was proven equal."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.data import NONE, RunData, Samples
from sqlitmus.analysis.outcomes import Exclusions, Outcomes
from sqlitmus.catalog.cases import Counts, PlannedCase
from sqlitmus.catalog.plan import Plan
from sqlitmus.results.ranking import Comparisons
from sqlitmus.results.report import Cell, Interval, Measure
from sqlitmus.stats.estimate import Array, Medians, medians, trimmed_means
from sqlitmus.store.file import Verified
from sqlitmus.vocabulary.figures import Alike
from sqlitmus.vocabulary.text import counted, listed


def answered(run: RunData, case: PlannedCase) -> dict[str, Verified]:
    """Per runner the check of its cell, of those that passed."""
    found = ((runner.name, run.checks.get((case.id, runner.name))) for runner in run.plan.runners)
    return {name: check for name, check in found if check is not None and check.outcome == "ok"}


def disagree(checks: dict[str, Verified]) -> bool:
    """Whether passed checks recorded different answers, which only a changed file can hold."""
    answers = {(c.rows, c.affected, c.checksum, c.readback, c.digest) for c in checks.values()}
    return len(answers) > 1


def proven(checks: dict[str, Verified]) -> str:
    """Which runners gave equal answers, and what was equal about them."""
    if not checks:
        return "No runner passed verification."
    if disagree(checks):
        return "The recorded answers disagree; see the notices."
    check = next(iter(checks.values()))
    parts: list[str] = []
    if check.rows:
        parts.append(counted(check.rows, "row"))
    if check.affected:
        parts.append(counted(check.affected, "affected row"))
    parts.append(f"checksum {check.checksum:08x}")
    if check.digest:
        parts.append(f"SHA-256 of all rows {check.digest[:16]}…")
    if check.readback is not None:
        parts.append(f"{counted(check.readback.rows, 'row')} read back afterwards")
    return f"Equal in {listed(list(checks))}: {', '.join(parts)}."


# How far the runners of a case did the same work, by the counts of the plan. Pure.


def alike(plan: Plan, case: PlannedCase) -> Alike:
    """How far all processes of `case` do the same.

    Runners without counts in the plan have those of the case.
    """
    planned = plan.counts.get(case.id, {}).values()
    if len({(of.operations, of.iterations, of.lead_in) for of in planned}) > 1:
        return "neither"
    warmups = {(of.warmup_iterations, of.warmup_ms) for of in planned}
    if any(of.rounds for of in planned) or len(warmups) > 1:
        return "iterations"
    by_time = any(of.warmup_ms for of in planned) if planned else case.warmup_ms
    return "iterations" if by_time else "processes"


def sentences(plan: Plan, case: PlannedCase, checkpoints: Sequence[Measure | None] = ()) -> str:
    """What a process of `case` does: the operations that it times and those before them, and how
    many of its parameters it binds and times; the least of all runners where they differ. That no
    checkpoint falls into them, where `checkpoints` of runners are known and 0."""
    planned = list(plan.counts.get(case.id, {}).values())
    if not planned or not case.operations or any(counts.warmup_ms for counts in planned):
        return ""
    timed = min(c.operations * (c.iterations - c.rounds * c.lead_in) for c in planned)
    warmups = [c.operations * c.warmup_iterations for c in planned]
    bound = min(c.operations * (c.warmup_iterations + c.iterations) for c in planned)
    warmup = " to ".join(dict.fromkeys(f"{many:,}" for many in (min(warmups), max(warmups))))
    sentence = f"A process times {_counted(timed)} after a warm-up of {warmup}."
    counted = [measure.value for measure in checkpoints if measure]
    if case.journal_mode == "wal" and counted and not any(counted):
        sentence += " No checkpoint falls into them."
    if case.resets:
        sentence += (
            f" A reset comes before every {_counted(case.reset_every or 0)}, off the clock; what "
            "it writes and its checkpoints cannot be told from theirs, so neither is given."
        )
    if case.walk == 1:
        return sentence
    walk = _counted(case.walk)
    if bound >= case.walk:
        share = min(c.timed_share(case.walk) for c in planned)
        times = "" if share == 1 or case.writes else f", and times {100 * share:.0f} % of them"
        return f"{sentence} It binds all parameters, which begin again after {walk}{times}."
    share = f"It binds {100 * bound / case.walk:.0f} % of the parameters"
    if all(length > bound for length in case.walks):
        return f"{sentence} {share}, which are for {walk}."
    return f"{sentence} {share} that begin again after {walk}, and all others."


def _counted(operations: int) -> str:
    return f"{operations:,} operation{'' if operations == 1 else 's'}"


def whole(case: PlannedCase, counts: Counts | None) -> int | None:
    """Operations of a whole process, warm-up included; None where it warms up by time.

    Without counts they are those of one iteration.
    """
    if counts is None:
        return None if case.warmup_ms else case.operations
    if counts.warmup_ms or counts.rounds:
        return None
    return counts.operations * (counts.warmup_iterations + counts.iterations)


T = TypeVar("T", bound=np.generic)

# Far below the step of any clock: closer than this, two nanosecond figures are the same figure.
_RESOLUTION_NS = 1e-6


def build_cells(
    run: RunData,
    outcomes: Outcomes,
    excluded: Exclusions,
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
    why, reasons = excluded.why, excluded.reasons()
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
                    reason=reasons.get((c, r)) if timed else outcomes.reason[c][r],
                    apart=why.get((c, r)) if timed else None,
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
    return _intervals(estimates.value, estimates.low, estimates.high)


def ratios(mean: Array, low: Array, high: Array) -> list[Interval | None]:
    """Each row's ratio from logarithms; None for a row without a mean, no ends where they are
    NaN."""
    return _intervals(np.exp(mean), np.exp(low), np.exp(high))


def _intervals(*columns: Array) -> list[Interval | None]:
    rows = zip(*map(optional, columns), strict=True)
    return [None if value is None else Interval(value, low, high) for value, low, high in rows]


def optional(values: Array) -> list[float | None]:
    """The values of a column, None for NaN."""
    listed: list[float | None] = values.tolist()
    for place in np.flatnonzero(np.isnan(values)).tolist():
        listed[place] = None
    return listed
