"""The benchmark that reads a comparison's power off the recordings of self-tests."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.power import main, power


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


def test_a_line_per_recording_and_scheme(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    equal = np.exp(np.random.default_rng(3).normal(10, 0.001, (40, 3))).tolist()
    file = tmp_path / "kept-selftest.json"
    file.write_text(json.dumps({"recorded": {"relay": {"equal_ns": equal}}}), "utf-8")
    main([file])
    head, line = capsys.readouterr().out.splitlines()
    assert head.startswith("recording ")
    name, scheme, deviation, *found = line.split()
    assert (name, scheme, found) == ("kept-selftest", "relay", ["100%", "100%", "nan%"])
    assert 0.1 < float(deviation.rstrip("%")) < 0.2
