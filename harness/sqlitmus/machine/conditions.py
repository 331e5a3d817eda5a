"""Conditions of the machine at the start and end of a block, and the difference."""

import hashlib
import time
from pathlib import Path

import psutil

from sqlitmus.machine import system
from sqlitmus.vocabulary.contract import Model, Natural

WARM_UP = 2_000
ITERATIONS = 80_000


def probe() -> int:
    """Wall nanoseconds of 80,000 iterations of PBKDF2 with SHA-256: 20 to 50 ms in this process.

    One call into OpenSSL: one core, no allocation, no memory beyond the first-level cache. Its many
    small steps slow down like SQLite's own when a neighbour shares the core. Hashing a large buffer
    does not: it waits for the processor's SHA unit, which nobody else uses.
    """
    _work(WARM_UP)
    start = time.perf_counter_ns()
    _work(ITERATIONS)
    return time.perf_counter_ns() - start


def _work(iterations: int) -> None:
    hashlib.pbkdf2_hmac("sha256", b"sqlitmus", b"probe", iterations)


class Conditions(Model):
    """One reading; counters run since start-up. None for a fact that the system does not reveal."""

    monotonic_ns: int  # the harness's monotonic clock
    probe_ns: Natural | None = None  # wall time of the fixed native work
    load_average: float | None = None  # mean runnable tasks in the last minute
    cpu_pressure_us: Natural | None = None  # PSI: some task waited for a core
    io_pressure_us: Natural | None = None  # PSI: some task waited for a disk
    memory_pressure_us: Natural | None = None  # PSI: some task waited for memory
    cpu_ticks: Natural | None = None  # clock ticks of all cores
    steal_ticks: Natural | None = None  # those that the hypervisor gave away
    context_switches: Natural | None = None  # of all cores
    throttle_count: Natural | None = None  # throttled for heat, all cores
    frequency_khz: Natural | None = None  # of the fastest core at this moment
    on_battery: bool | None = None  # no mains; false without a battery


class Rates(Model):
    """Rates between two readings, None when one of them lacks the fact. Shares are from 0 to 1."""

    seconds: float  # between the looks
    load_average: float | None = None  # at the end
    cpu_pressure: float | None = None  # share of the time that a task waited
    io_pressure: float | None = None  # share of the time that a task waited
    memory_pressure: float | None = None  # share of the time that a task waited
    steal: float | None = None  # share of all cores' ticks that was stolen
    throttled: bool | None = None  # whether a core was throttled in between
    on_battery: bool | None = None  # at either look


def read(probe_ns: int | None = None, root: Path = system.ROOT) -> Conditions:
    """The conditions now, with the probe's time if it was just taken."""
    ticks, stolen = system.cpu_ticks(root) or (None, None)
    return Conditions(
        monotonic_ns=time.monotonic_ns(),
        probe_ns=probe_ns,
        load_average=system.load_average(),
        cpu_pressure_us=system.pressure_us(root, "cpu"),
        io_pressure_us=system.pressure_us(root, "io"),
        memory_pressure_us=system.pressure_us(root, "memory"),
        cpu_ticks=ticks,
        steal_ticks=stolen,
        context_switches=system.context_switches(root),
        throttle_count=system.throttle_count(root),
        frequency_khz=system.frequency_khz(root),
        on_battery=system.safely(_on_battery),
    )


def _on_battery() -> bool | None:
    battery = psutil.sensors_battery()
    if battery is None:
        return False
    # None for plugged is unknown, whatever psutil's types say.
    return {True: False, False: True}.get(battery.power_plugged)


def difference(before: Conditions, after: Conditions) -> Rates:
    """Rates between two readings; a counter that fell (a restart, a core gone) gives None."""
    wall_ns = max(0, after.monotonic_ns - before.monotonic_ns)

    def grown(name: str) -> int | None:
        was, now = getattr(before, name), getattr(after, name)
        return None if was is None or now is None or now < was else now - was

    throttled = grown("throttle_count")
    batteries = {before.on_battery, after.on_battery}
    return Rates(
        seconds=wall_ns / 1e9,
        load_average=after.load_average,
        cpu_pressure=_share(grown("cpu_pressure_us"), wall_ns / 1e3),
        io_pressure=_share(grown("io_pressure_us"), wall_ns / 1e3),
        memory_pressure=_share(grown("memory_pressure_us"), wall_ns / 1e3),
        steal=_share(grown("steal_ticks"), grown("cpu_ticks")),
        throttled=None if throttled is None else throttled > 0,
        on_battery=True if True in batteries else None if None in batteries else False,
    )


def _share(part: float | None, whole: float | None) -> float | None:
    # PSI and the ticks are brought up to date a little apart from the clock.
    return None if part is None or not whole else min(part / whole, 1.0)
