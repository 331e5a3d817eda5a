"""Compares two subjects in one interleaved run, or takes them from two finished runs, and says
what its gate came to.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf, log1p
from pathlib import Path

import numpy as np

from sqlitmus.analysis.assemble import analyse
from sqlitmus.analysis.cells import Exclusions, Outcomes, judge, ratios, usable
from sqlitmus.analysis.data import RunData, load
from sqlitmus.analysis.pairs import (
    RESOLUTION,
    Question,
    compare_with,
    comparisons,
    concluded,
    detectable,
)
from sqlitmus.analysis.ranking import standings
from sqlitmus.catalog.cases import MINIMUM_BLOCKS
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.plan import Plan, differences, facts
from sqlitmus.compare.subject import Resolved, resolve
from sqlitmus.results.ranking import Comparisons, Interval
from sqlitmus.results.report import Case, Cell, Fact, Measure, Report, Unpaired
from sqlitmus.run import session
from sqlitmus.run.measure.blocks import Ended, exit_of
from sqlitmus.run.plan import planning
from sqlitmus.run.plan.options import Options
from sqlitmus.run.processes.progress import Progress
from sqlitmus.stats.estimate import Array, difference, relative_means
from sqlitmus.stats.expectation import Expectation
from sqlitmus.stats.verdict import adjust, beyond_p, testable, within_p
from sqlitmus.store.file import FILE
from sqlitmus.store.folder import RunDirectory
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import Exit, UsageError
from sqlitmus.vocabulary.text import counted, listed, some
from sqlitmus.vocabulary.verdicts import Outcome


@dataclass(frozen=True, slots=True)
class Gate:
    """Ids of cases: `alarmed` are slower beyond the gate, `cleared` are not, `open` are neither,
    and of those in `unmeasured` a side has no time; its values say which, and why.

    `ratios` are times of the new subject over the base's, of the cases that have one.
    """

    alarmed: list[str]
    cleared: list[str]
    open: list[str]
    unmeasured: dict[str, str] = field(default_factory=dict[str, str])
    ratios: dict[str, Interval] = field(default_factory=dict[str, Interval], compare=False)


def gate(run: RunData) -> Gate:
    """Decide the gate for the new subject of `run` against its reference.

    Each planned look decides at Pocock's level, so that all together err with 5 %. Alarmed: p of
    lying within the gate, corrected by Holm over all cases, is at most that level. Cleared: the
    upper end of the one-sided interval at that level lies below the gate. Open cases include those
    that the run has not come to. Raises ValueError for a plan without a gate.
    """
    plan = run.plan
    if plan.gate is None:
        raise ValueError(f"{plan.run} has no gate")
    names = plan.names
    question = Question.of(plan)
    outcomes = judge(run)
    times = Exclusions.of(run).without(usable(run.samples.time, outcomes))
    (new,) = (at for at, name in enumerate(names) if name != plan.reference)
    compared = compare_with(times[:, :-1], names.index(plan.reference), question).logs
    logs = compared.rows(slice(new, None, len(names)))
    expected = Expectation(-inf, log1p(plan.gate))
    p = np.where(testable(logs), beyond_p(logs, *expected), np.nan)
    alarmed = adjust(p, "holm") <= question.alpha
    cleared = ~alarmed & (within_p(logs, *expected) < question.alpha)
    without = unmeasured(run, outcomes)
    ids = np.array([case.id for case in plan.cases], dtype=object)
    left = ~(alarmed | cleared | np.isin(ids, list(without)))
    intervals = zip(ids.tolist(), ratios(logs.mean, *logs.interval()), strict=True)
    changes = {case: interval for case, interval in intervals if interval}
    lists = [ids[which].tolist() for which in (alarmed, cleared, left)]
    return Gate(lists[0], lists[1], lists[2], without, changes)


def unmeasured(run: RunData, outcomes: Outcomes | None = None) -> dict[str, str]:
    """The cases of a comparison in which a side has no time and will get none: which, and why."""
    outcomes, excluded = outcomes or judge(run), Exclusions.of(run).reasons()
    without: dict[str, str] = {}
    for number, case in enumerate(run.plan.cases):
        sides: dict[str, list[str]] = {}
        for at, runner in enumerate(run.plan.runners):
            if not outcomes.expected[number, at]:
                reason = " ".join((outcomes.reason[number][at] or "").split())
                sides.setdefault(f"{outcomes.outcome[number][at]}: {reason}", []).append(
                    runner.name
                )
            elif (number, at) in excluded:
                sides.setdefault(excluded[number, at], []).append(runner.name)
        if sides:
            without[case.id] = "; ".join(f"{listed(at)}: {why}" for why, at in sides.items())
    return without


def measure(
    subjects: list[str], options: Options, catalog: Catalog, tools: paths.Tools, progress: Progress
) -> Ended:
    """Measure base and new; if the gate raises an alarm, measure again to confirm it."""
    comparison = _Comparison.of(subjects, options, catalog, tools, progress)
    ended = comparison.run(comparison.options)
    if ended.directory is None or ended.exit == Exit.INTERRUPTED:
        return ended
    return comparison.conclude(RunDirectory.open(ended.directory))


def resume(
    path: Path,
    options: Options,
    catalog: Catalog,
    tools: paths.Tools,
    progress: Progress,
    *,
    force: bool,
) -> Ended:
    """Resume a comparison or its confirmation; it ends as it would have uninterrupted."""
    directory = RunDirectory.open(path)
    plan = directory.plan()
    first = RunDirectory.open(directory.path.parent / plan.confirms) if plan.confirms else directory
    planning.check_programs(path, plan.subjects, force=force)
    comparison = _Comparison.of(plan.subjects, options, catalog, tools, progress)
    concluded = plan.gate is None or first.concluded()
    if concluded or not directory.complete():
        ended = comparison.resume(path, force=force)
        if ended.exit == Exit.INTERRUPTED:
            return ended
    return comparison.conclude(first)


def settled(directory: Path) -> list[str]:
    """All cases where measuring more answers nothing, else none: each has an answer of the gate, or
    can get none. Without a gate, where none of them can be compared.
    """
    run = load(directory)
    cases = [case.id for case in run.plan.cases]
    if run.plan.gate is None:
        return cases if len(unmeasured(run)) == len(cases) else []
    return [] if gate(run).open else cases


def of_runs(base: Path, new: Path, runner: str | None) -> Report:
    """The report on two finished runs; raises UsageError when they cannot be compared."""
    return compare_runs(load(base), load(new), runner)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """How base and new are measured: once, and again where the gate raises an alarm."""

    options: Options
    resolved: Resolved
    progress: Progress

    @classmethod
    def of(
        cls,
        subjects: list[str],
        options: Options,
        catalog: Catalog,
        tools: paths.Tools,
        progress: Progress,
    ) -> "_Comparison":
        """That of `subjects`, which are resolved first."""
        resolved = resolve(subjects, catalog, tools)
        labels = {"runners": resolved.labels, "reference": resolved.labels[0]}
        return cls(replace(options, **labels, subjects=resolved.subjects), resolved, progress)

    def run(self, options: Options) -> Ended:
        """Measure by these options."""
        resolved = self.resolved
        return session.run(options, resolved.catalog, resolved.tools, self.progress, settled)

    def resume(self, path: Path, *, force: bool) -> Ended:
        """Go on with a run that was begun."""
        resolved = self.resolved
        return session.resume(
            path,
            self.options,
            resolved.catalog,
            resolved.tools,
            self.progress,
            settled,
            force=force,
        )

    def conclude(self, first: RunDirectory) -> Ended:
        """The end of a complete comparison, with the answer of its gate if it has one.

        An alarm counts only if a second measurement of the alarmed cases agrees; this starts or
        resumes that measurement.
        """
        plan, run = first.plan(), load(first.path)
        exits = [exit_of(_bad(first))]
        if plan.gate is None:
            lines = uncompared(unmeasured(run), len(plan.cases))
            exits += [Exit.CELLS_FAILED] if lines else []
            return Ended(worst(exits), first.path, lines)
        judged, second, path = gate(run), None, None
        if judged.alarmed:
            self.progress.say(
                f"gate {100 * plan.gate:g} %: {', '.join(judged.alarmed)} slower by more; "
                "measuring again to confirm"
            )
            ended = self._again(first, plan, judged.alarmed)
            path = ended.directory
            if path is None or ended.exit == Exit.INTERRUPTED:
                return Ended(Exit.INTERRUPTED, path or first.path)
            second = gate(load(path))
            exits.append(ended.exit)
        lines, decided = findings(plan, judged, second)
        named = [*lines, *([f"second run: {path.name}"] if path else [])]
        first.conclude([f"{line[0].upper()}{line[1:]}." for line in named])
        if path:
            lines.append(f"second run: {path}")
        return Ended(worst([*exits, decided]), first.path, lines)

    def _again(self, first: RunDirectory, plan: Plan, cases: list[str]) -> Ended:
        """The second measurement of `cases`: resumed if it was begun, new otherwise."""
        begun = _confirmation(first)
        if begun is None:
            return self.run(
                replace(
                    self.options,
                    **{name: getattr(plan, name) for name in _AS_PLANNED},
                    cases=cases,
                    filters=[],
                    seed=None,
                    label=f"{plan.label}-confirm",
                    out=first.path.parent,
                    confirms=first.path.name,
                )
            )
        if begun.complete():
            return Ended(exit_of(_bad(begun)), begun.path)
        return self.resume(begun.path, force=False)


_AS_PLANNED = (
    *("suite", "mode", "kind", "correction", "blocks", "margin", "size", "rerun", "gate", "strict"),
)


def _confirmation(first: RunDirectory) -> RunDirectory | None:
    """The run beside `first` that confirms it, if one was begun."""
    for file in sorted(first.path.parent.glob(f"*-confirm/{FILE}")):
        directory = RunDirectory.open(file.parent)
        if directory.plan().confirms == first.path.name:
            return directory
    return None


def _bad(directory: RunDirectory) -> set[Outcome]:
    """Which bad outcomes cells of the run have."""
    records = [*directory.verified(), *directory.samples()]
    return {record.outcome for record in records if record.outcome in ("wrong", "failed")}


# If several apply, the first is the exit code.
_WEIGHT = (Exit.WRONG_ANSWERS, Exit.GATE_FAILED, Exit.CELLS_FAILED, Exit.UNDECIDED, Exit.DONE)


def worst(exits: Iterable[Exit]) -> Exit:
    """The exit code of a comparison to which all of `exits` apply."""
    return min(exits, key=_WEIGHT.index)


def findings(plan: Plan, first: Gate, second: Gate | None) -> tuple[list[str], Exit]:
    """A line for each outcome that cases have, and the exit code.

    `second` is the gate of the run that measured the alarmed cases of `first` again, None if there
    were none. A case counts as slower only if both runs say so. If the second run clears it, the
    alarm was a false one; if that run cannot tell either, so is the case undecided.
    """
    again = second or Gate([], [], [])
    both = (first.ratios, again.ratios)
    confirmed, withdrawn, unsure = (
        [case for case in first.alarmed if case in cases]
        for cases in (again.alarmed, again.cleared, again.open)
    )
    few = plan.blocks < MINIMUM_BLOCKS
    unclear = f"too few blocks to tell, {MINIMUM_BLOCKS} are needed" if few else "too noisy to tell"
    lines = [
        _line("slower by more in both runs", confirmed, both),
        _line("slower by more in the first run, not in the second", withdrawn, both),
        _line("slower by more in the first run, too noisy to confirm in the second", unsure, both),
        _line("no answer in the second run", again.unmeasured, why=again.unmeasured),
        _line("no answer", first.unmeasured, why=first.unmeasured),
        _line(unclear, first.open, (first.ratios,)),
        _cleared(first),
    ]
    exits = {
        Exit.GATE_FAILED: confirmed,
        Exit.CELLS_FAILED: [*first.unmeasured, *again.unmeasured],
        Exit.UNDECIDED: [*first.open, *unsure] if plan.strict else [],
    }
    prefix = f"gate {100 * (plan.gate or 0):g} %"
    worst_of = worst([Exit.DONE, *(code for code, cases in exits.items() if cases)])
    return [f"{prefix}: {line}" for line in lines if line], worst_of


def uncompared(without: dict[str, str], of: int) -> list[str]:
    """The line for a comparison without a gate in which none of the `of` cases has both sides."""
    return [_line("no case was compared", without, why=without)] if len(without) == of else []


def _cleared(first: Gate) -> str:
    of = len([*first.alarmed, *first.cleared, *first.open, *first.unmeasured])
    if len(first.cleared) == of:
        return "no case is slower by more"
    some = f"{len(first.cleared)} of {counted(of, 'case')} not slower by more"
    return some if first.cleared else ""


def _line(
    what: str,
    cases: Iterable[str],
    ratios: Sequence[dict[str, Interval]] = (),
    why: dict[str, str] | None = None,
) -> str:
    """The outcome and its cases, each with its change in each run, or with why it has none."""

    def shown(case: str) -> str:
        changes = [_change(run[case]) for run in ratios if case in run]
        about = (why or {}).get(case) or ", then ".join(changes)
        return f"{case} ({about})" if about else case

    text = ", ".join(map(shown, cases))
    return f"{what}: {text}" if text else ""


def _change(ratio: Interval) -> str:
    def percent(value: float) -> str:
        return f"{100 * (value - 1):+z.1f}"

    if ratio.low is None or ratio.high is None:
        return f"{percent(ratio.value)} %"
    return f"{percent(ratio.value)} % [{percent(ratio.low)}, {percent(ratio.high)}]"


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
