"""The figures of single cells by case, runner and metric, as a claim names them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.cells import intervals
from sqlitmus.analysis.claims.details import width
from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.outcomes import Outcomes, usable
from sqlitmus.analysis.pairs import compare_with
from sqlitmus.analysis.question import Question
from sqlitmus.analysis.samples import Array
from sqlitmus.analysis.warming import warming
from sqlitmus.analysis.work import whole
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.results.estimate import Interval
from sqlitmus.stats.estimate import LEVEL, TrimmedMeans, medians, student_t_of
from sqlitmus.stats.grade import grade

# What claims call a figure that is per operation.
_PER_OPERATION = {
    "cpu time": "cpu",
    "voluntary switches": "switches_voluntary",
    "involuntary switches": "switches_involuntary",
}


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
        self._names = run.plan.names
        self._cases = {case.id: place for place, case in enumerate(run.plan.cases)}
        self._arrays: dict[str, Array] = {}
        self._guards: dict[str, Array] = {}
        self._warming = warming(run)

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
        """Cases × series × blocks, canary last: ns of `wall` per process, of `steady` and
        `cpu time` and context switches per operation (of a cold case per process), bytes of
        `file`, else as `details.FIGURES` has it."""
        if metric not in self._arrays:
            self._arrays[metric] = usable(self._recorded(metric), self._outcomes)
        return self._arrays[metric]

    def blocks(self, metric: str, spot: Spot) -> Array:
        """A cell's values by block."""
        return self.array(metric)[spot.case, spot.series]

    def typical(self, metric: str, spot: Spot) -> Interval | None:
        """The median over the blocks with its interval; None where nothing was recorded."""
        return median(self.blocks(metric, spot))

    def mean(self, metric: str, spot: Spot) -> float | None:
        """The mean over the blocks, which loses no rare count; None where nothing was recorded."""
        blocks = self.blocks(metric, spot)
        return None if np.isnan(blocks).all() else float(np.nanmean(blocks))

    def rows(self, spot: Spot) -> float:
        """Rows that an operation returned when it was verified; raises NotHereError for none."""
        case = self.run.plan.cases[spot.case]
        check = self.run.checks.get((case.id, self._names[spot.series]))
        if check is None or not check.rows or not case.operations:
            raise NotHereError(f"{case.id} returns no rows, so there is no time per row")
        return check.rows / (check.operations or case.operations)

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
        twins = self.run.plan.twins()
        if twins is None:
            return np.zeros(len(self._cases))
        values = self.array(metric)
        base, new = values[np.arange(len(values)), twins], values[:, -1]
        there = shared(base, new).any(axis=1)
        if not there.any():
            return np.zeros(len(values)) if metric == "steady" else self.guard("steady")
        widths = np.full(there.sum(), width(metric))
        means = log_means(base[there], new[there], widths, Question.of(self.run.plan))
        guard = grade(means).guard
        found = np.full(len(values), guard.max())
        cases = self.run.plan.cases
        for alike in ([case.group for case in cases], [case.scenario for case in cases]):
            kinds = np.array(alike)
            for kind in np.unique(kinds[there]):
                found[kinds == kind] = guard[kinds[there] == kind].max()
        found[there] = guard
        return found

    def warming(self, spot: Spot) -> float | None:
        """Its second half over its first where it was still warming up; see `warming`."""
        return self._warming.get((spot.case, spot.series))

    def cold(self, spot: Spot) -> bool:
        """Whether the cell's time is that of a process."""
        return self.run.plan.cases[spot.case].metric == "cold"

    def work(self, spot: Spot) -> int | None:
        """Operations of a whole process; None where it warms up by time, however many it does."""
        case = self.run.plan.cases[spot.case]
        return whole(case, self.run.plan.counts.get(case.id, {}).get(self._names[spot.series]))

    def equal_work(self, base: Spot, new: Spot) -> bool:
        """Whether both only read, or a process of both times as many operations, altogether or on
        each thread, or as many units of work: a table that is filled twice as far is another
        table."""
        cases = [self.run.plan.cases[spot.case] for spot in (base, new)]
        if self.run.plan.level == "total" and not any(case.writes for case in cases):
            return True
        asked = [self._asked(spot) for spot in (base, new)]
        return any(one == other for one, other in zip(*asked, strict=True))

    def _asked(self, spot: Spot) -> tuple[float, float, float]:
        """Operations that a process times, those of each thread, and their units of work."""
        case = self.run.plan.cases[spot.case]
        counts = self.run.plan.counts.get(case.id, {}).get(self._names[spot.series])
        operations = case.operations * case.iterations
        if counts:
            operations = counts.operations * (counts.iterations - counts.rounds * counts.lead_in)
        return operations, operations / threads(case), operations * case.per_operation

    def _recorded(self, metric: str) -> Array:
        samples, details = self.run.samples, self.run.details
        if metric == "wall":
            return samples.figures["cold"]
        if metric == "file":
            sizes = np.array([c.database_bytes or np.nan for c in self.run.plan.cases])
            return np.where(np.isnan(samples.time), np.nan, sizes[:, None, None])
        if metric == "steady" or metric in _PER_OPERATION:
            units = [c.per_operation if c.metric == "steady" else 1 for c in self.run.plan.cases]
            each = samples.time if metric == "steady" else samples.figures[_PER_OPERATION[metric]]
            return each * np.array(units)[:, None, None]
        return details.figures[metric] if details else np.full(samples.time.shape, np.nan)


def shared(base: Array, new: Array) -> NDArray[np.bool_]:
    """Which blocks have a ratio: both are above 0, which they are not on a coarse clock."""
    return (base > 0) & (new > 0)


def log_means(base: Array, new: Array, widths: Array, question: Question) -> TrimmedMeans:
    """Means of ln base / new (rows × blocks), of several sessions combined as of any pair of
    runners; a row with a single block has none.

    `widths` are those of the buckets that a row's values were read off: its interval is at least
    that wide to both sides, since the two values of a ratio lie anywhere in theirs.
    """
    both = np.stack([base, new], axis=1)
    means = some(compare_with(both, 1, question).logs, range(0, 2 * len(base), 2))
    least = np.where(widths > 0, widths / student_t_of(means.freedom, LEVEL), np.nan)
    return TrimmedMeans(means.mean, np.fmax(means.error, least), means.freedom, means.count)


def some(means: TrimmedMeans, rows: Sequence[int]) -> TrimmedMeans:
    """Those rows of `means`."""
    at = np.array(rows, dtype=np.int64)
    return TrimmedMeans(means.mean[at], means.error[at], means.freedom[at], means.count[at])


def median(blocks: Array) -> Interval | None:
    """The median of a cell's blocks with its interval; None without any."""
    return intervals(medians(blocks[None]))[0]


def threads(case: PlannedCase) -> int:
    """Threads of all processes together."""
    return case.workers * (case.processes or 1)
