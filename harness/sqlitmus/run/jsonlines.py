"""Files of JSON lines: only appended to, and read up to the last line that is whole."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from sqlitmus.machine import plainfiles
from sqlitmus.vocabulary.errors import UsageError

Item = dict[str, Any] | list[Any]


def line(item: Item) -> str:
    """`item` as a line, with its end."""
    return json.dumps(item, separators=(",", ":"), ensure_ascii=False) + "\n"


def append(file: Path, item: Item, *, sync: bool) -> None:
    """Append a line; with `sync` it is on the disk when this returns. Raises OSError."""
    with plainfiles.appended(file) as stream:
        stream.write(line(item).encode())
        stream.flush()
        if sync:
            os.fsync(stream.fileno())


def read(file: Path, most: int) -> Iterator[tuple[int, Any]]:
    """Number and value of each whole line; none where there is no file.

    Raises UsageError for what is no JSON, and for a file of more than `most` bytes.
    """
    if plainfiles.size(file) is None:
        return
    with plainfiles.opened(file, most) as stream:
        for number, text in enumerate(stream, start=1):
            if not text.endswith(b"\n"):
                return
            try:
                yield number, json.loads(text)
            except ValueError as error:
                raise UsageError(f"{file}:{number}: not a JSON line: {error}") from error


def repair(file: Path) -> int:
    """Cut off a half-written last line; returns how many bytes are left."""
    if not plainfiles.size(file):
        return 0
    with plainfiles.changed(file) as stream:
        whole = _whole_lines(stream)
        stream.truncate(whole)
    return whole


def _whole_lines(stream: BinaryIO) -> int:
    """Bytes up to the last line end, found from the end."""
    end = stream.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - plainfiles.MB)
        stream.seek(start)
        last = stream.read(end - start).rfind(b"\n")
        if last >= 0:
            return start + last + 1
        end = start
    return 0
