"""Summarises each machine of a merged file for the merged report."""

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from sqlitmus.analysis.assemble import analyse
from sqlitmus.analysis.data import RunData, read
from sqlitmus.analysis.notices import emulated
from sqlitmus.analysis.outcomes import Exclusions, judge, usable
from sqlitmus.analysis.pairs import Question, compare_with
from sqlitmus.machine import system
from sqlitmus.machines.merge import Merged, MergedMachine
from sqlitmus.results import machines
from sqlitmus.results.machines import Answer
from sqlitmus.results.report import Report
from sqlitmus.store.file import opened
from sqlitmus.vocabulary.errors import UsageError

Place = tuple[str, str]  # case id, runner


def machine_report(
    file: Path, machine: MergedMachine, reference: str | None
) -> tuple[RunData, Report]:
    """A machine's run and its report, against `reference` if that runner took part."""
    with opened(file) as db:
        run = read(db, machine.number, {})
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


T = TypeVar("T")


class Estimate(NamedTuple):
    """A mean log ratio with its standard error and degrees of freedom."""

    mean: float
    error: float
    freedom: float


@dataclass(frozen=True, slots=True)
class About:
    """The heading of a case's rows."""

    scenario: str
    title: str
    group: str
    axes: dict[str, str]


@dataclass(frozen=True, slots=True)
class Survey(Generic[T]):
    """One machine's contribution to the merged report.

    `choices` are the runners to choose from, without floor and oracle; `made` is the result of
    `make` on its own report.
    """

    machine: machines.Machine
    choices: frozenset[str]
    cases: dict[str, About]
    answers: dict[Place, Answer]
    estimates: dict[Place, Estimate]
    made: T


def surveys(merged: Merged, reference: str, make: Callable[[Report], T]) -> Iterator[Survey[T]]:
    """The survey of each machine, in order; `make` gets its report in its process."""
    jobs = (repeat(merged.file), merged.machines, repeat(reference), repeat(make))
    workers = min(system.usable(), len(merged.machines))
    if workers < 2:
        yield from map(survey, *jobs)
        return
    start = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=start) as pool:
        yield from pool.map(survey, *jobs)


def survey(
    file: Path, machine: MergedMachine, reference: str, make: Callable[[Report], T]
) -> Survey[T]:
    """The survey of one machine."""
    run, report = machine_report(file, machine, reference)
    about = {c.id: About(c.scenario, c.title, c.group, c.axes) for c in report.cases}
    return Survey(
        _survey_machine(machine, run, report),
        frozenset(runner.name for runner in report.runners if runner.role == "runner"),
        about,
        _answers(report, reference, set(emulated(run))),
        _estimates(run, reference),
        make(report),
    )


def _survey_machine(machine: MergedMachine, run: RunData, report: Report) -> machines.Machine:
    versions: dict[str, list[str]] = {}
    for runner in report.runners:
        if runner.sqlite_version is not None:
            versions.setdefault(runner.sqlite_version, []).append(runner.name)
    return machines.Machine(
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
        emulated=list(emulated(run)),
        headline=report.headline,
        notices=report.notices,
        scheme=run.plan.actual_scheme(),
    )


def _answers(report: Report, reference: str, foreign: set[str]) -> dict[Place, Answer]:
    """The machine's answer on each pair; pairs with an emulated, `foreign` runner are marked."""
    answers: dict[Place, Answer] = {}
    for case in report.cases:
        outcomes = {cell.runner: cell.apart or cell.outcome for cell in case.cells}
        against = case.comparisons.against(reference)
        for runner, outcome in outcomes.items():
            if runner == reference:
                continue
            marked = bool({runner, reference} & foreign)
            comparison = against.get(runner)
            if comparison is not None:
                answers[case.id, runner] = Answer(
                    comparison.ratio, comparison.verdict, emulated=marked, p=comparison.adjusted
                )
                continue
            reason = outcome if outcome != "ok" else _why(reference, outcomes.get(reference))
            answers[case.id, runner] = Answer(said=reason, emulated=marked)
    return answers


def _why(reference: str, outcome: str | None) -> str:
    if outcome is None:
        return f"no {reference}"
    return "no block in common" if outcome == "ok" else f"{reference} {outcome}"


def _estimates(run: RunData, reference: str) -> dict[Place, Estimate]:
    """The report's log ratios between native processes."""
    names = run.plan.names
    foreign = set(emulated(run))
    if reference not in names or reference in foreign:
        return {}
    times = Exclusions.of(run).without(usable(run.samples.time, judge(run)))[:, :-1]
    logs = compare_with(times, names.index(reference), Question.of(run.plan)).logs
    columns = (logs.mean.tolist(), logs.error.tolist(), logs.freedom.tolist())
    places = [(case.id, name) for case in run.plan.cases for name in names]
    return {
        place: Estimate(*values)
        for place, values in zip(places, zip(*columns, strict=True), strict=True)
        if place[1] not in foreign and not np.isnan(values[1])
    }
