"""Files are the same bytes on each system, and their names not too long for Windows."""

import subprocess
from pathlib import Path

import pytest

from sqlitmus.cli.options import save
from tests.known import KNOWN, ROOT

CODE = [
    *(ROOT / "harness" / "sqlitmus").rglob("*.py"),
    *(ROOT / "runners" / "python").glob("*.py"),
]


@pytest.mark.parametrize("call", ["write_text(", "read_text()", 'open("w"', "text=True"])
def test_no_code_leaves_line_ends_or_encodings_to_the_system(call: str) -> None:
    assert CODE
    found = [file.name for file in CODE if call in file.read_text("utf-8")]
    assert not found, f"{call} in {found}: write bytes, or name the encoding"


def test_the_checkout_has_one_character_at_the_end_of_a_line() -> None:
    asked = ["git", "-C", str(ROOT), "ls-files", "--eol"]
    try:
        listed = subprocess.run(asked, capture_output=True, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no clone of git")
    other = [line for line in listed.splitlines() if "w/crlf" in line or "w/mixed" in line]
    assert not [line for line in other if not line.endswith(".cmd")]
    assert "eol=lf" in listed


def test_a_report_has_the_same_bytes_everywhere(tmp_path: Path) -> None:
    file = tmp_path / "a" / "report.md"
    save("µ\n→\n", file)
    assert file.read_bytes() == "µ\n→\n".encode()


def test_the_longest_name_leaves_room_for_the_folder_of_a_clone() -> None:
    """Windows ends a path at 260 characters, unless it was told otherwise."""
    cases = [
        f"{name}@{','.join(f'{axis}={max(values, key=len)}' for axis, values in spec.axes.items())}"
        for name, spec in KNOWN.scenarios.items()
    ]
    case, runner = max(cases, key=len), max(KNOWN.runners, key=len)
    folder = "results/2026-01-01T000000Z-a-label-of-20-chars/logs"
    assert len(f"{folder}/{case}.{runner}.measure.result.json") <= 260 - 60
