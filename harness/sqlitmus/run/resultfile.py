"""Reads the file in which a runner leaves its result: bounded, and as a stranger's."""

import json
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sqlitmus.machine import plainfiles
from sqlitmus.run import records
from sqlitmus.vocabulary.contract.result import Result
from sqlitmus.vocabulary.errors import UsageError

# A warm-up of 6 s, the longest of any mode, has room for 4 million iterations of 1.5 µs.
MOST_BYTES = 32 * 2**20
MOST_DIGITS = 19  # of 2**63; nothing that is measured needs more
# Only numbers out of bounds have it, so those of ordinary files are not looked at one by one.
ODD = re.compile(rb"\d{%d}|\d[eE]" % MOST_DIGITS)


class Unreadable(Exception):
    """A result that is there and cannot be taken; the message says why."""


def read(file: Path) -> Result:
    """The result in `file`. Raises FileNotFoundError where there is none, and Unreadable."""
    text = _bytes(file)
    try:
        result = Result.model_validate_json(text)
        if ODD.search(text):
            json.loads(text, object_pairs_hook=_unique, parse_int=_integer, parse_float=_real)
        else:
            json.loads(text, object_pairs_hook=_unique)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "whole file"
        raise Unreadable(f"its result does not fit the contract: {where}: {first['msg']}") from None
    return result


def clear(file: Path) -> None:
    """Remove what stands at `file`, whatever it is."""
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file, ignore_errors=True)
    else:
        with suppress(OSError):
            file.unlink()


def keep(file: Path, target: Path) -> None:
    """Copy `file` to `target` if it is a regular one of at most MOST_BYTES, else do nothing."""
    with suppress(OSError, Unreadable):
        target.write_bytes(_bytes(file))


def _bytes(file: Path) -> bytes:
    if file.is_symlink():
        raise Unreadable("its result is a link, which the harness does not follow")
    try:
        with plainfiles.unbounded(file) as stream:
            size = os.fstat(stream.fileno()).st_size
            text = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise
    except UsageError:
        raise Unreadable("its result is no regular file") from None
    except OSError as error:
        raise Unreadable(f"its result cannot be read: {error.strerror}") from error
    if len(text) > MOST_BYTES:
        raise Unreadable(
            f"its result has {max(size, len(text)) / 2**20:.1f} MB; "
            f"{MOST_BYTES >> 20} MB are room for any job's: let an iteration do more operations"
        )
    return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if (name := records.twice(pairs)) is not None:
        raise Unreadable(f"its result has the key {name} twice in one object")
    return dict(pairs)


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > MOST_DIGITS:
        raise Unreadable(f"its result has an integer of {len(text)} digits: {text[:12]}…")
    return int(text)


def _real(text: str) -> float:
    value = float(text)
    if abs(value) >= 2.0**63:
        raise Unreadable(f"its result has the number {text[:20]}, which is out of all bounds")
    return value
