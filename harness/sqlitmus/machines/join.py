"""One machine's runs, each of other cases, as a single run. Pure.

Cases are put below each other, so that every cell keeps the samples of its own run; verdicts are
corrected over all of them together.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.samples import NONE, Samples
from sqlitmus.catalog.plan import Plan
from sqlitmus.catalog.planned import PlannedRunner
from sqlitmus.results.notices import Notice
from sqlitmus.vocabulary.nouns import by_value

T = TypeVar("T", bound=np.generic)


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
        truncated=any(run.truncated for run in runs),
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

    def laid(columns: list[NDArray[T]], empty: float) -> NDArray[T]:
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
        strays=sum(part.strays for part in parts),
        repeats=sum(part.repeats for part in parts),
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
