"""What Linux tells of a process from outside: what others take of its time, and what it writes."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlitmus.machine import process_tree, system
from sqlitmus.machine.system import ROOT

TICK_NS = 10_000_000  # of /proc/stat, on every architecture


@dataclass(frozen=True, slots=True)
class Look:
    """Counters at one moment: ns that each thread was ready without a processor, bytes that the
    processes had to read from disks, and ns that interrupts and other guests took of processors."""

    waited_ns: Mapping[int, int]
    read_bytes: int
    away_ns: int


def look(pid: int, processor: int | None, root: Path = ROOT) -> Look | None:
    """Counters of `pid` and its descendants, and of `processor` or, without one, of all; None where
    the system does not tell.
    """
    waited, read = process_tree.waited(pid), process_tree.read_bytes(pid)
    if not waited or read is None:
        return None
    ticks = system.away(root)
    away = ticks.values() if processor is None else [ticks.get(str(processor), 0)]
    return Look(waited, read, sum(away) * TICK_NS)


def between(before: Look | None, after: Look | None) -> float | None:
    """ns that others took between two looks, at most; None where that is not known, or where a disk
    was read, which takes a time that nobody counts."""
    if before is None or after is None or after.read_bytes > before.read_bytes:
        return None
    waited = sum(ns - before.waited_ns.get(task, 0) for task, ns in after.waited_ns.items())
    return waited + after.away_ns - before.away_ns


# What a process writes while it times its work, seen from outside: bytes, and its log.

_HEADER = struct.Struct(">4I")  # of a log: magic number, format, page size, checkpoint sequence
_FRAME = 24  # bytes of a log beside each page


@dataclass(frozen=True, slots=True)
class WriteLook:
    """Counters at one moment: bytes written by a process, which log it writes, the log's pages."""

    written_bytes: int
    sequence: int | None
    pages: int


@dataclass(frozen=True, slots=True)
class Writes:
    """Between two looks: bytes written, in how many iterations, and how often the write-ahead log
    began anew, as it does at the first write after a checkpoint of all of it. `pages` is the
    length of its file at the end, `grown` how many of them came meanwhile.
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


def look_at_writes(pid: int, database: Path) -> WriteLook | None:
    """Counters of `pid`, which writes to `database`; None where the system does not tell."""
    written = process_tree.written_bytes(pid)
    if written is None:
        return None
    return WriteLook(written, *look_at_log(database))


def look_at_log(database: Path) -> tuple[int | None, int]:
    """Which write-ahead log `database` has, by its checkpoint sequence, and the pages of its file;
    None and 0 without one."""
    log = database.with_name(f"{database.name}-wal")
    try:
        with log.open("rb") as file:
            head = file.read(_HEADER.size)
        size = log.stat().st_size
    except OSError:
        return None, 0
    if len(head) < _HEADER.size:
        return None, 0
    _, _, page, sequence = _HEADER.unpack(head)
    return sequence, size // (page + _FRAME)


def written_between(
    before: WriteLook | None, after: WriteLook | None, iterations: int
) -> Writes | None:
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
