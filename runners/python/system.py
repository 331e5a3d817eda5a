"""What the system says of this process, on Linux, macOS and Windows."""

import os
import sys
from pathlib import Path
from typing import Any, NamedTuple


class Usage(NamedTuple):
    """CPU nanoseconds, context switches (voluntary, involuntary) and page faults (minor, major) of
    all threads; None where the system does not tell the two kinds apart."""

    user: int
    system: int
    switches: tuple[int, int] | None = None
    page_faults: tuple[int, int] | None = None


def usage() -> Usage:
    """What the process has used so far."""
    if sys.platform == "win32":
        now = os.times()
        return Usage(round(now.user * 1e9), round(now.system * 1e9))
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    switches, page_faults = (used.ru_nvcsw, used.ru_nivcsw), (used.ru_minflt, used.ru_majflt)
    return Usage(round(used.ru_utime * 1e9), round(used.ru_stime * 1e9), switches, page_faults)


def figures(before: Usage, after: Usage) -> dict[str, Any]:
    """The result's `cpu_ns`, `switches` and `page_faults` between two moments."""
    return {
        "cpu_ns": {"user": after.user - before.user, "system": after.system - before.system},
        "switches": _between(before.switches, after.switches, ("voluntary", "involuntary")),
        "page_faults": _between(before.page_faults, after.page_faults, ("minor", "major")),
    }


def _between(
    before: tuple[int, int] | None, after: tuple[int, int] | None, names: tuple[str, str]
) -> dict[str, int] | None:
    if before is None or after is None:
        return None
    return dict(zip(names, map(int.__sub__, after, before), strict=True))


def peak_rss() -> int | None:
    """The largest resident set so far, in bytes; None where the system does not say."""
    if sys.platform == "win32":
        return _peak_working_set()
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in bytes there
    # ru_maxrss would start from the size of the process that spawned this one
    try:
        status = Path("/proc/self/status").read_text("ascii")
    except OSError:
        return None
    high_water = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(high_water[0].split()[1]) * 1024 if high_water else None


def _peak_working_set() -> int | None:
    import ctypes

    class Counters(ctypes.Structure):
        """PROCESS_MEMORY_COUNTERS."""

        _fields_ = (
            ("cb", ctypes.c_uint32),
            ("PageFaultCount", ctypes.c_uint32),
            ("PeakWorkingSetSize", ctypes.c_size_t),
            ("others", ctypes.c_size_t * 7),
        )

    counters = Counters(cb=ctypes.sizeof(Counters))
    ask = ctypes.WinDLL("kernel32").K32GetProcessMemoryInfo
    this = ctypes.c_void_p(-1)
    known = ask(this, ctypes.byref(counters), counters.cb)
    return counters.PeakWorkingSetSize if known else None


def architecture() -> str:
    """What this Python is built for.

    On Windows `platform.machine` answers, by version, for the machine or for the process.
    """
    if sys.platform == "win32":
        import sysconfig

        return sysconfig.get_platform().removeprefix("win-").replace("win32", "ia32")
    return os.uname().machine
