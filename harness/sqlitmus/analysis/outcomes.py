"""What became of each cell, why, and which times are compared with nothing."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.data import FAILED, NONE, OK, WRONG, RunData, Samples
from sqlitmus.catalog.cases import Counts, PlannedRunner
from sqlitmus.results.report import Notice, NoticeKind
from sqlitmus.stats.estimate import Array, medians, moderate, trimmed_means
from sqlitmus.stats.verdict import ALPHA, MIN_BLOCKS, adjust, p_values
from sqlitmus.store.file import Verified
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.text import counted, some
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
    samples, runners, wanted = run.samples, run.plan.runners, run.plan.cells
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
            selected = runner.name in wanted.get(case.id, ())
            found = _verified(runner, run.checks.get((case.id, runner.name)), selected)
            expected[c, r] &= found[0] == "ok"
            if found[0] == "ok" and not usable[c][r]:
                own = [r, -1] if twins and r == twins[c] else [r]
                found = _measured(samples, impossible, c, own)
            row.append(found[0])
            why.append(found[1])
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


# Cells that are ok, and whose times are compared with nothing: a list of checks.


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
    """By case and series, the pacing error where a p99 is compared and the machine was late: half
    of the blocks or more have a p99 of that error beyond `LATE_NS`."""
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


def warming(run: RunData) -> dict[Place, float]:
    """By case and series, the time of the second half of the timed work over that of the first,
    where it is surely below 1 and by more than the plan's margin.

    Over the blocks it is the trimmed mean of its logarithm, with a moderated error and a one-sided
    p. The steady cells of a run are a family (Benjamini and Hochberg): among many one would look so
    by chance. A process that grows slower does not warm up: a table that it fills grows with it.
    Fewer blocks than a verdict needs say nothing of it.
    """
    drift: Array = run.samples.figures["drift"]
    shape = drift.shape[:2]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = moderate(trimmed_means(np.log(drift).reshape(-1, drift.shape[2])), shape[1])
        p = p_values(logs) / 2
    steady = np.array([case.metric == "steady" for case in run.plan.cases], dtype=np.bool_)
    testable = (logs.count >= MIN_BLOCKS).reshape(shape) & steady[:, None]
    p = np.where(logs.mean < 0, p, 1 - p).reshape(shape)
    surely = adjust(np.where(testable, p, np.nan).ravel(), "bh").reshape(shape) <= ALPHA
    means = np.exp(logs.mean).reshape(shape)
    falling = surely & (means < 1 - run.plan.margin)
    return {(case, series): float(means[case, series]) for case, series in np.argwhere(falling)}


CHECKS: dict[Apart, Exclusion] = {
    "the machine was late": Exclusion(
        late, lambda ns: f"operations started up to {ns / 1e6:.1f} ms after their time"
    ),
    "still warming up": Exclusion(
        warming,
        lambda ratio: f"its second half took {100 * (1 - ratio):.1f} % less time than its first",
    ),
    "did less work": Exclusion(
        refusals, lambda share: f"SQLite refused {100 * share:.1f} % of it with SQLITE_BUSY"
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


# Cells that the warm-up left unready, by what the pilot saw of them.


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
    reached = counts.fastest_from_ms if never else counts.steady_from_ms or 0.0
    if reached is None:  # an older plan, which let it warm up for as long as its mode could
        return "not warm"
    # older plans do not tell how long processes that take turns warm up
    unknown = inf if counts.rounds else counts.warmup_ms
    if reached > (unknown if counts.warmed_ms is None else counts.warmed_ms):
        return "not warm"
    return "not steady" if never else None
