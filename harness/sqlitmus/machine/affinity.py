"""Pins processes to processors, on systems that let a program do so."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlitmus.vocabulary.errors import NotFit, UsageError


def unsupported() -> str | None:
    """Why processes cannot be pinned on this system; None when they can."""
    if hasattr(os, "sched_setaffinity"):
        return None
    return f"processes cannot be pinned to processors on {sys.platform}; Linux can"


def allowed() -> list[int]:
    """The processors that this process may use, by the system's numbers."""
    return sorted(os.sched_getaffinity(0))


def usable() -> int:
    """How many processors this process may use, which a container or `taskset` may restrict."""
    return len(allowed()) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def first(count: int) -> list[int]:
    """The first `count` processors that this process may use; none where that cannot be had."""
    if unsupported() or len(allowed()) < count:
        return []
    return allowed()[:count]


def fastest() -> int | None:
    """The last of the fastest processors that this process may use: the system's own work prefers
    the first. None where threads cannot be bound to it, or there is no choice.
    """
    if unsupported() or usable() < 2:
        return None
    try:
        os.sched_setaffinity(0, allowed())
    except OSError:  # a container may forbid it
        return None
    return max(allowed(), key=lambda number: (_speed(number), number))


def _speed(processor: int) -> int:
    """How fast a processor is beside the others, where they differ; 0 where nothing tells."""
    folder = Path(f"/sys/devices/system/cpu/cpu{processor}")
    for file in (folder / "cpu_capacity", folder / "cpufreq" / "cpuinfo_max_freq"):
        with suppress(OSError, ValueError):
            return int(file.read_bytes())
    return 0


def check(pins: list[int]) -> None:
    """Raise UsageError for an absent or forbidden processor, NotFit where pinning is impossible."""
    if not pins:
        return
    if reason := unsupported():
        raise NotFit(f"pins {', '.join(map(str, pins))}: {reason}. Leave the pins out.")
    processors = allowed()
    for pin in pins:
        if pin not in processors:
            usable = ", ".join(map(str, processors))
            raise UsageError(
                f"pin {pin}: there is no such processor, or this process may not use it; "
                f"usable are {usable}"
            )


@contextmanager
def pinned(processor: int | None) -> Generator[None]:
    """Bind the calling thread, and what it starts in the block, to `processor`; None binds nothing.

    A process inherits the pin of the thread that starts it, so all of its threads are bound from
    the first instruction. A pin set after the start would come too late.
    """
    with _within(set() if processor is None else {processor}):
        yield


@contextmanager
def away_from(processor: int | None) -> Generator[None]:
    """Keep the calling thread off `processor`, if there is another that it may use."""
    with _within(set() if processor is None else set(allowed()) - {processor}):
        yield


@contextmanager
def _within(processors: set[int]) -> Generator[None]:
    """Bind the calling thread to `processors`; none binds nothing."""
    if not processors:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
