"""Planted faults: each meets the fate that the table gives, in the words of the table."""

import re
from pathlib import Path

import pytest
import typer

from benchmarks import faults
from tests import left_out
from tests.faults.fault import Fault, Seen
from tests.faults.stage import Stage
from tests.faults.table import FAULTS

PLAYED = [fault for faults in FAULTS.values() for fault in faults if not fault.slow]


def test_titles_are_unique() -> None:
    titles = [fault.title for faults in FAULTS.values() for fault in faults]
    assert len(set(titles)) == len(titles)


TABLE = [
    [""],
    ["times"],
    ["fault", "planted in", "scheme", "outcome", "looks", "message"],
    ["iterations of 1 ns", "fake", "-", "failed", "-", "its iterations take 1 ns on average"],
    [""],
    ["1 faults, 0 with another fate than expected"],
]


@pytest.mark.usefixtures("hyperfine_program")
def test_the_table_of_faults(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as end:
        faults.main(["iterations of 1 ns"])
    lines = capsys.readouterr().out.splitlines()
    # how coarse a clock is differs
    cells = [re.split(r" {2,}", line.partition(", and no clock")[0]) for line in lines]
    assert (cells, end.value.exit_code) == (TABLE, 0)


def test_a_line_says_how_a_figure_looks() -> None:
    faults_of_schemes = FAULTS["in turns and alone"]
    (fault,) = (f for f in faults_of_schemes if f.title == "the best of three passes, turns")
    line = faults.line(fault, Seen("failed", "too\nfast", looks=0.183))
    assert line.split("javascript")[1].split() == ["turns", "failed", "0.18", "x", "too", "fast"]


@pytest.mark.parametrize("fault", PLAYED, ids=lambda fault: fault.title)
def test_fault(fault: Fault, tmp_path: Path, hyperfine_program: str) -> None:
    left_out.tool(fault.needs)
    assert fault.problem(fault.play(Stage(tmp_path, hyperfine_program))) is None
