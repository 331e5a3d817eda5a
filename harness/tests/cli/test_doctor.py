"""All that `doctor` says, in text and JSON, of machines that are made up."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from sqlitmus import machine
from sqlitmus.catalog import definitions, runners
from sqlitmus.machine import lock, readiness
from sqlitmus.vocabulary import paths
from tests.cli.calling import Call, sqlitmus
from tests.fakes.clone import Clone, Done
from tests.machine.linux import BUSY, LAPTOP, QUIET, build

FINE = SimpleNamespace(
    spec=SimpleNamespace(name="fine", role="runner"),
    missing=None,
    description=SimpleNamespace(
        identity=SimpleNamespace(driver=SimpleNamespace(name="node:sqlite", version="26.1")),
        sqlite=SimpleNamespace(version="3.54.1"),
    ),
)


def absent(missing: str, role: str = "runner") -> SimpleNamespace:
    """A runner that is missing for that reason."""
    return SimpleNamespace(
        spec=SimpleNamespace(name="absent", role=role), missing=missing, description=None
    )


ABSENT = absent("no cargo")
OTHER = lock.Holder(pid=7, started=0.0, label="night", command="sqlitmus run")


@pytest.fixture
def doctor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    """`doctor` within this process, on a machine made of files and of what goes on."""

    def run(
        *arguments: str,
        files: dict[str, str],
        going_on: readiness.Activity,
        there: list[Any],
        holder: lock.Holder | None = None,
        missing: dict[str, str] | None = None,
    ) -> Done:
        root = build(tmp_path / "root", files)
        patches: list[tuple[Any, str, Any]] = [
            (machine, "checks", partial(readiness.checks, root)),
            (readiness, "watch", lambda *_: going_on),
            (readiness, "hyperfine_version", lambda: "1.20.0"),
            (readiness, "file_system", lambda _: "ext4 on /dev/sda1"),
            (readiness, "clock_grain_ns", lambda: 30),
            (lock, "holder", lambda: holder),
            (paths, "toolchain", lambda: tmp_path),
            (paths, "tools", lambda: paths.Tools({"python": "/python"}, missing or {})),
            (psutil, "virtual_memory", lambda: SimpleNamespace(available=7 * 2**30)),
            (psutil, "swap_memory", lambda: SimpleNamespace(used=2**29)),
            (psutil, "disk_usage", lambda _: SimpleNamespace(free=2**36)),
            (
                definitions,
                "load",
                lambda: SimpleNamespace(runners=dict.fromkeys(["fine", "absent"])),
            ),
            (runners, "discover", lambda *_: there),
        ]
        for target, name, value in patches:
            monkeypatch.setattr(target, name, value)
        return sqlitmus(capsys, monkeypatch, "doctor", *arguments)

    return run


LAPTOP_SAYS = """\
ok       tools        1 present
ok       hyperfine    1.20.0
warning  other run    pid 7 since 1970-01-01 00:00:00 UTC, label night: sqlitmus run \
— wait for it to end, or run with --wait
warning  load         62 % of the CPU is in use \
— close what is busy: cargo (pid 4211) 98 % of a core, evil?[2J (pid 7) 25 % of a core
warning  steal        3.1 % of the CPU time went to other guests of the host \
— measure at a quieter hour, or on a host of your own
warning  governor     powersave — sudo cpupower frequency-set -g performance
warning  boost        on: the frequency depends on heat and on the other cores \
— echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo
warning  temperature  64 °C, throttled 6 times since start-up \
— let the machine cool down; its cores are being slowed now
warning  power        on battery — plug in the power supply
ok       threads      2 cores, 4 threads: more than 2 workers share cores
warning  clock        hpet, steps of 30 ns \
— echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource
ok       memory       7.0 GiB available
warning  swap         0.5 GiB in use, 3.0 MiB being moved, tasks waited for memory 12 % \
of the time — close what needs much memory
ok       disk         64.0 GiB free
warning  disk traffic 12.5 MiB/s, 3 MiB to be written \
— close what is busy: rsync (pid 99) 11.0 MiB/s
ok       file system  ext4 on /dev/sda1
ok       fine                 node:sqlite 26.1, SQLite 3.54.1
warning  absent               missing: no cargo
"""


def test_a_laptop_that_is_not_fit(doctor: Call) -> None:
    given: dict[str, Any] = {
        "files": LAPTOP,
        "going_on": BUSY,
        "there": [FINE, ABSENT],
        "holder": OTHER,
    }
    assert doctor(**given) == Done(0, LAPTOP_SAYS, "")
    assert doctor("--strict", **given) == Done(3, LAPTOP_SAYS, "")


def test_json_says_the_same(doctor: Call) -> None:
    done = doctor("--json", files=LAPTOP, going_on=BUSY, there=[FINE, ABSENT], holder=OTHER)
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert set(told) == {"checks", "runners"}
    lines = [
        f"{c['state']:8} {c['name']:12} {c['finding']}"
        + (f" — {c['advice']}" if c["advice"] else "")
        for c in told["checks"]
    ]
    assert lines == LAPTOP_SAYS.splitlines()[:-2]
    assert told["runners"] == [
        {"name": "fine", "missing": None},
        {"name": "absent", "missing": "no cargo"},
    ]


QUIET_SAYS = """\
ok       tools        1 present
ok       hyperfine    1.20.0
ok       other run    none
ok       load         3 % of the CPU is in use
ok       steal        no CPU time taken by other guests
ok       governor     unknown
ok       boost        unknown
ok       temperature  unknown
ok       power        mains
ok       threads      unknown
ok       clock        unknown, steps of 30 ns
ok       memory       7.0 GiB available
ok       swap         0.5 GiB in use, 0.0 MiB being moved
ok       disk         64.0 GiB free
ok       disk traffic 0.0 MiB/s
ok       file system  ext4 on /dev/sda1
ok       fine                 node:sqlite 26.1, SQLite 3.54.1
"""


def test_a_quiet_machine_that_tells_little_passes_even_strictly(doctor: Call) -> None:
    done = doctor("--strict", files={}, going_on=QUIET, there=[FINE])
    assert done == Done(0, QUIET_SAYS, "")


def test_strict_wants_every_runner_and_no_warning(doctor: Call) -> None:
    given: dict[str, Any] = {"files": {}, "there": [FINE]}
    busy = replace(QUIET, busy=0.5)
    assert doctor("--strict", **given, going_on=busy).code == 3
    assert doctor(**given, going_on=busy).code == 0
    assert doctor("--strict", files={}, going_on=QUIET, there=[FINE, ABSENT]).code == 3


def test_before_set_up_there_is_one_line_about_it(doctor: Call) -> None:
    """And none about builds that only claims need."""
    later = absent("not set up yet; run ./just setup")
    build = absent("not set up yet; run ./just setup-claims", "variant")
    hints = {"rust": later.missing, "hyperfine": later.missing, "rust-system": build.missing}
    done = doctor(files={}, going_on=QUIET, there=[FINE, later, build], missing=hints)
    told = [line for line in done.out.splitlines() if not line.startswith("ok ")]
    assert told == ["failure  set-up       not done yet — run ./just setup"]
    assert done.code == 3
    hints["dotnet"] = "no SDK"
    done = doctor(files={}, going_on=QUIET, there=[FINE, later, build], missing=hints)
    assert "warning  tools        missing dotnet — dotnet: no SDK\n" in done.out


def test_doctor_lists_checks_and_runners_and_judges(clone: Clone) -> None:
    clone.runner("fine")
    clone.runner("odd", "describe-crashes")
    told = json.loads(clone.sqlitmus("doctor", "--json").out)
    assert [runner["name"] for runner in told["runners"]] == ["fine", "odd", "python"]
    assert told["runners"][1]["missing"] == "`describe` failed: exit code 3: no such driver"
    tools = next(check for check in told["checks"] if check["name"] == "tools")
    assert (tools["state"], tools["finding"], tools["advice"]) == (
        "warning",
        "missing absent",
        "absent: not for sale",
    )
    # The missing tool is a warning: enough to fail a strict doctor, and no other.
    assert clone.sqlitmus("doctor", "--strict").code == 3
    clone.write("paths.json", json.dumps({"hyperfine": {"missing": "no cargo"}}))
    lax = clone.sqlitmus("doctor")
    assert lax.code == 3
    assert "failure  hyperfine    not found — run ./just setup\n" in lax.out
    assert "warning  odd                  missing: `describe` failed" in lax.out
