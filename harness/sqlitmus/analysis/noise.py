"""How noisy the run was, from its canary, in numbers and in words."""

from collections.abc import Sequence
from math import inf

import numpy as np

from sqlitmus.analysis.pairs import Pairs, Question, compare_canary
from sqlitmus.results.report import Noise
from sqlitmus.stats.estimate import Array, TrimmedMeans
from sqlitmus.stats.grade import Grades, grade
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.terms import Grade

_MEANING = {
    "A": "differences of about 1 % can be believed",
    "B": "differences of a few percent can be believed",
    "C": "only differences larger than the noise get a verdict",
}


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


def told(grades: Grades | None) -> Noise:
    """Grade and consequence as sentences."""
    if grades is None:
        return Noise(
            None,
            "No canary ran, so the noise of this run is not known.",
            "Intervals and verdicts rest on the blocks alone.",
        )
    names = grades.names()
    parts = [f"{letter} in {names.count(letter)}" for letter in "ABC" if letter in names]
    summary = (
        f"Noise grade {grades.run}: {', '.join(parts)} of {counted(len(names), 'case')}; "
        f"{_MEANING[grades.run]}."
    )
    why = grades.reasons()
    if "run differs" in why:
        summary += (
            f" The canary differs from itself in {grades.missed} of "
            f"{counted(grades.tested, 'case')} at 1 %, more than chance explains: this run's "
            "intervals are too narrow."
        )
    if "C" not in names:
        return Noise(letter(grades.run), summary, "Every verdict stands as it is.")
    known = grades.guard[np.isfinite(grades.guard) & (grades.guard > 0)]
    consequence = (
        f"In the {counted(names.count('C'), 'case')} of grade C a verdict needs the whole "
        "interval beyond what the canary did to itself"
    )
    if len(known):
        low, high = (f"{100 * np.expm1(end):.1f} %" for end in (known.min(), known.max()))
        span = low if low == high else f"{low} to {high}"
        consequence += f" ({span})"
    untested = why.count("untested")
    if untested:
        consequence += f"; {counted(untested, 'case')} could not be graded and get none"
    return Noise(letter(grades.run), summary, consequence + ".")


def letter(name: str) -> Grade:
    """The grade of that name."""
    return "A" if name == "A" else "B" if name == "B" else "C"
