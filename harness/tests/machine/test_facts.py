"""Facts of the machine that a report says."""

import json
import os
import subprocess
from pathlib import Path

import psutil
import pytest

from sqlitmus import machine
from sqlitmus.machine.host import commit, hyperfine_version
from sqlitmus.vocabulary import paths
from tests.machine.linux import LAPTOP, build


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

    def two(_: int) -> set[int]:
        return {3, 5}

    monkeypatch.setattr(os, "sched_getaffinity", two, raising=False)
    known = machine.facts(tmp_path)
    assert (known["cores"], known["cores of the machine"]) == ("2", "8")
    restricted = machine.identity()
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


def test_the_identity_is_that_of_this_machine() -> None:
    assert machine.facts(Path())["cpu"] in machine.identity()
    assert machine.identity() == machine.identity()


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
