"""Log ratios of sums of calls × time, on values whose truth is known."""

import numpy as np
import pytest

from sqlitmus.stats.estimate import trimmed_means
from sqlitmus.stats.weights import parts, shares, summed

CALLS = np.array([600.0, 250.0, 150.0])
LEVELS = np.log(np.array([2e3, 3e4, 1e4]))


def logs(rows: int, blocks: int, *, shared: float, own: float, seed: int = 1) -> np.ndarray:
    """Two runners' log times, runners x operations x rows x blocks, the second 1.5 times as slow
    in the second operation."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, shared, (1, 3, rows, blocks))
    levels = np.stack([LEVELS, LEVELS + np.log([1.0, 1.5, 1.0])])
    return levels[:, :, None, None] + common + rng.normal(0, own, (2, 3, rows, blocks))


def test_one_operation_alone_is_its_trimmed_mean() -> None:
    first, second = logs(5, 12, shared=0.1, own=0.02)
    sums = summed(parts(first, second), np.array([0.0, 250.0, 0.0]))
    alone = trimmed_means(first[1] - second[1])
    for column in ("mean", "error", "freedom"):
        assert getattr(sums, column) == pytest.approx(getattr(alone, column))


def test_the_ratio_is_of_sums_and_the_other_way_round_its_inverse() -> None:
    first, second = logs(4, 20, shared=0.0, own=1e-6)
    there, back = (summed(parts(*pair), CALLS) for pair in ((first, second), (second, first)))
    truth = (CALLS @ np.exp(LEVELS)) / (CALLS @ (np.exp(LEVELS) * [1.0, 1.5, 1.0]))
    assert np.exp(there.mean) == pytest.approx(np.full(4, truth), rel=1e-5)
    assert back.mean == pytest.approx(-there.mean)
    assert back.error == pytest.approx(there.error)


def test_what_two_runners_share_in_a_block_cancels_but_for_their_shares() -> None:
    first, second = logs(400, 10, shared=0.2, own=0.005)
    alike = summed(parts(first[[0, 2]], second[[0, 2]]), CALLS[[0, 2]])
    unlike = summed(parts(first, second), CALLS)
    assert np.median(alike.error) < 0.003
    # noise of an operation moves the ratio as far as its shares of the two sums differ
    p, q = shares(LEVELS, CALLS), shares(LEVELS + np.log([1.0, 1.5, 1.0]), CALLS)
    assert np.median(unlike.error) == pytest.approx(
        0.2 * float(np.linalg.norm(p - q)) / np.sqrt(10), rel=0.25
    )
    low, high = unlike.interval()
    truth = np.log(CALLS @ np.exp(LEVELS)) - np.log(
        CALLS @ (np.exp(LEVELS) * np.array([1.0, 1.5, 1.0]))
    )
    assert 0.92 <= np.mean((low <= truth) & (truth <= high)) <= 0.98


def test_a_block_counts_that_has_all_operations_of_both() -> None:
    first, second = logs(1, 12, shared=0.1, own=0.02)
    first[0, 0, 3] = second[2, 0, 7] = np.nan
    of = parts(first, second)
    assert of.count.tolist() == [10]
    second[1] = np.nan
    sums = summed(parts(first, second), CALLS)
    assert np.isnan(sums.mean).all()
    assert not np.isnan(summed(parts(first, second), CALLS * [1, 0, 1]).mean).any()


def test_equal_values_have_no_error() -> None:
    first, second = logs(1, 12, shared=0.1, own=0.0)
    sums = summed(parts(first, second, resolution=1e-12), CALLS)
    assert np.isnan(sums.error).all()
