"""Compares two subjects: measured in one interleaved run, or taken from two finished runs."""

import json
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.plan import Plan
from sqlitmus.compare.resolve import Resolved, resolve
from sqlitmus.results.report import Report
from sqlitmus.run import session
from sqlitmus.run.blocks import exit_of
from sqlitmus.run.options import Options
from sqlitmus.run.progress import Progress
from sqlitmus.run.store import RunDirectory
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import Exit
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.terms import Outcome

GATE = "gate.json"  # what the gate came to; a run that has it is concluded
_WEIGHT = (Exit.WRONG_ANSWERS, Exit.GATE_FAILED, Exit.CELLS_FAILED, Exit.DONE)


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


def settled(directory: Path) -> bool:
    """Whether the gate of the run has an answer for each case."""
    from sqlitmus.analysis import load
    from sqlitmus.compare.gate import gate

    return not gate(load(directory)).open


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
    from sqlitmus.compare.gate import gate

    plan, bad = first.plan(), _bad(first)
    if plan.gate is None:
        return Conclusion(exit_of(bad.values()), first.path, analyse(load(first.path)))
    exits, second = [exit_of(bad.values())], None
    percent = f"gate {100 * plan.gate:g} %"
    judged = gate(load(first.path))
    findings = (
        [] if judged.alarmed else [f"{percent}: no case is slower by more{_left(judged.open)}"]
    )
    findings += _failures(plan, bad)
    if judged.alarmed:
        progress.say(
            f"{percent}: {', '.join(judged.alarmed)} slower by more; measuring again to confirm"
        )
        ended = _again(first, plan, judged.alarmed, options, resolved, progress)
        if ended.directory is None or ended.exit == Exit.INTERRUPTED:
            return Conclusion(Exit.INTERRUPTED, ended.directory or first.path, None)
        second = RunDirectory.open(ended.directory)
        confirmed = gate(load(second.path)).alarmed
        withdrawn = [case for case in judged.alarmed if case not in confirmed]
        answers = {"not confirmed by the second run": withdrawn}
        answers["slower by more in both runs"] = confirmed
        findings = [
            f"{percent}: {what}: {', '.join(c)}" for what, c in answers.items() if c
        ] + findings
        findings += _failures(second.plan(), _bad(second))
        exits += [ended.exit, Exit.GATE_FAILED if confirmed else Exit.DONE]
    lines = [*findings, f"second run: {second.path.name}"] if second else findings
    sentences = [f"{line[0].upper()}{line[1:]}." for line in lines]
    first.write(GATE, json.dumps({"lines": sentences}, indent=1, ensure_ascii=False))
    worst = next(code for code in _WEIGHT if code in exits)
    if second:
        findings.append(f"second run: {second.path}")
    return Conclusion(worst, first.path, analyse(load(first.path)), findings)


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
            confirms=first.path.name,
        )
        return session.run(again, resolved.catalog, resolved.tools, progress, settled)
    if begun.complete():
        return session.Ended(exit_of(_bad(begun).values()), begun.path)
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


def _bad(directory: RunDirectory) -> dict[str, Outcome]:
    """The outcome of each cell that has no time."""
    records = [*directory.verified(), *directory.samples()]
    outcomes = {
        f"{record.case}/{record.runner}": record.outcome
        for record in records
        if record.outcome != "ok"
    }
    return {cell: outcome for cell, outcome in outcomes.items() if outcome in ("wrong", "failed")}


def _failures(plan: Plan, bad: dict[str, Outcome]) -> list[str]:
    if not bad:
        return []
    cells = ", ".join(f"{cell} ({why})" for cell, why in bad.items())
    return [f"no time in {plan.run}: {cells}"]


def _left(cases: Collection[str]) -> str:
    return f"; {counted(len(cases), 'case is', 'cases are')} not resolved" if cases else ""
