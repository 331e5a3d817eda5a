"""What each of two finished runs has of the cases that both measured."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.noise import guard_of
from sqlitmus.analysis.outcomes import judge, usable
from sqlitmus.analysis.question import Question
from sqlitmus.analysis.untold import masked, untold
from sqlitmus.stats.estimate import Array


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """What one run has of the common cases: log times (cases x series x blocks), which cells are
    ok, and what its canary asks for, a log ratio per case."""

    names: list[str]
    question: Question
    logs: Array
    ok: NDArray[np.bool_]
    guard: Array

    def at(self, runners: Sequence[str]) -> list[int]:
        """Their places among the series."""
        return [self.names.index(name) for name in runners]


def side_of(run: RunData, ids: Sequence[str]) -> Side:
    """What `run` has of the cases `ids`; without a canary it asks for nothing."""
    names, question = run.plan.names, Question.of(run.plan)
    outcomes = judge(run)
    hidden = untold(run)
    times = masked(usable(run.samples.time, outcomes), hidden)
    ok = outcomes.ok.copy()
    for place in hidden:
        ok[place] = False
    guard = guard_of(times, run.plan.twins(), question)
    if guard is None:
        guard = np.zeros(len(times))
    of = {case.id: number for number, case in enumerate(run.plan.cases)}
    order = [of[case] for case in ids]
    return Side(names, question, np.log(times[order]), ok[order], guard[order])


def series_of(
    side: Side, subject: str, controls: Sequence[str], steady: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """Log times of the subject (cases x blocks) and of the controls (cases x controls x blocks),
    NaN where a control is not `steady` in that case."""
    theirs = np.where(steady[:, :, None], side.logs[:, side.at(controls)], np.nan)
    return side.logs[:, side.names.index(subject)], theirs
