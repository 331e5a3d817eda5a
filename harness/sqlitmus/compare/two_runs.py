"""Two finished runs of one machine, compared although they shared no blocks. Pure.

Runners that stayed unchanged between the runs are controls: in each run the subject's log times are
taken relative to each control's of the same block, and what the two runs say is compared. Without a
control, a change of the machine looks like one of the subject, so there are figures but no
verdicts.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sqlitmus.analysis.assemble import analyse
from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.pairs import comparisons, concluded
from sqlitmus.analysis.question import Question
from sqlitmus.analysis.standings import standings
from sqlitmus.compare.comparable import same_machine, same_scheme, same_work
from sqlitmus.compare.sides import series_of, side_of
from sqlitmus.results.comparisons import Comparisons
from sqlitmus.results.conditions import Fact
from sqlitmus.results.headline import Unpaired
from sqlitmus.results.report import Case, Cell, Measure, Report, Runner
from sqlitmus.stats.estimate import Medians
from sqlitmus.stats.unpaired import difference, relative_means
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.nouns import listed


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
    sides = [side_of(run, ids) for run in (base, new)]
    steady = np.logical_and(*(side.ok[:, side.at(controls)] for side in sides))
    was, now = (
        relative_means(*series_of(side, subject, controls, steady), resolution=1e-12)
        for side in sides
    )
    logs = difference(now, was)
    none = np.full(len(ids), np.nan)
    alpha = min(side.question.alpha for side in sides)
    question = Question(new.plan.margin, "holm", alpha=alpha)
    guard = np.where(steady.any(axis=1), np.max([side.guard for side in sides], axis=0), np.inf)
    pairs = concluded(
        logs,
        Medians(none, none, none, logs.count),
        (none, none),
        names,
        len(ids),
        question,
        guard,
    )
    old, fresh = (analyse(run, None) for run in (base, new))
    cases = [
        _case(old, fresh, subject, names, case, columns)
        for case, columns in zip(ids, comparisons(pairs), strict=True)
    ]
    groups = list(dict.fromkeys(case.group for case in cases))
    ok = np.array([[cell.outcome == "ok" for cell in case.cells] for case in cases])
    of = [case.group for case in cases]
    guards = {group: max(g for g, name in zip(guard, of, strict=True) if name == group)
              for group in groups}  # fmt: skip
    return replace(
        fresh,
        kind="compare",
        title=f"{subject}: {fresh.run} against {old.run}",
        created=fresh.created,
        blocks_planned=min(old.blocks_planned, fresh.blocks_planned),
        blocks_complete=min(old.blocks_complete, fresh.blocks_complete),
        correction="holm",
        reference=names[0],
        floor=None,
        headline=[Unpaired(controls)],
        notices=[
            *(replace(n, run=one.run) for one in (old, fresh) for n in one.notices),
        ],
        canary=None,
        blocks=[],
        runners=[
            _runner(one, subject, name) for one, name in zip((old, fresh), names, strict=True)
        ],
        groups=groups,
        standings=standings(pairs, ok, of, groups, question, guards=guards),
        cases=cases,
        scaling=[],
        provenance=_facts(old, fresh, subject, names),
        rerun=f"./just compare {old.run} {fresh.run} -r {subject}",
    )


def _subject(base: RunData, new: RunData, wanted: str | None) -> tuple[str, list[str]]:
    """The runner to compare, and those that are in both runs and did not change."""
    old = {r.name: r for r in base.plan.runners if r.missing is None}
    fresh = {r.name: r for r in new.plan.runners if r.missing is None}
    common = [name for name in old if name in fresh]
    changed = [name for name in common if old[name].description != fresh[name].description]
    if wanted is None and len(changed) == 1:
        wanted = changed[0]
    if wanted is None or wanted not in common:
        what = "is not in both runs" if wanted else "is meant is not clear"
        raise UsageError(
            f"which runner {what}: {listed(changed) or 'none'} changed; choose with -r one of "
            f"{', '.join(common) or 'none (no runner is in both)'}"
        )
    return wanted, [name for name in common if name not in changed and name != wanted]


def _case(
    old: Report,
    fresh: Report,
    subject: str,
    names: Sequence[str],
    case_id: str,
    columns: Comparisons,
) -> Case:
    found = [next(c for c in one.cases if c.id == case_id) for one in (old, fresh)]
    cells = [
        _renamed(next(c for c in case.cells if c.runner == subject), name)
        for case, name in zip(found, names, strict=True)
    ]
    grades = [case.grade for case in found if case.grade]
    return replace(
        found[1],
        cells=cells,
        comparisons=columns,
        canary=None,
        grade=max(grades, default=None),
        checks="\n".join(dict.fromkeys(case.checks for case in found)),
        work="\n".join(dict.fromkeys(case.work for case in found)),
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


def _runner(report: Report, subject: str, name: str) -> Runner:
    found = next(runner for runner in report.runners if runner.name == subject)
    return replace(found, name=name, role="runner")


def _facts(old: Report, fresh: Report, subject: str, names: Sequence[str]) -> list[Fact]:
    values: dict[tuple[str, str], dict[str, str]] = {}
    for report, name in zip((old, fresh), names, strict=True):
        for fact in report.provenance:
            if subject in fact.values:
                values.setdefault((fact.group, fact.name), {})[name] = fact.values[subject]
    return [
        Fact(group, name, found, differs=len(set(found.values())) > 1 or len(found) < len(names))
        for (group, name), found in values.items()
    ]
