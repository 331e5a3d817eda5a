"""The canary of a run: whom it repeats, and what that shows."""

from dataclasses import dataclass, field, replace

import numpy as np

from sqlitmus.analysis.noise import group_guards, letter, noise, typical_errors
from sqlitmus.analysis.pairs import CANARY, TWIN, Pairs, compare_canary, comparisons
from sqlitmus.analysis.question import Question
from sqlitmus.catalog.plan import Plan
from sqlitmus.results.comparisons import Comparison
from sqlitmus.stats.estimate import Array
from sqlitmus.stats.grade import Grades
from sqlitmus.vocabulary.terms import Grade


@dataclass(frozen=True, slots=True)
class Canary:
    """What the canary showed: per case its comparison with whom it repeats, the grade's letter and
    the guard; of the cases that it repeats all comparisons and the grades; the guards of groups."""

    comparisons: list[Comparison | None]
    letters: list[Grade | None]
    guard: Array | None = None
    twice: Pairs | None = None
    grades: Grades | None = None
    groups: dict[str, float] = field(default_factory=dict[str, float])


def canary_of(plan: Plan, times: Array, names: list[str], question: Question) -> Canary:
    """What the canary of `times` (cases x runners and canary x blocks) showed; nothing where the
    plan has none."""
    twins, repeated = plan.twins(), plan.repeated()
    compared: list[Comparison | None] = [None] * len(plan.cases)
    letters: list[Grade | None] = [None] * len(plan.cases)
    if twins is None:
        return Canary(compared, letters)
    whom = [twins[case] for case in repeated]
    twin = compare_canary(times[repeated], whom, question)
    grades = noise(twin, typical_errors(times[repeated], names, question))
    guard = np.zeros(len(plan.cases))
    guard[repeated] = grades.guard
    twice = (columns.of(CANARY, TWIN) for columns in comparisons(twin))
    for case, place, name, pair in zip(repeated, whom, grades.names(), twice, strict=True):
        compared[case] = pair and replace(pair, reference=names[place])
        letters[case] = letter(name)
    groups = group_guards(twin, [plan.cases[case].group for case in repeated])
    return Canary(compared, letters, guard, twin, grades, groups)
