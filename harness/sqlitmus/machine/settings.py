"""Doctor's checks of the machine's settings: frequency, power, cores, clock."""

import itertools
import time
from pathlib import Path

from sqlitmus.machine import kernel
from sqlitmus.machine.check import Check
from sqlitmus.machine.facts import UNKNOWN

COARSE_NS = 1_000
SLOW_CLOCKS = {"hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"}


def governor(root: Path) -> Check:
    """The frequency governors of all cores."""
    governors = kernel.governors(root)
    if not governors or governors == ["performance"]:
        return Check("governor", "ok", governors[0] if governors else UNKNOWN)
    advice = "sudo cpupower frequency-set -g performance"
    return Check("governor", "warning", ", ".join(governors), advice)


def boost(root: Path) -> Check:
    """Turbo, under which the frequency depends on heat and on the other cores."""
    turbo = kernel.boost(root)
    if turbo is None or not turbo.on:
        return Check("boost", "ok", UNKNOWN if turbo is None else "off")
    finding = "on: the frequency depends on heat and on the other cores"
    return Check("boost", "warning", finding, turbo.forbid)


def power(on_battery: bool | None) -> Check:
    """Whether the machine saves power."""
    if on_battery:
        return Check("power", "warning", "on battery", "plug in the power supply")
    return Check("power", "ok", UNKNOWN if on_battery is None else "mains")


def threads(root: Path) -> Check:
    """Whether hardware threads share a core, which matters to parallel cases."""
    counts = kernel.cores(root)
    if counts is None:
        return Check("threads", "ok", UNKNOWN)
    cores, threads = counts
    if cores == threads:
        return Check("threads", "ok", f"{cores} cores, one thread each")
    finding = f"{cores} cores, {threads} threads: more than {cores} workers share cores"
    return Check("threads", "ok", finding)


def clock(root: Path, grain_ns: int | None) -> Check:
    """The clock that runners read; `grain_ns` is its smallest step."""
    source, others = kernel.clock_source(root) or (UNKNOWN, [])
    step = "unknown steps" if grain_ns is None else f"steps of {grain_ns} ns"
    finding = f"{source}, {step}"
    if source not in SLOW_CLOCKS and (grain_ns is None or grain_ns <= COARSE_NS):
        return Check("clock", "ok", finding)
    if "tsc" in others and source != "tsc":
        advice = f"echo tsc | sudo tee /{kernel.CLOCKS}/current_clocksource"
        return Check("clock", "warning", finding, advice)
    advice = "see why there is no finer clock: sudo dmesg | grep -i clocksource"
    return Check("clock", "warning", finding, advice)


def clock_grain_ns(readings: int = 2_000) -> int | None:
    """The smallest step seen in that many readings of the clock, None if it never moved."""
    seen = [time.perf_counter_ns() for _ in range(readings)]
    return min((b - a for a, b in itertools.pairwise(seen) if b > a), default=None)
