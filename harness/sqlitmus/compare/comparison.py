"""Compares two subjects: measured in one interleaved run, or taken from two finished runs."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.plan import Plan
from sqlitmus.compare.resolve import Resolved, resolve
from sqlitmus.results.report import Report
from sqlitmus.run import programs, session
from sqlitmus.run.ended import exit_of
from sqlitmus.run.options import Options
from sqlitmus.run.progress import Progress
from sqlitmus.run.store import RunDirectory
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import Exit
from sqlitmus.vocabulary.terms import Outcome

GATE = "gate.json"  # what the gate came to; a run that has it is concluded


@dataclass(frozen=True, slots=True)
class Request:
    """What is compared, and how it is measured."""

    base: str
    new: str
    options: Options


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The outcome of a comparison; `report` is None when the measurement was not completed.

    `directory` is the run to read, or after an interrupt the one to resume.
    """

    exit: Exit
    directory: Path | None
    report: Report | None
    findings: list[str] = field(default_factory=list[str])


def measure(
    request: Request, catalog: Catalog, tools: paths.Tools, progress: Progress
) -> Conclusion:
    """Measure both subjects; if the gate raises an alarm, measure again to confirm it."""
    resolved = resolve([request.base, request.new], catalog, tools)
    options = _with_subjects(request.options, resolved)
    ended = session.run(options, resolved.catalog, resolved.tools, progress, settled)
    if ended.directory is None or ended.exit == Exit.INTERRUPTED:
        return Conclusion(ended.exit, ended.directory, None)
    return _conclude(RunDirectory.open(ended.directory), options, resolved, progress)


def resume(
    path: Path,
    options: Options,
    catalog: Catalog,
    tools: paths.Tools,
    progress: Progress,
    *,
    force: bool,
) -> Conclusion:
    """Resume a comparison or its confirmation; it ends as it would have uninterrupted."""
    directory = RunDirectory.open(path)
    plan = directory.plan()
    first = RunDirectory.open(directory.path.parent / plan.confirms) if plan.confirms else directory
    programs.check(path, plan.subjects, force=force)
    resolved = resolve(plan.subjects, catalog, tools)
    options = _with_subjects(options, resolved)
    concluded = plan.gate is None or (first.path / GATE).exists()
    if concluded or not directory.complete():
        ended = session.resume(
            path, options, resolved.catalog, resolved.tools, progress, settled, force=force
        )
        if ended.exit == Exit.INTERRUPTED:
            return Conclusion(ended.exit, ended.directory, None)
    return _conclude(first, options, resolved, progress)


def settled(directory: Path) -> list[str]:
    """All cases where measuring more answers nothing, else none: each has an answer of the gate, or
    can get none. Without a gate, where none of them can be compared.
    """
    from sqlitmus.analysis import load
    from sqlitmus.compare.gate import gate, unmeasured

    run = load(directory)
    cases = [case.id for case in run.plan.cases]
    if run.plan.gate is None:
        return cases if len(unmeasured(run)) == len(cases) else []
    return [] if gate(run).open else cases


def of_runs(base: Path, new: Path, runner: str | None) -> Report:
    """The report on two finished runs; raises UsageError when they cannot be compared."""
    from sqlitmus.analysis import load
    from sqlitmus.compare.two_runs import compare_runs

    return compare_runs(load(base), load(new), runner)


def _with_subjects(options: Options, resolved: Resolved) -> Options:
    return replace(
        options, runners=resolved.labels, reference=resolved.labels[0], subjects=resolved.subjects
    )


def _conclude(
    first: RunDirectory, options: Options, resolved: Resolved, progress: Progress
) -> Conclusion:
    """The report of a complete comparison, with the answer of its gate if it has one.

    An alarm counts only if a second measurement of the alarmed cases agrees; this starts or resumes
    that measurement.
    """
    from sqlitmus.analysis import analyse, load
    from sqlitmus.compare.findings import findings, uncompared, worst
    from sqlitmus.compare.gate import gate, unmeasured

    plan, run = first.plan(), load(first.path)
    exits = [exit_of(_bad(first))]
    if plan.gate is None:
        lines = uncompared(unmeasured(run), len(plan.cases))
        exits += [Exit.CELLS_FAILED] if lines else []
        return Conclusion(worst(exits), first.path, analyse(run), lines)
    judged, second, path = gate(run), None, None
    if judged.alarmed:
        progress.say(
            f"gate {100 * plan.gate:g} %: {', '.join(judged.alarmed)} slower by more; measuring "
            "again to confirm"
        )
        ended = _again(first, plan, judged.alarmed, options, resolved, progress)
        path = ended.directory
        if path is None or ended.exit == Exit.INTERRUPTED:
            return Conclusion(Exit.INTERRUPTED, path or first.path, None)
        second = gate(load(path))
        exits.append(ended.exit)
    lines, decided = findings(plan, judged, second)
    named = [*lines, *([f"second run: {path.name}"] if path else [])]
    sentences = [f"{line[0].upper()}{line[1:]}." for line in named]
    first.write(GATE, json.dumps({"lines": sentences}, indent=1, ensure_ascii=False))
    if path:
        lines.append(f"second run: {path}")
    return Conclusion(worst([*exits, decided]), first.path, analyse(load(first.path)), lines)


def _again(
    first: RunDirectory,
    plan: Plan,
    cases: list[str],
    options: Options,
    resolved: Resolved,
    progress: Progress,
) -> session.Ended:
    """The second measurement of `cases`: resumed if it was begun, new otherwise."""
    begun = _confirmation(first)
    if begun is None:
        again = replace(
            options,
            suite=plan.suite,
            mode=plan.mode,
            kind=plan.kind,
            correction=plan.correction,
            cases=cases,
            filters=[],
            blocks=plan.blocks,
            margin=plan.margin,
            size=plan.size,
            seed=None,
            label=f"{plan.label}-confirm",
            out=first.path.parent,
            rerun=plan.rerun,
            gate=plan.gate,
            strict=plan.strict,
            confirms=first.path.name,
        )
        return session.run(again, resolved.catalog, resolved.tools, progress, settled)
    if begun.complete():
        return session.Ended(exit_of(_bad(begun)), begun.path)
    return session.resume(
        begun.path, options, resolved.catalog, resolved.tools, progress, settled, force=False
    )


def _confirmation(first: RunDirectory) -> RunDirectory | None:
    """The run beside `first` that confirms it, if one was begun."""
    for file in sorted(first.path.parent.glob("*-confirm/plan.json")):
        directory = RunDirectory.open(file.parent)
        if directory.plan().confirms == first.path.name:
            return directory
    return None


def _bad(directory: RunDirectory) -> set[Outcome]:
    """Which bad outcomes cells of the run have."""
    records = [*directory.verified(), *directory.samples()]
    return {record.outcome for record in records if record.outcome in ("wrong", "failed")}
