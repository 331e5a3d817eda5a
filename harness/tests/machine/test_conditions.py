"""Conditions at the ends of a block, and rates between them."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

import ctypes
import json
import os
import platform
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self, cast

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from sqlitmus import machine
from sqlitmus.machine import Check, conditions, host, lock, readiness
from sqlitmus.machine.conditions import Conditions, Rates, difference
from sqlitmus.machine.host import commit, cpu_model, hyperfine_version, os_name
from sqlitmus.machine.readiness import (
    Activity,
    ProcessCounters,
    ProcessShare,
    Snapshot,
    between,
    snapshot,
)
from sqlitmus.vocabulary import paths
from tests.machine.linux import BUSY, CLOCKS, CPUS, LAPTOP, QUIET, build


def test_one_look_at_a_laptop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (1.5, 0.0, 0.0))
    battery = SimpleNamespace(power_plugged=False)
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery, raising=False)
    now = conditions.read(31_000_000, build(tmp_path, LAPTOP))
    assert now.model_dump(exclude={"monotonic_ns"}) == {
        "probe_ns": 31_000_000,
        "load_average": 1.5,
        "cpu_pressure_us": 3711,
        "io_pressure_us": 42,
        "memory_pressure_us": 7,
        "cpu_ticks": 1135,
        "steal_ticks": 4,
        "context_switches": 777,
        "throttle_count": 6,
        "frequency_khz": 4_000_000,
        "on_battery": True,
    }


@pytest.mark.parametrize(
    ("battery", "expected"),
    [
        (None, False),
        (SimpleNamespace(power_plugged=True), False),
        (SimpleNamespace(power_plugged=False), True),
        (SimpleNamespace(power_plugged=None), None),
    ],
)
def test_batteries(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, battery: object, expected: bool | None
) -> None:
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery, raising=False)
    assert conditions.read(root=tmp_path).on_battery is expected


def test_a_system_that_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getloadavg", raising=False)
    monkeypatch.delattr(psutil, "sensors_battery", raising=False)
    now = conditions.read(root=tmp_path)
    assert set(now.model_dump(exclude_none=True)) == {"monotonic_ns"}
    later = now.model_copy(update={"monotonic_ns": now.monotonic_ns + 10**9})
    assert difference(now, later) == Rates(seconds=1.0)


BEFORE = Conditions(
    monotonic_ns=10**9,
    probe_ns=30_000_000,
    load_average=0.1,
    cpu_pressure_us=1_000,
    io_pressure_us=0,
    memory_pressure_us=5,
    cpu_ticks=1_000,
    steal_ticks=10,
    context_switches=50,
    throttle_count=3,
    frequency_khz=4_000_000,
    on_battery=False,
)


def test_rates_of_a_block() -> None:
    after = Conditions(
        monotonic_ns=5 * 10**9,
        probe_ns=33_000_000,
        load_average=1.25,
        cpu_pressure_us=401_000,
        io_pressure_us=2_000_000,
        memory_pressure_us=5,
        cpu_ticks=1_800,
        steal_ticks=50,
        context_switches=8_050,
        throttle_count=4,
        frequency_khz=3_000_000,
        on_battery=True,
    )
    assert difference(BEFORE, after) == Rates(
        seconds=4.0,
        load_average=1.25,
        cpu_pressure=0.1,
        io_pressure=0.5,
        memory_pressure=0.0,
        steal=0.05,
        throttled=True,
        on_battery=True,
    )


def test_counters_that_fell_tell_nothing() -> None:
    after = BEFORE.model_copy(
        update={
            "monotonic_ns": 2 * 10**9,
            "cpu_pressure_us": 0,
            "steal_ticks": 9,
            "context_switches": 49,
            "throttle_count": 2,
        }
    )
    rates = difference(BEFORE, after)
    assert (rates.cpu_pressure, rates.steal) == (None, None)
    assert rates.throttled is None
    assert rates.io_pressure == 0.0


def test_a_share_is_never_above_one() -> None:
    later = {"monotonic_ns": BEFORE.monotonic_ns + 1_000_000, "cpu_pressure_us": 2_010}
    assert difference(BEFORE, BEFORE.model_copy(update=later)).cpu_pressure == 1.0


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (False, False, False),
        (True, False, True),
        (False, True, True),
        (None, True, True),
        (None, False, None),
        (None, None, None),
    ],
)
def test_the_battery_of_a_block(
    first: bool | None, second: bool | None, expected: bool | None
) -> None:
    looks = [BEFORE.model_copy(update={"on_battery": b}) for b in (first, second)]
    assert difference(*looks).on_battery is expected


COUNTS = st.none() | st.integers(0, 2**64 - 1)
LOOKS = st.builds(
    Conditions,
    monotonic_ns=st.integers(0, 2**63),
    load_average=st.none() | st.floats(0, 1e6),
    on_battery=st.none() | st.booleans(),
    **{
        name: COUNTS
        for name in Conditions.model_fields
        if name not in ("monotonic_ns", "load_average", "on_battery")
    },
)


@given(LOOKS, LOOKS)
def test_any_two_looks_have_rates_that_can_be_kept(before: Conditions, after: Conditions) -> None:
    rates = difference(before, after)
    for share in (rates.steal, rates.cpu_pressure, rates.io_pressure, rates.memory_pressure):
        assert share is None or 0 <= share <= 1
    assert Rates.model_validate_json(rates.model_dump_json()) == rates
    assert Conditions.model_validate_json(before.model_dump_json()) == before


def test_the_probe_is_a_fixed_amount_of_work_without_its_warm_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0

    def work(iterations: int) -> None:
        nonlocal now
        now += iterations

    monkeypatch.setattr(conditions, "_work", work)
    monkeypatch.setattr(conditions.time, "perf_counter_ns", lambda: now)
    assert conditions.probe() == conditions.ITERATIONS
    assert now == conditions.WARM_UP + conditions.ITERATIONS


def test_facts_are_words_and_unknown_ones_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = machine.facts(tmp_path)
    assert all(isinstance(value, str) and value for value in known.values())
    assert int(known["cores"]) >= 1
    assert known["memory"].endswith(" GiB")
    monkeypatch.setattr(psutil, "virtual_memory", lambda: None)
    monkeypatch.delenv("SQLITMUS_PATHS", raising=False)
    bare = machine.facts(tmp_path, root=tmp_path)
    assert set(bare) == set(known)
    for name in ("governor", "boost", "clock source", "threads per core", "memory", "virtualised"):
        assert bare[name] == machine.UNKNOWN
    assert bare["hyperfine"] == machine.UNKNOWN


def test_cores_are_those_that_may_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5}, raising=False)
    known = machine.facts(tmp_path)
    assert (known["cores"], known["cores of the machine"]) == ("2", "8")
    restricted = machine.identity()
    assert known["cpu"] in restricted
    monkeypatch.delattr(os, "sched_getaffinity")
    assert machine.facts(tmp_path)["cores"] == "8"
    assert machine.identity() != restricted


def test_facts_of_a_laptop(tmp_path: Path) -> None:
    known = machine.facts(tmp_path, root=build(tmp_path, LAPTOP))
    assert known["cpu"] == "Example CPU 9000 @ 3 GHz"
    assert known["os"] == "Example Linux 12"
    assert known["governor"] == "powersave"
    assert known["boost"] == "on"
    assert known["threads per core"] == "2"
    assert known["clock source"] == "hpet"


def test_a_commit_with_changes_is_marked(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    assert commit(tmp_path) == machine.UNKNOWN
    git("init")
    (tmp_path / "file").write_text("a")
    git("add", "file")
    git("commit", "-m", "first")
    clean = commit(tmp_path)
    assert len(clean) == 12
    (tmp_path / "untracked").write_text("a")
    assert commit(tmp_path) == clean
    (tmp_path / "file").write_text("b")
    assert commit(tmp_path) == f"{clean} with local changes"


@pytest.mark.skipif(os.name != "posix", reason="the fake is a script with an interpreter line")
@pytest.mark.parametrize(
    ("program", "version"),
    [
        ("print('hyperfine 1.20.0')", "1.20.0"),
        ("print()", None),
        ("print('hyperfine 1.20.0'); raise SystemExit(1)", None),
    ],
)
def test_the_version_of_hyperfine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, version: str | None
) -> None:
    tool = tmp_path / "hyperfine"
    tool.write_text(f"#!{paths.tools().paths['python']}\n{program}\n")
    tool.chmod(0o755)
    known = build(tmp_path, {"paths.json": json.dumps({"hyperfine": {"path": str(tool)}})})
    monkeypatch.setenv("SQLITMUS_PATHS", str(known / "paths.json"))
    assert hyperfine_version() == version


@pytest.fixture(autouse=True)
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """This Python is one for x64, as far as `uname` tells."""
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")


@pytest.mark.parametrize(
    ("said", "name"),
    [
        *[(text, "x64") for text in ("x86_64", "AMD64", "x64", "X64")],
        *[(text, "arm64") for text in ("aarch64", "arm64", "ARM64", "Arm64")],
        *[(text, "ia32") for text in ("x86", "i686", "ia32")],
        ("riscv64", "riscv64"),
    ],
)
def test_one_name_for_each(said: str, name: str) -> None:
    assert host.named(said) == name


@pytest.mark.parametrize(("kernel", "told"), [("aarch64\n", "arm64"), (None, "x64")])
def test_linux_s_kernel_tells_what_runs_beneath_an_emulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: str | None, told: str
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    root = build(tmp_path, {"proc/sys/kernel/arch": kernel} if kernel else {})
    assert host.native(root) == told


@pytest.mark.parametrize(("answer", "told"), [("1", "arm64"), ("0", "x64"), ("", "x64")])
def test_macos_tells_of_apple_silicon_under_rosetta(
    monkeypatch: pytest.MonkeyPatch, answer: str, told: str
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(host, "sysctl", {"hw.optional.arm64": answer}.get)
    assert host.native() == told


def test_without_sysctl_nothing_is_told() -> None:
    assert host.sysctl("sqlitmus.there.is.none") == ""


def kernel32(machine: int, *, fails: bool = False) -> Callable[[str], Any]:
    """ctypes.WinDLL whose IsWow64Process2 answers as to a process that Windows emulates."""

    def ask(process: ctypes.c_void_p, _wow: Any, native: Any) -> int:
        assert process.value == 2 ** (8 * ctypes.sizeof(ctypes.c_void_p)) - 1
        native._obj.value = machine
        return 0 if fails else 1

    return lambda name: SimpleNamespace(IsWow64Process2=ask) if name == "kernel32" else None


@pytest.mark.parametrize(
    ("number", "fails", "told"),
    [(0xAA64, False, "arm64"), (0x8664, False, "x64"), (0xAA64, True, "x64"), (7, False, "x64")],
)
def test_windows_tells_of_arm_under_an_emulated_process(
    monkeypatch: pytest.MonkeyPatch, number: int, fails: bool, told: str
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "WinDLL", kernel32(number, fails=fails), raising=False)
    assert host.native() == told


PE = b"MZ" + bytes(58) + struct.pack("<I", 128) + bytes(64) + b"PE\0\0"
PROGRAMS = {
    "linux x64": (b"\x7fELF\x02\x01\x01" + bytes(11) + b"\x3e\x00", "x64"),
    "linux arm64": (b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xb7\x00", "arm64"),
    "linux other": (b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xf3\x00", None),
    "macos arm64": (b"\xcf\xfa\xed\xfe" + struct.pack("<I", 0x0100000C), "arm64"),
    "macos both": (b"\xca\xfe\xba\xbe" + bytes(4), None),
    "windows arm64": (PE + b"\x64\xaa", "arm64"),
    "windows x64": (PE + b"\x64\x86", "x64"),
    "cut off": (PE, None),
    "script": (b"#!/bin/sh\n", None),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_s_header(tmp_path: Path, name: str) -> None:
    head, built = PROGRAMS[name]
    (tmp_path / "program").write_bytes(head)
    assert host.of_program(tmp_path / "program") == built
    assert host.of_program(tmp_path / "gone") is None


def test_this_python_is_built_for_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    built = host.of_program(Path(sys.executable).resolve())
    assert built in (host.named(platform.machine()), None)


def test_the_machine_is_what_the_facts_and_the_kind_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = build(tmp_path, {"proc/sys/kernel/arch": "aarch64"})
    monkeypatch.setattr(sys, "platform", "linux")
    assert machine.facts(tmp_path, root)["architecture"] == "arm64"
    monkeypatch.setattr(host, "native", lambda: "arm64")
    for system, kind in (("Darwin", "macos-arm64"), ("Windows", "windows-arm64")):
        monkeypatch.setattr(platform, "system", lambda system=system: system)
        assert machine.kind() == kind


def test_the_processor_and_system_of_a_mac(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    brand = {"machdep.cpu.brand_string": "Example M9"}
    monkeypatch.setattr(host, "sysctl", brand.get)
    monkeypatch.setattr(platform, "mac_ver", lambda: ("26.1", ("", "", ""), "arm64"))
    assert cpu_model() == "Example M9"
    assert os_name(Path("/nowhere")) == "Darwin (macOS 26.1)"


class Registry:
    """winreg with one value."""

    HKEY_LOCAL_MACHINE = "HKLM"
    place = ""

    def OpenKey(self, root: str, place: str) -> Self:  # noqa: N802 — Windows' name
        assert root == "HKLM"
        self.place = place
        return self

    def QueryValueEx(self, key: Self, name: str) -> tuple[str, int]:  # noqa: N802 — likewise
        assert key.place == r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        assert name == "ProcessorNameString"
        return "Example CPU   ", 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...


def test_the_processor_of_a_windows_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "winreg", cast("Any", Registry()))
    monkeypatch.setattr(sys, "platform", "win32")
    assert cpu_model() == "Example CPU"


def test_the_grain_is_the_smallest_step(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([0, 0, 500, 500, 600, 900])
    monkeypatch.setattr(readiness.time, "perf_counter_ns", lambda: next(readings))
    assert readiness.clock_grain_ns(6) == 100
    monkeypatch.setattr(readiness.time, "perf_counter_ns", lambda: 7)
    assert readiness.clock_grain_ns(6) is None


UNTOLD = Activity(
    rates=Rates(seconds=0.5),
    busy=None,
    disk_bytes_per_s=None,
    swapped_bytes=None,
    busiest=[],
    writers=[],
)
CHECKS: dict[str, Callable[[Activity, Path], Check]] = {
    "load": lambda activity, _: readiness.load(activity),
    "steal": readiness.steal,
    "temperature": readiness.temperature,
    "swap": lambda activity, _: readiness.swap(activity),
    "disk traffic": readiness.disk_traffic,
}


Made = Callable[[Path, pytest.MonkeyPatch], Check]


def on(check: Callable[..., Check], files: dict[str, str], *more: object) -> Made:
    """A check of a machine of these files."""
    return lambda root, _: check(build(root, files), *more)


def where(target: Any, name: str, value: Any, check: Callable[[], Check]) -> Made:
    """A check of a machine of which a function says this."""

    def made(_: Path, patch: pytest.MonkeyPatch) -> Check:
        patch.setattr(target, name, lambda *_: value)
        return check()

    return made


def going_on(name: str, activity: Activity, files: dict[str, str] | None = None) -> Made:
    """A check of a machine on which this goes on."""

    def made(root: Path, patch: pytest.MonkeyPatch) -> Check:
        patch.setattr(psutil, "swap_memory", lambda: SimpleNamespace(used=2**30))
        return CHECKS[name](activity, build(root, files or {}))

    return made


def governors(*words: str) -> Made:
    files = {f"{CPUS}/cpufreq/policy{n}/scaling_governor": w for n, w in enumerate(words)}
    return on(readiness.governor, files)


def clock(source: str, others: str, grain_ns: int | None) -> Made:
    names = {"current_clocksource": source, "available_clocksource": others}
    files = {f"{CLOCKS}/{name}": text for name, text in names.items()}
    return on(readiness.clock, files, grain_ns)


def power(*, on_battery: bool | None) -> Made:
    return lambda _root, _patch: readiness.power(on_battery)


SWITCH = f"{CPUS}/cpufreq/boost"
HOT = "sys/class/thermal/thermal_zone0/temp"
ALONE = {f"{CPUS}/cpu{n}/topology/thread_siblings_list": str(n) for n in range(4)}
OTHER = lock.Holder(pid=7, started=0.0, label="night", command="sqlitmus run")
SAME = {"a": "run ./just setup", "b": "no npm", "c": "run ./just setup"}
PRESSED = QUIET.rates.model_copy(update={"memory_pressure": 0.02})
HERE = Path()
MACHINES: dict[str, Made] = {
    **{
        f"memory {free}": where(
            psutil, "virtual_memory", free and SimpleNamespace(available=free), readiness.memory
        )
        for free in (2**33, 2**28, None)
    },
    **{
        f"disk {free}": where(
            psutil, "disk_usage", free and SimpleNamespace(free=free), lambda: readiness.disk(HERE)
        )
        for free in (2**40, 2**20, None)
    },
    **{
        f"hyperfine {version}": where(readiness, "hyperfine_version", version, readiness.hyperfine)
        for version in (None, "1.17.0", "odd", "1", "1.18.0", "1.20.0", "2.0.0", "1.18.0-rc1")
    },
    **{
        name: where(readiness, "file_system", name, lambda: readiness.local(HERE))
        for name in (
            *("ext4 on /dev/sda1", "apfs on /dev/disk3s1", "unknown"),
            *("tmpfs on tmpfs", "fuse.sshfs on far:"),
        )
    },
    "no other run": where(lock, "holder", None, readiness.other_run),
    "another run": where(lock, "holder", OTHER, readiness.other_run),
    "tools": where(paths, "tools", paths.Tools({}, SAME), readiness.tools),
    "no governor": governors(),
    "equal governors": governors("performance", "performance"),
    "unequal governors": governors("performance", "powersave"),
    "another governor": governors("schedutil"),
    "no boost": on(readiness.boost, {}),
    "boost off": on(readiness.boost, {SWITCH: "0"}),
    "boost on": on(readiness.boost, {SWITCH: "1"}),
    "on battery": power(on_battery=True),
    "on mains": power(on_battery=False),
    "battery unknown": power(on_battery=None),
    "threads unknown": on(readiness.threads, {}),
    "threads share cores": on(readiness.threads, LAPTOP),
    "a thread each": on(readiness.threads, ALONE),
    "a thread each, which share a core": on(readiness.threads, ALONE, 0.56),
    "tsc": clock("tsc", "tsc hpet", 30),
    "no source": clock("", "", 100),
    "no source, no steps": clock("", "", None),
    "hpet beside tsc": clock("hpet", "tsc hpet", 70),
    "hpet, no tsc": clock("hpet", "hpet acpi_pm", 70),
    "acpi_pm": clock("acpi_pm", "acpi_pm", 900),
    "coarse, no source": clock("", "", 15_600_000),
    "tsc, too coarse": clock("tsc", "tsc", 1_001),
    "tsc, fine enough": clock("tsc", "tsc", 1_000),
    **{
        f"{name}, {kind}": going_on(name, activity)
        for name in CHECKS
        for kind, activity in (("untold", UNTOLD), ("quiet", QUIET), ("busy", BUSY))
    },
    "load, nobody seen": going_on("load", replace(BUSY, busiest=[])),
    "load, nobody busy": going_on("load", replace(BUSY, busiest=[ProcessShare("idle", 7, 0.04)])),
    "traffic, nobody seen": going_on("disk traffic", replace(BUSY, writers=[])),
    "traffic, nobody writes": going_on(
        "disk traffic", replace(BUSY, writers=[ProcessShare("log", 7, 2**15)])
    ),
    "load at the bound": going_on("load", replace(QUIET, busy=0.20)),
    "load above it": going_on("load", replace(QUIET, busy=0.21)),
    "traffic at the bound": going_on("disk traffic", replace(QUIET, disk_bytes_per_s=2.0**20)),
    "traffic above it": going_on("disk traffic", replace(QUIET, disk_bytes_per_s=2.0**20 + 1)),
    "swap under pressure": going_on("swap", replace(QUIET, rates=PRESSED)),
    "swap that moves": going_on("swap", replace(QUIET, swapped_bytes=4_096)),
    "warm": going_on("temperature", QUIET, {HOT: "84900"}),
    "hot": going_on("temperature", QUIET, {HOT: "85000"}),
    "unwritten pages": going_on(
        "disk traffic", QUIET, {"proc/meminfo": "Dirty: 60000 kB\nWriteback: 9000 kB\n"}
    ),
    "a virtual machine": going_on("steal", QUIET, {"proc/cpuinfo": "flags: hypervisor\n"}),
}


@pytest.mark.parametrize("name", MACHINES)
def test_what_a_check_says_of_a_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion, name: str
) -> None:
    told = MACHINES[name](tmp_path, monkeypatch)
    assert f"{told.state}  {told.name}: {told.finding} — {told.advice}" == snapshot
    assert bool(told.advice) == (told.state != "ok")


def test_all_checks_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "WINDOW_S", 0.0)
    monkeypatch.setattr(paths, "toolchain", lambda: tmp_path / "new")
    monkeypatch.setattr(paths, "tools", lambda: paths.Tools({}, {}))
    found = readiness.checks()
    assert len({check.name for check in found}) == len(found) == 16
    for check in found:
        assert check.finding
        assert bool(check.advice) == (check.state != "ok"), check


NOTHING = Snapshot(Conditions(monotonic_ns=0), None, None, None, {})


def at(seconds: int, **counters: Any) -> Snapshot:
    """A look at that time."""
    now = Conditions(monotonic_ns=seconds * 10**9)
    return replace(NOTHING, conditions=now, **counters)


def test_rates_and_who_causes_them() -> None:
    before = {(n, 1.0): ProcessCounters(f"p{n}", 10.0, 1_000) for n in range(6)}
    after = {(n, 1.0): ProcessCounters(f"p{n}", 10.0 + n, 1_000 + 200 * n) for n in range(6)}
    # The same id again for another process, one that may not be asked, and a new one.
    after[5, 2.0] = after.pop((5, 1.0))
    after[4, 1.0] = ProcessCounters("p4", 14.0, None)
    after[9, 1.0] = ProcessCounters("new", 99.0, 99)
    found = between(
        at(0, cpu_s=(100.0, 200.0), disk_bytes=5_000, swapped_bytes=0, processes=before),
        at(2, cpu_s=(101.0, 204.0), disk_bytes=9_000, swapped_bytes=4_096, processes=after),
    )
    assert found.busy == 0.25
    assert found.disk_bytes_per_s == 2_000.0
    assert found.swapped_bytes == 4_096
    assert found.busiest == [
        ProcessShare("p4", 4, 2.0),
        ProcessShare("p3", 3, 1.5),
        ProcessShare("p2", 2, 1.0),
    ]
    assert found.writers == [
        ProcessShare("p3", 3, 300.0),
        ProcessShare("p2", 2, 200.0),
        ProcessShare("p1", 1, 100.0),
    ]


@pytest.mark.parametrize(
    ("before", "after", "rates"),
    [
        (
            {"disk_bytes": 9, "swapped_bytes": 9},
            {"disk_bytes": 5, "swapped_bytes": 5},
            (None, 0, 0),
        ),
        ({}, {}, (None, None, None)),
    ],
    ids=["counters that fell count as nothing", "what is not told stays so"],
)
def test_looks_without_a_rate(
    before: dict[str, int], after: dict[str, int], rates: tuple[object, ...]
) -> None:
    found = between(at(0, **before), at(1, **after))
    assert (found.busy, found.disk_bytes_per_s, found.swapped_bytes) == rates
    assert found.busiest == found.writers == []


COUNT = st.none() | st.integers(0, 2**64)
SECONDS = st.floats(0, 1e9)
PROCESS = st.builds(ProcessCounters, name=st.text(max_size=3), cpu_s=SECONDS, written=COUNT)
ANY = st.builds(
    Snapshot,
    conditions=st.builds(Conditions, monotonic_ns=st.integers(0, 3)),
    cpu_s=st.none() | st.tuples(SECONDS, SECONDS),
    disk_bytes=COUNT,
    swapped_bytes=COUNT,
    processes=st.dictionaries(st.tuples(st.integers(1, 3), st.just(0.0)), PROCESS),
)


@given(ANY, ANY)
def test_any_two_looks_have_a_difference(before: Snapshot, after: Snapshot) -> None:
    found = between(before, after)
    assert found.busy is None or 0 <= found.busy <= 1
    assert found.disk_bytes_per_s is None or found.disk_bytes_per_s >= 0
    for shares in (found.busiest, found.writers):
        rates = [share.rate for share in shares]
        assert rates == sorted(rates, reverse=True)
        assert all(rate > 0 for rate in rates)


def test_a_real_look_sees_others_and_neither_itself_nor_the_shell_above_it() -> None:
    waits = [sys.executable, "-c", "input()"]
    with subprocess.Popen(waits, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as other:
        now = snapshot()
        other.communicate()
    pids = {pid for pid, _ in now.processes}
    assert other.pid in pids
    own = psutil.Process()
    assert own.parents()
    assert not pids & {own.pid, *(above.pid for above in own.parents())}
    assert now.cpu_s is not None
    assert 0 < now.cpu_s[0] < now.cpu_s[1]


def test_time_of_guests_and_stolen_time_is_not_busy_twice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    times = {"user": 5.0, "guest": 2.0, "idle": 10.0, "iowait": 1.0, "steal": 4.0}
    told = SimpleNamespace(_asdict=lambda: times)
    monkeypatch.setattr(psutil, "cpu_times", lambda: told)
    assert snapshot(tmp_path).cpu_s == (5.0, 20.0)


def _raise(*_: Any, **__: Any) -> Any:
    raise KeyError("garbage")


@pytest.mark.parametrize("failing", [_raise, lambda *_, **__: None])
def test_a_psutil_that_fails_is_unknown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, failing: Callable[..., Any]
) -> None:
    for name in ("cpu_times", "disk_io_counters", "swap_memory", "process_iter"):
        monkeypatch.setattr(psutil, name, failing)
    found = snapshot(tmp_path)
    assert (found.cpu_s, found.disk_bytes, found.swapped_bytes) == (None, None, None)
    assert found.processes == {}


@pytest.mark.skipif(not hasattr(psutil, "PROCFS_PATH"), reason="psutil reads /proc on Linux")
@pytest.mark.parametrize("content", [b"", b"\xff\0\n", b"cpu x y\n", b"a: b\n c d e f\n"])
def test_garbage_in_proc_is_unknown_to_psutil_as_well(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes
) -> None:
    names = ("stat", "meminfo", "vmstat", "diskstats", "3999999/stat", "3999999/io")
    build(tmp_path, {f"proc/{name}": content for name in names})
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(tmp_path / "proc"))
    found = snapshot(tmp_path)
    assert (found.cpu_s, found.processes) == (None, {})
