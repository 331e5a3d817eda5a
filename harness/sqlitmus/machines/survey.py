"""Summarises one machine of a merged run directory for the merged report.

Each process loads one machine at a time; `survey` returns no samples.
"""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.emulation import emulated
from sqlitmus.analysis.outcomes import judge, usable
from sqlitmus.analysis.pairs import compare_with
from sqlitmus.analysis.question import Question
from sqlitmus.machine import affinity
from sqlitmus.machines import manifest
from sqlitmus.machines.load import Joined, Place, machine_report
from sqlitmus.results import machines as mergedmodel
from sqlitmus.results.machines import Answer
from sqlitmus.results.report import Report

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Estimate:
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

    `machine` is None when none of its runs can be read; `choices` are the runners to choose from,
    without floor and oracle; `made` is the result of `make` on its own report.
    """

    refused: list[mergedmodel.Refused]
    machine: mergedmodel.Machine | None = None
    choices: frozenset[str] = frozenset()
    cases: dict[str, About] = field(default_factory=dict[str, About])
    answers: dict[Place, Answer] = field(default_factory=dict[Place, Answer])
    estimates: dict[Place, Estimate] = field(default_factory=dict[Place, Estimate])
    made: T | None = None


def surveys(
    directory: Path, merged: manifest.Merged, reference: str, make: Callable[[Report], T]
) -> Iterator[Survey[T]]:
    """The survey of each machine of `merged`, in order; `make` gets its report in its process."""
    jobs = (repeat(directory), merged.machines, repeat(reference), repeat(make))
    workers = min(affinity.usable(), len(merged.machines))
    if workers < 2:
        yield from map(survey, *jobs)
        return
    start = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=start) as pool:
        yield from pool.map(survey, *jobs)


def survey(
    directory: Path, machine: manifest.MergedMachine, reference: str, make: Callable[[Report], T]
) -> Survey[T]:
    """The survey of one machine; unreadable runs are refused and the rest is used."""
    refused: list[mergedmodel.Refused] = []
    joined = machine_report(directory, machine, reference, refused)
    if joined is None:
        return Survey(refused)
    report = joined.report
    about = {c.id: About(c.scenario, c.title, c.group, c.axes) for c in report.cases}
    return Survey(
        refused,
        _machine(machine, joined),
        frozenset(runner.name for runner in report.runners if runner.role == "runner"),
        about,
        _answers(joined, reference),
        _estimates(joined.run, reference),
        make(report),
    )


def _machine(machine: manifest.MergedMachine, joined: Joined) -> mergedmodel.Machine:
    report = joined.report
    versions: dict[str, list[str]] = {}
    for runner in report.runners:
        if runner.sqlite_version is not None:
            versions.setdefault(runner.sqlite_version, []).append(runner.name)
    return mergedmodel.Machine(
        name=machine.name,
        kind=machine.kind,
        label=machine.label,
        facts=report.machine,
        sqlite=versions,
        runs=[run.plan.run for run in joined.runs],
        created=min(run.plan.created for run in joined.runs),
        blocks=report.blocks_complete,
        blocks_planned=report.blocks_planned,
        grade=report.noise.grade,
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
        outcomes = {cell.runner: cell.outcome for cell in case.cells}
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
    times = usable(run.samples.time, judge(run))[:, :-1]
    logs = compare_with(times, names.index(reference), Question.of(run.plan)).logs
    columns = (logs.mean.tolist(), logs.error.tolist(), logs.freedom.tolist())
    places = [(case.id, name) for case in run.plan.cases for name in names]
    return {
        place: Estimate(*values)
        for place, values in zip(places, zip(*columns, strict=True), strict=True)
        if place[1] not in foreign and not np.isnan(values[1])
    }
