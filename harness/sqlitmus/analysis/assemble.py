"""A run → the report model. Pure: no clock, no files, no randomness."""

import numpy as np

from sqlitmus.errors import UsageError
from sqlitmus.report.model import VERSION, Case, Cell, Comparison, Comparisons, Report
from sqlitmus.stats.verdict import MIN_BLOCKS

from . import provenance
from .cells import build_cells
from .checks import answered, disagree, proven
from .data import Plan, PlannedCase, RunData
from .headline import canary_summary, headline
from .method import method
from .notices import cores, notices, plan_note
from .outcomes import complete_blocks, judge, usable_times
from .pairs import CANARY, compare_all, compare_canary, comparisons
from .scaling import scaling
from .standings import standings


def analyse(run: RunData, reference: str | None = None) -> Report:
    """Everything the report shows, from the samples of `run`.

    `reference` is the runner that the report shows the others against at first; None takes the
    plan's. Raises UsageError if it is no runner of the run that took part.
    """
    plan = run.plan
    shown = _reference(plan, reference)
    names = [runner.name for runner in plan.runners]
    outcomes = judge(run)
    complete = complete_blocks(run, outcomes)
    times = usable_times(run, outcomes)
    ok = outcomes.ok[:, :-1]
    pairs = compare_all(times[:, :-1], names, plan.margin)
    canaries: list[Comparison | None] = [None] * len(plan.cases)
    if plan.canary is not None:
        twin = compare_canary(times, names.index(plan.canary), names, plan.margin)
        canaries = [found.of(CANARY, plan.canary) for found in comparisons(twin)]
    answers = [answered(run, case) for case in plan.cases]
    cases = [
        _case(case, proven(checks), cells, compared, canary)
        for case, checks, cells, compared, canary in zip(
            plan.cases,
            answers,
            build_cells(run, outcomes, times),
            comparisons(pairs),
            canaries,
            strict=True,
        )
    ]
    groups = list(dict.fromkeys(case.group for case in cases))
    ranking = standings(pairs, ok, [case.group for case in cases], groups)
    runners = provenance.runners(plan)
    facts = provenance.facts(run)
    canary = canary_summary(plan.canary, canaries)
    disagreeing = [c.id for c, checks in zip(plan.cases, answers, strict=True) if disagree(checks)]
    flat = int((np.isnan(pairs.logs.error) & (pairs.logs.count >= MIN_BLOCKS)).sum())
    return Report(
        version=VERSION,
        title=f"SQLite across runtimes: {plan.suite}",
        run=plan.run,
        label=plan.label,
        suite=plan.suite,
        created=plan.created,
        sqlitmus_version=plan.sqlitmus,
        seed=plan.seed,
        blocks_planned=plan.blocks,
        blocks_complete=complete,
        margin=plan.margin,
        reference=shown,
        floor=plan.floor,
        headline=headline(runners, cases, ranking, complete),
        notices=notices(run, cases, facts, disagreeing, complete, flat),
        canary_summary=canary,
        runners=runners,
        groups=groups,
        standings=ranking,
        cases=cases,
        scaling=scaling(cases, [case.workers for case in plan.cases], cores(run.machine)),
        provenance=facts,
        machine=run.machine,
        method=method(plan),
        rerun=plan.rerun,
    )


def _reference(plan: Plan, wanted: str | None) -> str:
    name = plan.reference if wanted is None else wanted
    present = [runner.name for runner in plan.runners if runner.missing is None]
    if name in present:
        return name
    if wanted is not None:
        raise UsageError(
            f"{wanted!r} cannot be the reference: it took no part in this run. "
            f"Choose one of {', '.join(present) or 'none (no runner was present)'}."
        )
    return present[0] if present else name


def _case(
    case: PlannedCase,
    checks: str,
    cells: list[Cell],
    compared: Comparisons,
    canary: Comparison | None,
) -> Case:
    differing = plan_note([(c.runner, c.plans) for c in cells if c.outcome == "ok"])
    return Case(
        id=case.id,
        scenario=case.scenario,
        title=case.title,
        question=case.question,
        group=case.group,
        bound_by=case.bound_by,
        axes={name: str(value) for name, value in case.axes.items()},
        metric=case.metric,
        unit=case.unit,
        sql=case.sql,
        pragmas=[(name, str(value)) for name, value in case.pragmas],
        operations=case.operations,
        checks=checks,
        cells=cells,
        comparisons=compared,
        canary=canary,
        notes=case.notes + ([differing] if differing else []),
    )
