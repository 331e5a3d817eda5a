"""What sqlitmus itself costs is printed, for real runners."""

import pytest

from benchmarks import self_cost
from tests import left_out
from tests.contract.started import installed

# It measures under the lock of the machine, as the handwritten loops do.
pytestmark = [pytest.mark.runner, pytest.mark.xdist_group("handwritten")]


def test_each_scenario_that_writes_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    left_out.tool("hyperfine")
    installed("rust-ffi")
    self_cost.main(1, size="s", reports=[2])
    lines = capsys.readouterr().out.splitlines()
    starts = ("fixture ", "startup-noop ", "proof of insert-transaction ", "analysis of claims: ")
    assert all(any(line.startswith(start) for line in lines) for start in starts), lines
