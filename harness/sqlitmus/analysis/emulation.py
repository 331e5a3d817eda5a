"""Processes of another architecture than the machine's: they run, but not as they would there."""

from sqlitmus.machine.architecture import named
from sqlitmus.machine.facts import UNKNOWN

from .data import RunData


def emulated(run: RunData) -> list[str]:
    """The runners whose process is of another architecture; none where the machine tells none."""
    machine = named(run.machine.get("architecture", UNKNOWN))
    return [
        runner.name
        for runner in run.plan.runners
        if runner.description is not None
        and machine not in (UNKNOWN, named(runner.description.identity.architecture))
    ]
