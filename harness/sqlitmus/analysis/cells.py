"""What became of each cell and why, which times are compared with nothing, the figures of each, and
the work that was proven equal.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf, log1p
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.data import FAILED, NONE, OK, WRONG, RunData, Samples
from sqlitmus.catalog.cases import Counts, PlannedCase, PlannedRunner, warm_from_ms
from sqlitmus.catalog.plan import Plan
from sqlitmus.results.ranking import Comparisons
from sqlitmus.results.report import Cell, Interval, Measure, Notice, NoticeKind
from sqlitmus.stats.estimate import Array, Medians, medians, moderate, optional, trimmed_means
from sqlitmus.stats.verdict import ALPHA, MIN_BLOCKS, adjust, p_values
from sqlitmus.store.file import Verified, restless
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.figures import Alike
from sqlitmus.vocabulary.text import counted, listed, some
from sqlitmus.vocabulary.verdicts import Apart, CellOutcome


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Per case and runner the outcome and, unless it is ok, the evidence.

    `ok` has one more series than there are runners: the last is the canary, ok in a case where its
    runner is and where all its own invocations went well. `expected` marks, in the same shape,
    the cells that a complete block holds: those that are ok or that the run did not come to.
    """

    outcome: list[list[CellOutcome]]
    reason: list[list[str | None]]
    ok: NDArray[np.bool_]
    expected: NDArray[np.bool_]


def judge(run: RunData) -> Outcomes:
    """Outcomes of all cells. One bad invocation, or one impossible figure, fails the whole cell.

    The canary is the same program, so its bad invocations count against the runner that it repeats.
    """
    samples, runners, cells = run.samples, run.plan.runners, run.plan.cells
    twins = run.plan.twins()
    impossible = _impossible(samples)
    bad = ((samples.code == FAILED) | (samples.code == WRONG) | impossible).any(axis=2)
    each = np.arange(len(bad))
    if twins is not None:
        bad[each, twins] |= bad[:, -1]
    ok = ~bad & (samples.code == OK).any(axis=2)
    usable: list[list[bool]] = ok.tolist()
    expected = ~bad
    outcomes: list[list[CellOutcome]] = []
    reasons: list[list[str | None]] = []
    for c, case in enumerate(run.plan.cases):
        row: list[CellOutcome] = []
        why: list[str | None] = []
        for r, runner in enumerate(runners):
            selected = runner.name in cells.get(case.id, ())
            result = _verified(runner, run.checks.get((case.id, runner.name)), selected)
            expected[c, r] &= result[0] == "ok"
            if result[0] == "ok" and not usable[c][r]:
                places = [r, -1] if twins and r == twins[c] else [r]
                result = _measured(samples, impossible, c, places)
            row.append(result[0])
            why.append(result[1])
        ok[c, : len(row)] = [outcome == "ok" for outcome in row]
        outcomes.append(row)
        reasons.append(why)
    repeated = np.isin(each, run.plan.repeated())
    for mask in (ok, expected):
        mask[:, -1] &= repeated & mask[each, twins] if twins is not None else False
    return Outcomes(outcomes, reasons, ok, expected)


def usable(values: Array, outcomes: Outcomes) -> Array:
    """`values` (cases x series x blocks), NaN in every cell that is not ok."""
    return np.where(outcomes.ok[:, :, None], values, np.nan)


def complete_blocks(run: RunData, outcomes: Outcomes) -> int:
    """Blocks with an invocation of every expected cell whose case had not ended before."""
    if not outcomes.expected.any():
        return 0
    plan = run.plan
    ends = np.array([plan.ended.get(case.id, plan.blocks) for case in plan.cases])
    ended = np.array([*map(plan.place, range(plan.blocks))]) >= ends[:, None]
    done = (run.samples.code == OK) | ended[:, None]
    return int(done[outcomes.expected].all(axis=0).sum())


def _impossible(samples: Samples) -> NDArray[np.bool_]:
    """Invocations reported as ok whose figures cannot be: times are positive and finite."""

    def bad(values: Array, least: float) -> NDArray[np.bool_]:
        with np.errstate(invalid="ignore"):
            return ~np.isnan(values) & ~((values >= least) & (values < np.inf))

    above_zero = float(np.nextafter(0, 1))
    wrong = np.isnan(samples.time) | bad(samples.time, above_zero)
    for figure in figures.FIGURES:
        least = above_zero if figure.zero == "impossible" else 0.0
        if figure.signed:
            least = float(np.finfo(np.float64).min)
        wrong |= bad(samples.figures[figure.name], least)
    return (samples.code == OK) & wrong


def _verified(
    runner: PlannedRunner, check: Verified | None, selected: bool
) -> tuple[CellOutcome, str | None]:
    if runner.missing is not None:
        return "missing", runner.missing
    if not selected:
        return "missing", "not selected for this run"
    if check is None:
        return "missing", "not verified: the run stopped before this cell was checked"
    if check.outcome == "ok":
        return "ok", None
    return check.outcome, check.reason or "no reason recorded"


def _measured(
    samples: Samples, impossible: NDArray[np.bool_], case: int, series: list[int]
) -> tuple[CellOutcome, str]:
    """Why a cell's invocations are not usable; `series` are the runner's own and its twin's."""
    codes = samples.code[case, series]
    total = int((codes != NONE).sum())
    wrong = int((codes == WRONG).sum())
    failed = int((codes == FAILED).sum())
    if wrong or failed:
        kind: CellOutcome = "wrong" if wrong else "failed"
        block, number = _first(codes == (WRONG if wrong else FAILED))
        where = _where(series, number)
        reason = samples.reasons[case, series[number] % samples.code.shape[1], block]
        many = counted(wrong or failed, "invocation")
        return kind, f"{kind} in {many} of {total}, first in block {block + 1}{where}: {reason}"
    strange = impossible[case, series]
    if not strange.any():
        return "missing", "not measured: the run stopped before this cell's first block"
    block, number = _first(strange)
    measured = {figure.title: samples.figures[figure.name] for figure in figures.FIGURES}
    shown = ", ".join(
        f"{name} {_show(float(values[case, series[number], block]))}"
        for name, values in {"Time per unit": samples.time, **measured}.items()
    )
    return "failed", (
        f"impossible figures in {counted(int(strange.sum()), 'invocation')} of {total}, first in "
        f"block {block + 1}{_where(series, number)}: {shown}; times must be positive and finite"
    )


def _first(hits: NDArray[np.bool_]) -> tuple[int, int]:
    """Block and series of the earliest hit in an array series x blocks."""
    block, series = np.argwhere(hits.T)[0].tolist()
    return block, series


def _where(series: list[int], number: int) -> str:
    return " (as A/A control)" if series[number] < 0 else ""


def _show(value: float) -> str:
    if np.isnan(value):
        return "none"
    return f"{value:g}" if np.isfinite(value) else "not a usable number"


Place = tuple[int, int]  # case and series


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A check of times: `find` gives the cells and how far each is from what is required, `words`
    say so."""

    find: Callable[[RunData], dict[Place, float]]
    words: Callable[[float], str]


LATE_NS = 500_000
"""A pacing error beyond it is no longer small beside the latencies that users see."""


def late(run: RunData) -> dict[Place, float]:
    """By case and series, the pacing error where a p99 is compared and the load generator fell
    behind: half of the blocks or more have a p99 of that error beyond `LATE_NS`."""
    pacing = run.samples.figures["pacing"]
    typical = medians(pacing.reshape(-1, pacing.shape[2])).value.reshape(pacing.shape[:2])
    planned = np.array([case.metric == "p99" for case in run.plan.cases], dtype=np.bool_)
    beyond = (typical > LATE_NS) & planned[:, None]
    return {(case, series): float(typical[case, series]) for case, series in np.argwhere(beyond)}


REFUSED = 0.01
"""The share of operations beyond which a time is that of other work: fewer would not show in it."""


def refusals(run: RunData) -> dict[Place, float]:
    """By case and series, the share of operations that ended with SQLITE_BUSY, the mean over the
    blocks, where it is above `REFUSED` and the case is compared by its time."""
    shares: Array = run.samples.figures["busy"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of cells that count none
        mean: Array = np.nanmean(shares, axis=2)
    timed = np.array([case.metric == "steady" for case in run.plan.cases], dtype=np.bool_)
    refused = (mean > REFUSED) & timed[:, None]
    return {(case, series): float(mean[case, series]) for case, series in np.argwhere(refused)}


WORKS = 0.15  # of the time that it waits: with more, its work may go on there


def working(run: RunData) -> dict[Place, float]:
    """By case and series, what processes usually use of the time that they wait, above `WORKS`."""
    busy = {run.plan.names.index(name): share for name, share in restless(run.blocks).items()}
    cases = range(len(run.plan.cases))
    return {(case, at): share for case in cases for at, share in busy.items() if share > WORKS}


def other_work(run: RunData) -> dict[Place, float]:
    """By case and series, commits per transaction of cells that write and have fewer than one.

    An A/A control is the program that it repeats.
    """
    twins = run.plan.twins()
    places: dict[Place, float] = {}
    for c, case in enumerate(run.plan.cases):
        names = [*run.plan.names, *([run.plan.names[twins[c]]] if twins else [])]
        for series, name in enumerate(names):
            check = run.checks.get((case.id, name))
            syncs = check and check.syncs
            if syncs and syncs.commits is not None and syncs.commits < syncs.transactions:
                places[c, series] = syncs.commits / syncs.transactions
    return places


def warming(run: RunData) -> dict[Place, float]:
    """By case and series, the time of the second half of the timed work over that of the first,
    where it is surely below 1 by more than the plan's margin.

    Over the blocks it is the trimmed mean of its logarithm, with a moderated error and a one-sided
    p against that margin. The steady cells of a run are a family (Benjamini and Hochberg): among
    many one would look so by chance. A process that grows slower does not warm up: a table that it
    fills grows with it. Fewer blocks than a verdict needs say nothing of it.

    In a workload the halves of a stated work have other rows, the same for all: where all fall,
    each is held against the one that falls least (Hsu, Ann. Stat. 12, 1984, 1136-1144; Bonferroni).
    """
    drift: Array = run.samples.figures["drift"]
    shape = drift.shape[:2]
    steady = np.array([case.metric == "steady" for case in run.plan.cases], dtype=np.bool_)
    stated = [c for c, case in enumerate(run.plan.cases) if run.plan.workload and case.stated]
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.log(drift)
        for c in stated:
            falls = np.nan_to_num(trimmed_means(each[c]).mean, nan=-np.inf)
            if falls.max() < 0:
                each[c] -= each[c, np.argmax(falls)]
        logs = moderate(trimmed_means(each.reshape(-1, drift.shape[2])), shape[1])
        beyond = replace(logs, mean=logs.mean - log1p(-run.plan.margin))
        p = p_values(beyond) / 2
    testable = (logs.count >= MIN_BLOCKS).reshape(shape) & steady[:, None]
    p = np.where(beyond.mean < 0, p, 1 - p).reshape(shape)
    p[stated] = np.minimum((shape[1] - 1) * p[stated], 1)
    surely = adjust(np.where(testable, p, np.nan).ravel(), "bh").reshape(shape) <= ALPHA
    means = np.exp(logs.mean).reshape(shape)
    return {(case, series): float(means[case, series]) for case, series in np.argwhere(surely)}


CHECKS: dict[Apart, Exclusion] = {
    "the load generator fell behind": Exclusion(
        late, lambda ns: f"operations started up to {ns / 1e6:.1f} ms after their time"
    ),
    "still warming up": Exclusion(
        warming,
        lambda ratio: f"its second half took {100 * (1 - ratio):.1f} % less time than its first",
    ),
    "did not rest": Exclusion(
        working, lambda share: f"it used the processor for {share:.0%} of the time that it waited"
    ),
    "did less work": Exclusion(
        refusals, lambda share: f"SQLite refused {100 * share:.1f} % of it with SQLITE_BUSY"
    ),
    "did other work": Exclusion(
        other_work, lambda commits: f"{commits:.3g} commits per transaction, 1 asked"
    ),
}


@dataclass(frozen=True, slots=True)
class Exclusions:
    """The cells of a run that are compared with nothing, by the reason."""

    by: dict[Apart, dict[Place, float]]

    @classmethod
    def of(cls, run: RunData) -> "Exclusions":
        """What each check finds of a run."""
        return cls({name: check.find(run) for name, check in CHECKS.items()})

    @property
    def why(self) -> dict[Place, Apart]:
        """The reason of each cell; of several the last in the list."""
        return {place: reason for reason, cells in self.by.items() for place in cells}

    def detail(self, place: Place) -> str:
        """The words on such a cell beside its reason: how far it is from what is required."""
        reason = self.why[place]
        return CHECKS[reason].words(self.by[reason][place])

    def reasons(self) -> dict[Place, str]:
        """The reason of each cell and its detail."""
        return {place: f"{reason}: {self.detail(place)}" for place, reason in self.why.items()}

    def without(self, values: Array) -> Array:
        """`values` (cases x series x blocks), NaN in these cells."""
        compared = values.copy()
        for place in self.why:
            compared[place] = np.nan
        return compared


def warmth(run: RunData) -> Iterable[Notice]:
    """Cells that the pilot saw change for longer than the mode let the plan warm them up, and those
    that were as fast as they become but never steady."""
    cells: dict[NoticeKind, dict[str, list[str]]] = {"not warm": {}, "not steady": {}}
    for case, of_runners in run.plan.counts.items():
        for runner, counts in of_runners.items():
            if (kind := _kind(counts)) is not None:
                cells[kind].setdefault(runner, []).append(case)
    for kind, cases_of in cells.items():
        if cases_of:
            named = {runner: some(cases) for runner, cases in cases_of.items()}
            yield Notice(kind, sum(map(len, cases_of.values())), values=named)


def _kind(counts: Counts) -> NoticeKind | None:
    never = counts.steadiness == "no steady state"
    reached = warm_from_ms(counts.steadiness, counts.steady_from_ms, counts.fastest_from_ms)
    if reached is None:  # unknown in an older plan, which warmed it up for as long as it could
        return "not warm" if never else None
    # older plans do not tell how long processes that take turns warm up
    unknown = inf if counts.rounds else counts.warmup_ms
    if reached > (unknown if counts.warmed_ms is None else counts.warmed_ms):
        return "not warm"
    return "not steady" if never else None


def answered(run: RunData, case: PlannedCase) -> dict[str, Verified]:
    """Per runner the check of its cell, of those that passed."""
    checks = ((runner.name, run.checks.get((case.id, runner.name))) for runner in run.plan.runners)
    return {name: check for name, check in checks if check is not None and check.outcome == "ok"}


def disagree(checks: dict[str, Verified]) -> bool:
    """Whether passed checks recorded different answers, which only a changed file can hold.

    Checksums may differ where texts end in other characters than ASCII's: then the digest tells.
    """
    answers = {(c.rows, c.affected, c.digest or c.checksum, c.readback) for c in checks.values()}
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
    if len({each.checksum for each in checks.values()}) == 1:
        parts.append(f"checksum {check.checksum:08x}")
    if check.digest:
        parts.append(f"SHA-256 of all rows {check.digest[:16]}…")
    if check.readback is not None:
        parts.append(f"{counted(check.readback.rows, 'row')} read back afterwards")
    return f"Equal in {listed(list(checks))}: {', '.join(parts)}."


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
    sentence = f"A process times {counted(timed, 'operation')} after a warm-up of {warmup}."
    made = [measure.value for measure in checkpoints if measure]
    if case.journal_mode == "wal" and made and not any(made):
        sentence += " No checkpoint falls into them."
    if case.resets:
        every = counted(case.reset_every or 0, "operation")
        sentence += (
            f" A reset comes before every {every}, off the clock; its writes and "
            "checkpoints cannot be separated from theirs, so neither is given."
        )
    if case.walk == 1:
        return sentence
    walk = counted(case.walk, "operation")
    if bound >= case.walk:
        share = min(c.timed_share(case.walk) for c in planned)
        times = "" if share == 1 or case.writes else f", and times {100 * share:.0f} % of them"
        return f"{sentence} It binds all parameters, which begin again after {walk}{times}."
    share = f"It binds {100 * bound / case.walk:.0f} % of the parameters"
    if all(length > bound for length in case.walks):
        return f"{sentence} {share}, which are for {walk}."
    return f"{sentence} {share} that begin again after {walk}, and all others."


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
    """The cells of each case that the plan holds, and those of runners that are not here, in the
    order of the plan's runners.

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
            if runner.missing is None and runner.name not in run.plan.cells.get(case.id, ()):
                continue
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
        blocks = present[place]
        values[place] = optional(usable[place, blocks])
        positions[place] = position[place, blocks].tolist()
    return values, positions


def _overheads(run: RunData, times: Array) -> list[Interval | None]:
    """Per cell the trimmed mean of its time minus the floor's in the same block, in ns per unit."""
    names = run.plan.names
    floor = run.plan.floor
    none: list[Interval | None] = [None] * (len(run.plan.cases) * len(names))
    if floor is None:
        return none
    place = names.index(floor)
    differences = times[:, : len(names)] - times[:, place : place + 1]
    differences[:, place] = np.nan
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
