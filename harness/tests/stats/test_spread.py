import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.stats.estimate import deviation
from tests.stats.oracle import scipy_stats


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7, 8, 9, 10, 30])
def test_normal_noise_gives_its_standard_deviation(count: int) -> None:
    draws = np.random.default_rng(1).normal(7, 0.5, (40_000, count))
    assert deviation(draws).mean() == pytest.approx(0.5, rel=0.02)


def test_it_is_the_scaled_median_absolute_deviation() -> None:
    values = np.random.default_rng(2).exponential(size=200)
    expected = scipy_stats.median_abs_deviation(values, scale="normal") * 200 / 199.2
    assert float(deviation(values)) == pytest.approx(expected, rel=1e-5)


@given(st.integers(0, 14))
def test_nearly_half_of_the_values_may_be_anything(spoiled: int) -> None:
    values = np.random.default_rng(3).normal(0, 1, 30)
    values[:spoiled] = 1e9
    assert float(deviation(values)) < 10


def test_a_single_value_has_none() -> None:
    assert deviation(np.ones((3, 1))).tolist() == [0, 0, 0]
