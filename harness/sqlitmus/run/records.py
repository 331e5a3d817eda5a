"""Reads the JSON of a run directory; every number in it is safe for arithmetic."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast

from pydantic_core import from_json

from sqlitmus.machine import plainfiles
from sqlitmus.run.folder import MB, MOST_LINE, MOST_WHOLE, SIZES
from sqlitmus.vocabulary.errors import UsageError

MOST = 2**63
LEAST = 2.0**-63
CHUNK = 1024  # lines


class RunDataError(UsageError):
    """The run directory cannot be analysed; the text names the file and the place in it."""


def document(file: Path) -> dict[str, Any]:
    """The object in a file; raises RunDataError, and FileNotFoundError."""
    data = plainfiles.read(file, SIZES.get(file.name, MOST_WHOLE))
    value = _parse(data, f"{file}")
    if not isinstance(value, dict):
        raise RunDataError(f"{file}: expected a JSON object")
    fields = cast("dict[str, Any]", value)
    _check_keys(data, file)
    if not _sound(fields):
        _check(fields, f"{file}: $")
    return fields


def optional(file: Path) -> dict[str, Any] | None:
    """The object in a file; None when there is no such file."""
    return None if plainfiles.size(file) is None else document(file)


def lines(file: Path, *, numbers: bool = True) -> Iterator[tuple[int, list[Any]]]:
    """Whole lines in chunks, each with the number of its first; `numbers` checks the numbers.

    None where there is no such file. A last line without an end was cut off by a kill and is left
    out. Raises RunDataError.
    """
    if plainfiles.size(file) is None:
        return
    number = 1
    with plainfiles.opened(file, SIZES[file.name]) as stream:
        while chunk := list(islice(stream, CHUNK)):
            if not chunk[-1].endswith(b"\n"):
                chunk.pop()
            yield number, _values(chunk, file, number, numbers=numbers)
            number += len(chunk)


def cut_off(file: Path) -> bool:
    """Whether the last line has no end."""
    if not plainfiles.size(file):
        return False
    with plainfiles.opened(file, SIZES[file.name]) as stream:
        stream.seek(-1, 2)
        return stream.read(1) != b"\n"


def _values(chunk: list[bytes], file: Path, first: int, *, numbers: bool) -> list[Any]:
    """The lines at once, which takes half the time, or one by one to find the one that is none."""
    whole = b"[" + b",".join(chunk) + b"]"
    if len(whole) > MOST_LINE:
        _check_lengths(chunk, file, first)
    try:
        values = cast("list[Any]", from_json(whole))
    except ValueError:
        values = []
    if len(values) != len(chunk):
        hint = ". Restore the file, or remove the line to go on without it."
        values = [
            _parse(text, f"{file} line {number}", hint) for number, text in enumerate(chunk, first)
        ]
    if numbers and not _sound(values):
        for number, value in enumerate(values, first):
            _check(value, f"{file} line {number}: $")
    return values


def _check_lengths(chunk: list[bytes], file: Path, first: int) -> None:
    for number, text in enumerate(chunk, first):
        if len(text) > MOST_LINE:
            raise RunDataError(
                f"{file} line {number}: longer than {MOST_LINE // MB} MB, which no run writes"
            )


def _parse(data: bytes, where: str, hint: str = "") -> object:
    try:
        return from_json(data)
    except ValueError as error:
        raise RunDataError(f"{where}: not JSON: {error}{hint}") from error


def _check_keys(data: bytes, file: Path) -> None:
    """Raise RunDataError for a key that stands twice in an object: readers take either value."""

    def once(pairs: list[tuple[str, object]]) -> None:
        if (name := twice(pairs)) is not None:
            raise RunDataError(f"{file}: the key {name!r} occurs more than once in an object")

    json.loads(data, object_pairs_hook=once, parse_int=_ignored, parse_float=_ignored)


def twice(pairs: Sequence[tuple[str, object]]) -> str | None:
    """The first key that stands twice in an object, None where each stands once."""
    if len(dict(pairs)) == len(pairs):
        return None
    names = [name for name, _ in pairs]
    return next(name for name in names if names.count(name) > 1)


def _ignored(_: str) -> None:
    """A number that is not looked at, as one of ten thousand digits."""


def _sound(value: object) -> bool:
    """Whether all numbers are finite and of ordinary size: a quick check without the place."""
    left = [value]
    while left:
        item = left.pop()
        kind = type(item)
        if kind is str:  # the most
            continue
        if kind is dict:
            left.extend(cast("dict[str, object]", item).values())
        elif kind is list:
            left.extend(cast("list[object]", item))
        elif (kind is int or kind is float) and not -MOST < cast("float", item) < MOST:  # nor NaN
            return False
    return True


def _check(value: object, path: str) -> None:
    """Raise RunDataError for the first unsound number, with its place."""
    if isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            _check(item, f"{path}.{key}")
    elif isinstance(value, list):
        for number, item in enumerate(cast("list[object]", value)):
            _check(item, f"{path}[{number}]")
    elif isinstance(value, int | float) and not -MOST < value < MOST:
        raise RunDataError(f"{path}: not a finite number of ordinary size")
