from pathlib import Path

import numpy as np
import pytest

from benchmarks.power import main, power
from benchmarks.relabel import error_rates, judge, judge_sequential, sequential, shuffled
from sqlitmus.stats.estimate import Array, rate
from tests.analysis.runs import case, noisy, plan, samples, write
from tests.stats.noise import wander
from tests.stats.oracle import scipy
from tests.stats.recorded import STEADY, WALL, trace

LABELS = 5


def blocks_of(column: int) -> Array:
    """The recording as blocks of neighbours, on the log scale."""
    return np.log(trace("sequence")[:, column]).reshape(-1, LABELS)


def pairs_of(column: int) -> Array:
    both = trace("pairs")
    return np.log(both[:, [column, column + 4]])


@pytest.mark.parametrize("column", [WALL, STEADY])
@pytest.mark.parametrize("blocks", [15, 30])
def test_recorded_noise_raises_few_false_alarms_and_many_in_sequence(
    column: int, blocks: int
) -> None:
    found = error_rates(blocks_of(column), blocks, comparisons=4)
    assert found.false_alarms.value <= 0.065  # 5 % and three standard errors of 1,000 experiments
    assert 0.93 <= found.coverage.value <= 0.97
    assert found.sequential.value >= 0.3
    assert found.sequential.low > found.false_alarms.high


@pytest.mark.parametrize("column", [WALL, STEADY])
def test_three_percent_are_found_with_thirty_blocks_of_recorded_noise(column: int) -> None:
    found = error_rates(blocks_of(column), blocks=30, comparisons=4)
    assert found.detection.low >= 0.8


@pytest.mark.parametrize("column", [WALL, STEADY])
def test_pairs_run_at_the_same_time_raise_few_false_alarms(column: int) -> None:
    found = error_rates(pairs_of(column), blocks=30, comparisons=1)
    assert found.false_alarms.value <= 0.07
    assert 0.93 <= found.coverage.value <= 0.97


def test_independent_noise_is_judged_as_it_should_be() -> None:
    logs = np.random.default_rng(1).normal(0, 0.02, (3000, LABELS))
    found = error_rates(logs, blocks=30, comparisons=4)
    assert found.false_alarms.low <= 0.05
    assert found.coverage.low <= 0.95 <= found.coverage.high
    assert found.sequential.low <= 0.05


def test_noise_that_wanders_spoils_the_sequential_order_only() -> None:
    logs = wander(np.random.default_rng(2), (1, 5000), 0.05, 0.95).reshape(-1, LABELS)
    found = error_rates(logs, blocks=25, comparisons=4)
    assert found.false_alarms.value <= 0.065
    assert found.sequential.low > 0.5


def test_a_larger_slowdown_is_found_more_often() -> None:
    found = [
        error_rates(blocks_of(WALL), 15, 4, slowdown=by, experiments=300).detection.value
        for by in (0.0, 0.01, 0.03, 0.2)
    ]
    assert found == sorted(found)
    assert found[0] < 0.05
    assert found[-1] == 1


def test_the_same_seed_gives_the_same_result_and_another_another() -> None:
    logs = blocks_of(WALL)
    one, again, other = (error_rates(logs, 30, 4, experiments=200, seed=s) for s in (1, 1, 2))
    assert one == again
    assert one.coverage != other.coverage


def test_labels_are_given_within_the_block() -> None:
    logs = np.arange(60.0).reshape(12, 5)
    for values in shuffled(logs, 6, 3, 50, seed=1):
        first = int(values[0, 0] // 5)
        assert np.array_equal(values // 5, np.repeat(np.arange(first, first + 6), 3).reshape(6, 3))
        assert all(len(set(row)) == 3 for row in values.tolist())


def test_sequential_experiments_keep_the_order_of_time() -> None:
    found = sequential(np.arange(20.0).reshape(4, 5), runs=3, labels=2)
    assert found[0].T.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found[-1].T.tolist() == [[12, 13, 14], [15, 16, 17]]


def test_the_sequential_test_is_welchs_with_holm() -> None:
    values = np.random.default_rng(5).normal(0, 1, (1, 12, 3)) * [1, 2, 3]
    expected = [
        float(scipy.stats.ttest_ind(values[0, :, i], values[0, :, 0], equal_var=False).pvalue)
        for i in (1, 2)
    ]
    low, high = min(expected), max(expected)
    assert sorted(judge_sequential(values).p[0].tolist()) == pytest.approx(
        sorted([min(2 * low, 1), max(2 * low, high)])
    )


def test_equal_values_are_neither_an_alarm_nor_a_miss() -> None:
    for outcomes in (judge(np.zeros((1, 12, 3))), judge_sequential(np.zeros((1, 12, 3)))):
        assert outcomes.alarms() == 0
        assert outcomes.covering() == 1


def test_a_faster_runner_is_no_detected_slowdown() -> None:
    values = np.random.default_rng(6).normal(0, 0.01, (1, 20, 2))
    values[:, :, 1] -= 1
    outcomes = judge(values)
    assert (outcomes.alarms(), outcomes.detections()) == (1, 0)


@pytest.mark.parametrize(("hits", "trials"), [(0, 10), (1, 9), (5, 100), (100, 100)])
def test_the_interval_of_a_rate_is_wilsons(hits: int, trials: int) -> None:
    found = rate(hits / trials, trials)
    expected = scipy.stats.binomtest(hits, trials).proportion_ci(0.95, method="wilson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("blocks", "comparisons"), [(21, 4), (20, 5)])
def test_a_recording_that_is_too_small_is_refused(blocks: int, comparisons: int) -> None:
    with pytest.raises(ValueError, match="do not fit a recording of 20 x 5"):
        error_rates(np.zeros((20, 5)), blocks, comparisons)


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
