"""Error rates on noise whose labels are drawn anew, and how often a difference would be found."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.power import main, power
from benchmarks.relabel import error_rates, judge, judge_sequential, sequential, shuffled
from tests.analysis.runs import case, noisy, plan, samples, write
from tests.stats.noise import Array, wander
from tests.stats.oracle import scipy
from tests.stats.recorded import STEADY, WALL, trace

LABELS = 5


def blocks_of(column: int) -> Array:
    """The recording as blocks of neighbours, on the log scale."""
    return np.log(trace("sequence")[:, column]).reshape(-1, LABELS)


@pytest.mark.parametrize("column", [WALL, STEADY])
def test_recorded_noise_raises_few_false_alarms_and_many_in_sequence(column: int) -> None:
    few, many = (error_rates(blocks_of(column), blocks, comparisons=4) for blocks in (15, 30))
    for found in (few, many):
        assert found.false_alarms.value <= 0.065  # 5 % and three standard errors of 1,000
        assert 0.93 <= found.coverage.value <= 0.97
        assert found.sequential.value >= 0.3
        assert found.sequential.low > found.false_alarms.high
    assert many.detection.low >= 0.8  # of 3 %
    at_once = error_rates(np.log(trace("pairs")[:, [column, column + 4]]), 30, comparisons=1)
    assert at_once.false_alarms.value <= 0.07
    assert 0.93 <= at_once.coverage.value <= 0.97


def test_only_noise_that_wanders_spoils_the_sequential_order() -> None:
    rng = np.random.default_rng(1)
    found = error_rates(rng.normal(0, 0.02, (3000, LABELS)), blocks=30, comparisons=4)
    assert found.false_alarms.low <= 0.05
    assert found.coverage.low <= 0.95 <= found.coverage.high
    assert found.sequential.low <= 0.05
    logs = wander(rng, (1, 5000), 0.05, 0.95).reshape(-1, LABELS)
    found = error_rates(logs, blocks=25, comparisons=4)
    assert found.false_alarms.value <= 0.065
    assert found.sequential.low > 0.5


def test_a_larger_slowdown_is_found_more_often_and_the_seed_decides_it_all() -> None:
    logs = blocks_of(WALL)
    none, some, much = (
        error_rates(logs, 15, 4, slowdown=by, experiments=300) for by in (0.0, 0.02, 0.2)
    )
    assert none.detection.value < 0.05 < some.detection.value < much.detection.value == 1
    assert error_rates(logs, 15, 4, slowdown=0.0, experiments=300) == none
    assert error_rates(logs, 15, 4, experiments=300, seed=2).coverage != none.coverage


def test_labels_are_given_within_the_block_and_in_sequence_in_the_order_of_time() -> None:
    for values in shuffled(np.arange(60.0).reshape(12, 5), 6, 3, 50, seed=1):
        first = int(values[0, 0] // 5)
        assert np.array_equal(values // 5, np.repeat(np.arange(first, first + 6), 3).reshape(6, 3))
        assert all(len(set(row)) == 3 for row in values.tolist())
    found = sequential(np.arange(20.0).reshape(4, 5), runs=3, labels=2)
    assert found[0].T.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found[-1].T.tolist() == [[12, 13, 14], [15, 16, 17]]


def test_the_sequential_test_is_welchs_with_holm() -> None:
    values = np.random.default_rng(5).normal(0, 1, (1, 12, 3)) * [1, 2, 3]
    welch = scipy.stats.ttest_ind(values[0, :, 1:], values[0, :, :1], equal_var=False).pvalue
    low, high = sorted(welch.tolist())
    assert sorted(judge_sequential(values).p[0].tolist()) == pytest.approx(
        sorted([min(2 * low, 1), max(2 * low, high)])
    )


def test_equal_values_and_a_faster_runner_are_no_detected_slowdown() -> None:
    for outcomes in (judge(np.zeros((1, 12, 3))), judge_sequential(np.zeros((1, 12, 3)))):
        assert (outcomes.alarms(), outcomes.covering()) == (0, 1)
    values = np.random.default_rng(6).normal(0, 0.01, (1, 20, 2)) - [0, 1]
    outcomes = judge(values)
    assert (outcomes.alarms(), outcomes.detections()) == (1, 0)


def test_a_recording_that_is_too_small_is_refused() -> None:
    for blocks, comparisons in ((21, 4), (20, 5)):
        with pytest.raises(ValueError, match="do not fit a recording of 20 x 5"):
            error_rates(np.zeros((20, 5)), blocks, comparisons)


def test_power_grows_with_blocks_and_is_the_level_where_nothing_differs() -> None:
    noise = np.random.default_rng(3).normal(0, 0.03, (40, 90))
    assert power(noise, 30, 0.0, 5) < 0.03
    few, many = (power(noise, blocks, 0.02, 5) for blocks in (20, 60))
    assert few < 0.6 < many
    assert power(noise / 30, 20, 0.02, 5) == 1
    assert np.isnan(power(noise, 91, 0.02, 5))


def test_a_line_per_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["a-1", "a-2", "a-3"]
    of = plan(names, kind="selftest", cases=[case("get")], blocks=40, canary=None, subjects=["a"])
    main([write(tmp_path / "tested", of, lines=samples(of, noisy(spread=0.001)))])
    head, line = capsys.readouterr().out.splitlines()
    assert head.startswith("run ")
    name, scheme, deviation, *found = line.split()
    assert (name, scheme, found) == ("tested", "process", ["100%", "100%", "nan%"])
    assert 0.05 < float(deviation.removesuffix("%")) < 0.3
