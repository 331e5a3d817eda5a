"""Facts of the machine, and doctor's judgement of them."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false, reportUnknownArgumentType=false

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlitmus import machine
from tests.fakes.clone import Clone


def test_facts_are_words_and_unknown_ones_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = machine.facts(tmp_path)
    assert all(isinstance(value, str) and value for value in known.values())
    assert int(known["cores"]) >= 1
    assert known["memory"].endswith(" GiB")
    monkeypatch.setattr(machine, "_read", lambda _: "")
    monkeypatch.setattr(machine, "_run", lambda _: "")
    bare = machine.facts(tmp_path)
    assert set(bare) == set(known)
    for name in ("governor", "hyperfine", "sqlitmus commit", "virtualised"):
        assert bare[name] == machine.UNKNOWN


def test_a_commit_with_changes_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"rev-parse": "abc123", "status": ""}
    monkeypatch.setattr(machine, "_run", lambda command: said[command[3]])
    assert machine.commit() == "abc123"
    said["status"] = " M README.md"
    assert machine.commit() == "abc123 with local changes"


@pytest.mark.parametrize(
    ("version", "state"),
    [(None, "failure"), ("1.17.0", "failure"), ("1.18.0", "ok"), ("1.20.0", "ok"), ("2.0.0", "ok")],
)
def test_hyperfine_is_needed_in_a_version_that_can_do_it(
    monkeypatch: pytest.MonkeyPatch, version: str | None, state: str
) -> None:
    monkeypatch.setattr(machine, "hyperfine_version", lambda: version)
    assert machine._check_hyperfine().state == state


class Attributes:
    """An object with these attributes."""

    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given)


WORLD: list[tuple[str, Any, Callable[[], machine.Check], str]] = [
    ("cpu_percent", lambda **_: 3.0, machine._check_load, "ok"),
    ("cpu_percent", lambda **_: 90.0, machine._check_load, "warning"),
    (
        "virtual_memory",
        lambda: Attributes(available=2**33),
        machine._check_memory,
        "ok",
    ),
    ("virtual_memory", lambda: Attributes(available=2**28), machine._check_memory, "warning"),
    (
        "disk_usage",
        lambda _: Attributes(free=2**20),
        lambda: machine._check_disk(Path()),
        "failure",
    ),
    ("disk_usage", lambda _: Attributes(free=2**40), lambda: machine._check_disk(Path()), "ok"),
    (
        "sensors_battery",
        lambda: Attributes(power_plugged=False),
        machine._check_power,
        "warning",
    ),
    ("sensors_battery", lambda: None, machine._check_power, "ok"),
]


@pytest.mark.parametrize(("name", "found", "check", "state"), WORLD)
def test_checks(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    found: Any,
    check: Callable[[], machine.Check],
    state: str,
) -> None:
    monkeypatch.setattr(machine.psutil, name, found, raising=False)
    told = check()
    assert told.state == state
    assert told.finding
    assert bool(told.advice) == (state != "ok")


@pytest.mark.parametrize(("word", "state"), [("performance", "ok"), ("powersave", "warning")])
def test_the_governor(monkeypatch: pytest.MonkeyPatch, word: str, state: str) -> None:
    monkeypatch.setattr(machine, "governor", lambda: word)
    assert machine._check_governor().state == state


@pytest.mark.parametrize(
    ("name", "state"), [("ext4 on /dev/sda1", "ok"), ("tmpfs on tmpfs", "warning")]
)
def test_the_file_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, state: str
) -> None:
    monkeypatch.setattr(machine, "file_system", lambda _: name)
    assert machine._check_file_system(tmp_path).state == state


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
    clone.write("paths.json", json.dumps({"hyperfine": {"missing": "no cargo"}}))
    lax = clone.sqlitmus("doctor")
    assert lax.code == 3
    assert "failure  hyperfine    not found — run ./just setup\n" in lax.out
    assert "warning  odd                  missing: `describe` failed" in lax.out
