import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.stats.estimate import TrimmedMeans, trimmed_means
from sqlitmus.stats.noise import LIMITS, Grades, grade
from sqlitmus.stats.verdict import MIN_BLOCKS

T99 = 2.898230519677418  # of 17 degrees of freedom


def canary(means: list[float], halves: list[float], count: int = 30) -> TrimmedMeans:
    """Rows with these means and 99 % half-widths."""
    rows = len(means)
    kept = count - 2 * int(0.2 * count)
    return TrimmedMeans(
        np.array(means), np.array(halves) / T99, np.full(rows, kept - 1), np.full(rows, count)
    )


def one(mean: float, half: float, count: int = 30) -> Grades:
    return grade(canary([mean], [half], count))


@pytest.mark.parametrize(
    ("half", "expected"),
    [
        (LIMITS[0] - 1e-9, "A"),
        (LIMITS[0] + 1e-9, "B"),
        (LIMITS[1] - 1e-9, "B"),
        (LIMITS[1] + 1e-9, "C"),
    ],
)
def test_the_half_width_makes_the_grade(half: float, expected: str) -> None:
    found = one(0.0, half)
    assert found.names() == [expected]
    assert found.run == expected
    assert found.half[0] == pytest.approx(half, rel=1e-9)
    assert found.reasons() == ["wide" if expected == "C" else ""]


def test_a_canary_that_differs_is_c_however_narrow() -> None:
    assert one(0.0049, 0.005).names() == ["A"]
    found = one(0.0051, 0.005)
    assert (found.names(), found.reasons()) == (["C"], ["differs"])


def test_one_miss_among_many_cases_is_chance() -> None:
    means = [0.0] * 49 + [0.0051]
    found = grade(canary(means, [0.005] * 50))
    assert found.missed == 1
    assert set(found.names()) == {"A"}
    assert found.run == "A"


def test_one_gross_miss_among_many_cases_is_that_case() -> None:
    found = grade(canary([0.0] * 49 + [0.05], [0.005] * 50))
    assert found.names() == ["A"] * 49 + ["C"]
    assert found.reasons()[-1] == "differs"
    assert found.run == "A"


def test_more_misses_than_chance_explains_make_every_case_c() -> None:
    found = grade(canary([0.0] * 46 + [0.0051] * 4, [0.005] * 50))
    assert found.chance < 0.01
    assert found.missed == 4
    assert set(found.reasons()) == {"run differs"}
    assert found.run == "C"
    assert found.guard == pytest.approx(np.array([0.005] * 46 + [0.0101] * 4))


def test_a_run_has_the_grade_that_nine_in_ten_cases_reach() -> None:
    assert grade(canary([0.0] * 10, [0.005] * 9 + [0.02])).run == "A"
    assert grade(canary([0.0] * 10, [0.005] * 8 + [0.02] * 2)).run == "B"
    assert grade(canary([0.0] * 10, [0.005] * 8 + [0.02, 0.09])).run == "B"
    assert grade(canary([0.0] * 10, [0.005] * 8 + [0.09] * 2)).run == "C"


def test_a_guard_is_there_only_where_the_canary_differs_from_itself() -> None:
    found = grade(canary([0.0, 0.01, -0.01, 0.02, 0.0], [0.005, 0.04, 0.04, 0.005, 0.02]))
    assert found.names() == ["A", "C", "C", "C", "B"]
    assert found.reasons() == ["", "wide", "wide", "differs", ""]
    assert found.guard == pytest.approx([0, 0, 0, 0.025, 0], abs=1e-9)


def test_the_letter_is_that_of_a_typical_comparison_and_not_of_the_canary() -> None:
    noisy, quiet = canary([0.0], [0.09]), np.array([0.009]) / T99
    assert grade(noisy).names() == ["C"]
    assert grade(noisy, quiet).names() == ["A"]
    assert grade(canary([0.0], [0.001]), np.array([0.09])).names() == ["C"]


def test_untested_cases_are_c_without_a_guard() -> None:
    few = one(0.0, 0.001, MIN_BLOCKS - 1)
    equal = grade(trimmed_means(np.zeros((1, 30))))
    for found in (few, equal):
        assert found.names() == ["C"]
        assert found.reasons() == ["untested"]
        assert found.guard.tolist() == [0.0]
        assert found.run == "C"
        assert found.tested == 0


def test_untested_cases_are_no_part_of_the_family() -> None:
    means, halves = [0.0051] + [0.0] * 9, [0.005] + [np.nan] * 9
    assert grade(canary(means, halves)).reasons()[0] == "differs"


def test_a_run_without_cases_is_c() -> None:
    assert grade(trimmed_means(np.empty((0, 30)))).run == "C"


@given(st.integers(0, 2**32 - 1), st.floats(0.001, 0.1))
def test_exchanging_canary_and_twin_changes_nothing(seed: int, spread: float) -> None:
    values = np.random.default_rng(seed).normal(0, spread, (6, 12))
    one, other = grade(trimmed_means(values)), grade(trimmed_means(-values))
    assert one.names() == other.names()
    assert one.guard == pytest.approx(other.guard)
    assert one.run == other.run


def test_quiet_runs_of_equal_programs_are_seldom_c() -> None:
    rng = np.random.default_rng(7)
    runs = [grade(trimmed_means(rng.normal(0, 0.01, (100, 30)))) for _ in range(300)]
    assert sum(g.run == "C" for g in runs) <= 9
    assert sum("differs" in g.reasons() for g in runs) <= 15


def test_a_canary_that_is_slower_throughout_is_found() -> None:
    rng = np.random.default_rng(8)
    found = grade(trimmed_means(rng.normal(0.005, 0.01, (100, 30))))
    assert found.run == "C"
