"""A run becomes the report model: read, judged, compared, ranked. Pure but for `load`."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import numpy as np

from sqlitmus.analysis import provenance
from sqlitmus.analysis.cells import (
    Exclusions,
    alike,
    answered,
    build_cells,
    complete_blocks,
    disagree,
    judge,
    proven,
    ratios,
    sentences,
    usable,
)
from sqlitmus.analysis.choices import choices
from sqlitmus.analysis.claims import claimed, claims_headline
from sqlitmus.analysis.data import RunData, load
from sqlitmus.analysis.notices import notices
from sqlitmus.analysis.pairs import (
    Question,
    canary_comparisons,
    compare_all,
    compare_with,
    comparisons,
    detectable,
)
from sqlitmus.analysis.provenance import block_seconds, method, passed, taken
from sqlitmus.analysis.ranking import canary_summary, headline, standings
from sqlitmus.analysis.recommendation import advise, latencies, over_limits, recommend
from sqlitmus.analysis.tails import scaling, tails
from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.catalog.plan import Plan
from sqlitmus.catalog.presets import Preset, chosen
from sqlitmus.results.ranking import Comparisons, Contrast
from sqlitmus.results.recommendation import Again, Recommendation
from sqlitmus.results.report import VERSION, Case, Cell, Measure, Recorded, Report
from sqlitmus.stats.estimate import Array, medians, optional
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.figures import Alike, Figure
from sqlitmus.vocabulary.text import by_value, listed, modern
from sqlitmus.vocabulary.verdicts import RunKind, Verdict


def analyse(run: RunData, reference: str | None = None, weights: str | None = None) -> Report:
    """Everything the report shows, from the samples of `run`.

    `reference` is the runner that the report shows the others against at first; None takes the
    plan's. `weights` names the preset that stands in front, or is calls of cases per 1,000 requests
    such as `get-pk=600,all=250`. Raises UsageError for a runner that took no part, and for weights
    that the run cannot have.
    """
    plan = run.plan
    shown = _reference(plan, reference)
    names = plan.names
    question = Question.of(plan)
    outcomes = judge(run)
    complete = complete_blocks(run, outcomes)
    times = usable(run.samples.time, outcomes)
    excluded = Exclusions.of(run)
    ranked = excluded.without(times)
    ok = np.logical_not(np.isnan(ranked[:, :-1]).all(axis=2))
    twins = canary_comparisons(plan, ranked, names, question)
    pairs = compare_all(ranked[:, :-1], names, question)
    compared = comparisons(pairs)
    measured: dict[str, list[list[Measure | None]]] = {}
    work: list[Alike] = [alike(plan, case) for case in plan.cases]
    for figure in figures.FIGURES:
        apart = [not (case.resets and figure.with_resets) for case in plan.cases]
        values = _only(usable(run.samples.figures[figure.name], outcomes), apart)
        measured[figure.name] = measures(figure, values, work, names, shown, question)
    cells = build_cells(run, outcomes, excluded, times, measured, compared)
    answers = [answered(run, case) for case in plan.cases]
    cases = [
        case_of(case, proven(checks), sentences(plan, case, counted), row, columns, twin, least)
        for case, checks, counted, row, columns, twin, least in zip(
            *(plan.cases, answers, measured["checkpoints"], cells, compared, twins),
            detectable(pairs, question),
            strict=True,
        )
    ]
    groups = list(dict.fromkeys(case.group for case in cases))
    of = [case.group for case in cases]
    ranking = standings(pairs, ok, of, groups, question, ranked[:, :-1])
    runners = provenance.runners(plan)
    facts = provenance.facts(run)
    disagreeing = [c.id for c, checks in zip(plan.cases, answers, strict=True) if disagree(checks)]
    flat = int((np.isnan(pairs.logs.error) & (pairs.logs.count >= MIN_BLOCKS)).sum())
    published = claimed(run, outcomes, runners)
    statements = claims_headline(published)
    settings = advise(run, outcomes, excluded)
    if not published:
        statements = headline(runners, cases, ranking, complete, shown, plan.margin)
    timed = latencies(run, cases)
    advice = settings or recommend(
        *(plan, cases, pairs, ranked[:, :-1], question, timed, over_limits(run, timed))
    )
    if advice:
        statements = [advice, *(s for s in statements if s.kind not in ("group", "no order"))]
    again = Again(plan.rerun, block_seconds(run.blocks, plan))
    if isinstance(advice, Recommendation):
        statements = [replace(s, again=again) if s is advice else s for s in statements]
    weighed = choices(
        *(_presets(run, weights), runners, cases, [case.per_operation for case in plan.cases]),
        *(pairs, ok, ranked[:, :-1], question),
    )
    if weighed[0]:
        statements = [replace(weighed[0], again=again), *statements]
    # whom the canary repeats; none where that is another runner in each case
    whose = plan.canary if {*filter(None, plan.canaries.values())} <= {plan.canary} else None
    control = canary_summary(whose, twins) if plan.canary else None
    return Report(
        version=VERSION,
        **{name: getattr(plan, name) for name in _OF_PLAN},
        title=_title(plan, shown),
        sqlitmus_version=plan.sqlitmus,
        blocks_planned=plan.blocks,
        blocks_complete=complete,
        reference=shown,
        headline=[*map(Recorded, run.gate), *statements],
        notices=notices(run, cases, facts, control, disagreeing, complete, flat, excluded),
        canary=control,
        blocks=[passed(block) for block in run.blocks],
        selftest=run.selftest,
        runners=runners,
        groups=groups,
        standings=ranking,
        cases=cases,
        scaling=scaling(cases, [case.workers for case in plan.cases], run.cores),
        provenance=facts,
        machine=run.machine,
        method=method(plan),
        claims=published,
        weighing=weighed[1],
        tails=tails(run, outcomes, excluded.by["the load generator fell behind"]),
        taken=taken(run.samples),
    )


_OF_PLAN = (
    *("kind", "run", "label", "suite", "created", "seed", "sessions", "sittings", "margin"),
    *("correction", "floor", "rerun"),
)


def _presets(run: RunData, weights: str | None) -> dict[str, Preset]:
    """The presets that decide the run, `weights` first; UsageError for these where none do. None of
    a run that has the cases of no preset, unless somebody asks."""
    plan = run.plan
    if plan.kind == "suite" and plan.workload is None:
        cases = {case.id for case in plan.cases}
        presets = chosen(weights, run.presets, cases=cases)
        lacking = {n: not set(preset.calls) <= cases for n, preset in presets.items()}
        # those that decide something stand in front, but for the one that is asked for
        first, rest = (list(presets)[:1], list(presets)[1:]) if weights else ([], list(presets))
        order = [*first, *sorted(rest, key=lacking.__getitem__)]
        return {n: presets[n] for n in order} if first or not all(lacking.values()) else {}
    if weights is not None:
        what = "a workload has weights of its own" if plan.workload else f"not one of {plan.kind}"
        raise UsageError(f"--weights {weights!r}: only the run of a suite has them; {what}")
    return {}


def _title(plan: Plan, base: str) -> str:
    others = [runner.name for runner in plan.runners if runner.name != base]
    titles: dict[RunKind, str] = {
        "suite": f"SQLite across runtimes: {plan.suite}",
        "compare": f"{listed(others)} against {base}",
        "claims": "Published claims, measured here",
        "advise": f"What settings do for {base}",
        "selftest": f"Self-test: equal copies of {listed(plan.subjects)}",
    }
    return titles[plan.kind]


def _reference(plan: Plan, option: str | None) -> str:
    name = plan.reference if option is None else option
    present = [runner.name for runner in plan.runners if runner.missing is None]
    if name in present:
        return name
    if option is not None:
        raise UsageError(
            f"{option!r} cannot be the reference: it took no part in this run. "
            f"Choose one of {', '.join(present) or 'none (no runner was present)'}."
        )
    return present[0] if present else name


# Which cases of a run need no further block, at a planned look.

OPEN = (None, Verdict.NOT_RESOLVED, Verdict.NOT_TESTABLE)


def settled(directory: Path) -> list[str]:
    """The cases in which every comparison has an answer at an earlier look's share of the error."""
    run = load(directory)
    plan = run.plan
    early = plan.ended | {case.id: plan.blocks for case in plan.cases if case.id not in plan.ended}
    report = analyse(replace(run, plan=plan.model_copy(update={"ended": early})))
    return [case.id for case in report.cases if case.id not in plan.ended and _settled(case)]


def _settled(case: Case) -> bool:
    """Whether each pair of runners that are ok has an answer; a runner alone never has one."""
    names = [cell.runner for cell in case.cells if cell.outcome == "ok"]
    pairs = [(name, other) for place, name in enumerate(names) for other in names[:place]]
    compared = [case.comparisons.of(*pair) for pair in pairs]
    return bool(compared) and all(c and c.verdict not in OPEN for c in compared)


def measures(
    figure: Figure,
    values: Array,
    work: Sequence[Alike],
    names: list[str],
    reference: str,
    question: Question,
) -> list[list[Measure | None]]:
    """Per case and runner the `figure` and, if it is judged, how it compares with the reference's.

    `values` is cases x series x blocks, NaN where there is none, the canary the last series;
    `work` says per case how far the runners did the same. Verdicts are corrected together.
    """
    base = names.index(reference)
    runners = _only(values, map(figure.shown, work))[:, :-1]
    shape = runners.shape[:2]
    if np.isnan(runners).all():
        return [[None] * shape[1] for _ in range(shape[0])]
    typical = optional(_over_blocks(figure, runners.reshape(-1, runners.shape[2])))
    if not any(map(figure.compared, work)):
        return _by_case([None if v is None else Measure(v) for v in typical], shape[1])
    equal = _only(values, map(figure.compared, work))
    of = compare_with(equal[:, :-1], base, question)
    columns = (typical, ratios(of.logs.mean, of.low, of.high), of.verdicts.names().tolist())
    flat = [
        None
        if value is None
        else Measure(value, ratio and Contrast(name, reference, ratio, verdict))
        for value, ratio, verdict, name in zip(*columns, cycle(names), strict=False)
    ]
    return _by_case(flat, shape[1])


def _only(values: Array, cases: Iterable[bool]) -> Array:
    """The values of those cases, NaN in the others."""
    return np.where(np.array([*cases])[:, None, None], values, np.nan)


def _over_blocks(figure: Figure, rows: Array) -> Array:
    """One value per row of blocks; NaN without any."""
    if figure.over_blocks == "median":
        return medians(rows).value
    finite = ~np.isnan(rows)
    count = finite.sum(axis=1)
    total = np.where(finite, rows, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _by_case(flat: list[Measure | None], width: int) -> list[list[Measure | None]]:
    return [flat[start : start + width] for start in range(0, len(flat), width)]


_AS_PLANNED = (
    *("id", "scenario", "title", "question", "group", "bound_by", "axes", "metric", "unit", "sql"),
)


def case_of(
    case: PlannedCase,
    checks: str,
    work: str,
    cells: list[Cell],
    compared: Comparisons,
    canary: Contrast | None,
    detectable: float | None,
) -> Case:
    """The planned `case` with its `cells` in the order of runners; `checks` says what was proven
    of its answers, `work` what a process does."""
    differing = _plan_note([(c.runner, c.plans) for c in cells if c.outcome == "ok"])
    return Case(
        **{name: getattr(case, name) for name in _AS_PLANNED},
        pragmas=[(name, str(value)) for name, value in case.pragmas],
        operations=max((c.operations for c in cells), default=case.operations),
        checks=checks,
        work=work,
        cells=cells,
        comparisons=compared,
        canary=canary,
        notes=case.notes + ([differing] if differing else []),
        detectable=detectable,
    )


def _plan_note(cells: Sequence[tuple[str, list[list[str]]]]) -> str | None:
    """A note if query plans differ between `cells` (runner, plan of each step), None if not."""
    plans = {
        runner: "; ".join(" > ".join(modern(line) for line in step) for step in plan)
        for runner, plan in cells
        if plan
    }
    return f"Query plans differ. {by_value(plans)}." if len(set(plans.values())) > 1 else None
