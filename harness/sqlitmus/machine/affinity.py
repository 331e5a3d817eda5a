"""Pins: the processors that processes are bound to, where the system lets a program say so."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

from sqlitmus.vocabulary.errors import NotFit, UsageError


def unsupported() -> str | None:
    """Why processes cannot be pinned on this system; None where they can be."""
    if hasattr(os, "sched_setaffinity"):
        return None
    return f"processes cannot be pinned to processors on {sys.platform}; Linux can"


def allowed() -> list[int]:
    """The processors that this process may use, by the system's numbers."""
    return sorted(os.sched_getaffinity(0))


def usable() -> int:
    """How many processors this process may use: a container or `taskset` may leave it fewer than
    the machine has."""
    return len(allowed()) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check(pins: list[int]) -> None:
    """Raise UsageError for a processor that is not there or not allowed, NotFit for no pins."""
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
    """Bind the calling thread, and what it starts inside the block, to `processor`; None: nothing.

    A process inherits the pin of the thread that starts it, so it is bound from its first
    instruction and all of its threads are: a pin set after the start would come too late for both.
    """
    if processor is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {processor})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
