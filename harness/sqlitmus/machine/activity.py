"""What else the machine does: two snapshots of the processor, the disks and all processes."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from sqlitmus.machine import conditions, system
from sqlitmus.machine.conditions import Conditions, Rates

TOP = 3


@dataclass(frozen=True, slots=True)
class ProcessCounters:
    """A process: CPU seconds and bytes written since its start; None when they are unreadable."""

    name: str
    cpu_s: float
    written: int | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Counters since start-up; processes by id and start time. None where the system has none."""

    conditions: Conditions
    cpu_s: tuple[float, float] | None
    """(busy, all) seconds of all cores; stolen ones are not busy."""
    disk_bytes: int | None
    """Read and written, all disks."""
    swapped_bytes: int | None
    """Moved between memory and swap."""
    processes: dict[tuple[int, float], ProcessCounters]


@dataclass(frozen=True, slots=True)
class ProcessShare:
    """A process and its rate per second: cores in use, or bytes written."""

    name: str
    pid: int
    rate: float


@dataclass(frozen=True, slots=True)
class Activity:
    """The difference of two snapshots: rates per second, processes from most to least."""

    rates: Rates
    busy: float | None
    disk_bytes_per_s: float | None
    swapped_bytes: int | None
    busiest: list[ProcessShare]
    writers: list[ProcessShare]


def snapshot(root: Path = system.ROOT) -> Snapshot:
    """Take a snapshot of the counters."""
    processes = system.safely(lambda: dict(_processes())) or {}
    return Snapshot(
        conditions=conditions.read(root=root),
        cpu_s=system.safely(_cpu_s),
        disk_bytes=system.safely(_disk_bytes),
        swapped_bytes=system.safely(_swapped_bytes),
        processes=processes,
    )


def watch(seconds: float, root: Path = system.ROOT) -> Activity:
    """The activity while this process sleeps for `seconds`."""
    before = snapshot(root)
    time.sleep(seconds)
    return between(before, snapshot(root))


def between(before: Snapshot, after: Snapshot) -> Activity:
    """The activity between two snapshots; processes that started or ended in it are left out."""
    rates = conditions.difference(before.conditions, after.conditions)
    both = [
        (k[0], before.processes[k], p) for k, p in after.processes.items() if k in before.processes
    ]
    seconds = rates.seconds
    disk = _grown(before.disk_bytes, after.disk_bytes)
    return Activity(
        rates=rates,
        busy=_busy(before.cpu_s, after.cpu_s),
        disk_bytes_per_s=disk / seconds if disk is not None and seconds else None,
        swapped_bytes=_grown(before.swapped_bytes, after.swapped_bytes),
        busiest=_top([(p.name, pid, p.cpu_s - was.cpu_s) for pid, was, p in both], seconds),
        writers=_top(
            [(p.name, pid, _grown(was.written, p.written) or 0) for pid, was, p in both], seconds
        ),
    )


def _busy(before: tuple[float, float] | None, after: tuple[float, float] | None) -> float | None:
    if before is None or after is None or after[1] <= before[1]:
        return None
    return min(1.0, max(0.0, (after[0] - before[0]) / (after[1] - before[1])))


def _grown(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else max(0, after - before)


def _top(amounts: list[tuple[str, int, float]], seconds: float) -> list[ProcessShare]:
    most = sorted((a for a in amounts if a[2] > 0), key=lambda a: -a[2])[:TOP]
    return [ProcessShare(name, pid, amount / seconds) for name, pid, amount in most if seconds]


def _cpu_s() -> tuple[float, float]:
    times = psutil.cpu_times()._asdict()
    # Linux counts the time of guests among that of users as well.
    total = sum(times.values()) - times.get("guest", 0.0) - times.get("guest_nice", 0.0)
    idle = times["idle"] + times.get("iowait", 0.0) + times.get("steal", 0.0)
    return total - idle, total


def _disk_bytes() -> int | None:
    counted = psutil.disk_io_counters()
    return counted.read_bytes + counted.write_bytes if counted else None


def _swapped_bytes() -> int:
    swap = psutil.swap_memory()
    return swap.sin + swap.sout


def _own() -> set[int]:
    """This process, and the shell and terminal above it, which cannot be closed for a run.

    A shell also gets the counters of the commands that it has waited for.
    """
    ancestors = system.safely(lambda: psutil.Process().parents()) or []
    return {os.getpid(), *(process.pid for process in ancestors)}


def _processes() -> Iterator[tuple[tuple[int, float], ProcessCounters]]:
    counts = hasattr(psutil.Process, "io_counters")
    excluded = _own()
    attributes = ["name", "create_time", "cpu_times", *(["io_counters"] if counts else [])]
    for process in psutil.process_iter(attributes):
        info = process.info
        cpu, written, start = info["cpu_times"], info.get("io_counters"), info["create_time"]
        if process.pid not in excluded and cpu is not None and start is not None:
            yield (
                (process.pid, start),
                ProcessCounters(
                    name=info["name"] or "unknown",
                    cpu_s=cpu.user + cpu.system,
                    written=written.write_bytes if written else None,
                ),
            )
