"""Copies and hashes the files of a run directory, byte for byte, within limits.

Somebody else's folder may hold anything: only files with known names are opened, no link is
followed, and one chunk is read at a time.
"""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from sqlitmus.machine import plainfiles
from sqlitmus.machines.candidate import Unacceptable
from sqlitmus.run.folder import MB, MOST_LINE, SIZES

CHUNK = MB // 4
REQUIRED = ("plan.json", "machine.json", "verify.jsonl", "samples.jsonl")


def copy(origin: Path, target: Path) -> str:
    """Copy the known files of `origin` to the new folder `target`; returns their 16-digit hash.

    Raises UsageError for files that it refuses, OSError when `target` cannot be written.
    """
    digest = hashlib.sha256()
    target.mkdir(parents=True)
    for name, most in SIZES.items():
        size = plainfiles.size(origin / name)
        if size is None and name in REQUIRED:
            raise Unacceptable(f"{name} is missing; give the whole run directory")
        if size is None:
            continue
        digest.update(f"{name}\0{size}\0".encode())
        with (
            plainfiles.opened(origin / name, most) as stream,
            (target / name).open("wb") as into,
        ):
            _copy_file(name, stream, size, into, digest.update)
    return digest.hexdigest()[:16]


def _copy_file(
    name: str, stream: BinaryIO, size: int, into: BinaryIO, receive: Callable[[bytes], None]
) -> None:
    """Copy `size` bytes, and call `receive` with each chunk."""
    copied, line, length = 0, 1, 0
    for chunk in _chunks(name, stream):
        first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
        # lines within a chunk are shorter than the limit
        if length + (first if first >= 0 else len(chunk)) > MOST_LINE:
            raise Unacceptable(
                f"{name} line {line}: longer than {MOST_LINE // MB} MB, which no run writes"
            )
        length = len(chunk) - last - 1 if last >= 0 else length + len(chunk)
        line += chunk.count(b"\n")
        copied += len(chunk)
        if copied > size:
            break
        receive(chunk)
        into.write(chunk)
    if copied != size:
        raise Unacceptable(f"{name}: changed while it was read; merge when the run has ended")


def _chunks(name: str, stream: BinaryIO) -> Iterator[bytes]:
    try:
        while chunk := stream.read(CHUNK):
            yield chunk
    except OSError as error:
        raise Unacceptable(f"{name}: cannot be read: {error.strerror}") from error
