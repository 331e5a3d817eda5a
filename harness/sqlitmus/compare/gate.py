"""Which cases of a comparison are slower by more than its gate allows. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sqlitmus.analysis.cells import optional
from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.noise import guard_of
from sqlitmus.analysis.outcomes import Outcomes, judge, usable
from sqlitmus.analysis.pairs import compare_with
from sqlitmus.analysis.question import Question
from sqlitmus.analysis.untold import masked, untold
from sqlitmus.results.estimate import Interval
from sqlitmus.stats.estimate import LEVEL, Array
from sqlitmus.stats.multiplicity import adjust, beyond_margin_p
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary.nouns import listed


@dataclass(frozen=True, slots=True)
class Gate:
    """Ids of cases: `alarmed` are slower beyond the gate, `cleared` are not, `open` are neither,
    and of those in `unmeasured` a side has no time; its values say which, and why.

    `ratios` are times of the new subject over the base's, of the cases that have one.
    """

    alarmed: list[str]
    cleared: list[str]
    open: list[str]
    unmeasured: dict[str, str] = field(default_factory=dict[str, str])
    ratios: dict[str, Interval] = field(default_factory=dict[str, Interval], compare=False)


def gate(run: RunData) -> Gate:
    """Decide the gate for the new subject of `run` against its reference.

    Each planned look decides at Pocock's level, so that all together err with 5 %. Alarmed: p of
    lying within the gate, corrected by Holm over all cases, is at most that level, and the whole
    interval is beyond the canary's own noise. Cleared: the upper end of the one-sided interval at
    that level lies below the gate. Open cases include those that the run has not come to. Raises
    ValueError for a plan without a gate.
    """
    plan = run.plan
    if plan.gate is None:
        raise ValueError(f"{plan.run} has no gate")
    names = plan.names
    question = Question.of(plan)
    outcomes = judge(run)
    times = masked(usable(run.samples.time, outcomes), untold(run))
    guard = guard_of(times, plan.twins(), question)
    logs = compare_with(times[:, :-1], names.index(plan.reference), question).logs
    shape = (len(plan.cases), len(names))
    (new,) = (at for at, name in enumerate(names) if name != plan.reference)

    def column(values: Array) -> Array:
        return values.reshape(shape)[:, new]

    testable = (logs.count >= MIN_BLOCKS) & ~np.isnan(logs.error)
    p = np.where(testable & (logs.mean > 0), beyond_margin_p(logs, plan.gate), 1.0)
    adjusted = adjust(column(np.where(testable, p, np.nan)), "holm")
    low, high = logs.interval(LEVEL)
    _, bound = logs.interval(1 - 2 * question.alpha)
    alarmed = (adjusted <= question.alpha) & (column(low) > (0.0 if guard is None else guard))
    cleared = ~alarmed & (column(bound) < np.log1p(plan.gate))
    without = dict(_unmeasured(run, outcomes))
    ids = np.array([case.id for case in plan.cases], dtype=object)
    left = ~(alarmed | cleared | np.isin(ids, list(without)))
    intervals = zip(*(optional(np.exp(column(v))) for v in (logs.mean, low, high)), strict=True)
    ratios = {
        case: Interval(value, *ends)
        for case, (value, *ends) in zip(ids.tolist(), intervals, strict=True)
        if value is not None
    }
    lists = [ids[which].tolist() for which in (alarmed, cleared, left)]
    return Gate(lists[0], lists[1], lists[2], without, ratios)


def unmeasured(run: RunData) -> dict[str, str]:
    """The cases of a comparison in which a side has no time and will get none: which, and why."""
    return dict(_unmeasured(run, judge(run)))


def _unmeasured(run: RunData, outcomes: Outcomes) -> Iterator[tuple[str, str]]:
    hidden = untold(run)
    for number, case in enumerate(run.plan.cases):
        sides: dict[str, list[str]] = {}
        for at, runner in enumerate(run.plan.runners):
            if not outcomes.expected[number, at]:
                reason = " ".join((outcomes.reason[number][at] or "").split())
                sides.setdefault(f"{outcomes.outcome[number][at]}: {reason}", []).append(
                    runner.name
                )
            elif (number, at) in hidden:
                sides.setdefault(hidden[number, at], []).append(runner.name)
        if sides:
            yield case.id, "; ".join(f"{listed(names)}: {why}" for why, names in sides.items())
