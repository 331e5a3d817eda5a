"""A case of the report, made of what was measured in it."""

from collections.abc import Sequence

from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.results.comparisons import Comparison, Comparisons
from sqlitmus.results.report import Case, Cell
from sqlitmus.vocabulary.nouns import by_value
from sqlitmus.vocabulary.queryplans import modern
from sqlitmus.vocabulary.terms import Grade


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
