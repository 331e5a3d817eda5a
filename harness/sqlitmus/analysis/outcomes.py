"""What became of each cell, and why."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.samples import FAILED, NONE, OK, WRONG, Samples
from sqlitmus.catalog.planned import PlannedRunner
from sqlitmus.run.judge import Verified
from sqlitmus.stats.estimate import Array
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.terms import CellOutcome


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
    ended = np.arange(plan.blocks) >= ends[:, None]
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
    return " (as canary)" if series[number] < 0 else ""


def _show(value: float) -> str:
    if np.isnan(value):
        return "none"
    return f"{value:g}" if np.isfinite(value) else "not a usable number"
