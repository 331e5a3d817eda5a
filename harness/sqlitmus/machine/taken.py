"""What others take of a process's time while it has work to do: Linux tells, others do not."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlitmus.machine import process_tree, usage
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
    ticks = usage.away(root)
    away = ticks.values() if processor is None else [ticks.get(str(processor), 0)]
    return Look(waited, read, sum(away) * TICK_NS)


def between(before: Look | None, after: Look | None) -> float | None:
    """ns that others took between two looks, at most; None where that is not known, or where a disk
    was read, which takes a time that nobody counts."""
    if before is None or after is None or after.read_bytes > before.read_bytes:
        return None
    waited = sum(ns - before.waited_ns.get(task, 0) for task, ns in after.waited_ns.items())
    return waited + after.away_ns - before.away_ns
