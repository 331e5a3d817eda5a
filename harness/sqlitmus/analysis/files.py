"""A run directory → `RunData`."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from sqlitmus.analysis.data import RunData, from_records
from sqlitmus.catalog import presets
from sqlitmus.machine import plainfiles
from sqlitmus.run import folder
from sqlitmus.run.records import RunDataError, cut_off, document, lines, optional


def load(directory: Path) -> RunData:
    """The run in `directory`, finished or not.

    A last line without a line end was cut off by a kill: it is left out and noted. Any other line
    that is not JSON raises RunDataError, as does a missing plan; UsageError is raised for what is
    no regular file, or too large, and for faults in the presets of the catalogue.
    """
    folder.check(directory)
    samples, details = directory / "samples.jsonl", directory / "details.jsonl"
    try:
        plan = document(directory / "plan.json")
    except FileNotFoundError as error:
        raise RunDataError(f"{error.filename}: cannot be read: {error.strerror}") from error
    run = from_records(
        plan,
        _records(directory / "verify.jsonl"),
        _records(samples, numbers=False),
        optional(directory / "machine.json") or {},
        blocks=_records(directory / "blocks.jsonl"),
        selftest=optional(directory / "selftest.json") or None,
        truncated=cut_off(samples),
        details=_records(details) if plainfiles.size(details) is not None else None,
        gate=optional(directory / "gate.json") or None,
        looks=_records(directory / "looks.jsonl"),
    )
    return replace(run, presets=presets.load())


def _records(file: Path, *, numbers: bool = True) -> Iterator[object]:
    return chain.from_iterable(chunk for _, chunk in lines(file, numbers=numbers))
