"""Doctor's checks for disturbances: load, steal, heat, swapping, disk traffic."""

from collections.abc import Callable
from pathlib import Path

import psutil

from sqlitmus.machine import kernel, system
from sqlitmus.machine.activity import Activity, ProcessShare
from sqlitmus.machine.check import Check
from sqlitmus.machine.facts import UNKNOWN
from sqlitmus.vocabulary.plain import one_line

BUSY = 0.2
MEMORY_PRESSURE = 0.01
HOT_C = 85
DISK_BYTES_PER_S = 2**20
# a process below these is not worth closing
NAMED_CORES = 0.05
NAMED_BYTES_PER_S = 2**16
UNWRITTEN_BYTES = 64 * 2**20


def load(activity: Activity) -> Check:
    """CPU in use, and the busiest processes."""
    if activity.busy is None:
        return Check("load", "ok", UNKNOWN)
    finding = f"{100 * activity.busy:.0f} % of the CPU is in use"
    if activity.busy <= BUSY:
        return Check("load", "ok", finding)
    busiest = [process for process in activity.busiest if process.rate >= NAMED_CORES]
    advice = _close(busiest, lambda cores: f"{100 * cores:.0f} % of a core")
    return Check("load", "warning", finding, advice or "find out what is busy, with top")


def steal(activity: Activity, root: Path) -> Check:
    """CPU time that the hypervisor gave to other machines."""
    share = activity.rates.steal
    if share is None:
        return Check("steal", "ok", UNKNOWN)
    if share > 0:
        finding = f"{100 * share:.1f} % of the CPU time went to other guests of the host"
        advice = "measure at a quieter hour, or on a host of your own"
        return Check("steal", "warning", finding, advice)
    kind = " (virtual machine)" if kernel.virtualised(root) else ""
    return Check("steal", "ok", f"no CPU time taken by other guests{kind}")


def temperature(activity: Activity, root: Path) -> Check:
    """Heat, and whether it throttled cores."""
    hottest = kernel.temperature_c(root)
    count = kernel.throttle_count(root)
    findings = [] if hottest is None else [f"{hottest:.0f} °C"]
    if count is not None:
        findings.append(f"throttled {count} times since start-up")
    finding = ", ".join(findings) or UNKNOWN
    if activity.rates.throttled:
        advice = "let the machine cool down; its cores are being slowed now"
        return Check("temperature", "warning", finding, advice)
    if hottest is not None and hottest >= HOT_C:
        return Check("temperature", "warning", finding, "let the machine cool down")
    return Check("temperature", "ok", finding)


def swap(activity: Activity) -> Check:
    """Whether memory is short now; pages that were swapped out long ago disturb nobody."""
    used = system.safely(lambda: psutil.swap_memory().used)
    moved, pressure = activity.swapped_bytes, activity.rates.memory_pressure
    if moved is None and pressure is None:
        return Check("swap", "ok", UNKNOWN)
    finding = f"{(moved or 0) / 2**20:.1f} MiB being moved"
    if used is not None:
        finding = f"{used / 2**30:.1f} GiB in use, {finding}"
    if not moved and (pressure or 0) <= MEMORY_PRESSURE:
        return Check("swap", "ok", finding)
    if pressure is not None:
        finding += f", tasks waited for memory {100 * pressure:.0f} % of the time"
    return Check("swap", "warning", finding, "close what needs much memory")


def disk_traffic(activity: Activity, root: Path) -> Check:
    """Other users of the disks, and data that the kernel still has to write."""
    rate, unwritten = activity.disk_bytes_per_s, kernel.unwritten_bytes(root)
    findings: list[str] = []
    advice: list[str] = []
    if rate is not None:
        findings.append(_per_s(rate))
        if rate > DISK_BYTES_PER_S:
            writers = [process for process in activity.writers if process.rate >= NAMED_BYTES_PER_S]
            advice.append(_close(writers, _per_s) or "find out who, with sudo iotop")
    if unwritten is not None:
        findings.append(f"{unwritten / 2**20:.0f} MiB to be written")
        if unwritten > UNWRITTEN_BYTES:
            advice.append("run sync")
    state = "warning" if advice else "ok"
    return Check("disk traffic", state, ", ".join(findings) or UNKNOWN, "; ".join(advice))


def _per_s(rate: float) -> str:
    return f"{rate / 2**20:.1f} MiB/s"


def _close(processes: list[ProcessShare], describe: Callable[[float], str]) -> str:
    # any process chooses its own name
    named = [f"{one_line(p.name)} (pid {p.pid}) {describe(p.rate)}" for p in processes]
    return f"close what is busy: {', '.join(named)}" if named else ""
