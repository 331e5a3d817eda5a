"""The hand-written loops that the runners' own are compared with do the same work, still, and what
sqlitmus itself costs is printed.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import self_cost
from benchmarks.overhead import CASES, Pair, verdict
from sqlitmus.run.processes.turns import Turns
from tests import left_out
from tests.contract.started import installed, of_runners, takes_turns
from tests.known import KNOWN, ROOT, tools

each_handwritten = of_runners([name for name, spec in KNOWN.runners.items() if spec.handwritten])
# They measure under the lock of the machine, and open one cached fixture, which another process
# locks for a moment when it closes it.
pytestmark = pytest.mark.xdist_group("handwritten")


def pair_of(name: str, case: str, folder: Path) -> Pair:
    return Pair.of(KNOWN, installed(name), case, folder, tools())


@pytest.mark.parametrize("case", CASES)
@each_handwritten
def test_answers_are_the_runners(name: str, case: str, tmp_path: Path) -> None:
    """It ends with the reason where answers differ or are missing."""
    turns = pair_of(name, case, tmp_path).turns(warmup_ms=1, lead_in_ms=2, lap_ms=1)
    assert turns.warmup >= 1
    assert turns.lead_in >= turns.lap >= 1


@takes_turns
@each_handwritten
def test_both_programs_take_turns(name: str, tmp_path: Path) -> None:
    """A process that does not wait for each of its lines, or ends too early, ends the set."""
    levels = pair_of(name, "get-pk@transaction=read", tmp_path).together(Turns(2, 3, 1, 2), "seed")
    assert all(level > 0 and whole > 0 for level, whole in levels)
    assert len(levels) == 4


@takes_turns
def test_a_line_per_runner_and_workload() -> None:
    program = ROOT / "harness" / "benchmarks" / "overhead.py"
    asked = ["-r", "python", "--case", "all", "--sets", "6", "--busy", "1"]
    brief = ["--warmup-ms", "1", "--lead-in-ms", "1", "--lap-ms", "1"]
    done = subprocess.run(
        [sys.executable, program, *asked, *brief],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    told = [line[:22].strip() for line in done.stdout.splitlines()]
    assert told == ["runner", "python", ""], done.stderr
    assert "beside a busy program" in done.stdout.splitlines()[-1]
    assert done.stderr == ""
    assert done.returncode == ("above" in done.stdout)


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.99, 1.03, "within"),
        (1.02, 1.04, "not resolved"),
        (1.031, 1.04, "above"),
        (float("nan"), float("nan"), "not resolved"),
    ],
)
def test_an_interval_against_the_limit(low: float, high: float, word: str) -> None:
    assert verdict(low, high, 1.03) == word


def test_each_part_of_what_sqlitmus_costs_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    left_out.tool("hyperfine")
    installed("rust-ffi")
    self_cost.main(1, size="s", reports=[2])
    lines = capsys.readouterr().out.splitlines()
    starts = ("fixture ", "startup-noop ", "proof of insert-transaction ", "analysis of claims: ")
    assert all(any(line.startswith(start) for line in lines) for start in starts), lines
