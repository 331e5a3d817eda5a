"""Commands that a text tells its reader to run exist, and are written as they are typed."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootstrap import recipes

ROOT = Path(__file__).parents[3]
DECLARED = recipes.read(ROOT / "Justfile")
TEXTS = {".py", ".toml", ".md", ".j2", ".js", ".mjs", ".rs", ".cs", ".yml", ".txt", ""}
NAMED = re.compile(r"\./just ([a-z][a-z-]*[a-z])")
# as a command: in quotes of code, or after a verb that asks for it
UNTYPABLE = re.compile(
    r"(?:`|\b(?:[Rr]un|[Tt]ry|see|with) )(?:just|sqlitmus|python3? -m sqlitmus) "
    rf"(?:{'|'.join(DECLARED)})\b"
)


def texts() -> Iterator[tuple[str, str]]:
    """Every text file of the clone by name; tests and recorded outputs hold made-up commands."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in TEXTS and path.is_file() and not name.startswith("harness/tests/"):
            yield name, path.read_text("utf-8")


def test_a_command_that_a_text_names_exists_and_is_written_as_it_is_typed() -> None:
    named: set[tuple[str, str]] = set()
    wrong: list[tuple[str, str]] = []
    for name, text in texts():
        named |= {(name, recipe) for recipe in NAMED.findall(text)}
        wrong += [(name, command) for command in UNTYPABLE.findall(text)]
    assert len(named) > 50
    assert sorted((name, recipe) for name, recipe in named if recipe not in DECLARED) == []
    assert wrong == []


def test_usage_messages_name_the_door(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.cli.calling import sqlitmus

    told = sqlitmus(capsys, monkeypatch, "run", "--seeed", "3").err
    assert "Usage: ./just run [OPTIONS]" in told
    assert "Try './just run --help' for help." in told
