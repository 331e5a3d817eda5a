"""Planted faults: each meets the fate that the table gives, in the words of the table."""

from pathlib import Path

import pytest

from tests import left_out
from tests.faults.fault import Fault
from tests.faults.stage import Stage
from tests.faults.table import FAULTS

PLAYED = [fault for faults in FAULTS.values() for fault in faults if not fault.slow]


def test_titles_are_unique() -> None:
    titles = [fault.title for faults in FAULTS.values() for fault in faults]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("fault", PLAYED, ids=lambda fault: fault.title)
def test_fault(fault: Fault, tmp_path: Path, hyperfine_program: str) -> None:
    left_out.tool(fault.needs)
    assert fault.problem(fault.play(Stage(tmp_path, hyperfine_program))) is None
