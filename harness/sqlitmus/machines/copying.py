"""Copies and hashes the files of a run directory, byte for byte, within limits.

Somebody else's folder may hold anything: only files with known names are opened, no link is
followed, and one chunk is read at a time.
"""

import hashlib
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from sqlitmus.machines.values import Unacceptable

MB = 2**20
CHUNK = MB // 4
MOST_LINE = 4 * MB  # the longest are histograms, of some 100 kB
# Parsed whole, at some ten times the size; a plan of ten thousand cells has 7 MB.
MOST_WHOLE = 32 * MB
# Read in chunks; the samples of a million invocations have 130 MB.
MOST_LINES = 512 * MB

REQUIRED = ("plan.json", "machine.json", "verify.jsonl", "samples.jsonl")
LIMITS = {
    "plan.json": MOST_WHOLE,
    "machine.json": MOST_WHOLE,
    "verify.jsonl": MOST_WHOLE,
    "samples.jsonl": MOST_LINES,
    "blocks.jsonl": MOST_WHOLE,
    "details.jsonl": MOST_LINES,
    "gate.json": MOST_WHOLE,
    "selftest.json": MOST_WHOLE,
}


def copy(origin: Path, target: Path) -> str:
    """Copy the known files of `origin` to the new folder `target`; returns their 16-digit hash.

    Raises Unacceptable for files that it refuses, OSError when `target` cannot be written.
    """
    digest = hashlib.sha256()
    target.mkdir(parents=True)
    for name, limit in LIMITS.items():
        size = _size(origin / name)
        if size is None and name in REQUIRED:
            raise Unacceptable(f"{name} is missing; give the whole run directory")
        if size is None:
            continue
        if size > limit:
            raise Unacceptable(f"{name}: larger than {limit // MB} MB, which no run writes")
        digest.update(f"{name}\0{size}\0".encode())
        with (target / name).open("wb") as into:
            _copy_file(origin / name, size, into, digest.update)
    return digest.hexdigest()[:16]


def _size(file: Path) -> int | None:
    """The size of a file in bytes; None when it does not exist."""
    try:
        status = file.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unacceptable(f"{file.name}: cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        raise Unacceptable(f"{file.name} is a link or no file; give a folder that holds it")
    return status.st_size


def _copy_file(file: Path, size: int, into: BinaryIO, receive: Callable[[bytes], None]) -> None:
    """Copy `size` bytes, and call `receive` with each chunk."""
    copied, line, length = 0, 1, 0
    for chunk in _chunks(file):
        first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
        # lines within a chunk are shorter than the limit
        if length + (first if first >= 0 else len(chunk)) > MOST_LINE:
            raise Unacceptable(
                f"{file.name} line {line}: longer than {MOST_LINE // MB} MB, which no run writes"
            )
        length = len(chunk) - last - 1 if last >= 0 else length + len(chunk)
        line += chunk.count(b"\n")
        copied += len(chunk)
        if copied > size:
            break
        receive(chunk)
        into.write(chunk)
    if copied != size:
        raise Unacceptable(f"{file.name}: changed while it was read; merge when the run has ended")


def _chunks(file: Path) -> Iterator[bytes]:
    try:
        with file.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                yield chunk
    except OSError as error:
        raise Unacceptable(f"{file.name}: cannot be read: {error.strerror}") from error
