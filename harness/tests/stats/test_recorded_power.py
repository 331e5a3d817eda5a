"""The benchmark that reads a comparison's power off the runs of self-tests."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.power import main, power
from tests.analysis.runs import case, noisy, plan, samples, write


def noise(deviation: float) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.random.default_rng(3).normal(0, deviation, (40, 90))


def test_equal_things_are_found_different_as_rarely_as_the_level_says() -> None:
    assert power(noise(0.03), 30, 0.0, 5) < 0.03


def test_a_difference_is_found_the_more_often_the_more_blocks_there_are() -> None:
    few, many = (power(noise(0.03), blocks, 0.02, 5) for blocks in (20, 60))
    assert few < 0.6 < many
    assert power(noise(0.001), 20, 0.02, 5) == 1


def test_too_few_blocks_tell_nothing() -> None:
    assert np.isnan(power(noise(0.03), 91, 0.02, 5))


def test_a_line_per_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["a-1", "a-2", "a-3"]
    of = plan(names, kind="selftest", cases=[case("get")], blocks=40, canary=None, subjects=["a"])
    main([write(tmp_path / "tested", of, lines=samples(of, noisy(spread=0.001)))])
    head, line = capsys.readouterr().out.splitlines()
    assert head.startswith("run ")
    name, scheme, deviation, *found = line.split()
    assert (name, scheme, found) == ("tested", "process", ["100%", "100%", "nan%"])
    assert 0.05 < float(deviation.removesuffix("%")) < 0.3
