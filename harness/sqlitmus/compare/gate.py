"""Which cases of a comparison are slower by more than its gate allows. Pure."""

from dataclasses import dataclass

import numpy as np

from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.noise import guard_of
from sqlitmus.analysis.outcomes import judge, usable
from sqlitmus.analysis.pairs import Question, compare_with
from sqlitmus.stats.estimate import LEVEL, Array
from sqlitmus.stats.multiplicity import adjust, beyond_margin_p
from sqlitmus.stats.verdict import MIN_BLOCKS


@dataclass(frozen=True, slots=True)
class Gate:
    """Ids of cases: `alarmed` are slower beyond the gate, `cleared` are not, `open` are neither."""

    alarmed: list[str]
    cleared: list[str]
    open: list[str]


def gate(run: RunData) -> Gate:
    """Decide the gate for the new subject of `run` against its reference.

    Each planned look decides at Pocock's level, so that all together err with 5 %. Alarmed: p of
    lying within the gate, corrected by Holm over all cases, is at most that level, and the whole
    interval is beyond the canary's own noise. Cleared: the upper end of the one-sided interval at
    that level lies below the gate. Raises ValueError for a plan without a gate.
    """
    plan = run.plan
    if plan.gate is None:
        raise ValueError(f"{plan.run} has no gate")
    names = [runner.name for runner in plan.runners]
    question = Question.of(plan)
    times = usable(run.samples.time, judge(run))
    guard = guard_of(times, plan.twins(), question)
    logs = compare_with(times[:, :-1], names.index(plan.reference), question).logs
    shape = (len(plan.cases), len(names))
    (new,) = (at for at, name in enumerate(names) if name != plan.reference)

    def column(values: Array) -> Array:
        return values.reshape(shape)[:, new]

    testable = (logs.count >= MIN_BLOCKS) & ~np.isnan(logs.error)
    p = np.where(testable & (logs.mean > 0), beyond_margin_p(logs, plan.gate), 1.0)
    adjusted = adjust(column(np.where(testable, p, np.nan)), "holm")
    low, _ = logs.interval(LEVEL)
    _, high = logs.interval(1 - 2 * question.alpha)
    alarmed = (adjusted <= question.alpha) & (column(low) > (0.0 if guard is None else guard))
    cleared = ~alarmed & (column(high) < np.log1p(plan.gate))
    ids = np.array([case.id for case in plan.cases], dtype=object)
    return Gate(*(ids[which].tolist() for which in (alarmed, cleared, ~(alarmed | cleared))))
