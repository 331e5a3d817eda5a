import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sqlitmus.stats.estimate import Array
from sqlitmus.stats.noise import disturbed, repeats_allowed
from tests.stats.recorded import STEADY, trace

PROBES = st.integers(0, 40).flatmap(
    lambda n: arrays(np.float64, n, elements=st.floats(1, 100) | st.just(np.nan))
)


def quiet(count: int = 30, seed: int = 1) -> Array:
    return np.random.default_rng(seed).normal(30, 0.3, count)


def test_a_slow_probe_marks_its_block_and_no_other() -> None:
    values = quiet()
    values[17] *= 1.2
    assert np.flatnonzero(disturbed(values)).tolist() == [17]


def test_a_fast_probe_is_no_disturbance() -> None:
    values = quiet()
    values[17] *= 0.5
    assert not disturbed(values).any()


def test_the_first_eight_are_not_judged_and_the_ninth_is() -> None:
    values = quiet(9)
    values[7] *= 9
    assert not disturbed(values).any()
    values[8] *= 9
    assert disturbed(values).tolist() == [False] * 8 + [True]


@given(PROBES, st.integers(0, 40))
def test_what_comes_later_changes_no_answer(values: Array, known: int) -> None:
    assert np.array_equal(disturbed(values[:known]), disturbed(values)[:known])


@given(PROBES, st.sampled_from([0.25, 2.0, 1024.0]))
def test_the_unit_of_time_does_not_matter(values: Array, scale: float) -> None:
    assert np.array_equal(disturbed(values * scale), disturbed(values))


def test_equal_probes_leave_room_of_one_percent() -> None:
    values = np.full(20, 30.0)
    values[[15, 18]] = 30.2, 30.4
    assert np.flatnonzero(disturbed(values)).tolist() == [18]


def test_a_block_without_a_probe_is_neither_judged_nor_counted() -> None:
    values = quiet(10)
    values[8:] = np.nan, 90.0
    assert disturbed(values).tolist() == [False] * 9 + [True]
    values[3] = np.nan
    assert not disturbed(values).any()


def test_calm_blocks_are_rarely_marked() -> None:
    draws = np.random.default_rng(5).normal(30, 0.6, (150, 30))
    assert np.mean([disturbed(row)[8:].mean() for row in draws]) < 0.005


def test_few_blocks_of_the_recording_are_marked_and_those_are_slow() -> None:
    values = trace("sequence")[:, STEADY]
    marks = disturbed(values)
    assert 0.001 < marks.mean() < 0.1
    assert values[marks].min() > np.quantile(values, 0.8)


@pytest.mark.parametrize(("planned", "allowed"), [(0, 0), (4, 0), (5, 1), (12, 2), (30, 6)])
def test_a_fifth_may_be_repeated(planned: int, allowed: int) -> None:
    assert repeats_allowed(planned) == allowed
