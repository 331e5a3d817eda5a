"""Whether this computer is fit to measure on: all of `doctor`'s checks."""

import hashlib
import itertools
import os
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

from sqlitmus.machine import conditions, lock, system
from sqlitmus.machine.conditions import Conditions, Rates
from sqlitmus.machine.host import UNKNOWN, file_system, hyperfine_version
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.text import one_line


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `doctor`: a warning lowers confidence, a failure makes measuring pointless.

    A fact that the system does not reveal is `ok` with the finding "unknown"; `advice` is empty
    when the state is ok.
    """

    name: str
    state: Literal["ok", "warning", "failure"]
    finding: str
    advice: str = ""


def judged(
    name: str,
    finding: str,
    advice: str = "",
    state: Literal["warning", "failure"] = "warning",
) -> Check:
    """A check that is ok unless there is something to advise."""
    return Check(name, state if advice else "ok", finding, advice)


# What else the machine does: two snapshots of the processor, the disks and all processes.

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
    earlier, seconds = before.processes, rates.seconds
    both = [(key[0], earlier[key], p) for key, p in after.processes.items() if key in earlier]
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


# Doctor's checks of the machine's settings: frequency, power, cores, clock.

COARSE_NS = 1_000
SLOW_CLOCKS = {"hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"}


def governor(root: Path) -> Check:
    """The frequency governors of all cores."""
    governors = system.governors(root)
    best = governors in ([], ["performance"])
    advice = "" if best else "sudo cpupower frequency-set -g performance"
    return judged("governor", ", ".join(governors) or UNKNOWN, advice)


def boost(root: Path) -> Check:
    """Turbo, under which the frequency depends on heat and on the other cores."""
    turbo = system.boost(root)
    if turbo and turbo.on:
        finding = "on: the frequency depends on heat and on the other cores"
        return judged("boost", finding, turbo.forbid)
    return judged("boost", "off" if turbo else UNKNOWN)


def power(on_battery: bool | None) -> Check:
    """Whether the machine saves power."""
    finding = {None: UNKNOWN, True: "on battery", False: "mains"}[on_battery]
    return judged("power", finding, "plug in the power supply" if on_battery else "")


def threads(root: Path, together: float | None = None) -> Check:
    """Whether hardware threads share a core, which matters to parallel cases; `together` is
    `speed_together`, since a virtual machine may call each thread a core."""
    cores, threads = system.cores(root) or (0, 0)
    finding = f"{cores} cores, one thread each" if cores else UNKNOWN
    if cores != threads:
        finding = f"{cores} cores, {threads} threads: more than {cores} workers share cores"
    if together is not None:
        finding += f"; with all at work each has {100 * together:.0f} % of its speed alone"
    return judged("threads", finding)


def speed_together(tries: int = 3) -> float | None:
    """The speed of a processor while all of them hash, as a share of its speed alone: of the
    shortest times of so many tries. None where there is one processor."""
    count = system.usable()
    if count < 2:
        return None
    block = bytes(2**24)

    def seconds(workers: int) -> float:
        begin = time.perf_counter()
        # hashlib lets other threads run meanwhile
        list(pool.map(hashlib.sha256, [block] * workers))
        return time.perf_counter() - begin

    with ThreadPoolExecutor(count) as pool:
        times = [(seconds(1), seconds(count)) for _ in range(tries)]
    alone, together = map(min, zip(*times, strict=True))
    return min(1.0, alone / together)


def clock(root: Path, grain_ns: int | None) -> Check:
    """The clock that runners read; `grain_ns` is its smallest step."""
    source, others = system.clock_source(root) or (UNKNOWN, [])
    step = "unknown steps" if grain_ns is None else f"steps of {grain_ns} ns"
    advice = "see why there is no finer clock: sudo dmesg | grep -i clocksource"
    if "tsc" in others and source != "tsc":
        advice = f"echo tsc | sudo tee /{system.CLOCKS}/current_clocksource"
    coarse = source in SLOW_CLOCKS or (grain_ns or 0) > COARSE_NS
    return judged("clock", f"{source}, {step}", advice if coarse else "")


def clock_grain_ns(readings: int = 2_000) -> int | None:
    """The smallest step seen in that many readings of the clock, None if it never moved."""
    seen = [time.perf_counter_ns() for _ in range(readings)]
    return min((b - a for a, b in itertools.pairwise(seen) if b > a), default=None)


# Doctor's checks for disturbances: load, steal, heat, swapping, disk traffic.

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
        return judged("load", UNKNOWN)
    busiest = [process for process in activity.busiest if process.rate >= NAMED_CORES]
    advice = _close(busiest, lambda cores: f"{100 * cores:.0f} % of a core")
    advice = advice or "find out what is busy, with top"
    finding = f"{100 * activity.busy:.0f} % of the CPU is in use"
    return judged("load", finding, advice if activity.busy > BUSY else "")


def steal(activity: Activity, root: Path) -> Check:
    """CPU time that the hypervisor gave to other machines."""
    share = activity.rates.steal
    if share is None:
        return judged("steal", UNKNOWN)
    if share > 0:
        finding = f"{100 * share:.1f} % of the CPU time went to other guests of the host"
        return judged("steal", finding, "measure at a quieter hour, or on a host of your own")
    kind = " (virtual machine)" if system.virtualised(root) else ""
    return judged("steal", f"no CPU time taken by other guests{kind}")


def temperature(activity: Activity, root: Path) -> Check:
    """Heat, and whether it throttled cores."""
    hottest = system.temperature_c(root)
    count = system.throttle_count(root)
    findings = [] if hottest is None else [f"{hottest:.0f} °C"]
    if count is not None:
        findings.append(f"throttled {count} times since start-up")
    advice = "let the machine cool down" if hottest is not None and hottest >= HOT_C else ""
    if activity.rates.throttled:
        advice = "let the machine cool down; its cores are being slowed now"
    return judged("temperature", ", ".join(findings) or UNKNOWN, advice)


def swap(activity: Activity) -> Check:
    """Whether memory is short now; pages that were swapped out long ago disturb nobody."""
    used = system.safely(lambda: psutil.swap_memory().used)
    moved, pressure = activity.swapped_bytes, activity.rates.memory_pressure
    if moved is None and pressure is None:
        return judged("swap", UNKNOWN)
    finding = f"{(moved or 0) / 2**20:.1f} MiB being moved"
    if used is not None:
        finding = f"{used / 2**30:.1f} GiB in use, {finding}"
    short = moved or (pressure or 0) > MEMORY_PRESSURE
    if short and pressure is not None:
        finding += f", tasks waited for memory {100 * pressure:.0f} % of the time"
    return judged("swap", finding, "close what needs much memory" if short else "")


def disk_traffic(activity: Activity, root: Path) -> Check:
    """Other users of the disks, and data that the kernel still has to write."""
    rate, unwritten = activity.disk_bytes_per_s, system.unwritten_bytes(root)
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
    return judged("disk traffic", ", ".join(findings) or UNKNOWN, "; ".join(advice))


def _per_s(rate: float) -> str:
    return f"{rate / 2**20:.1f} MiB/s"


def _close(processes: list[ProcessShare], describe: Callable[[float], str]) -> str:
    # any process chooses its own name
    named = [f"{one_line(p.name)} (pid {p.pid}) {describe(p.rate)}" for p in processes]
    return f"close what is busy: {', '.join(named)}" if named else ""


MEMORY_NEEDED = 2 * 2**30
DISK_NEEDED = 2**30
HYPERFINE_NEEDED = (1, 18)
WINDOW_S = 0.5
NOT_LOCAL = ("tmpfs", "nfs", "nfs4", "cifs", "smbfs", "9p", "fuse", "virtiofs")


def checks(root: Path = system.ROOT) -> list[Check]:
    """Run all checks; this watches the machine for half a second."""
    folder = paths.toolchain()
    folder.mkdir(parents=True, exist_ok=True)
    activity = watch(WINDOW_S, root)
    return [
        *set_up(),
        other_run(),
        load(activity),
        steal(activity, root),
        governor(root),
        boost(root),
        temperature(activity, root),
        power(activity.rates.on_battery),
        threads(root, speed_together()),
        clock(root, clock_grain_ns()),
        memory(),
        swap(activity),
        disk(folder),
        disk_traffic(activity, root),
        local(folder),
    ]


def set_up() -> list[Check]:
    """The tools; before set-up that it was not done, and what it will not find."""
    hints, provided = paths.tools().missing, tools()
    if paths.NOT_YET + "setup" not in hints.values():
        return [provided, hyperfine()]
    undone = judged("set-up", "not done yet", "run ./just setup", "failure")
    return [undone, provided] if provided.state != "ok" else [undone]


def tools() -> Check:
    """The tools that set-up could not provide; those of other recipes are theirs to set up."""
    provided = paths.tools()
    missing = {n: hint for n, hint in provided.missing.items() if paths.NOT_YET not in hint}
    if missing:
        names: dict[str, list[str]] = {}
        for name, hint in missing.items():
            names.setdefault(hint, []).append(name)
        hints = "; ".join(f"{', '.join(tools)}: {hint}" for hint, tools in names.items())
        return judged("tools", f"missing {', '.join(missing)}", hints)
    return judged("tools", f"{len(provided.paths)} present")


def hyperfine() -> Check:
    """Whether hyperfine is installed, in a version that has all the options used."""
    version = hyperfine_version()
    parts = re.match(r"(\d{1,9})\.(\d{1,9})", version or "")
    if version and parts and tuple(map(int, parts.groups())) >= HYPERFINE_NEEDED:
        return judged("hyperfine", version)
    needed = ".".join(map(str, HYPERFINE_NEEDED))
    finding = f"{version} is not {needed} or newer" if version else "not found"
    return judged("hyperfine", finding, "run ./just setup", "failure")


def other_run() -> Check:
    """Another run on this machine, of any user and clone."""
    holder = lock.holder()
    advice = "wait for it to end, or run with --wait" if holder else ""
    return judged("other run", str(holder or "none"), advice)


def memory() -> Check:
    """Whether memory is large enough to keep databases cached."""
    free = system.free_memory()
    if free is None:
        return judged("memory", UNKNOWN)
    advice = "close what needs much memory: databases may not stay in the page cache"
    finding = f"{free / 2**30:.1f} GiB available"
    return judged("memory", finding, advice if free < MEMORY_NEEDED else "")


def disk(folder: Path) -> Check:
    """Whether the disk has room for databases and their copies."""
    free = system.safely(lambda: psutil.disk_usage(str(folder)).free)
    if free is None:
        return judged("disk", UNKNOWN)
    advice = "free some, or set SQLITMUS_TOOLCHAIN elsewhere" if free < DISK_NEEDED else ""
    return judged("disk", f"{free / 2**30:.1f} GiB free", advice, "failure")


def local(folder: Path) -> Check:
    """Whether a sync of a file there reaches a disk of this machine."""
    name = file_system(folder)
    advice = "set SQLITMUS_TOOLCHAIN to a folder on a local disk: syncing means less here"
    return judged("file system", name, advice if name.split()[0].split(".")[0] in NOT_LOCAL else "")
