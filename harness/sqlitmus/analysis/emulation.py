"""Processes of another architecture than the machine's: they run, but not as they would there."""

from collections.abc import Mapping

from sqlitmus.analysis.data import RunData
from sqlitmus.machine.architecture import named
from sqlitmus.machine.facts import UNKNOWN


def emulated(run: RunData) -> dict[str, str]:
    """The runners whose process is of another architecture, and of which."""
    runners = ((runner.name, runner.description) for runner in run.plan.runners)
    return foreign(run, {name: told.identity.architecture for name, told in runners if told})


def foreign(run: RunData, programs: Mapping[str, str]) -> dict[str, str]:
    """Of programs and what they are built for, those of another architecture than the machine's.

    None is foreign where it, or the machine, does not tell.
    """
    machine = named(run.machine.get("architecture", UNKNOWN))
    known = {name: named(built) for name, built in programs.items()}
    return {
        name: built
        for name, built in known.items()
        if UNKNOWN not in (machine, built) and built != machine
    }
