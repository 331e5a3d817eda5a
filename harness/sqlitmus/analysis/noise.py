"""How noisy the run was, from its canary."""

from collections.abc import Sequence
from math import inf
from typing import get_args

import numpy as np

from sqlitmus.analysis.pairs import Pairs, Question, compare_canary
from sqlitmus.results.notices import Noise
from sqlitmus.stats.estimate import Array, TrimmedMeans
from sqlitmus.stats.grade import Grades, grade
from sqlitmus.vocabulary.terms import Grade


def noise(canary: Pairs) -> Grades:
    """The grade of each case from the canary's comparison with the runner it repeats."""
    return grade(canary.logs)


def guard_of(values: Array, twins: Sequence[int] | None, question: Question) -> Array | None:
    """How far from 0 a log ratio of each case must lie, from the canary's own; None without one.

    `values` is cases x series x blocks, the canary the last series; `twins` are whom it repeats.
    """
    return None if twins is None else noise(compare_canary(values, twins, question)).guard


def group_guards(canary: Pairs, groups: Sequence[str]) -> dict[str, float]:
    """Per group how far from 0 a mean log ratio over its cases must lie; `groups` is one per case.

    The rule of a single case, asked of the mean over the group's cases.
    """
    logs, names = canary.logs, np.array(groups)
    found: dict[str, float] = {}
    for group in dict.fromkeys(groups):
        rows = (names == group) & ~np.isnan(logs.error)
        count = int(rows.sum())
        if not count:
            found[group] = inf
            continue
        mean = TrimmedMeans(
            np.array([logs.mean[rows].mean()]),
            np.array([np.sqrt(np.square(logs.error[rows]).sum()) / count]),
            np.array([logs.freedom[rows].min()]),
            np.array([logs.count[rows].min()]),
        )
        found[group] = float(grade(mean).guard[0])
    return found


def summarised(grades: Grades | None) -> Noise:
    """The grades of a run's cases and what follows from them; `grade` None without a canary."""
    if grades is None:
        return Noise(None)
    names = [letter(name) for name in grades.names()]
    why = grades.reasons()
    finite = grades.guard[np.isfinite(grades.guard) & (grades.guard > 0)]
    guards = (float(np.expm1(finite.min())), float(np.expm1(finite.max()))) if len(finite) else None
    return Noise(
        letter(grades.run),
        {grade: names.count(grade) for grade in get_args(Grade) if grade in names},
        grades.missed if "run differs" in why else 0,
        grades.tested,
        guards,
        why.count("untested"),
    )


def letter(name: str) -> Grade:
    """The grade of that name."""
    return "A" if name == "A" else "B" if name == "B" else "C"
