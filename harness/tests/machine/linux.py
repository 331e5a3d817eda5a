"""A fake /proc and /sys in a folder, and what psutil and the clocks tell of a fake machine."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psutil
import pytest

from sqlitmus.machine import conditions, readiness
from sqlitmus.machine.conditions import Rates

Files = Mapping[str, str] | Mapping[str, bytes]

CPUS = "sys/devices/system/cpu"
CLOCKS = "sys/devices/system/clocksource/clocksource0"

LAPTOP = {
    "proc/cpuinfo": "processor : 0\nmodel name\t: Example CPU 9000 @ 3 GHz\nflags\t\t: fpu sse2\n",
    "proc/stat": "cpu  100 1 20 1000 5 2 3 4 50 6\ncpu0 1 1 1 1 1 1 1 1 1 1\nctxt 777\n",
    "proc/meminfo": "MemTotal:  8000 kB\nDirty:     2048 kB\nWriteback:  1024 kB\n",
    "proc/pressure/cpu": "some avg10=8.07 avg60=5.07 total=3711\nfull avg10=0.00 total=1\n",
    "proc/pressure/io": "some avg10=0.00 avg60=0.00 total=42\nfull avg10=0.00 total=1\n",
    "proc/pressure/memory": "some avg10=0.00 avg60=0.00 total=7\n",
    "etc/os-release": 'NAME="Example"\nPRETTY_NAME="Example Linux 12"\n',
    "sys/class/thermal/thermal_zone0/temp": "41000\n",
    "sys/class/thermal/thermal_zone1/temp": "63500\n",
    f"{CLOCKS}/current_clocksource": "hpet\n",
    f"{CLOCKS}/available_clocksource": "tsc hpet acpi_pm\n",
    f"{CPUS}/intel_pstate/no_turbo": "0\n",
    **{f"{CPUS}/cpu{n}/thermal_throttle/core_throttle_count": f"{n}\n" for n in range(4)},
    **{f"{CPUS}/cpu{n}/topology/thread_siblings_list": f"{n % 2},{n % 2 + 2}" for n in range(4)},
    **{f"{CPUS}/cpufreq/policy{n}/scaling_governor": "powersave\n" for n in range(4)},
    **{f"{CPUS}/cpufreq/policy{n}/scaling_cur_freq": f"{n + 1}000000\n" for n in range(4)},
}
"""A laptop that saves power: two cores with two threads each, with turbo and a slow clock."""


def build(root: Path, files: Files) -> Path:
    """Write `files` below `root`."""
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def look(root: Path, **told: Any) -> dict[str, Any]:
    """The conditions that are known of a machine, without the time."""
    found = conditions.read(root=root, **told)
    return found.model_dump(exclude_none=True, exclude={"monotonic_ns"})


def rates(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Those that are known between two looks, and survive being kept as JSON."""
    found = conditions.difference(*map(conditions.Conditions.model_validate, (before, after)))
    assert Rates.model_validate_json(found.model_dump_json()) == found
    return found.model_dump(exclude_none=True)


def pids_seen() -> set[int]:
    """Those of the processes that may be named as busy, on this machine."""
    return {pid for pid, _ in readiness.snapshot().processes}


def cpu(busy: float, idle: float, **more: float) -> SimpleNamespace:
    """Seconds of all cores."""
    return SimpleNamespace(_asdict=lambda: {"user": busy, "idle": idle, **more})


def disks(total: int) -> SimpleNamespace:
    return SimpleNamespace(read_bytes=total // 4, write_bytes=total - total // 4)


def swapped(total: int) -> SimpleNamespace:
    return SimpleNamespace(used=2**30, sin=total // 4, sout=total - total // 4)


def processes(told: Mapping[int, tuple[float, int | None]], start: float = 1.0) -> Any:
    """Processes as psutil lists them, by id, with their CPU seconds and the bytes they wrote."""

    def listed(names: list[str]) -> Iterator[SimpleNamespace]:
        for pid, (cpu_s, written) in told.items():
            info = {
                "name": f"p{pid}\x1b[2J",
                "create_time": start,
                "cpu_times": SimpleNamespace(user=cpu_s / 4, system=cpu_s * 3 / 4),
                "io_counters": written if written is None else SimpleNamespace(write_bytes=written),
            }
            yield SimpleNamespace(pid=pid, info={name: info[name] for name in names})

    return listed


def memory(free: int) -> SimpleNamespace:
    return SimpleNamespace(available=free, free=free, total=2 * free)


def battery(*, plugged: bool | None) -> SimpleNamespace:
    return SimpleNamespace(power_plugged=plugged)


def mounted(kind: str, device: str) -> list[SimpleNamespace]:
    return [SimpleNamespace(mountpoint="/", fstype=kind, device=device)]


FIT: dict[str, Any] = {
    "cpu_times": (cpu(0, 0), cpu(0.03, 0.97)),
    "disk_io_counters": disks(0),
    "swap_memory": swapped(0),
    "process_iter": processes({}),
    "sensors_battery": None,
    "virtual_memory": memory(2**33),
    "disk_usage": memory(2**40),
    "disk_partitions": mounted("ext4", "/dev/sda1"),
}
"""What psutil tells of a machine that nothing is wrong with."""


def fake(
    root: Path,
    patch: pytest.MonkeyPatch,
    files: Files,
    later: Files | None = None,
    *,
    hyperfine: tuple[str, int] = ("hyperfine 1.20.0", 0),
    missing: dict[str, str] | None = None,
    grain_ns: int = 30,
    hashing: Sequence[float] = (),
    **tells: Any,
) -> None:
    """A machine of these `files` below `root`, some of which are others `later`, while it is
    watched.

    What psutil `tells` is a pair if it differs before and after that; errors among it are raised.
    `hyperfine` is what it says and with which exit code, `grain_ns` the step of the clock,
    `hashing` how long it takes with one thread and with two, in turn; without it there is one
    processor.
    """
    moment = 0

    def tell(value: Any, *asked: Any, **_: Any) -> Any:
        now = cast("tuple[Any, Any]", value)[moment] if isinstance(value, tuple) else value
        if isinstance(now, Exception):
            raise now
        return now(*asked) if callable(now) else now

    def watch(_: float) -> None:
        nonlocal moment
        moment = 1
        build(root, later or {})

    tools = {name: {"missing": why} for name, why in (missing or {}).items()}
    paths = {"paths.json": json.dumps({"hyperfine": {"path": f"{root}/hyperfine"}, **tools})}
    build(root, paths)
    build(root, files)
    patch.setenv("SQLITMUS_PATHS", f"{root}/paths.json")
    patch.setenv("SQLITMUS_TOOLCHAIN", f"{root}")
    patch.setenv("SQLITMUS_LOCK", f"{root}/lock")
    for name, value in {**FIT, **tells}.items():
        patch.setattr(psutil, name, partial(tell, value), raising=False)
    said = SimpleNamespace(stdout=hyperfine[0], returncode=hyperfine[1])
    patch.setattr(subprocess, "run", lambda *_, **__: said)
    patch.setattr(sys, "platform", "linux")
    patch.setattr(platform, "processor", lambda: "")
    patch.setattr(time, "sleep", watch)
    patch.setattr(time, "monotonic_ns", lambda: (2 + moment) * 10**9 // 2)
    patch.setattr(time, "perf_counter_ns", count(0, grain_ns).__next__)
    usable = {0, 1} if hashing else {0}
    patch.setattr(os, "sched_getaffinity", lambda _: usable, raising=False)
    if hashing:
        readings = [reading for seconds in hashing for reading in (0, seconds)]
        patch.setattr(time, "perf_counter", iter(readings).__next__)
        patch.setattr(hashlib, "sha256", len)
