"""What a process writes while it times its work, seen from outside: bytes, and its log."""

import struct
from dataclasses import dataclass
from pathlib import Path

from sqlitmus.machine import process_tree

_HEADER = struct.Struct(">4I")  # of a log: magic number, format, page size, checkpoint sequence
_FRAME = 24  # bytes of a log beside each page


@dataclass(frozen=True, slots=True)
class Look:
    """Counters at one moment: bytes written by a process, which log it writes, the log's pages."""

    written_bytes: int
    sequence: int | None
    pages: int


@dataclass(frozen=True, slots=True)
class Writes:
    """Between two looks: bytes written, in how many iterations, and how often the write-ahead log
    began anew, as it does at the first write after a checkpoint of all of it. `pages` is its length
    at the end, `grown` how many of them came meanwhile.
    """

    written_bytes: int
    iterations: int
    checkpoints: int
    pages: int
    grown: int

    @property
    def bytes_per_iteration(self) -> float:
        """Bytes written in an iteration, its share of checkpoints included."""
        return self.written_bytes / self.iterations


def look(pid: int, database: Path) -> Look | None:
    """Counters of `pid`, which writes to `database`; None where the system does not tell."""
    written = process_tree.written_bytes(pid)
    if written is None:
        return None
    log = database.with_name(f"{database.name}-wal")
    try:
        with log.open("rb") as file:
            head = file.read(_HEADER.size)
        size = log.stat().st_size
    except OSError:
        return Look(written, None, 0)
    if len(head) < _HEADER.size:
        return Look(written, None, 0)
    _, _, page, sequence = _HEADER.unpack(head)
    return Look(written, sequence, size // (page + _FRAME))


def between(before: Look | None, after: Look | None, iterations: int) -> Writes | None:
    """What was written between two looks, with so many iterations in between; None where that is
    not known."""
    if before is None or after is None or not iterations:
        return None
    begun = after.sequence if before.sequence is None else before.sequence
    return Writes(
        after.written_bytes - before.written_bytes,
        iterations,
        0 if after.sequence is None or begun is None else after.sequence - begun,
        after.pages,
        after.pages - before.pages,
    )
