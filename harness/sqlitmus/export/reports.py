"""The reports that a directory holds, by machine."""

from pathlib import Path

from sqlitmus.analysis import analyse, load
from sqlitmus.machines import manifest as model
from sqlitmus.machines.load import machine_report, reference_of
from sqlitmus.results.machines import Refused
from sqlitmus.results.report import Report
from sqlitmus.run.store import RunDirectory
from sqlitmus.vocabulary.errors import UsageError

UNNAMED = "unnamed"


def reports_of(directory: Path, reference: str | None) -> list[tuple[str, Report]]:
    """Each machine's name with its report; runs from before machines had names are `unnamed`.

    Raises UsageError when the directory is no run, cannot be read, or lacks the reference.
    """
    if model.is_merged(directory):
        return _merged(directory, reference)
    run = load(RunDirectory.open(directory).path)
    return [(run.plan.machine or UNNAMED, analyse(run, reference))]


def _merged(directory: Path, reference: str | None) -> list[tuple[str, Report]]:
    merged = model.read(directory)
    against = reference_of(directory, merged, reference)
    refused: list[Refused] = []
    reports = [
        (machine.name, joined.report)
        for machine in merged.machines
        if (joined := machine_report(directory, machine, against, refused))
    ]
    if refused:  # what is wrong was refused when they were merged, so this was changed since
        reasons = "; ".join(f"{refusal.path}: {refusal.reason}" for refusal in refused)
        raise UsageError(f"{directory}: {reasons}; merge the runs again")
    return reports
