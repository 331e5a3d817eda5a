import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.stats.estimate import Array, TrimmedMeans, student_t, trimmed_means
from sqlitmus.stats.verdict import Verdicts, capped, group_means, together
from sqlitmus.vocabulary.verdicts import Verdict
from tests.stats.noise import spikes

PAIRS = 4000


def noise(shape: tuple[int, ...], shared: float, seed: int = 1, tails: float = 0.0) -> Array:
    """Log ratios of 2 %, cases x pairs x blocks; `shared` is the cases' intraclass correlation."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, 0.02, shape[1:]) * np.sqrt(shared)
    own = rng.normal(0, 0.02, shape) * np.sqrt(1 - shared)
    flat = (shape[0], shape[1] * shape[2])
    peaks = (spikes(rng, flat, tails) - spikes(rng, flat, tails)).reshape(shape) if tails else 0
    return own + common + peaks


def misses(means: TrimmedMeans) -> float:
    low, high = means.interval()
    return float(np.mean((low > 0) | (high < 0)))


def test_one_case_is_a_trimmed_mean() -> None:
    logs = noise((1, 50, 13), 0)
    group, alone = group_means(logs), trimmed_means(logs[0])
    for column in ("mean", "error", "freedom", "count"):
        assert getattr(group, column) == pytest.approx(getattr(alone, column), rel=1e-12)


def test_the_mean_is_that_of_the_cases() -> None:
    logs = noise((5, 20, 12), 0.3)
    each = np.stack([trimmed_means(case).mean for case in logs])
    assert group_means(logs).mean == pytest.approx(each.mean(axis=0), rel=1e-12)


def test_a_block_counts_only_if_all_cases_have_it() -> None:
    logs = noise((3, 4, 14), 0)
    gappy = logs.copy()
    gappy[1, 0, 3] = gappy[2, 0, 9] = gappy[0, 2, 0] = np.nan
    means, whole = group_means(gappy), group_means(logs)
    assert means.count.tolist() == [12, 14, 13, 14]
    assert means.mean[[1, 3]] == pytest.approx(whole.mean[[1, 3]])
    kept = np.delete(logs[:, :1], [3, 9], axis=2)
    assert (means.mean[0], means.error[0]) == pytest.approx(
        (group_means(kept).mean[0], group_means(kept).error[0])
    )


def test_a_case_whose_values_are_all_equal_leaves_no_error() -> None:
    logs = noise((2, 1, 12), 0)
    logs[1] = 0.25
    assert np.isnan(group_means(logs).error).all()
    assert np.isnan(group_means(np.full((2, 1, 12), np.nan)).mean).all()


@pytest.mark.parametrize("shared", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("blocks", [10, 30])
def test_intervals_hold_however_far_cases_depend_on_each_other(shared: float, blocks: int) -> None:
    # with errors added as if cases were independent, half of them missed
    assert misses(group_means(noise((10, PAIRS, blocks), shared))) < 0.055


def test_a_spike_in_one_case_does_not_spoil_the_block_for_the_others() -> None:
    calm, tailed = (group_means(noise((10, 1000, 30), 0, tails=t)).error for t in (0, 0.1))
    assert np.median(tailed) < 1.5 * np.median(calm)
    assert misses(group_means(noise((10, PAIRS, 30), 0, tails=0.1))) < 0.05


def estimates(mean: list[float], error: float = 0.01, blocks: int = 30) -> TrimmedMeans:
    size = len(mean)
    return TrimmedMeans(
        np.array(mean), np.full(size, error), np.full(size, 17), np.full(size, blocks)
    )


def t_of(coverage: float, freedom: float) -> float:
    return float(student_t(coverage, np.array([freedom]))[0])


def words(means: TrimmedMeans) -> list[Verdict]:
    return together(means, 0.02).verdicts.names().tolist()


def test_each_interval_is_at_the_level_that_all_need() -> None:
    said = together(estimates([0.0] * 6), 0.02)
    assert said.high == pytest.approx(0.01 * t_of(1 - 0.05 / 6, 17))
    assert said.low == pytest.approx(-said.high)


def test_rows_that_cannot_be_tested_do_not_count_and_get_no_interval() -> None:
    few = estimates([0.5, 0.5], blocks=9)
    assert np.isnan(together(few, 0.02).low).all()
    assert words(few) == [Verdict.NOT_TESTABLE] * 2
    mixed = estimates([0.0, 0.0, 0.0])
    mixed.error[1] = np.nan
    said = together(mixed, 0.02)
    assert said.high[0] == pytest.approx(0.01 * t_of(1 - 0.05 / 2, 17))


def test_verdicts_are_read_off_the_intervals() -> None:
    t = t_of(0.99, 17)  # of five rows
    means = estimates([0.5, -0.5, t * 0.01 + 0.001, 0.0, 0.019])
    assert words(means)[:3] == [
        Verdict.MATERIALLY_SLOWER,
        Verdict.MATERIALLY_FASTER,
        Verdict.SLOWER,
    ]
    assert words(means)[3:] == [Verdict.NOT_RESOLVED] * 2
    assert words(estimates([0.0, 0.004], error=0.002)) == [Verdict.EQUIVALENT] * 2
    # small, and told from 1
    assert words(estimates([0.01], error=0.002)) == [Verdict.SLOWER]


@given(st.sampled_from(list(Verdict)), st.sampled_from(list(Verdict)))
def test_no_more_is_said_than_both_say(group: Verdict, case: Verdict) -> None:
    codes = [Verdicts(np.array([verdict.code], dtype=np.int8)) for verdict in (group, case)]
    (both,) = capped(*codes).names().tolist()
    if both.side != "undecided":
        assert both.side == group.side == case.side
        assert both.material == (group.material and case.material)
    else:
        assert group.side != case.side or group.side == "undecided"
