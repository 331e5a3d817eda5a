"""The runs of one machine in a merged run directory: read, checked, joined, analysed."""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from sqlitmus.analysis.assemble import analyse
from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.files import load
from sqlitmus.machine import plainfiles
from sqlitmus.machines import manifest
from sqlitmus.machines.join import differences, join
from sqlitmus.results.machines import Refused
from sqlitmus.results.report import Case, Report
from sqlitmus.run.records import document
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.nouns import counted

Place = tuple[str, str]  # case id, runner


@dataclass(frozen=True, slots=True)
class Joined:
    """All readable runs of a machine as one, with its report."""

    runs: list[RunData]
    run: RunData
    report: Report


def machine_report(
    directory: Path,
    machine: manifest.MergedMachine,
    reference: str | None,
    refused: list[Refused],
) -> Joined | None:
    """A machine's runs, joined and analysed; runs that cannot be read are added to `refused`.

    The report is against `reference` if that runner took part. None when no run can be read.
    """
    runs: list[RunData] = []
    for source in machine.sources:
        try:
            run = load(_folder(directory, source))
            _check(run, runs)
        except UsageError as error:
            refused.append(Refused(f"{source.run} of {machine.name}", str(error)))
        else:
            runs.append(run)
    if not runs:
        return None
    run = join(runs)
    present = {r.name for r in run.plan.runners if r.missing is None}
    report = analyse(run, reference if reference in present else None)
    notices = [*differences(runs), *report.notices]
    absent = _absent(runs)
    cases = [_with_reasons(case, absent) for case in report.cases] if absent else report.cases
    report = replace(report, notices=notices, cases=cases)
    return Joined(runs, run, report)


def _folder(directory: Path, source: manifest.Source) -> Path:
    """The folder of a source; raises UsageError for one that could lie elsewhere."""
    if not re.fullmatch("[0-9a-f]+", source.hash):
        raise UsageError(f"merged.json: {source.hash!r} is no hash; merge the runs again")
    folder = directory / manifest.SOURCES / source.hash
    for place in (folder.parent, folder):
        plainfiles.check_folder(place)
    return folder


def _check(run: RunData, runs: list[RunData]) -> None:
    """Raise UsageError for a run that cannot be joined to `runs`."""
    for other in runs:
        if run.plan.sessions != other.plan.sessions:
            raise UsageError(
                f"has {counted(run.plan.sessions, 'session')}, {other.plan.run} of the same "
                f"machine has {other.plan.sessions}; give one of them another --machine"
            )
        both = {case.id for case in run.plan.cases} & {case.id for case in other.plan.cases}
        if both:
            raise UsageError(f"has {min(both)}, as has {other.plan.run}; merge the runs again")


def reference_of(directory: Path, merged: manifest.Merged, requested: str | None) -> str:
    """The runner that all machines are compared with: `requested`, or the one most plans name.

    Raises UsageError when `requested` took part in no run.
    """
    named: dict[str, int] = {}
    present: dict[str, None] = {}
    for machine in merged.machines:
        for source in machine.sources:
            plan = _plan(directory, source)
            name = plan.get("reference")
            if isinstance(name, str):
                named[name] = named.get(name, 0) + 1
            runners = plan.get("runners")
            for runner in cast("list[Any]", runners) if isinstance(runners, list) else []:
                of = cast("dict[str, Any]", runner) if isinstance(runner, dict) else {"missing": ""}
                if of.get("missing") is None:
                    present[str(of.get("name"))] = None
    if requested is None:
        return max(named, key=lambda name: named[name], default="")
    if requested not in present:
        raise UsageError(
            f"{requested!r} cannot be the reference: it took no part in any of these runs. "
            f"Choose one of {', '.join(present) or 'none (no runner was present)'}."
        )
    return requested


def _plan(directory: Path, source: manifest.Source) -> dict[str, Any]:
    """The readable part of a plan; the error is reported when the run itself is loaded."""
    with suppress(OSError, UsageError):
        return document(_folder(directory, source) / "plan.json")
    return {}


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
