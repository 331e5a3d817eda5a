"""The figures of single cells by case, runner and metric, as a claim names them."""

from dataclasses import dataclass

import numpy as np

from sqlitmus.report.estimate import Interval
from sqlitmus.stats.estimate import LEVEL, TrimmedMeans, medians, student_t_of, trimmed_means
from sqlitmus.stats.grade import grade

from .data import PlannedCase, RunData
from .details import width
from .outcomes import Outcomes, usable
from .samples import Array

# Log ratios closer than this differ by rounding only, not by time.
_RESOLUTION = 1e-12


class NotHereError(Exception):
    """A cell has no figure; the text says why."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A cell's place in the arrays."""

    case: int
    series: int


class Series:
    """Figures of a run: arrays of blocks, NaN where there is none."""

    def __init__(self, run: RunData, outcomes: Outcomes) -> None:
        self.run = run
        self._outcomes = outcomes
        self._names = [runner.name for runner in run.plan.runners]
        self._cases = {case.id: place for place, case in enumerate(run.plan.cases)}
        self._arrays: dict[str, Array] = {}
        self._guards: dict[str, Array] = {}

    def spot(self, case: str, runner: str) -> Spot:
        """Where a cell is; raises NotHereError for one that was not measured to the end."""
        found = self._cases.get(case)
        if found is None or runner not in self._names:
            what = case if found is None else runner
            raise NotHereError(f"{what} is not part of this run")
        series = self._names.index(runner)
        outcome = self._outcomes.outcome[found][series]
        if outcome != "ok":
            reason = self._outcomes.reason[found][series]
            raise NotHereError(f"{runner} in {case}: {outcome}: {reason}")
        return Spot(found, series)

    def array(self, metric: str) -> Array:
        """Cases × series × blocks, canary last: ns of `wall` per process, of `steady` per operation
        (of a cold case per process), else as `details.FIGURES` has it."""
        if metric not in self._arrays:
            self._arrays[metric] = usable(self._recorded(metric), self._outcomes)
        return self._arrays[metric]

    def blocks(self, metric: str, spot: Spot) -> Array:
        """A cell's values by block."""
        return self.array(metric)[spot.case, spot.series]

    def typical(self, metric: str, spot: Spot, divisor: float = 1.0) -> Interval | None:
        """The median over the blocks with its interval; None where nothing was recorded."""
        return median(self.blocks(metric, spot) / divisor)

    def rows(self, spot: Spot) -> float:
        """Rows that an operation returned when it was verified; raises NotHereError for none."""
        case = self.run.plan.cases[spot.case]
        check = self.run.checks.get((case.id, self._names[spot.series]))
        if check is None or not check.rows or not case.operations:
            raise NotHereError(f"{case.id} returns no rows, so there is no time per row")
        return check.rows / case.operations

    def guard(self, metric: str) -> Array:
        """Per case how far from 0 a log ratio must lie to be more than noise: 0 where the canary
        was quiet.

        A case without the canary has the worst guard of its scenario, or else of those of its
        group, or else of all; a metric that the canary never had, that of its time.
        """
        if metric not in self._guards:
            self._guards[metric] = self._guard(metric)
        return self._guards[metric]

    def _guard(self, metric: str) -> Array:
        canary = self.run.plan.canary
        if canary is None:
            return np.zeros(len(self._cases))
        values = self.array(metric)
        logs = log_ratios(values[:, self._names.index(canary)], values[:, -1])
        there = ~np.isnan(logs).all(axis=1)
        if not there.any():
            if metric == "steady":
                return np.full(len(logs), np.inf)
            return self.guard("steady")
        some = logs[there]
        guard = grade(log_means(some, np.full(len(some), width(metric)))).guard
        found = np.full(len(logs), guard.max())
        cases = self.run.plan.cases
        for alike in ([case.group for case in cases], [case.scenario for case in cases]):
            kinds = np.array(alike)
            for kind in np.unique(kinds[there]):
                found[kinds == kind] = guard[kinds[there] == kind].max()
        found[there] = guard
        return found

    def cold(self, spot: Spot) -> bool:
        """Whether the cell's time is that of a process."""
        return self.run.plan.cases[spot.case].metric == "cold"

    def work(self, spot: Spot) -> int:
        """Operations of a whole process that were timed."""
        case = self.run.plan.cases[spot.case]
        counts = self.run.plan.counts.get(case.id, {}).get(self._names[spot.series])
        return counts.operations * counts.iterations if counts else case.operations

    def _recorded(self, metric: str) -> Array:
        samples, details = self.run.samples, self.run.details
        if metric == "wall":
            return samples.wall
        if metric == "steady":
            units = [c.per_operation if c.metric == "steady" else 1 for c in self.run.plan.cases]
            return samples.time * np.array(units)[:, None, None]
        return details.figures[metric] if details else np.full(samples.time.shape, np.nan)


def log_ratios(base: Array, new: Array) -> Array:
    """ln base / new; NaN where one of them is not above 0, as on a coarse clock."""
    both = (base > 0) & (new > 0)
    return np.log(np.where(both, base, np.nan)) - np.log(np.where(both, new, np.nan))


def log_means(rows: Array, widths: Array) -> TrimmedMeans:
    """Trimmed means of log ratios (rows × blocks); a row with a single block has none.

    `widths` are those of the buckets that a row's values were read off: its interval is at least
    that wide to both sides, since the two values of a ratio lie anywhere in theirs.
    """
    means = trimmed_means(rows, resolution=_RESOLUTION)
    mean = np.where(means.count > 1, means.mean, np.nan)
    least = np.where(widths > 0, widths / student_t_of(means.freedom, LEVEL), np.nan)
    return TrimmedMeans(mean, np.fmax(means.error, least), means.freedom, means.count)


def median(blocks: Array) -> Interval | None:
    """The median of a cell's blocks with its interval; None without any."""
    found = medians(blocks[None])
    if not found.count[0]:
        return None
    value, low, high = (float(column[0]) for column in (found.value, found.low, found.high))
    return Interval(value, None if np.isnan(low) else low, None if np.isnan(high) else high)


def threads(case: PlannedCase) -> int:
    """Threads of all processes together."""
    return case.workers * (case.processes or 1)
