"""Two finished runs of one machine, compared although they shared no blocks. Pure."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sqlitmus.analysis.assemble import analyse
from sqlitmus.analysis.cells import Exclusions, judge, usable
from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.pairs import RESOLUTION, Question, comparisons, concluded, detectable
from sqlitmus.analysis.ranking import standings
from sqlitmus.catalog.plan import differences, facts
from sqlitmus.results.ranking import Comparisons
from sqlitmus.results.report import Case, Cell, Fact, Measure, Report, Unpaired
from sqlitmus.stats.estimate import Array, difference, relative_means
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import listed, some

SHOWN = 3
_SAME = ("cpu", "cores", "architecture", "memory", "os", "kernel")


def same_machine(base: RunData, new: RunData) -> None:
    """Raise UsageError for runs of different machines."""
    for fact in _SAME:
        before, after = base.machine.get(fact), new.machine.get(fact)
        if before != after:
            raise UsageError(
                f"the runs are of different machines: {fact} is {before or 'unknown'} in "
                f"{base.plan.run} and {after or 'unknown'} in {new.plan.run}. Times of different "
                "machines are not compared; measure both on one."
            )


def same_work(base: RunData, new: RunData, ids: Sequence[str]) -> None:
    """Raise for a case that is not the same work in both runs."""
    changed = differences(facts(base.plan, ids), facts(new.plan, ids))
    if changed:
        shown = listed(changed[:SHOWN])
        more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
        raise UsageError(
            f"{base.plan.run} and {new.plan.run} did not do the same work: {shown}{more} changed. "
            "Compare runs of the same scenarios and fixtures, or measure both sides in one run "
            "with `./just compare BASE NEW`."
        )


def same_scheme(base: RunData, new: RunData, ids: Sequence[str]) -> None:
    """Raise UsageError for cases whose processes took turns in one of the runs only, or whose
    single thread did so on one processor in one of them only."""
    differing = [i for i in ids if base.plan.took_turns(i) != new.plan.took_turns(i)]
    if differing:
        turns, alone = (base, new) if base.plan.took_turns(differing[0]) else (new, base)
        raise UsageError(
            f"in {some(differing)} the processes of {turns.plan.run} took turns, and those of "
            f"{alone.plan.run} ran one after the other, which changes times by itself. Measure "
            "both runs with the same --scheme, or both sides in one run with "
            "`./just compare BASE NEW`."
        )
    single = {case.id for case in base.plan.cases if case.workers == 1}
    turned = [i for i in ids if i in single and base.plan.took_turns(i)]
    bound = [run for run in (base, new) if run.plan.processor is not None]
    if turned and len(bound) == 1:
        raise UsageError(
            f"in {some(turned)} only {bound[0].plan.run} kept the thread that did the work on one "
            "processor, which changes times by itself. Measure both runs with this version of "
            "sqlitmus, or both sides in one run with `./just compare BASE NEW`."
        )


def log_times(run: RunData, ids: Sequence[str]) -> Array:
    """Log times of `run` in the cases `ids` (cases x series x blocks), NaN where there is none to
    compare."""
    times = Exclusions.of(run).without(usable(run.samples.time, judge(run)))
    of = {case.id: number for number, case in enumerate(run.plan.cases)}
    return np.log(times[[of[case] for case in ids]])


def compare_runs(base: RunData, new: RunData, runner: str | None) -> Report:
    """A report of kind `compare`: `runner` as measured in `new` against itself in `base`.

    None takes the only runner that changed. Raises UsageError for runs of different machines or
    fixtures, and where it is not clear which runner is meant.
    """
    if base.plan.run == new.plan.run:
        raise UsageError("both paths are the same run; give two different runs")
    same_machine(base, new)
    subject, controls = _subject(base, new, runner)
    ids = [c.id for c in base.plan.cases if any(c.id == other.id for other in new.plan.cases)]
    if not ids:
        raise UsageError("the two runs have no case in common; compare runs of the same suite")
    same_work(base, new, ids)
    same_scheme(base, new, ids)
    names = [f"{subject} in {run.plan.run}" for run in (base, new)]
    # log times of the controls and of the subject in each run
    sides = [
        (times[:, [run.plan.names.index(name) for name in controls]],
         times[:, run.plan.names.index(subject)])
        for run in (base, new)
        for times in (log_times(run, ids),)
    ]  # fmt: skip
    before, after = (np.logical_not(np.isnan(beside).all(axis=2)) for beside, _ in sides)
    steady = np.logical_and(before, after)
    was, now = (
        relative_means(times, np.where(steady[..., None], beside, np.nan), resolution=RESOLUTION)
        for beside, times in sides
    )
    logs = difference(now, was)
    none = np.full(len(ids), np.nan)
    # without a control a difference may be the machine's, so it has no interval
    logs = replace(logs, error=np.where(steady.any(axis=1), logs.error, np.nan))
    alpha = min(Question.of(run.plan).alpha for run in (base, new))
    question = Question(new.plan.margin, "holm", alpha=alpha)
    pairs = concluded(logs, (none, none), names, len(ids), question)
    old, fresh = (analyse(run, None) for run in (base, new))
    cases = [
        _case(old, fresh, subject, names, case, columns, least)
        for case, columns, least in zip(
            ids, comparisons(pairs), detectable(pairs, question), strict=True
        )
    ]
    groups = list(dict.fromkeys(case.group for case in cases))
    ok = np.array([[cell.outcome == "ok" for cell in case.cells] for case in cases])
    of = [case.group for case in cases]
    both = (old, fresh)
    return replace(
        fresh,
        kind="compare",
        title=f"{subject}: {fresh.run} against {old.run}",
        blocks_planned=min(old.blocks_planned, fresh.blocks_planned),
        blocks_complete=min(old.blocks_complete, fresh.blocks_complete),
        correction="holm",
        reference=names[0],
        floor=None,
        headline=[Unpaired(controls)],
        notices=[replace(n, run=report.run) for report in both for n in report.notices],
        canary=None,
        blocks=[],
        runners=[
            replace(runner, name=name, role="runner")
            for report, name in zip(both, names, strict=True)
            for runner in report.runners
            if runner.name == subject
        ],
        groups=groups,
        standings=standings(pairs, ok, of, groups, question),
        cases=cases,
        scaling=[],
        provenance=_facts(old, fresh, subject, names),
        rerun=f"./just compare {old.run} {fresh.run} -r {subject}",
    )


def _subject(base: RunData, new: RunData, runner: str | None) -> tuple[str, list[str]]:
    """The runner to compare, and those that are in both runs and did not change."""
    old = {r.name: r for r in base.plan.runners if r.missing is None}
    fresh = {r.name: r for r in new.plan.runners if r.missing is None}
    common = [name for name in old if name in fresh]
    changed = [name for name in common if old[name].description != fresh[name].description]
    if runner is None and len(changed) == 1:
        runner = changed[0]
    if runner is None or runner not in common:
        what = "is not in both runs" if runner else "is meant is not clear"
        raise UsageError(
            f"which runner {what}: {listed(changed) or 'none'} changed; choose with -r one of "
            f"{', '.join(common) or 'none (no runner is in both)'}"
        )
    return runner, [name for name in common if name not in changed and name != runner]


def _case(
    old: Report,
    fresh: Report,
    subject: str,
    names: Sequence[str],
    case_id: str,
    columns: Comparisons,
    least: float | None,
) -> Case:
    cases = [next(c for c in report.cases if c.id == case_id) for report in (old, fresh)]
    cells = [
        _renamed(next(c for c in case.cells if c.runner == subject), name)
        for case, name in zip(cases, names, strict=True)
    ]
    return replace(
        cases[1],
        cells=cells,
        comparisons=columns,
        canary=None,
        detectable=least,
        checks="\n".join(dict.fromkeys(case.checks for case in cases)),
        work="\n".join(dict.fromkeys(case.work for case in cases)),
    )


def _renamed(cell: Cell, name: str) -> Cell:
    """The cell under its new name; verdicts of its secondary figures were those of its run."""
    return replace(
        cell,
        runner=name,
        overhead=None,
        overhead_verdict=None,
        figures={name: Measure(measure.value) for name, measure in cell.figures.items()},
    )


def _facts(old: Report, fresh: Report, subject: str, names: Sequence[str]) -> list[Fact]:
    values: dict[tuple[str, str], dict[str, str]] = {}
    for report, name in zip((old, fresh), names, strict=True):
        for fact in report.provenance:
            if subject in fact.values:
                values.setdefault((fact.group, fact.name), {})[name] = fact.values[subject]
    return [
        Fact(group, name, by_run, differs=len(set(by_run.values())) > 1 or len(by_run) < len(names))
        for (group, name), by_run in values.items()
    ]
