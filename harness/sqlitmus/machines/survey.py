"""Summarises each machine of a merged file for the merged report."""

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import numpy as np

from sqlitmus.analysis.assemble import analyse
from sqlitmus.analysis.cells import Exclusions, judge, usable
from sqlitmus.analysis.data import RunData, read
from sqlitmus.analysis.notices import emulated
from sqlitmus.analysis.pairs import Question, compare_with
from sqlitmus.catalog import presets
from sqlitmus.machine import system
from sqlitmus.machines.merge import Merged, MergedMachine
from sqlitmus.results import machines
from sqlitmus.results.machines import Answer
from sqlitmus.results.report import Report
from sqlitmus.store.file import opened
from sqlitmus.vocabulary.errors import UsageError

Place = tuple[str, str]  # case id, runner
Estimate = tuple[float, float, float]  # mean log ratio, its standard error, degrees of freedom


def machine_report(
    file: Path, machine: MergedMachine, reference: str | None
) -> tuple[RunData, Report]:
    """A machine's run and its report, against `reference` if that runner took part."""
    with opened(file) as db:
        run = read(db, machine.number, presets.load())
    present = {r.name for r in run.plan.runners if r.missing is None}
    return run, analyse(run, reference if reference in present else None)


def reference_of(merged: Merged, requested: str | None) -> str:
    """The runner that all machines are compared with: `requested`, or the one most plans name.

    Raises UsageError when `requested` took part in no run.
    """
    plans = [machine.plan for machine in merged.machines]
    if requested is None:
        return Counter(plan.reference for plan in plans).most_common(1)[0][0]
    present = {r.name: None for plan in plans for r in plan.runners if r.missing is None}
    if requested not in present:
        raise UsageError(
            f"{requested!r} cannot be the reference: it took no part in any of these runs. "
            f"Choose one of {', '.join(present) or 'none (no runner was present)'}."
        )
    return requested


@dataclass(frozen=True, slots=True)
class Survey:
    """One machine's contribution to the merged report; `page` is that of its own, packed."""

    machine: machines.Machine
    report: Report
    answers: dict[Place, Answer]
    estimates: dict[Place, Estimate]
    page: bytes


def surveys(
    merged: Merged, reference: str, pack: Callable[[Report], bytes] | None = None
) -> Iterator[Survey]:
    """The survey of each machine, in order; `pack`, a function of a module, gets its report in its
    process."""
    jobs = (repeat(merged.file), merged.machines, repeat(reference), repeat(pack))
    workers = min(system.usable(), len(merged.machines))
    if workers < 2:
        yield from map(survey, *jobs)
        return
    start = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=start) as pool:
        yield from pool.map(survey, *jobs)


def survey(
    file: Path, machine: MergedMachine, reference: str, pack: Callable[[Report], bytes] | None
) -> Survey:
    """The survey of one machine; without `pack` it has no page."""
    run, report = machine_report(file, machine, reference)
    foreign = list(emulated(run))
    versions: dict[str, list[str]] = {}
    for runner in report.runners:
        if runner.sqlite_version is not None:
            versions.setdefault(runner.sqlite_version, []).append(runner.name)
    about = machines.Machine(
        name=machine.name,
        kind=machine.kind,
        label=machine.label,
        facts=report.machine,
        sqlite=versions,
        runs=[report.run],
        created=report.created,
        blocks=report.blocks_complete,
        blocks_planned=report.blocks_planned,
        detectable=report.detectable and report.detectable[0],
        cases=len(report.cases),
        emulated=foreign,
        headline=report.headline,
        notices=report.notices,
        scheme=run.plan.actual_scheme(),
    )
    answers = _answers(report, reference, foreign)
    page = pack(report) if pack else b""
    return Survey(about, report, answers, _estimates(run, reference, foreign), page)


def _answers(report: Report, reference: str, foreign: list[str]) -> dict[Place, Answer]:
    """The machine's answer on each pair; pairs with an emulated, `foreign` runner are marked."""
    answers: dict[Place, Answer] = {}
    for case in report.cases:
        outcomes = {cell.runner: cell.apart or cell.outcome for cell in case.cells}
        against = case.comparisons.against(reference)
        for runner, outcome in outcomes.items():
            if runner == reference:
                continue
            marked = runner in foreign or reference in foreign
            reason = outcome if outcome != "ok" else _why(reference, outcomes.get(reference))
            contrast = against.get(runner)
            answers[case.id, runner] = Answer(contrast, "" if contrast else reason, marked)
    return answers


def _why(reference: str, outcome: str | None) -> str:
    if outcome is None:
        return f"no {reference}"
    return "no block in common" if outcome == "ok" else f"{reference} {outcome}"


def _estimates(run: RunData, reference: str, foreign: list[str]) -> dict[Place, Estimate]:
    """The report's log ratios between native processes."""
    names = run.plan.names
    if reference not in names or reference in foreign:
        return {}
    times = Exclusions.of(run).without(usable(run.samples.time, judge(run)))[:, :-1]
    logs = compare_with(times, names.index(reference), Question.of(run.plan)).logs
    values = zip(*(part.tolist() for part in (logs.mean, logs.error, logs.freedom)), strict=True)
    places = [(case.id, name) for case in run.plan.cases for name in names]
    return {
        place: estimate
        for place, estimate in zip(places, values, strict=True)
        if place[1] not in foreign and not np.isnan(estimate[1])
    }
