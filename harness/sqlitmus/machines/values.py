"""Reads JSON from other machines; every number in it is safe for arithmetic."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, cast

from pydantic_core import from_json

MOST = 2**63
CHUNK = 1024  # lines, as analysis reads them: what is parsed here is parsed there
_NUMBER = (int, float)  # looked up faster than a union


class Unacceptable(Exception):
    """A reason to refuse a folder; the text says what is wrong with it, and where."""


def document(file: Path) -> dict[str, Any]:
    """The object in a file."""
    value = _parse(file.read_bytes(), file.name)
    if not isinstance(value, dict):
        raise Unacceptable(f"{file.name}: expected a JSON object")
    fields = cast("dict[str, Any]", value)
    if not _sound(fields):
        _check(fields, f"{file.name}: $")
    return fields


def lines(file: Path, *, numbers: bool = True) -> Iterator[tuple[int, list[Any]]]:
    """Whole lines in chunks, each with the number of its first; `numbers` checks the numbers."""
    number = 1
    with file.open("rb") as stream:
        while chunk := list(islice(stream, CHUNK)):
            if not chunk[-1].endswith(b"\n"):
                chunk.pop()
            yield number, _values(chunk, file.name, number, numbers=numbers)
            number += len(chunk)


def plain(text: str, limit: int = 500) -> str:
    """`text` as one line of printable characters, cut after `limit`."""
    printable = "".join(c if c.isprintable() else "?" for c in text[: limit + 1])
    return printable if len(printable) <= limit else printable[:limit] + "…"


def _values(chunk: list[bytes], name: str, first: int, *, numbers: bool) -> list[Any]:
    try:
        values = cast("list[Any]", from_json(b"[" + b",".join(chunk) + b"]"))
    except ValueError:
        values = []
    if len(values) != len(chunk):
        values = [_parse(line, f"{name} line {n}") for n, line in enumerate(chunk, first)]
    if numbers and not _sound(values):
        for number, value in enumerate(values, first):
            _check(value, f"{name} line {number}: $")
    return values


def _parse(data: bytes, where: str) -> object:
    try:
        return from_json(data)
    except ValueError as error:
        raise Unacceptable(f"{where}: not JSON: {error}") from error


def _sound(value: object) -> bool:
    """Whether all numbers are finite and of ordinary size: a quick check without the place."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            left.extend(cast("dict[str, object]", item).values())
        elif isinstance(item, list):
            left.extend(cast("list[object]", item))
        elif isinstance(item, _NUMBER) and not -MOST < item < MOST:  # nor NaN
            return False
    return True


def _check(value: object, path: str) -> None:
    """Raise Unacceptable for the first unsound number, with its place."""
    if isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            _check(item, f"{path}.{key}")
    elif isinstance(value, list):
        for number, item in enumerate(cast("list[object]", value)):
            _check(item, f"{path}[{number}]")
    elif isinstance(value, _NUMBER) and not -MOST < value < MOST:
        raise Unacceptable(f"{path}: not a finite number of ordinary size")
