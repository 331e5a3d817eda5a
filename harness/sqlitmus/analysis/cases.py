"""A case of the report, made of what was measured in it; its figures are each judged by
themselves.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from sqlitmus.analysis.cells import optional
from sqlitmus.analysis.pairs import Question, compare_with, guard_of
from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.results.ranking import Comparison, Comparisons
from sqlitmus.results.report import Case, Cell, Interval, Measure
from sqlitmus.stats.estimate import Array, medians
from sqlitmus.vocabulary.figures import Alike, Figure
from sqlitmus.vocabulary.text import by_value, modern
from sqlitmus.vocabulary.verdicts import Grade


def measures(
    figure: Figure,
    values: Array,
    work: Sequence[Alike],
    names: list[str],
    reference: str,
    twins: Sequence[int] | None,
    question: Question,
) -> list[list[Measure | None]]:
    """Per case and runner the `figure` and, if it is judged, how it compares with the reference's.

    `values` is cases x series x blocks, NaN where there is none, the canary the last series;
    `work` says per case how far the runners did the same, `twins` whom the canary repeats. Verdicts
    are corrected together, and guarded by what the canary says of this very figure.
    """
    own = names.index(reference)
    runners = _only(values, map(figure.shown, work))[:, :-1]
    shape = runners.shape[:2]
    typical = optional(_over_blocks(figure, runners.reshape(-1, runners.shape[2])))
    if not any(map(figure.compared, work)):
        return _by_case([None if v is None else Measure(v) for v in typical], shape[1])
    equal = _only(values, map(figure.compared, work))
    compared = compare_with(equal[:, :-1], own, question, guard_of(equal, twins, question))
    low, high = compared.logs.interval()
    columns = (
        typical,
        *(optional(np.exp(column)) for column in (compared.logs.mean, low, high)),
        compared.verdicts.names().tolist(),
    )
    flat = [
        None
        if value is None
        else Measure(value)
        if ratio is None
        else Measure(value, Interval(ratio, below, above), verdict)
        for value, ratio, below, above, verdict in zip(*columns, strict=True)
    ]
    return _by_case(flat, shape[1])


def _only(values: Array, cases: Iterable[bool]) -> Array:
    """The values of those cases, NaN in the others."""
    return np.where(np.array([*cases])[:, None, None], values, np.nan)


def _over_blocks(figure: Figure, rows: Array) -> Array:
    """One value per row of blocks; NaN without any."""
    if figure.over_blocks == "median":
        return medians(rows).value
    known = ~np.isnan(rows)
    count = known.sum(axis=1)
    total = np.where(known, rows, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _by_case(flat: list[Measure | None], width: int) -> list[list[Measure | None]]:
    return [flat[start : start + width] for start in range(0, len(flat), width)]


# A case of the report, made of what was measured in it.


def case_of(
    case: PlannedCase,
    checks: str,
    work: str,
    cells: list[Cell],
    compared: Comparisons,
    canary: Comparison | None,
    grade: Grade | None,
) -> Case:
    """The planned `case` with its `cells` in the order of runners; `checks` says what was proven
    of its answers, `work` what a process does."""
    differing = _plan_note([(c.runner, c.plans) for c in cells if c.outcome == "ok"])
    return Case(
        id=case.id,
        scenario=case.scenario,
        title=case.title,
        question=case.question,
        group=case.group,
        bound_by=case.bound_by,
        axes=case.axes,
        metric=case.metric,
        unit=case.unit,
        sql=case.sql,
        pragmas=[(name, str(value)) for name, value in case.pragmas],
        operations=max((c.operations for c in cells), default=case.operations),
        checks=checks,
        work=work,
        cells=cells,
        comparisons=compared,
        canary=canary,
        notes=case.notes + ([differing] if differing else []),
        grade=grade,
    )


def _plan_note(cells: Sequence[tuple[str, list[list[str]]]]) -> str | None:
    """A note if query plans differ between `cells` (runner, plan of each step), None if not."""
    plans = {
        runner: "; ".join(" > ".join(modern(line) for line in step) for step in plan)
        for runner, plan in cells
        if plan
    }
    return f"Query plans differ. {by_value(plans)}." if len(set(plans.values())) > 1 else None
