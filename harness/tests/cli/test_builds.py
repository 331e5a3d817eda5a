"""The builds of Node that a user gives: which are refused, and what they stand in the rows for."""

import json
import os
import sys
from functools import partial
from pathlib import Path

import pytest

from sqlitmus.cli import claims as builds
from tests.cli.calling import Call

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fakes are scripts")

STAND_INS = "node-better-sqlite3-threadsafe"


@pytest.fixture
def plan(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """What the claim on the threading mode takes, with these builds."""
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "toolchain"))
    return partial(call, "claims", "threading", "--plan")


def node(path: Path, options: list[str], version: str = "26.0.0") -> str:
    """A program that describes itself as a build of Node with these options of SQLite."""
    features = ("operations", "shapes", "integers", "statements", "transactions")
    description: dict[str, object] = {
        "contract": 2,
        "identity": {
            "runner": "node",
            "runtime": {"name": "Node", "version": version},
            "driver": {"name": "node:sqlite", "version": version},
            "architecture": "x64",
        },
        "sqlite": {"version": "3.53.4", "source_id": "s", "compile_options": options},
        "features": dict.fromkeys(features, ()),
    }
    path.write_text(f"#!{sys.executable} -S\nprint('''{json.dumps(description)}''')\n", "utf-8")
    path.chmod(0o755)
    return str(path)


def test_both_builds_take_the_place_of_better_sqlite3_s_in_either_order(
    plan: Call, tmp_path: Path
) -> None:
    assert plan().out.count(STAND_INS) == 2, "they are not set up"
    given = [
        f"serialized={node(tmp_path / 'a=1', ['THREADSAFE=1'])}",
        f"multi={node(tmp_path / 'b', ['DQS=0', 'THREADSAFE=2'])}",
    ]
    done = plan("--build", *given)
    assert done.code == 0, done.err
    assert STAND_INS not in done.out
    cells = [line.split()[1] for line in done.out.splitlines() if " node-threadsafe" in line]
    assert len(cells) == 2
    assert cells[0] == cells[1] != "0"
    assert plan("--build", *reversed(given)).out == done.out


def test_the_plan_can_name_them_again() -> None:
    found = builds.again(["node-threadsafe1=/a=1", "node-threadsafe2=/b"], builds.Tools({}, {}))
    assert found.paths == {"node-threadsafe1": "/a=1", "node-threadsafe2": "/b"}


def test_what_is_not_one_node_in_both_modes_is_refused(plan: Call, tmp_path: Path) -> None:
    one = node(tmp_path / "one", ["THREADSAFE=1"])
    two = node(tmp_path / "two", ["THREADSAFE=2"])
    newer = node(tmp_path / "newer", ["THREADSAFE=2"], "26.1.0")
    silent = node(tmp_path / "silent", [])
    (tmp_path / "text").write_text("no program", "utf-8")
    (broken := tmp_path / "broken").write_text("#!/bin/sh\necho no glibc >&2\nexit 1\n", "utf-8")
    broken.chmod(0o755)
    both = "Node 26.0.0 with SQLite 3.53.4 and Node 26.1.0 with SQLite 3.53.4"
    usage = "expected --build serialized=PATH multi=PATH"
    reasons = [
        (2, "multi=x", "multi=y", usage),
        (2, "serialized=", "multi=x", usage),
        (2, f"serialized={one}", "multi=none", "is no executable; expected"),
        (2, f"serialized={one}", f"multi={tmp_path / 'text'}", "is no executable; expected"),
        (
            *(2, f"serialized={two}", f"multi={one}"),
            "its SQLite is built with THREADSAFE=2; expected THREADSAFE=1",
        ),
        (
            *(2, f"serialized={one}", f"multi={silent}"),
            "its SQLite is built with no such option; expected THREADSAFE=2",
        ),
        (2, f"serialized={one}", f"multi={newer}", f"{both}: the threading mode must be all that"),
        (3, f"serialized={one}", f"multi={broken}", "broken: `describe` failed: "),
    ]
    for code, *given, said in reasons:
        done = plan("--build", *given)
        assert (done.code, said in done.err) == (code, True), done.err
