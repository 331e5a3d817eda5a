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
from syrupy.assertion import SnapshotAssertion

from sqlitmus import machine
from sqlitmus.catalog import definitions, runners
from sqlitmus.machine import lock, readiness
from sqlitmus.vocabulary import paths
from tests.cli.calling import Call
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
def doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Call) -> Call:
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
            (readiness, "speed_together", lambda: None),
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
        return call("doctor", *arguments)

    return run


UNFIT: dict[str, Any] = {
    "files": LAPTOP,
    "going_on": BUSY,
    "there": [FINE, ABSENT],
    "holder": OTHER,
}


def test_a_laptop_that_is_not_fit(doctor: Call, snapshot: SnapshotAssertion) -> None:
    done = doctor(**UNFIT)
    assert (done.code, done.err) == (0, "")
    assert done.out == snapshot
    assert doctor("--strict", **UNFIT) == Done(3, done.out, "")


def test_json_says_the_same(doctor: Call) -> None:
    done = doctor("--json", **UNFIT)
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert set(told) == {"checks", "runners"}
    lines = [
        f"{c['state']:8} {c['name']:12} {c['finding']}"
        + (f" — {c['advice']}" if c["advice"] else "")
        for c in told["checks"]
    ]
    assert lines == doctor(**UNFIT).out.splitlines()[:-2]
    assert told["runners"] == [
        {"name": "fine", "missing": None},
        {"name": "absent", "missing": "no cargo"},
    ]


def test_a_quiet_machine_that_tells_little_passes_even_strictly(
    doctor: Call, snapshot: SnapshotAssertion
) -> None:
    done = doctor("--strict", files={}, going_on=QUIET, there=[FINE])
    assert (done.code, done.err) == (0, "")
    assert done.out == snapshot


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
