"""pytest as an editor starts it: it finds the tools that are set up, or says what it left out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bootstrap.context import make_context
from bootstrap.paths import paths_file
from tests.known import ROOT
from tests.left_out import marks, summary

# a test that needs hyperfine, and asks it for nothing but a failure
TEST = "harness/tests/run/test_hyperfine.py::test_a_program_that_is_not_there"


def outside(toolchain: Path) -> str:
    """What pytest prints of `TEST`, with nothing set by `./just`."""
    keep = {name: value for name, value in os.environ.items() if "SQLITMUS" not in name}
    keep.pop("PYTHONPATH", None)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", TEST],
        cwd=ROOT,
        env={**keep, "SQLITMUS_TOOLCHAIN": str(toolchain), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def test_without_tools_it_says_what_it_left_out(tmp_path: Path) -> None:
    assert "1 test left out, for want of hyperfine: run ./just setup\n" in outside(tmp_path)


def test_tools_that_are_set_up_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path))
    file = paths_file(make_context(ROOT))
    file.parent.mkdir()
    # stands for hyperfine: it writes no timing, which is what that test is about
    tool = [sys.executable, "-c", "print('No such file')"]
    script = tmp_path / "hyperfine"
    script.write_text(f"#!/bin/sh\nexec '{tool[0]}' {tool[1]} \"{tool[2]}\"\n")
    script.chmod(0o755)
    file.write_text(json.dumps({"hyperfine": {"path": str(script)}}))
    said = outside(tmp_path)
    assert "1 passed" in said
    assert "left out" not in said


def test_a_test_is_marked_by_what_it_uses() -> None:
    class Borrowed:
        __module__ = "tests.contract.started"

    assert marks(["tmp_path"], {"json": json}) == set()
    assert marks(["node", "check_page"], {}) == {"runner", "browser"}
    assert marks([], {"start": Borrowed()}) == {"runner"}


def test_the_summary_counts_tests_by_what_is_to_be_done() -> None:
    setup, sdk = "run ./just setup", ".NET SDK 10 not found"
    absent = [("node", setup), ("hyperfine", setup), ("node", setup), ("dotnet", sdk)]
    reasons = [f"Skipped: not set up: {name}: {hint}" for name, hint in absent]
    assert summary([*reasons, "Skipped: no named pipes on this system"]) == [
        f"3 tests left out, for want of hyperfine, node: {setup}",
        f"1 test left out, for want of dotnet: {sdk}",
    ]
