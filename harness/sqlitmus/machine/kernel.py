"""Single facts of Linux's kernel, from /proc and /sys below a root folder; None when unknown."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlitmus.machine.system import CPUS, first, natural, numbers, row, text, texts

TICKS_BEFORE_GUEST = 8
CLOCKS = "sys/devices/system/clocksource/clocksource0"


def pressure_us(root: Path, resource: Literal["cpu", "io", "memory"]) -> int | None:
    """Microseconds since start-up in which some task waited for `resource` (PSI, `some`)."""
    words = row(root, f"proc/pressure/{resource}", "some")
    totals = [natural(w.removeprefix("total=")) for w in words if w.startswith("total=")]
    return totals[0] if totals else None


def cpu_ticks(root: Path) -> tuple[int, int] | None:
    """Clock ticks of all cores since start-up: (all of them, those stolen by the hypervisor).

    The first eight columns of /proc/stat; time of guests is contained in that of users.
    """
    ticks = [natural(word) for word in row(root, "proc/stat", "cpu")[:TICKS_BEFORE_GUEST]]
    counts = [count for count in ticks if count is not None]
    return (sum(counts), counts[-1]) if len(counts) == TICKS_BEFORE_GUEST else None


def context_switches(root: Path) -> int | None:
    """Context switches of all cores since start-up."""
    return first(row(root, "proc/stat", "ctxt"))


def throttle_count(root: Path) -> int | None:
    """How often cores were throttled for heat since start-up, added up."""
    counts = numbers(root, CPUS, "cpu[0-9]*", "thermal_throttle/core_throttle_count")
    return sum(counts) if counts else None


def frequency_khz(root: Path) -> int | None:
    """The frequency of the fastest core; that of an idle core has no meaning."""
    return max(numbers(root, f"{CPUS}/cpufreq", "policy[0-9]*", "scaling_cur_freq"), default=None)


def governors(root: Path) -> list[str]:
    """The frequency governors in use, each once."""
    return sorted(set(texts(root, f"{CPUS}/cpufreq", "policy[0-9]*", "scaling_governor")))


@dataclass(frozen=True, slots=True)
class Boost:
    """Whether cores may go beyond their base frequency, and the shell command that forbids it."""

    on: bool
    forbid: str


def boost(root: Path) -> Boost | None:
    """Turbo or boost, by the driver's switch."""
    for name, value_on in ((f"{CPUS}/intel_pstate/no_turbo", "0"), (f"{CPUS}/cpufreq/boost", "1")):
        now = text(root, name)
        if now in ("0", "1"):
            off = "1" if value_on == "0" else "0"
            return Boost(now == value_on, f"echo {off} | sudo tee /{name}")
    return None


def cores(root: Path) -> tuple[int, int] | None:
    """(cores, hardware threads) that are online."""
    siblings = texts(root, CPUS, "cpu[0-9]*", "topology/thread_siblings_list")
    return (len(set(siblings)), len(siblings)) if siblings else None


def clock_source(root: Path) -> tuple[str, list[str]] | None:
    """The kernel's clock, and the available alternatives."""
    now = text(root, f"{CLOCKS}/current_clocksource")
    readable = re.fullmatch(r"[\w-]+", now)
    return (now, text(root, f"{CLOCKS}/available_clocksource").split()) if readable else None


def temperature_c(root: Path) -> float | None:
    """The hottest sensor in degrees Celsius."""
    sensors = numbers(root, "sys/class/thermal", "thermal_zone[0-9]*", "temp")
    return max((value / 1000 for value in sensors if 0 < value < 150_000), default=None)


def unwritten_bytes(root: Path) -> int | None:
    """Bytes in memory that the kernel still has to write to disks."""
    parts = [first(row(root, "proc/meminfo", key)) for key in ("Dirty", "Writeback")]
    amounts = [part for part in parts if part is not None]
    return 1024 * sum(amounts) if len(amounts) == len(parts) else None


def virtualised(root: Path) -> bool:
    """Whether the processor reports a hypervisor."""
    return "hypervisor" in row(root, "proc/cpuinfo", "flags")
