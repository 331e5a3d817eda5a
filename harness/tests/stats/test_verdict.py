"""Verdicts: of one case, of families of cases, of groups and of weighed operations."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from sqlitmus.stats.estimate import (
    Array,
    TrimmedMeans,
    binomial_tail,
    deviation,
    normal,
    sign_test_rank,
    student_p,
    student_t,
    trimmed_means,
)
from sqlitmus.stats.verdict import (
    CORRECTIONS,
    MIN_BLOCKS,
    Verdicts,
    adjust,
    alarms,
    beyond_p,
    decide,
    group_means,
    p_values,
    parts,
    pocock,
    share,
    shares,
    summed,
    together,
    within_p,
)
from sqlitmus.vocabulary.verdicts import Correction, Verdict
from tests.stats.noise import spikes
from tests.stats.oracle import scipy

MARGIN = 0.02


@pytest.mark.parametrize("margin", [0.0, -0.1, float("nan")])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    with pytest.raises(ValueError, match="margin must be above 0"):
        decide(estimates([0.0]), margin)


def mixed(seed: int, rows: int = 60, blocks: int = 30) -> Array:
    """Log ratios of rows with no, small and large differences, and some with too few blocks."""
    rng = np.random.default_rng(seed)
    effects = rng.choice([0, 0.002, 0.01, 0.03, 0.1], (rows, 1)) * rng.choice([-1, 1], (rows, 1))
    values = rng.normal(effects, rng.choice([0.005, 0.02, 0.05], (rows, 1)), (rows, blocks))
    values[: rows // 10, 8:] = np.nan
    return values


def differs(verdicts: Verdicts) -> NDArray[np.bool_]:
    return np.isin(verdicts.code, [0, 1, 3, 4])


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.05, 0.02]))
def test_uncorrected_verdicts_are_what_the_intervals_say(seed: int, alpha: float) -> None:
    logs, bound = trimmed_means(mixed(seed)), np.log1p(MARGIN)
    (low, high), (inner_low, inner_high) = (logs.interval(1 - n * alpha) for n in (1, 2))
    expected = np.select(
        [
            logs.count < MIN_BLOCKS,
            high < -bound,
            high < 0,
            low > bound,
            low > 0,
            (inner_low > -bound) & (inner_high < bound),
        ],
        [6, 0, 1, 4, 3, 2],
        default=5,
    )
    assert decide(logs, MARGIN, alpha=alpha).code.tolist() == expected.tolist()


@given(st.integers(0, 2**32 - 1), st.sampled_from(CORRECTIONS))
def test_corrected_verdicts_mirror_too(seed: int, correction: Correction) -> None:
    values = mixed(seed)
    one, other = (decide(trimmed_means(of), MARGIN, correction) for of in (values, -values))
    assert [verdict.opposite for verdict in one.names()] == other.names().tolist()


@given(st.integers(0, 2**32 - 1), st.sampled_from(CORRECTIONS))
def test_a_correction_takes_verdicts_away_and_never_gives_any(
    seed: int, correction: Correction
) -> None:
    logs = trimmed_means(mixed(seed))
    plain, corrected = decide(logs, MARGIN), decide(logs, MARGIN, correction)
    assert not np.any(differs(corrected) & ~differs(plain))
    untestable = plain.code == 6
    assert untestable.sum() == 6
    assert np.array_equal(corrected.code == 6, untestable)


def test_untestable_rows_do_not_weigh_on_the_others() -> None:
    values = np.full((101, 30), np.nan)
    values[0] = np.random.default_rng(3).normal(0.02, 0.04, 30)
    values[1:, :5] = np.random.default_rng(4).normal(0, 0.04, (100, 5))
    assert decide(trimmed_means(values), MARGIN, "holm").names()[0] == "slower"


def test_bh_finds_more_than_holm_among_many_differences() -> None:
    draws = np.random.default_rng(10).normal(0.025, 0.05, (200, 30))
    found = [differs(decide(trimmed_means(draws), MARGIN, c)).sum() for c in CORRECTIONS]
    assert found[0] >= found[2] > found[1] + 20


PS = arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1) | st.just(np.nan))
CORRECTING: tuple[Correction, ...] = ("holm", "bh")


def logs(seed: int = 1, rows: int = 4000, blocks: int = 30) -> TrimmedMeans:
    rng = np.random.default_rng(seed)
    return trimmed_means(rng.normal(rng.normal(0, 0.02, (rows, 1)), 0.04, (rows, blocks)))


def test_no_interval_has_no_p_and_is_not_testable() -> None:
    nothing = trimmed_means(np.array([[0.3, np.nan, np.nan], [0.3, 0.3, 0.3]]))
    for p in (p_values(nothing), beyond_p(nothing, -1, 1), within_p(nothing, -1, 1)):
        assert np.isnan(p).all()
    assert set(decide(trimmed_means(np.zeros((1, 30))), MARGIN).names()) == {"not testable"}


def test_holm_by_hand() -> None:
    p = np.array([0.04, 0.01, np.nan, 0.03, 0.005])
    assert adjust(p, "holm") == pytest.approx([0.06, 0.03, np.nan, 0.06, 0.02], nan_ok=True)


@given(PS)
def test_bh_agrees_with_scipy(p: Array) -> None:
    there = ~np.isnan(p)
    assert np.array_equal(np.isnan(adjust(p, "bh")), ~there)
    if there.any():
        expected = scipy.stats.false_discovery_control(p[there])
        assert adjust(p, "bh")[there] == pytest.approx(expected, rel=1e-12)


@given(PS)
def test_holm_rejects_what_its_definition_rejects(p: Array) -> None:
    ordered = np.sort(p[~np.isnan(p)])
    rejected = 0
    while rejected < len(ordered) and ordered[rejected] * (len(ordered) - rejected) <= 0.05:
        rejected += 1
    assert np.count_nonzero(adjust(p, "holm") <= 0.05) == rejected


@given(PS, st.sampled_from(CORRECTIONS), st.integers(0, 2**32 - 1))
def test_adjusting_keeps_labels_and_order(p: Array, method: Correction, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(p))
    adjusted = adjust(p, method)
    assert np.array_equal(adjust(p[order], method), adjusted[order], equal_nan=True)
    there = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]
    assert np.all(adjusted[there] >= p[there])
    assert np.all(adjusted[there] <= 1)
    assert all(a <= b for a, b in pairwise(adjusted[there].tolist()))


def test_an_unknown_correction_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown correction 'sidak'; there are none, holm, bh"):
        adjust(np.array([0.1]), "sidak")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("looks", "published"),
    [(1, 0.05), (2, 0.0294), (3, 0.0221), (4, 0.0182), (5, 0.0158), (10, 0.0106)],
)
def test_pococks_levels_are_those_published(looks: int, published: float) -> None:
    assert pocock(looks) == pytest.approx(published, abs=5e-5)


def test_two_looks_by_the_bivariate_normal() -> None:
    c = float(scipy.stats.norm.isf(pocock(2, 0.01) / 2))
    both = scipy.stats.multivariate_normal(cov=[[1, 0.5**0.5], [0.5**0.5, 1]])
    inside = both.cdf([c, c], lower_limit=[-c, -c])
    assert 1 - float(inside) == pytest.approx(0.01, abs=1e-5)


@pytest.mark.parametrize("after", [(10, 15), (10, 20, 21), (10, 20, 29)])
def test_a_last_look_that_comes_early_errs_no_more_often(after: tuple[int, ...]) -> None:
    """As at the end of a run whose time budget was up before all of its blocks."""
    walks = np.random.default_rng(9).normal(size=(100_000, 30)).cumsum(axis=1)
    seen = [*after]
    z = np.abs(walks[:, np.array(seen) - 1]) / np.sqrt(seen)
    p = 2 * scipy.stats.norm.sf(z)
    assert (p <= pocock(len(seen))).any(axis=1).mean() < 0.052


@pytest.mark.parametrize(("looks", "alpha"), [(0, 0.05), (2, 0.0), (2, 1.0)])
def test_pocock_refuses_what_is_no_plan(looks: int, alpha: float) -> None:
    with pytest.raises(ValueError, match="pocock needs"):
        pocock(looks, alpha)


# several looks at a case ------------------------------------------------------------------------


@pytest.mark.parametrize("looks", [1, 2, 3, 5])
def test_all_looks_together_spend_the_whole_error(looks: int) -> None:
    spent = [share(looks, early=number < looks - 1) for number in range(looks)]
    assert sum(spent) == pytest.approx(1)
    assert looks == 1 or spent[-1] == 0.9


def test_equal_things_are_told_apart_no_more_often_where_a_look_may_end_them() -> None:
    logs = np.random.default_rng(5).normal(0, 0.02, (20_000, 60))
    false = np.zeros(len(logs), dtype=bool)
    ended = np.zeros(len(logs), dtype=bool)
    for blocks, early in ((15, True), (60, False)):
        means = trimmed_means(logs[:, :blocks])
        verdicts = decide(means, 0.02, share=share(2, early=early))
        different = verdicts.are(*(verdict for verdict in Verdict if verdict.different))
        false |= different & ~ended
        ended |= ~verdicts.are(Verdict.NOT_RESOLVED) if early else False
    assert 0.03 < false.mean() <= 0.05


@pytest.mark.parametrize(
    ("p", "outcome"),
    [
        ([0.5] * 49 + [0.009], (50, 1, False)),  # chance
        ([0.5] * 46 + [0.009] * 4, (50, 4, True)),
        ([0.5] * 49 + [0.00019], (50, 1, True)),  # gross
        ([0.5] * 49 + [0.00021], (50, 1, False)),
        # what cannot be tested is no part of the family
        ([0.009] + [np.nan] * 9, (1, 1, True)),
        ([0.009] + [0.5] * 9, (10, 1, False)),
        ([np.nan] * 3, (0, 0, False)),
        ([], (0, 0, False)),
    ],
)
def test_more_alarms_than_chance_gives(p: list[float], outcome: tuple[int, int, bool]) -> None:
    assert alarms(np.array(p)) == outcome


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
    (both,) = codes[0].capped(codes[1]).names().tolist()
    if both.side != "undecided":
        assert both.side == group.side == case.side
        assert both.material == (group.material and case.material)
    else:
        assert group.side != case.side or group.side == "undecided"


CALLS = np.array([600.0, 250.0, 150.0])
LEVELS = np.log(np.array([2e3, 3e4, 1e4]))


def grouped(rows: int, blocks: int, *, shared: float, own: float, seed: int = 1) -> np.ndarray:
    """Two runners' log times, runners x operations x rows x blocks, the second 1.5 times as slow
    in the second operation."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, shared, (1, 3, rows, blocks))
    levels = np.stack([LEVELS, LEVELS + np.log([1.0, 1.5, 1.0])])
    return levels[:, :, None, None] + common + rng.normal(0, own, (2, 3, rows, blocks))


def test_one_operation_alone_is_its_trimmed_mean() -> None:
    first, second = grouped(5, 12, shared=0.1, own=0.02)
    sums = summed(parts(first, second), np.array([0.0, 250.0, 0.0]))
    alone = trimmed_means(first[1] - second[1])
    for column in ("mean", "error", "freedom"):
        assert getattr(sums, column) == pytest.approx(getattr(alone, column))


def test_the_ratio_is_of_sums_and_the_other_way_round_its_inverse() -> None:
    first, second = grouped(4, 20, shared=0.0, own=1e-6)
    there, back = (summed(parts(*pair), CALLS) for pair in ((first, second), (second, first)))
    truth = (CALLS @ np.exp(LEVELS)) / (CALLS @ (np.exp(LEVELS) * [1.0, 1.5, 1.0]))
    assert np.exp(there.mean) == pytest.approx(np.full(4, truth), rel=1e-5)
    assert back.mean == pytest.approx(-there.mean)
    assert back.error == pytest.approx(there.error)


def test_what_two_runners_share_in_a_block_cancels_but_for_their_shares() -> None:
    first, second = grouped(400, 10, shared=0.2, own=0.005)
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
    first, second = grouped(1, 12, shared=0.1, own=0.02)
    first[0, 0, 3] = second[2, 0, 7] = np.nan
    of = parts(first, second)
    assert of.count.tolist() == [10]
    second[1] = np.nan
    sums = summed(parts(first, second), CALLS)
    assert np.isnan(sums.mean).all()
    assert not np.isnan(summed(parts(first, second), CALLS * [1, 0, 1]).mean).any()


def test_equal_values_have_no_error() -> None:
    first, second = grouped(1, 12, shared=0.1, own=0.0)
    sums = summed(parts(first, second, resolution=1e-12), CALLS)
    assert np.isnan(sums.error).all()


LEVELS_DISTRIBUTIONS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)


def test_normal_agrees_with_scipy() -> None:
    for coverage in LEVELS_DISTRIBUTIONS:
        expected = float(scipy.stats.norm.ppf((1 + coverage) / 2))
        assert normal(coverage) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("coverage", "freedom"), [(0.0, 5), (1.0, 5), (math.nan, 5)])
def test_student_t_refuses_what_has_no_quantile(coverage: float, freedom: int) -> None:
    with pytest.raises(ValueError, match="student_t needs"):
        student_t(coverage, freedom)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 7.25, 17, 26, 59.5, 200, 1000, 20_000])
def test_p_of_t_agrees_with_scipy_from_the_centre_far_into_the_tail(freedom: float) -> None:
    tails = scipy.stats.t.isf(np.geomspace(1e-14, 0.5, 200) / 2, freedom)
    t = np.concatenate([np.linspace(0, 6, 200), tails])
    p = student_p(t, np.full(len(t), freedom))
    assert p == pytest.approx(2 * scipy.stats.t.sf(t, freedom), rel=1e-9)
    assert np.array_equal(student_p(-t, np.full(len(t), freedom)), p)


def test_p_of_t_for_rows_of_all_sorts_at_once() -> None:
    t = np.array([0.0, np.inf, 2.0, 2.0, np.nan, 1e200, 2.0])
    freedom = np.array([3, 3, 0, 1, 5, 2, 50])
    expected = 2 * scipy.stats.t.sf(t, freedom)
    assert student_p(t, freedom) == pytest.approx(expected, rel=1e-9, nan_ok=True)
    assert len(student_p(np.empty(0), np.empty(0))) == 0


@pytest.mark.parametrize("coverage", LEVELS_DISTRIBUTIONS)
def test_student_t_agrees_with_scipy_also_between_whole_degrees(coverage: float) -> None:
    freedom = np.concatenate([np.linspace(1, 60, 300), np.arange(1, 200), [123.4, 1000, 5000.5]])
    expected = scipy.stats.t.ppf((1 + coverage) / 2, freedom)
    assert student_t(coverage, freedom) == pytest.approx(expected, rel=1e-9)
    assert np.isnan(student_t(coverage, np.array([0.5, np.nan]))).all()


@pytest.mark.parametrize("trials", [1, 20, 300, 5000])
def test_binomial_tail_agrees_with_scipy(trials: int) -> None:
    for count in {0, 1, trials // 50, trials // 20, trials}:
        expected = float(scipy.stats.binom.sf(count - 1, trials, 0.01))
        assert binomial_tail(count, trials, 0.01) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("coverage", [0.9, 0.95, 0.99])
def test_sign_test_rank_is_the_largest_with_enough_coverage(coverage: float) -> None:
    for count in range(1, 400):
        rank = sign_test_rank(count, coverage)
        alpha = (1 - coverage) / 2
        if rank is not None:
            assert scipy.stats.binom.cdf(rank - 1, count, 0.5) <= alpha + 1e-12
        assert scipy.stats.binom.cdf(rank or 0, count, 0.5) > alpha


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7, 8, 9, 10, 30])
def test_normal_noise_gives_its_standard_deviation(count: int) -> None:
    draws = np.random.default_rng(1).normal(7, 0.5, (40_000, count))
    assert deviation(draws).mean() == pytest.approx(0.5, rel=0.02)


def test_it_is_the_scaled_median_absolute_deviation() -> None:
    values = np.random.default_rng(2).exponential(size=200)
    expected = scipy.stats.median_abs_deviation(values, scale="normal") * 200 / 199.2
    assert float(deviation(values)) == pytest.approx(expected, rel=1e-5)


def test_a_single_value_has_none() -> None:
    assert deviation(np.ones((3, 1))).tolist() == [0, 0, 0]
