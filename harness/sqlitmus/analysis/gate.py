"""Which cases of a comparison are slower by more than a gate allows. Pure."""

from dataclasses import dataclass

import numpy as np

from sqlitmus.stats.estimate import LEVEL
from sqlitmus.stats.multiplicity import adjust, beyond_margin_p, pocock
from sqlitmus.stats.verdict import MIN_BLOCKS

from .data import RunData
from .noise import noise
from .outcomes import judge, usable
from .pairs import Question, compare_canary, compare_with


@dataclass(frozen=True, slots=True)
class Gate:
    """Ids of cases: `alarmed` are slower beyond the gate, `cleared` are not, `open` are neither."""

    alarmed: list[str]
    cleared: list[str]
    open: list[str]


def gate(run: RunData, new: str, share: float, looks: int) -> Gate:
    """The new subject of `run` against its reference; `share` is 0.05 for 5 %.

    Each of `looks` decides at Pocock's level, so that all together err with 5 %. Alarmed: p of
    lying within the gate, corrected by Holm over all cases, is at most that level, and the whole
    interval is beyond the canary's own noise. Cleared: the upper end of the one-sided interval at
    that level lies below the gate.
    """
    plan = run.plan
    names = [runner.name for runner in plan.runners]
    question = Question(plan.margin, plan.correction)
    times = usable(run.samples.time, judge(run))
    guard = np.zeros(len(plan.cases))
    if plan.canary is not None:
        guard = noise(compare_canary(times, names.index(plan.canary), names, question)).guard
    shape = (len(plan.cases), len(names))
    found = compare_with(times[:, :-1], names.index(plan.reference), question).logs
    level = pocock(looks)
    low, _ = found.interval(LEVEL)
    _, high = found.interval(1 - 2 * level)
    testable = (found.count >= MIN_BLOCKS) & ~np.isnan(found.error)
    at = names.index(new)

    def column(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[float]:
        return values.reshape(shape)[:, at].tolist()

    p = np.where(testable & (found.mean > 0), beyond_margin_p(found, share), 1.0)
    p = adjust(np.where(testable, p, np.nan).reshape(shape)[:, at], "holm")
    alarmed: list[str] = []
    cleared: list[str] = []
    undecided: list[str] = []
    rows = zip(plan.cases, p.tolist(), column(low), column(high), guard.tolist(), strict=True)
    for case, adjusted, below, above, noisy in rows:
        if adjusted <= level and below > noisy:
            alarmed.append(case.id)
        elif above < np.log1p(share):
            cleared.append(case.id)
        else:
            undecided.append(case.id)
    return Gate(alarmed, cleared, undecided)
