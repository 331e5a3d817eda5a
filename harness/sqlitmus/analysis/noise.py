"""How noisy the run was, from its canary."""

from collections.abc import Sequence
from typing import get_args

import numpy as np

from sqlitmus.analysis.logratios import estimates, log_ratios
from sqlitmus.analysis.pairs import CANARY, Pairs, compare_canary, divisors, independent
from sqlitmus.analysis.question import Question
from sqlitmus.results.notices import Noise
from sqlitmus.stats.estimate import Array
from sqlitmus.stats.grade import Grades, grade
from sqlitmus.stats.power import shift
from sqlitmus.vocabulary.terms import Grade


def noise(canary: Pairs, typical: Array | None = None) -> Grades:
    """The grade of each case: its letter from the `typical` error of its comparisons, its guard
    from the canary's comparison with the runner it repeats."""
    return grade(canary.logs, typical)


def typical_errors(times: Array, names: list[str], question: Question) -> Array:
    """Per case the median standard error of all its comparisons, the canary's among them.

    `times` is cases x series x blocks, the canary the last series; NaN where no pair has an error.
    """
    rows = log_ratios(times, [*names, CANARY])
    errors = estimates(rows, question.sessions)[0].error
    return _middle(errors.reshape(len(times), len(rows) // max(len(times), 1)))


def findable(pairs: Pairs, question: Question) -> Array:
    """Per case the log ratio that half of its comparisons find with 80 % power, by the correction
    at work; NaN where none has an error."""
    different, _ = divisors(pairs.verdicts, question)
    needed = shift(pairs.logs.freedom.astype(np.float64), different) * pairs.logs.error
    return _middle(needed.reshape(pairs.cases, len(pairs.indices)))


def guard_of(values: Array, twins: Sequence[int] | None, question: Question) -> Array | None:
    """How far from 0 a log ratio of each case must lie where the canary shows that intervals are
    too narrow, else 0; None without a canary.

    `values` is cases x series x blocks, the canary the last series; `twins` are whom it repeats.
    """
    return None if twins is None else noise(compare_canary(values, twins, question)).guard


def group_guards(canary: Pairs, groups: Sequence[str]) -> dict[str, float]:
    """Per group how far from 0 a mean log ratio over its cases must lie; `groups` is one per case.

    The rule of a single case, asked of the mean over the group's cases.
    """
    names, tested = np.array(groups), ~np.isnan(canary.logs.error)
    return {
        group: float(grade(independent(canary, (names == group) & tested)).guard[0])
        for group in dict.fromkeys(groups)
    }


def summarised(grades: Grades | None, least: Array) -> Noise:
    """The grades of a run's cases and what follows from them; `grade` None without a canary.

    `least` is per case the log ratio that a typical comparison finds with 80 % power.
    """
    if grades is None:
        return Noise(None)
    names = [letter(name) for name in grades.names()]
    why = grades.reasons()
    wide = np.array([name == "C" for name in names], dtype=np.bool_) & np.isfinite(least)
    return Noise(
        letter(grades.run),
        {grade: names.count(grade) for grade in get_args(Grade) if grade in names},
        grades.missed if "run differs" in why else 0,
        grades.tested,
        _span(least[wide]),
        _span(grades.guard[grades.guard > 0]),
        int(np.count_nonzero(grades.guard)),
        why.count("untested"),
    )


def _middle(rows: Array) -> Array:
    """The median of each row without its NaN; NaN for a row of those only."""
    finite = ~np.isnan(rows).all(axis=1)
    middle = np.full(len(rows), np.nan)
    middle[finite] = np.nanmedian(rows[finite], axis=1)
    return middle


def _span(logs: Array) -> tuple[float, float] | None:
    """The least and the greatest of log ratios as shares; None without any."""
    return (float(np.expm1(logs.min())), float(np.expm1(logs.max()))) if len(logs) else None


def letter(name: str) -> Grade:
    """The grade of that name."""
    return "A" if name == "A" else "B" if name == "B" else "C"
