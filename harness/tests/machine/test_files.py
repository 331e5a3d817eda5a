"""Files are the same bytes on each system, and their names not too long for Windows."""

import subprocess

import pytest

from tests.known import KNOWN, ROOT

CODE = [*(ROOT / "harness" / "sqlitmus").rglob("*.py"), *(ROOT / "runners" / "python").glob("*.py")]


def test_no_code_leaves_line_ends_or_encodings_to_the_system() -> None:
    assert CODE
    calls = ("write_text(", "read_text()", 'open("w"', "text=True")
    texts = {file.name: file.read_text("utf-8") for file in CODE}
    found = [(call, name) for name, text in texts.items() for call in calls if call in text]
    assert not found, "write bytes, or name the encoding"


def test_the_checkout_has_one_character_at_the_end_of_a_line() -> None:
    asked = ["git", "-C", str(ROOT), "ls-files", "--eol"]
    try:
        listed = subprocess.run(asked, capture_output=True, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no clone of git")
    other = [line for line in listed.splitlines() if "w/crlf" in line or "w/mixed" in line]
    assert not [line for line in other if not line.endswith(".cmd")]
    assert "eol=lf" in listed


def test_the_longest_name_leaves_room_for_the_folder_of_a_clone() -> None:
    """Windows ends a path at 260 characters, unless it was told otherwise."""
    cases = [
        f"{name}@{','.join(f'{axis}={max(values, key=len)}' for axis, values in spec.axes.items())}"
        for name, spec in KNOWN.scenarios.items()
    ]
    case, runner = max(cases, key=len), max(KNOWN.runners, key=len)
    folder = "results/2026-01-01T000000Z-a-label-of-20-chars/logs"
    assert len(f"{folder}/{case}.{runner}.measure.result.json") <= 260 - 60
