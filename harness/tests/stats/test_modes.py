"""Rows that have a mode far to one side."""

import numpy as np
import pytest

from sqlitmus.stats.estimate import Array, Medians, medians, trimmed_means
from sqlitmus.stats.noise import far
from sqlitmus.stats.verdict import Verdicts, confirmed
from sqlitmus.vocabulary.verdicts import Verdict
from tests.stats.noise import spikes


def spiked(share: float, rows: int = 4000, blocks: int = 30) -> Array:
    rng = np.random.default_rng(4)
    return rng.normal(0, 0.01, (rows, blocks)) + spikes(rng, (rows, blocks), share, 0.3)


@pytest.mark.parametrize(("blocks", "most"), [(10, 0.01), (15, 0.002), (30, 0.001)])
def test_normal_noise_is_hardly_ever_marked(blocks: int, most: float) -> None:
    assert far(np.random.default_rng(3).normal(0, 0.02, (10_000, blocks))).mean() <= most


def test_a_third_of_disturbed_blocks_is_and_a_few_are_not() -> None:
    assert far(spiked(0.3)).mean() > 0.75
    assert far(spiked(0.05)).mean() < 0.05


def test_either_side_counts_and_missing_blocks_do_not() -> None:
    values = np.full((1, 24), np.nan)
    values[0, :20] = np.linspace(-0.01, 0.01, 20)
    assert not far(values)[0]
    values[0, :4] = [0.5, 0.6, 0.7, 0.5]
    assert far(values)[0]
    assert far(-values)[0]
    assert not far(np.full((1, 12), np.nan))[0]
    assert not far(np.zeros((1, 12)))[0]


def test_the_median_covers_where_the_trimmed_mean_does_not() -> None:
    rows, population = spiked(0.3, 8000), spiked(0.3, 1, 2_000_000)
    marked = rows[far(rows)]
    truth = trimmed_means(population).mean[0]
    low, high = trimmed_means(marked).interval()
    assert ((low <= truth) & (truth <= high)).mean() < 0.9
    middle = float(np.median(population))
    shown = medians(marked)
    assert ((shown.low <= middle) & (middle <= shown.high)).mean() > 0.95


ONE = np.array([1])


@pytest.mark.parametrize(
    ("verdict", "low", "high", "expected"),
    [
        (Verdict.SLOWER, 0.001, 0.02, Verdict.SLOWER),
        (Verdict.SLOWER, -0.001, 0.02, Verdict.NOT_RESOLVED),
        (Verdict.MATERIALLY_SLOWER, 0.03, 0.05, Verdict.MATERIALLY_SLOWER),
        (Verdict.MATERIALLY_SLOWER, 0.01, 0.05, Verdict.SLOWER),
        (Verdict.MATERIALLY_SLOWER, -0.01, 0.05, Verdict.NOT_RESOLVED),
        (Verdict.MATERIALLY_FASTER, -0.05, -0.01, Verdict.FASTER),
        (Verdict.FASTER, 0.001, 0.05, Verdict.NOT_RESOLVED),
        (Verdict.EQUIVALENT, -0.01, 0.01, Verdict.EQUIVALENT),
        (Verdict.EQUIVALENT, -0.01, 0.03, Verdict.NOT_RESOLVED),
        (Verdict.NOT_TESTABLE, -0.01, 0.03, Verdict.NOT_TESTABLE),
    ],
)
def test_a_marked_row_needs_the_median_to_say_the_same(
    verdict: Verdict, low: float, high: float, expected: Verdict
) -> None:
    given = Verdicts(np.array([verdict.code], dtype=np.int8))
    middle = Medians(np.array([(low + high) / 2]), np.array([low]), np.array([high]), ONE)
    (marked,) = confirmed(given, middle, np.array([True]), 0.02).names()
    (plain,) = confirmed(given, middle, np.array([False]), 0.02).names()
    assert (marked, plain) == (expected, verdict)
