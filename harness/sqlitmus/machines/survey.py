"""Summarises one machine of a merged run directory: its runs are read, joined and analysed."""

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.assemble import analyse
from sqlitmus.analysis.data import NONE, RunData, Samples, read
from sqlitmus.analysis.notices import emulated
from sqlitmus.analysis.outcomes import Exclusions, judge, usable
from sqlitmus.analysis.pairs import Question, compare_with
from sqlitmus.catalog.cases import PlannedRunner
from sqlitmus.catalog.plan import Plan
from sqlitmus.machine import system
from sqlitmus.machines.merge import Merged, MergedMachine
from sqlitmus.results import machines
from sqlitmus.results.machines import Answer
from sqlitmus.results.report import Case, Notice, Report
from sqlitmus.store.file import opened
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import by_value

Element = TypeVar("Element", bound=np.generic)


def join(runs: Sequence[RunData]) -> RunData:
    """The run that has all cases of `runs`, no case twice; one run is returned as it is.

    All agree in what the plan says once, such as reference and canary, and in the number of
    sessions. Where runs have fewer blocks than others, the rest is as if not measured.
    """
    first = runs[0]
    if len(runs) == 1:
        return first
    plan = _plan([run.plan for run in runs])
    return RunData(
        plan=plan,
        checks={place: check for run in runs for place, check in run.checks.items()},
        samples=_samples(runs, plan),
        blocks=[
            block.model_copy(update={"block": block.block + start})
            for run, start in zip(runs, _starts([r.plan.blocks for r in runs]), strict=True)
            for block in run.blocks
        ],
        machine=_machine(runs),
        selftest=next((run.selftest for run in runs if run.selftest), None),
    )


def differences(runs: Sequence[RunData]) -> list[Notice]:
    """What is not the same in all of `runs`."""
    named = [run.plan.run for run in runs]
    notices: list[Notice] = []
    for what, values in (
        ("Numbers of blocks", [str(run.plan.blocks) for run in runs]),
        ("Schemes", [run.plan.scheme for run in runs]),
        ("sqlitmus versions", [run.plan.sqlitmus for run in runs]),
    ):
        if len(set(values)) > 1:
            held = dict(zip(named, values, strict=True))
            notices.append(Notice("runs differ", count=2, names=[what], values=held))
    for name in {r.name: None for run in runs for r in run.plan.runners}:
        versions = {run.plan.run: _version(run.plan, name) for run in runs}
        if len(set(versions.values())) > 1:
            notices.append(Notice("runs differ", count=1, names=[name], values=versions))
    return notices


def _version(plan: Plan, name: str) -> str:
    """What a runner is made of in one run, or why it is not there."""
    runner = next((r for r in plan.runners if r.name == name), None)
    if runner is None:
        return "not planned"
    if runner.description is None:
        return runner.missing or "not described"
    of, sqlite = runner.description.identity, runner.description.sqlite
    driver = f"{of.driver.name} {of.driver.version}"
    return f"{of.runtime.name} {of.runtime.version}, {driver}, SQLite {sqlite.version}"


def _starts(lengths: Sequence[int]) -> list[int]:
    """Where each part begins when all stand one after the other."""
    return [sum(lengths[:place]) for place in range(len(lengths))]


def _plan(plans: Sequence[Plan]) -> Plan:
    runners: dict[str, PlannedRunner] = {}
    for plan in plans:
        for runner in plan.runners:
            earlier = runners.get(runner.name)
            if earlier is None or (earlier.missing is not None and runner.missing is None):
                runners[runner.name] = runner
    first = plans[0]
    length = max(plan.blocks // plan.sessions for plan in plans)
    return first.model_copy(
        update={
            "blocks": length * first.sessions,
            "runners": list(runners.values()),
            "cases": [case for plan in plans for case in plan.cases],
            "cells": {name: who for plan in plans for name, who in _cells(plan).items()},
            "counts": {name: counts for plan in plans for name, counts in plan.counts.items()},
            "sets": {name: blocks for plan in plans for name, blocks in plan.sets.items()},
            "ended": {name: blocks for plan in plans for name, blocks in plan.ended.items()},
        }
    )


def _cells(plan: Plan) -> dict[str, list[str]]:
    """The runners that had to do each case; what was not there is told apart by `differences`."""
    present = [runner.name for runner in plan.runners if runner.missing is None]
    return {
        case.id: [name for name in present if name in plan.cells.get(case.id, ())]
        for case in plan.cases
    }


def _samples(runs: Sequence[RunData], plan: Plan) -> Samples:
    names = plan.names
    starts = _starts([len(run.plan.cases) for run in runs])
    shape = (len(plan.cases), len(names) + 1, plan.blocks)
    series = [[*map(names.index, run.plan.names), len(names)] for run in runs]
    spread = [_spread(run.plan, plan) for run in runs]

    def laid(columns: list[NDArray[Element]], empty: float) -> NDArray[Element]:
        whole = np.full(shape, empty, dtype=columns[0].dtype)
        for column, start, targets, blocks in zip(columns, starts, series, spread, strict=True):
            rows = list(range(start, start + len(column)))
            whole[np.ix_(rows, targets, blocks)] = column
        return whole

    parts = [run.samples for run in runs]
    reasons: dict[tuple[int, int, int], str] = {}
    for part, start, targets, blocks in zip(parts, starts, series, spread, strict=True):
        for (case, who, block), reason in part.reasons.items():
            reasons[start + case, targets[who], blocks[block]] = reason
    return Samples(
        code=laid([part.code for part in parts], NONE),
        time=laid([part.time for part in parts], np.nan),
        figures={
            name: laid([part.figures[name] for part in parts], np.nan) for name in parts[0].figures
        },
        position=laid([part.position for part in parts], -1),
        reasons=reasons,
        complete=all(part.complete for part in parts),
    )


def _spread(plan: Plan, whole: Plan) -> list[int]:
    """Where each block of a run stands in the whole: its session's blocks first, then the gap."""
    blocks, length = plan.blocks // plan.sessions, whole.blocks // whole.sessions
    return [s * length + b for s in range(plan.sessions) for b in range(blocks)]


def _machine(runs: Sequence[RunData]) -> dict[str, str]:
    """Facts; where runs differ, each value with the runs that have it."""
    facts: dict[str, str] = {}
    for name in dict.fromkeys(name for run in runs for name in run.machine):
        values = {run.plan.run: run.machine.get(name, "unknown") for run in runs}
        same = len(set(values.values())) == 1
        facts[name] = next(iter(values.values())) if same else by_value(values)
    return facts


# The runs of one machine in a merged file: read, joined, analysed.


Place = tuple[str, str]  # case id, runner


@dataclass(frozen=True, slots=True)
class Joined:
    """All runs of a machine as one, with its report."""

    runs: list[RunData]
    run: RunData
    report: Report


def machine_report(file: Path, machine: MergedMachine, reference: str | None) -> Joined:
    """A machine's runs, joined and analysed, against `reference` if that runner took part."""
    with opened(file) as db:
        runs = [read(db, number, {}) for number in machine.plans]
    run = join(runs)
    present = {r.name for r in run.plan.runners if r.missing is None}
    report = analyse(run, reference if reference in present else None)
    notices = [*differences(runs), *report.notices]
    absent = _absent(runs)
    cases = [_with_reasons(case, absent) for case in report.cases] if absent else report.cases
    return Joined(runs, run, replace(report, notices=notices, cases=cases))


def reference_of(merged: Merged, requested: str | None) -> str:
    """The runner that all machines are compared with: `requested`, or the one most plans name.

    Raises UsageError when `requested` took part in no run.
    """
    plans = [plan for machine in merged.machines for plan in machine.plans.values()]
    if requested is None:
        return Counter(plan.reference for plan in plans).most_common(1)[0][0]
    present = {r.name: None for plan in plans for r in plan.runners if r.missing is None}
    if requested not in present:
        raise UsageError(
            f"{requested!r} cannot be the reference: it took no part in any of these runs. "
            f"Choose one of {', '.join(present) or 'none (no runner was present)'}."
        )
    return requested


def _absent(runs: list[RunData]) -> dict[Place, str]:
    """Why runners were missing, by case and runner; empty for a single run."""
    if len(runs) == 1:
        return {}
    return {
        (case.id, runner.name): runner.missing
        for run in runs
        for runner in run.plan.runners
        if runner.missing is not None
        for case in run.plan.cases
    }


def _with_reasons(case: Case, absent: dict[Place, str]) -> Case:
    """`case` with the reason for each runner that was missing in the case's own run."""
    cells = [
        replace(cell, reason=absent.get((case.id, cell.runner), cell.reason))
        if cell.outcome == "missing"
        else cell
        for cell in case.cells
    ]
    return replace(case, cells=cells)


# Summarises one machine of a merged run directory for the merged report.


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
    joined = machine_report(file, machine, reference)
    report = joined.report
    about = {c.id: About(c.scenario, c.title, c.group, c.axes) for c in report.cases}
    return Survey(
        _survey_machine(machine, joined),
        frozenset(runner.name for runner in report.runners if runner.role == "runner"),
        about,
        _answers(joined, reference),
        _estimates(joined.run, reference),
        make(report),
    )


def _survey_machine(machine: MergedMachine, joined: Joined) -> machines.Machine:
    report = joined.report
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
        runs=[run.plan.run for run in joined.runs],
        created=min(run.plan.created for run in joined.runs),
        blocks=report.blocks_complete,
        blocks_planned=report.blocks_planned,
        detectable=report.detectable and report.detectable[0],
        cases=len(report.cases),
        emulated=list(emulated(joined.run)),
        headline=report.headline,
        notices=report.notices,
        scheme=joined.run.plan.actual_scheme(),
    )


def _answers(joined: Joined, reference: str) -> dict[Place, Answer]:
    """The machine's answer on each pair; pairs with an emulated process are marked."""
    foreign = set(emulated(joined.run))
    answers: dict[Place, Answer] = {}
    for case in joined.report.cases:
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
