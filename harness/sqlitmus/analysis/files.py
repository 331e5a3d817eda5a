"""A run directory → `RunData`."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import cast

from pydantic_core import from_json

from sqlitmus.analysis.data import RunData, RunDataError, from_records

_CHUNK = 1024


def load(directory: Path) -> RunData:
    """The run in `directory`, finished or not.

    A last line without a line end was cut off by a kill: it is left out and noted. Any other line
    that is not JSON raises RunDataError, as does a missing plan.
    """
    samples, details = directory / "samples.jsonl", directory / "details.jsonl"
    return from_records(
        _object(directory / "plan.json", required=True),
        _lines(directory / "verify.jsonl"),
        _lines(samples),
        _object(directory / "machine.json", required=False),
        blocks=_lines(directory / "blocks.jsonl"),
        selftest=_object(directory / "selftest.json", required=False) or None,
        truncated=cut_off(samples),
        details=_lines(details) if details.exists() else None,
        gate=_object(directory / "gate.json", required=False) or None,
    )


def _object(file: Path, *, required: bool) -> dict[str, object]:
    if not required and not file.exists():
        return {}
    try:
        value = from_json(file.read_bytes())
    except OSError as error:
        raise RunDataError(f"{file}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise RunDataError(f"{file}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise RunDataError(f"{file}: expected a JSON object")
    return cast("dict[str, object]", value)


def _lines(file: Path) -> Iterator[object]:
    return chain.from_iterable(_chunks(file))


def _chunks(file: Path) -> Iterator[list[object]]:
    if not file.exists():
        return
    with file.open("rb") as stream:
        before = 0
        while lines := list(islice(stream, _CHUNK)):
            if not lines[-1].endswith(b"\n"):
                lines.pop()
            yield _parse(lines, file, before)
            before += len(lines)


def _parse(lines: list[bytes], file: Path, before: int) -> list[object]:
    """`lines` at once, which takes half the time, or one by one to find the one that is no JSON."""
    whole: list[object] = []
    with suppress(ValueError):
        whole = from_json(b"[" + b",".join(lines) + b"]")
    if len(whole) == len(lines):
        return whole
    found: list[object] = []
    for number, line in enumerate(lines, start=before + 1):
        try:
            found.append(from_json(line))
        except ValueError as error:
            raise RunDataError(
                f"{file} line {number}: not JSON: {error}. Restore the file, or remove the "
                "line to go on without it."
            ) from error
    return found


def cut_off(file: Path) -> bool:
    """Whether the last line has no end."""
    if not file.exists() or not file.stat().st_size:
        return False
    with file.open("rb") as stream:
        stream.seek(-1, 2)
        return stream.read(1) != b"\n"
