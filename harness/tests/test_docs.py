"""The README names what there is, and what it names is there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sqlitmus import cli
from sqlitmus.vocabulary import paths

README = paths.ROOT / "README.md"
RECIPE = re.compile(r"^([a-z][a-z-]*)(?: [*+]?[A-Z]+)*:", re.MULTILINE)


def readme() -> str:
    assert README.exists(), "README.md is not there"
    return README.read_text("utf-8")


def commands() -> list[str]:
    """Names of the command line's commands."""
    app = cli.typer.Typer()
    for module in cli.modules():
        module.register(app)
    return [c.name or c.callback.__name__ for c in app.registered_commands if c.callback]


def test_help_lists_every_command_and_the_exit_codes() -> None:
    environment = {**os.environ, "PYTHONPATH": str(paths.ROOT / "harness"), "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, "-m", "sqlitmus", "--help"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    listed = re.findall(r"^  ([a-z]+) {2,}", done.stdout.partition("Commands:")[2], re.MULTILINE)
    assert listed == commands()
    said = " ".join(done.stdout.split())
    for code in ("0 done", "2 usage", "4 some cells failed", "5 wrong answers", "130 interrupted"):
        assert code in said


@pytest.mark.parametrize("command", commands())
def test_the_readme_names_every_command(command: str) -> None:
    named = rf"(just|sqlitmus) {command}\b|`{command}`"
    assert re.search(named, readme()), f"README: no {command}"


def test_recipes_in_the_readme_are_in_the_justfile() -> None:
    known = set(RECIPE.findall((paths.ROOT / "Justfile").read_text("utf-8")))
    named = set(re.findall(r"\./just ([a-z][a-z-]*)", readme()))
    assert named
    assert named <= known, f"README names recipes that do not exist: {sorted(named - known)}"
    assert {"bench-quick", "test"} <= named


def test_links_in_the_readme_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", readme()):
        assert (README.parent / Path(target)).exists(), f"README: {target} is not there"
