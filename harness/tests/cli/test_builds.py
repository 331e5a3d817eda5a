"""The builds of Node that a user gives: which are refused, and what they stand in the rows for."""

import json
import os
import sys
from pathlib import Path

import pytest

from sqlitmus.catalog import claims, definitions
from sqlitmus.cli import claims as builds
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.paths import Tools
from tests.refusals import refused, unfit

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fakes are scripts")

NONE = Tools({}, {})


@pytest.fixture(autouse=True)
def toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "toolchain"))


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


def words(serialized: str, multi: str) -> tuple[str, str]:
    return f"serialized={serialized}", f"multi={multi}"


def test_both_builds_become_tools_and_the_plan_can_name_them_again(tmp_path: Path) -> None:
    one = node(tmp_path / "a=1", ["THREADSAFE=1"])
    two = node(tmp_path / "b", ["DQS=0", "THREADSAFE=2"])
    tools, subjects = builds.given(words(one, two), definitions.load(), NONE)
    assert tools.paths == {"node-threadsafe1": one, "node-threadsafe2": two}
    assert builds.again(subjects, NONE).paths == tools.paths
    again, _ = builds.given((f"multi={two}", f"serialized={one}"), definitions.load(), NONE)
    assert again.paths == tools.paths, "in either order"


def test_what_is_not_one_node_in_both_modes_is_refused(tmp_path: Path) -> None:
    one = node(tmp_path / "one", ["THREADSAFE=1"])
    two = node(tmp_path / "two", ["THREADSAFE=2"])
    newer = node(tmp_path / "newer", ["THREADSAFE=2"], "26.1.0")
    silent = node(tmp_path / "silent", [])
    (tmp_path / "text").write_text("no program", "utf-8")
    reasons = {
        ("multi=x", "multi=y"): "expected --build serialized=PATH multi=PATH",
        ("serialized=", "multi=x"): "expected --build serialized=PATH multi=PATH",
        words(one, "none"): "is no executable; expected",
        words(one, str(tmp_path / "text")): "is no executable; expected",
        words(two, one): "its SQLite is built with THREADSAFE=2; expected THREADSAFE=1",
        words(one, silent): "its SQLite is built with no such option; expected THREADSAFE=2",
        words(one, newer): "Node 26.0.0 with SQLite 3.53.4 and Node 26.1.0 with SQLite 3.53.4: "
        "the threading mode must be all that differs",
    }
    for given, said in reasons.items():
        with refused() as caught:
            builds.given(given, definitions.load(), NONE)
        assert said in str(caught.value)


def test_a_build_that_does_not_start_is_not_fit(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho no glibc >&2\nexit 1\n", "utf-8")
    broken.chmod(0o755)
    one = node(tmp_path / "one", ["THREADSAFE=1"])
    with unfit(r"--build multi=.*broken: `describe` failed: .*no glibc"):
        builds.given(words(one, str(broken)), definitions.load(), NONE)


def test_the_builds_take_the_place_of_better_sqlite3_s_in_every_row() -> None:
    catalog = definitions.load()
    claim = claims.read(paths.SCENARIOS / "claims", catalog)["threading"]
    (changed,) = builds.with_builds([claim])
    before, after = (list(each.compared()) for each in (claim, changed))
    assert len(before) == len(after)
    own = {stands_in: runner for runner, stands_in, _ in builds.BUILDS.values()}
    swapped = [tuple((case, own.get(runner, runner)) for case, runner in pair) for pair in before]
    assert after == swapped
    assert {"node-threadsafe1", "node-threadsafe2"} <= {runner for _, runner in changed.cells()}
    assert {runner for _, runner in changed.cells()}.isdisjoint(own)
