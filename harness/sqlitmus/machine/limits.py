"""What no process on this computer can exceed."""

import time
from dataclasses import dataclass

import psutil

from sqlitmus.machine import affinity, system


@dataclass(frozen=True, slots=True)
class Limits:
    """Processors that a process may use, bytes of memory (None: unknown), and the step in ns of the
    finest clock.
    """

    cores: int
    memory: int | None
    tick_ns: float


def free_memory() -> int | None:
    """Bytes of memory that new processes get without swapping; None where it is unknown."""
    return system.safely(lambda: psutil.virtual_memory().available)


def limits() -> Limits:
    """Those of this computer."""
    return Limits(
        cores=affinity.usable(),
        memory=system.safely(lambda: psutil.virtual_memory().total),
        tick_ns=time.get_clock_info("perf_counter").resolution * 1e9,
    )
