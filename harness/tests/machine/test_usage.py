"""The use of each processor between two readings of the kernel's counters."""

import sys
from pathlib import Path

import pytest

from sqlitmus.machine import system


def stat(root: Path, text: str) -> Path:
    (root / "proc").mkdir(exist_ok=True)
    (root / "proc/stat").write_text(text)
    return root


def test_ticks_in_use_and_all_without_idle_waiting_and_stolen_ones(tmp_path: Path) -> None:
    text = (
        "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 3 40 50 6 7 80 1 1\ncpu3 1 0 0 9 0 0 0 0 0 0\nintr 5\n"
    )
    assert system.ticks(stat(tmp_path, text)) == {"0": (19, 189), "3": (1, 10)}
    assert system.away(tmp_path) == {"0": 93, "3": 0}


@pytest.mark.parametrize("text", ["", "cpu0\n", "cpu0 1 2 3\n", "cpu0 a b c d e f g h\n"])
def test_what_cannot_be_read_is_not_told(tmp_path: Path, text: str) -> None:
    assert system.ticks(stat(tmp_path, text)) == {}


def test_shares_are_of_processors_on_which_ticks_passed() -> None:
    before = {"0": (10, 100), "1": (10, 100), "2": (0, 0)}
    after = {"0": (35, 150), "1": (10, 100), "3": (5, 5)}
    assert system.shares(before, after) == {"0": 0.5}


@pytest.mark.skipif(sys.platform != "linux", reason="Linux's counters")
def test_this_machine_tells() -> None:
    found = system.ticks()
    assert found
    assert all(0 <= used <= total for used, total in found.values())
