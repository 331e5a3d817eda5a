"""How operating systems differ: readings, processors, priorities, limits, the console."""

import fnmatch
import io
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import psutil

from sqlitmus.vocabulary.errors import NotFit, UsageError

ROOT = Path("/")
CPUS = "sys/devices/system/cpu"
T = TypeVar("T")


def safely(read: Callable[[], T]) -> T | None:
    """The value of `read()`, or None when it raises; hides psutil's warnings of missing facts."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read()
    except Exception:  # noqa: BLE001 — psutil parses files of the kernel without promising errors
        return None


def load_average() -> float | None:
    """The load average of the last minute; None where the system has none."""
    if sys.platform == "win32":
        return None
    return safely(lambda: os.getloadavg()[0])


def text(root: Path, name: str) -> str:
    """A file below `root`, stripped of white space; empty when it cannot be read."""
    try:
        # A machine with many cores has hundreds of such files, and pathlib is slow at each.
        with open(f"{root}/{name}", "rb", buffering=0) as file:  # noqa: PTH123
            return file.read().decode(errors="replace").strip()
    except OSError:
        return ""


def texts(root: Path, folder: str, pattern: str, name: str) -> list[str]:
    """File `name` of all folders in `folder` that match `pattern`, without unreadable ones."""
    try:
        folders = sorted(fnmatch.filter((f.name for f in (root / folder).iterdir()), pattern))
    except OSError:
        return []
    return [content for each in folders if (content := text(root, f"{folder}/{each}/{name}"))]


def natural(word: str) -> int | None:
    """`word` as a number of at most 64 bits; None when it is anything else."""
    if not re.fullmatch("[0-9]{1,20}", word):
        return None
    number = int(word)
    return number if number < 2**64 else None


def numbers(root: Path, folder: str, pattern: str, name: str) -> list[int]:
    """The numbers in all files that `texts` reads; files without a number are left out."""
    values = (natural(content) for content in texts(root, folder, pattern, name))
    return [value for value in values if value is not None]


def row(root: Path, name: str, key: str) -> list[str]:
    """The words after `key`, a line's first word or the text before a colon; empty without it."""
    for line in text(root, name).splitlines():
        before, _, after = line.partition(":")
        if before.strip() == key:
            return after.split()
        if line.split()[:1] == [key]:
            return line.split()[1:]
    return []


def first(words: list[str]) -> int | None:
    """The first word as a number."""
    return natural(words[0]) if words else None


# Pins processes to processors, on systems that let a program do so.


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


def first_processor(count: int) -> list[int]:
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


def pinned(processor: int | None) -> AbstractContextManager[None]:
    """Bind the calling thread, and what it starts in the block, to `processor`; None binds nothing.

    A process inherits the pin of the thread that starts it, so all of its threads are bound from
    the first instruction. A pin set after the start would come too late.
    """
    return _within(set() if processor is None else {processor})


def away_from(processor: int | None) -> AbstractContextManager[None]:
    """Keep the calling thread off `processor`, if there is another that it may use."""
    return _within(set() if processor is None else set(allowed()) - {processor})


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


# Real-time priority for a moment, on systems that grant it.


@contextmanager
def highest() -> Generator[bool]:
    """Keep ordinary processes off this thread's processor in the block; yields whether that holds.

    Nothing changes without the right to do so (CAP_SYS_NICE, RLIMIT_RTPRIO).
    """
    if not hasattr(os, "sched_setscheduler"):
        yield False
        return
    policy, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setscheduler(0, policy, parameter)


# Makes stdout and stderr take every character and colour, with the same bytes on each system.


def prepare() -> None:
    """Set up both streams; call it before anything is written.

    Windows writes a redirected stream in the country's code page, which lacks → and ≈, and ends
    lines with two characters; its older console prints colours as characters. Elsewhere only
    characters that the locale's encoding lacks are replaced.
    """
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):  # a test's, or none at all
            continue
        if sys.platform == "win32":
            stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")
        else:
            stream.reconfigure(errors="replace")
    if sys.platform == "win32":
        import colorama

        colorama.just_fix_windows_console()


# Whether somebody set the system's clock meanwhile: its distance from one that nobody sets.

# A clock that is corrected slowly goes up to 500 ppm wrong by design.
SLEW = 0.001
LEAST_SET_NS = 1_000_000


class ClockWatch:
    """Watches the system's clock from now on, by which several processes tell when they ran."""

    def __init__(self) -> None:
        self._begun = time.monotonic_ns()
        self._apart = time.time_ns() - self._begun

    def set_by_ns(self) -> int:
        """By how many ns it was set, 0 for no more than a slow correction; negative for back."""
        now = time.monotonic_ns()
        by = time.time_ns() - now - self._apart
        return by if abs(by) > LEAST_SET_NS + SLEW * (now - self._begun) else 0


# How long the machine has stood by: a laptop that was closed.

LEAST_STANDBY_S = 0.5  # less is the difference of two looks at two clocks


def standby_s() -> float:
    """Seconds of standby since the start of the machine; 0 where no clock tells."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return 0.0
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()


# Single facts of Linux's kernel, from /proc and /sys below a root folder; None when unknown.

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
    counts = _counts(root).get("")
    return (sum(counts), counts[-1]) if counts else None


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


# What no process on this computer can exceed.


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
    return safely(lambda: psutil.virtual_memory().available)


def limits() -> Limits:
    """Those of this computer."""
    return Limits(
        cores=usable(),
        memory=safely(lambda: psutil.virtual_memory().total),
        tick_ns=time.get_clock_info("perf_counter").resolution * 1e9,
    )


# The share of each processor in use between two moments, from Linux's counters.

_IDLE = (3, 4, 7)  # columns of /proc/stat: idle, waiting for input and output, stolen

_AWAY = (5, 6, 7)  # interrupts, what they leave for later, stolen

Ticks = dict[str, tuple[int, int]]


def ticks(root: Path = ROOT) -> Ticks:
    """Clock ticks since start-up by processor number: (in use, all); empty where unknown."""
    return {
        number: (sum(counts) - sum(counts[i] for i in _IDLE), sum(counts))
        for number, counts in _counts(root).items()
        if number
    }


def away(root: Path = ROOT) -> dict[str, int]:
    """Clock ticks since start-up that interrupts and other guests took, by processor number."""
    return {n: sum(counts[i] for i in _AWAY) for n, counts in _counts(root).items() if n}


def _counts(root: Path) -> dict[str, list[int]]:
    """The columns of each processor in /proc/stat, by its number; of all of them by ""."""
    by_processor: dict[str, list[int]] = {}
    for line in text(root, "proc/stat").splitlines():
        name, *words = line.split() or [""]
        counts = [natural(word) for word in words[:TICKS_BEFORE_GUEST]]
        parsed = [count for count in counts if count is not None]
        if re.fullmatch(r"cpu\d*", name) and len(parsed) == TICKS_BEFORE_GUEST:
            by_processor[name.removeprefix("cpu")] = parsed
    return by_processor


def shares(before: Ticks, after: Ticks) -> dict[str, float]:
    """The share of each processor's time in use, 0 to 1; a processor without a tick is left out.

    A tick is a hundredth of a second, so shares over less than some tenths of a second are coarse.
    """
    both = {n: (before[n], now) for n, now in after.items() if n in before}
    return {
        number: min(1.0, max(0.0, (now[0] - was[0]) / (now[1] - was[1])))
        for number, (was, now) in both.items()
        if now[1] > was[1]
    }
