"""What `doctor` finds of machines that are made up, and of this one."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given, strategies as st
from syrupy.assertion import SnapshotAssertion

from sqlitmus import machine
from tests.machine.linux import (
    CLOCKS,
    CPUS,
    FIT,
    LAPTOP,
    Files,
    battery,
    build,
    cpu,
    disks,
    fake,
    look,
    memory,
    mounted,
    pids_seen,
    processes,
    rates,
    swapped,
)

SWITCH = f"{CPUS}/cpufreq/boost"
HOT = "sys/class/thermal/thermal_zone0/temp"
PRESSURE = "proc/pressure/memory"
ALONE = {f"{CPUS}/cpu{n}/topology/thread_siblings_list": str(n) for n in range(4)}
MIB = 2**20


def governors(*words: str) -> dict[str, str]:
    return {f"{CPUS}/cpufreq/policy{n}/scaling_governor": word for n, word in enumerate(words)}


def clock(source: str, others: str) -> dict[str, str]:
    return {f"{CLOCKS}/current_clocksource": source, f"{CLOCKS}/available_clocksource": others}


def ticks(*counts: int) -> dict[str, str]:
    return {"proc/stat": f"cpu  {' '.join(map(str, counts))} 50 6\n"}


def waiting(us: int) -> dict[str, str]:
    return {PRESSURE: f"some avg10=0.00 avg60=0.00 total={us}\n"}


def own(gib: int) -> dict[int, tuple[float, int]]:
    """This process, and the one above it."""
    return dict.fromkeys((os.getpid(), os.getppid()), (float(gib), gib * 2**30))


BUSY: dict[str, Any] = {
    "cpu_times": (cpu(5, 5), cpu(5.62, 5.38)),
    "disk_io_counters": (disks(4), disks(4 + 25 * MIB // 4)),
}
MACHINES: dict[str, dict[str, Any]] = {
    "that tells nothing": {
        "files": {},
        "hyperfine": ("hyperfine 1.20.0", 1),
        "grain_ns": 0,
        **dict.fromkeys(FIT, (KeyError("garbage"), None)),
    },
    "that is fit": {
        "files": {
            **governors("performance", "performance"),
            **clock("tsc", "tsc hpet"),
            **ALONE,
            **ticks(1, 1, 1, 1, 1, 1, 1, 1),
            **waiting(7),
            SWITCH: "0",
            HOT: "41000",
        },
        "later": ticks(9, 9, 9, 9, 9, 9, 9, 1),
        "sensors_battery": battery(plugged=True),
    },
    "at each bound": {
        "files": {**clock("tsc", "tsc"), **waiting(7), HOT: "84900"}
        | {"proc/meminfo": "Dirty: 60000 kB\nWriteback: 5536 kB\n"},
        "later": waiting(5007),
        "grain_ns": 1000,
        "hyperfine": ("hyperfine 1.18.0", 0),
        "cpu_times": (cpu(0, 0), cpu(0.5, 2)),
        "disk_io_counters": (disks(MIB), disks(MIB + MIB // 2)),
        "virtual_memory": memory(2**31),
        "disk_usage": memory(2**30),
        "disk_partitions": mounted("apfs", "/dev/disk3s1"),
    },
    "beyond each bound": {
        "files": {**clock("tsc", "tsc"), **waiting(7), HOT: "85000"}
        | {"proc/meminfo": "Dirty: 60000 kB\nWriteback: 5537 kB\n"},
        "later": waiting(5507),
        "grain_ns": 1001,
        "hyperfine": ("hyperfine 1.17.9", 0),
        "cpu_times": (cpu(0, 0), cpu(0.21, 0.79)),
        "disk_io_counters": (disks(MIB), disks(MIB + MIB // 2 + 1)),
        "process_iter": (
            processes({6: (0, 0), 7: (0, 0)}),
            processes({6: (0.025, 2**15), 7: (0.024, 2**15 - 1)}),
        ),
        "virtual_memory": memory(2**31 - 1),
        "disk_usage": memory(2**30 - 1),
        "disk_partitions": mounted("tmpfs", "tmpfs"),
    },
    "that is a busy laptop": {
        "files": LAPTOP,
        "later": {
            **ticks(1000, 1, 20, 1000, 5, 2, 3, 35),
            **waiting(60_007),
            f"{CPUS}/cpu0/thermal_throttle/core_throttle_count": "1\n",
        },
        **BUSY,
        "swap_memory": (swapped(0), swapped(3 * MIB)),
        "sensors_battery": battery(plugged=False),
        "process_iter": (
            processes(dict.fromkeys(range(3, 9), (1.0, MIB)) | own(1)),
            processes({pid: (1.0 + pid / 16, MIB * pid) for pid in range(3, 9)} | own(9)),
        ),
        "hyperfine": ("hyperfine odd", 0),
        "missing": {"a": "run ./just setup", "b": "no npm", "c": "run ./just setup"},
        "disk_partitions": mounted("fuse.sshfs", "far:"),
    },
    "whose processes are not seen": {
        "files": {
            **governors("performance", "powersave"),
            **clock("acpi_pm", "acpi_pm"),
            f"{CPUS}/intel_pstate/no_turbo": "1",
        },
        **BUSY,
        "hyperfine": ("hyperfine 1", 0),
        # another process of the same id, and a new one
        "process_iter": (processes({1: (0, 0)}), processes({1: (9, 9), 2: (9, 9)}, start=2.0)),
    },
    "that is virtual": {
        "files": {
            **governors("schedutil"),
            **clock("\x1b[2J", ""),
            **ALONE,
            **ticks(1, 1, 1, 1, 1, 1, 1, 1),
            "proc/cpuinfo": "flags: hypervisor\n",
            SWITCH: "1",
        },
        "later": ticks(1, 1, 1, 9, 1, 1, 1, 1),
        "grain_ns": 15_600_000,
        "hashing": [0.7, 1.0, 0.56, 1.25, 0.8, 2.0],
        "sensors_battery": battery(plugged=None),
        "hyperfine": ("hyperfine 1.18.0-rc1", 0),
        # guests are counted among users, and what was stolen or waited for is idle
        "cpu_times": (cpu(0, 0), cpu(0.5, 0.5, guest=0.25, iowait=0.25, steal=1.0)),
    },
    "whose counters fell": {
        "files": {**clock("hpet", "hpet acpi_pm"), **waiting(7)},
        "later": waiting(6),
        "hyperfine": ("hyperfine 2.0.0", 0),
        "cpu_times": (cpu(5, 5), cpu(5, 5)),
        "disk_io_counters": (disks(9), disks(5)),
        "swap_memory": (swapped(9), swapped(5)),
        "process_iter": (processes({1: (9, 9)}), processes({1: (8, None)})),
    },
}


@pytest.mark.parametrize("name", MACHINES)
def test_what_the_checks_say_of_a_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion, name: str
) -> None:
    fake(tmp_path, monkeypatch, **MACHINES[name])
    found = machine.checks(tmp_path)
    assert all(bool(check.advice) == (check.state != "ok") for check in found)
    lines = [f"{c.state:8}{c.name}: {c.finding} — {c.advice}".rstrip(" —") for c in found]
    assert "\n".join(lines) == snapshot


def test_all_checks_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    this, lock = psutil.Process(), tmp_path / "lock"
    lock.write_text(
        f'{{"pid": {this.pid}, "started": {this.create_time()}, "label": "a", "command": "b"}}'
    )
    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.setenv("SQLITMUS_LOCK", str(lock))
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "new"))
    found = {check.name: check for check in machine.checks()}
    assert len(found) == 16
    assert all(bool(check.advice) == (check.state != "ok") for check in found.values())
    other = found["other run"]
    assert (other.state, other.advice) == ("warning", "wait for it to end, or run with --wait")
    assert other.finding.startswith(f"pid {this.pid} since 20")


def test_a_real_look_sees_others_and_neither_itself_nor_the_shell_above_it() -> None:
    waits = [sys.executable, "-c", "input()"]
    with subprocess.Popen(waits, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as other:
        seen = pids_seen()
        other.communicate()
    assert other.pid in seen
    own = psutil.Process()
    assert own.parents()
    assert not seen & {own.pid, *(above.pid for above in own.parents())}


WORDS = st.sampled_from(
    [
        *("cpu", "ctxt", "some", "total=", "total=12", "flags", "flags:", "hypervisor", ":", "\n"),
        *("Dirty:", "Writeback:", "-1", "0", "1", "99999999999999999999", "9" * 5000, "1e9", "\0"),
        *("nan", "inf", "٣", "1_0", "0x1", "performance", "model name\t:", "PRETTY_NAME="),
    ]
)
CONTENT = st.binary(max_size=40) | st.lists(WORDS, max_size=14).map(lambda w: " ".join(w).encode())
FILES = st.dictionaries(st.sampled_from(sorted(LAPTOP)), CONTENT)
COUNT = st.integers(0, 2**64)
PROCESSES = st.dictionaries(st.integers(1, 3), st.tuples(st.floats(0, 1e9), st.none() | COUNT))


@given(FILES, FILES, st.tuples(COUNT, COUNT), st.tuples(PROCESSES, PROCESSES))
def test_whatever_a_system_tells_nothing_is_raised(
    tmp_path_factory: pytest.TempPathFactory,
    files: Files,
    later: Files,
    counts: tuple[int, int],
    listed: tuple[dict[int, Any], dict[int, Any]],
) -> None:
    root = tmp_path_factory.mktemp("machine")
    with pytest.MonkeyPatch.context() as patch:
        before = {"monotonic_ns": 0, **look(build(root, files))}
        fake(
            *(root, patch, files, later),
            cpu_times=tuple(cpu(n, n / 2) for n in counts),
            disk_io_counters=tuple(map(disks, counts)),
            process_iter=tuple(map(processes, listed)),
        )
        for check in machine.checks(root):
            assert check.finding
            assert bool(check.advice) == (check.state != "ok")
        assert all(machine.facts(root, root).values())
        found = rates(before, {"monotonic_ns": 10**9, **look(root)})
    for name in ("steal", "cpu_pressure", "io_pressure", "memory_pressure"):
        assert 0 <= found.get(name, 0) <= 1
