"""Each of doctor's checks: what is fine, what is not, and what to change."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from sqlitmus.machine import Check, lock, readiness
from sqlitmus.machine.conditions import Rates
from sqlitmus.machine.readiness import Activity, ProcessShare
from sqlitmus.vocabulary import paths
from tests.machine.linux import BUSY, CLOCKS, CPUS, LAPTOP, QUIET, build


class Attributes:
    """An object with these attributes."""

    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given)


@pytest.mark.parametrize(
    ("function", "found", "check", "state"),
    [
        ("virtual_memory", Attributes(available=2**33), readiness.memory, "ok"),
        ("virtual_memory", Attributes(available=2**28), readiness.memory, "warning"),
        ("virtual_memory", None, readiness.memory, "ok"),
        ("disk_usage", Attributes(free=2**40), lambda: readiness.disk(Path()), "ok"),
        ("disk_usage", Attributes(free=2**20), lambda: readiness.disk(Path()), "failure"),
        ("disk_usage", None, lambda: readiness.disk(Path()), "ok"),
    ],
)
def test_room(
    monkeypatch: pytest.MonkeyPatch,
    function: str,
    found: Any,
    check: Callable[[], Check],
    state: str,
) -> None:
    monkeypatch.setattr(psutil, function, lambda *_: found)
    told = check()
    assert told.state == state
    assert (told.finding == "unknown") == (found is None)
    assert bool(told.advice) == (state != "ok")


@pytest.mark.parametrize(
    ("version", "state"),
    [
        *((None, "failure"), ("1.17.0", "failure"), ("odd", "failure"), ("1", "failure")),
        *(("1.18.0", "ok"), ("1.20.0", "ok"), ("2.0.0", "ok"), ("1.18.0-rc1", "ok")),
    ],
)
def test_hyperfine_is_needed_in_a_version_that_can_do_it(
    monkeypatch: pytest.MonkeyPatch, version: str | None, state: str
) -> None:
    monkeypatch.setattr(readiness, "hyperfine_version", lambda: version)
    assert readiness.hyperfine().state == state


def test_another_run_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "holder", lambda: None)
    assert readiness.other_run() == Check("other run", "ok", "none")
    other = lock.Holder(pid=7, started=0.0, label="night", command="sqlitmus run")
    monkeypatch.setattr(lock, "holder", lambda: other)
    assert readiness.other_run() == Check(
        "other run",
        "warning",
        "pid 7 since 1970-01-01 00:00:00 UTC, label night: sqlitmus run",
        "wait for it to end, or run with --wait",
    )


@pytest.mark.parametrize(
    ("name", "state"),
    [
        *(("ext4 on /dev/sda1", "ok"), ("apfs on /dev/disk3s1", "ok"), ("unknown", "ok")),
        *(("tmpfs on tmpfs", "warning"), ("fuse.sshfs on far:", "warning")),
    ],
)
def test_the_file_system(monkeypatch: pytest.MonkeyPatch, name: str, state: str) -> None:
    monkeypatch.setattr(readiness, "file_system", lambda _: name)
    assert readiness.local(Path()).state == state


@pytest.mark.parametrize(
    ("words", "state", "finding"),
    [
        ([], "ok", "unknown"),
        (["performance", "performance"], "ok", "performance"),
        (["performance", "powersave"], "warning", "performance, powersave"),
        (["schedutil"], "warning", "schedutil"),
    ],
)
def test_the_governor(tmp_path: Path, words: list[str], state: str, finding: str) -> None:
    files = {f"{CPUS}/cpufreq/policy{n}/scaling_governor": w for n, w in enumerate(words)}
    told = readiness.governor(build(tmp_path, files))
    advice = "sudo cpupower frequency-set -g performance" if state == "warning" else ""
    assert (told.state, told.finding, told.advice) == (state, finding, advice)


def test_boost(tmp_path: Path) -> None:
    switch = f"{CPUS}/cpufreq/boost"
    assert readiness.boost(tmp_path) == Check("boost", "ok", "unknown")
    assert readiness.boost(build(tmp_path, {switch: "0"})) == Check("boost", "ok", "off")
    told = readiness.boost(build(tmp_path, {switch: "1"}))
    assert (told.state, told.advice) == ("warning", f"echo 0 | sudo tee /{switch}")


@pytest.mark.parametrize(
    ("on_battery", "state", "finding"),
    [(True, "warning", "on battery"), (False, "ok", "mains"), (None, "ok", "unknown")],
)
def test_power(on_battery: bool | None, state: str, finding: str) -> None:
    told = readiness.power(on_battery)
    assert (told.state, told.finding) == (state, finding)


def test_threads_that_share_a_core_are_noted(tmp_path: Path) -> None:
    assert readiness.threads(tmp_path).finding == "unknown"
    finding = "2 cores, 4 threads: more than 2 workers share cores"
    assert readiness.threads(build(tmp_path, LAPTOP)) == Check("threads", "ok", finding)
    alone = {f"{CPUS}/cpu{n}/topology/thread_siblings_list": str(n) for n in range(4)}
    finding = "4 cores, one thread each"
    assert readiness.threads(build(tmp_path, alone)) == Check("threads", "ok", finding)


@pytest.mark.parametrize(
    ("source", "others", "grain_ns", "finding", "advice"),
    [
        ("tsc", "tsc hpet", 30, "tsc, steps of 30 ns", ""),
        ("", "", 100, "unknown, steps of 100 ns", ""),
        ("", "", None, "unknown, unknown steps", ""),
        ("hpet", "tsc hpet", 70, "hpet, steps of 70 ns", "echo tsc | sudo tee "),
        ("hpet", "hpet acpi_pm", 70, "hpet, steps of 70 ns", "see why"),
        ("acpi_pm", "acpi_pm", 900, "acpi_pm, steps of 900 ns", "see why"),
        ("", "", 15_600_000, "unknown, steps of 15600000 ns", "see why"),
        ("tsc", "tsc", 1_001, "tsc, steps of 1001 ns", "see why"),
        ("tsc", "tsc", 1_000, "tsc, steps of 1000 ns", ""),
    ],
)
def test_the_clock(
    tmp_path: Path, source: str, others: str, grain_ns: int | None, finding: str, advice: str
) -> None:
    names = {"current_clocksource": source, "available_clocksource": others}
    root = build(tmp_path, {f"{CLOCKS}/{name}": text for name, text in names.items()})
    told = readiness.clock(root, grain_ns)
    assert told.finding == finding
    assert told.advice.startswith(advice)
    assert (told.state, bool(told.advice)) == (("warning", True) if advice else ("ok", False))


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


@pytest.mark.parametrize("name", CHECKS)
def test_what_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.setattr(psutil, "swap_memory", lambda: Attributes(used=2**30))
    check = CHECKS[name]
    assert check(UNTOLD, tmp_path) == Check(name, "ok", "unknown")
    assert check(QUIET, tmp_path).state == "ok"
    assert check(QUIET, tmp_path).advice == ""
    told = check(BUSY, tmp_path)
    assert (told.name, told.state) == (name, "warning")
    assert told.advice


@pytest.mark.parametrize(
    ("change", "check", "advice"),
    [
        ({"busiest": []}, "load", "find out what is busy, with top"),
        ({"busiest": [ProcessShare("idle", 7, 0.04)]}, "load", "find out what is busy, with top"),
        ({"writers": []}, "disk traffic", "find out who, with sudo iotop"),
        (
            {"writers": [ProcessShare("log", 7, 2**15)]},
            "disk traffic",
            "find out who, with sudo iotop",
        ),
    ],
)
def test_a_cause_that_cannot_be_seen(
    tmp_path: Path, change: dict[str, Any], check: str, advice: str
) -> None:
    assert CHECKS[check](replace(BUSY, **change), tmp_path).advice == advice


def test_bounds(tmp_path: Path) -> None:
    assert readiness.load(replace(QUIET, busy=0.20)).state == "ok"
    assert readiness.load(replace(QUIET, busy=0.21)).state == "warning"
    at_most = replace(QUIET, disk_bytes_per_s=2.0**20)
    assert readiness.disk_traffic(at_most, tmp_path).state == "ok"
    more = replace(QUIET, disk_bytes_per_s=2.0**20 + 1)
    assert readiness.disk_traffic(more, tmp_path).state == "warning"
    pressed = QUIET.rates.model_copy(update={"memory_pressure": 0.02})
    assert readiness.swap(replace(QUIET, rates=pressed)).state == "warning"
    assert readiness.swap(replace(QUIET, swapped_bytes=4_096)).state == "warning"


def test_heat_and_unwritten_pages(tmp_path: Path) -> None:
    zone = "sys/class/thermal/thermal_zone0/temp"
    assert readiness.temperature(QUIET, build(tmp_path, {zone: "84900"})).state == "ok"
    told = readiness.temperature(QUIET, build(tmp_path, {zone: "85000"}))
    assert (told.state, told.finding) == ("warning", "85 °C")
    dirty = "Dirty: 60000 kB\nWriteback: 9000 kB\n"
    told = readiness.disk_traffic(QUIET, build(tmp_path, {"proc/meminfo": dirty}))
    assert told == Check("disk traffic", "warning", "0.0 MiB/s, 67 MiB to be written", "run sync")


def test_a_quiet_virtual_machine_is_told(tmp_path: Path) -> None:
    root = build(tmp_path, {"proc/cpuinfo": "flags: hypervisor\n"})
    finding = "no CPU time taken by other guests (virtual machine)"
    assert readiness.steal(QUIET, root) == Check("steal", "ok", finding)


def test_all_checks_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "WINDOW_S", 0.0)
    monkeypatch.setattr(paths, "toolchain", lambda: tmp_path / "new")
    monkeypatch.setattr(paths, "tools", lambda: paths.Tools({}, {}))
    found = readiness.checks()
    assert len({check.name for check in found}) == len(found) == 16
    for check in found:
        assert check.finding
        assert bool(check.advice) == (check.state != "ok"), check


def test_tools_that_need_the_same_command_name_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {"a": "run ./just setup", "b": "no npm", "c": "run ./just setup"}
    monkeypatch.setattr(paths, "tools", lambda: paths.Tools({}, missing))
    assert readiness.tools() == Check(
        "tools", "warning", "missing a, b, c", "a, c: run ./just setup; b: no npm"
    )
