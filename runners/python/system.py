"""What the system says of this process, on Linux, macOS and Windows."""

import gc
import itertools
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Usage(NamedTuple):
    """CPU nanoseconds, garbage collections, context switches (voluntary, involuntary) and page
    faults (minor, major) of all threads; None where the system does not tell the kinds apart."""

    cpu: int
    collections: int
    switches: tuple[int, int] | None = None
    page_faults: tuple[int, int] | None = None


def usage() -> Usage:
    """What the process has used so far."""
    cpu = time.process_time_ns()
    collections = sum(generation["collections"] for generation in gc.get_stats())
    if sys.platform == "win32":
        return Usage(cpu, collections)
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    switches, page_faults = (used.ru_nvcsw, used.ru_nivcsw), (used.ru_minflt, used.ru_majflt)
    return Usage(cpu, collections, switches, page_faults)


def figures(looks: Sequence[tuple[Usage, Usage]]) -> dict[str, Any]:
    """The result's `cpu_ns`, `collections`, `switches` and `page_faults` from two looks at each
    iteration."""
    kinds = {
        "switches": ("voluntary", "involuntary"),
        "page_faults": ("minor", "major"),
    }
    events: dict[str, dict[str, int] | None] = {}
    for name, names in kinds.items():
        pairs = [(getattr(before, name), getattr(after, name)) for before, after in looks]
        told = None not in itertools.chain(*pairs)
        events[name] = (
            {kind: sum(now[at] - then[at] for then, now in pairs) for at, kind in enumerate(names)}
            if told
            else None
        )
    return {
        "cpu_ns": sum(after.cpu - before.cpu for before, after in looks),
        "collections": sum(after.collections - before.collections for before, after in looks),
        **events,
    }


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
