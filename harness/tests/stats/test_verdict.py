"""Verdicts of one case, of families, groups and weighed operations; the blocks that they take."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from sqlitmus.stats import estimate, power, verdict
from sqlitmus.stats.estimate import TrimmedMeans, trimmed_means
from sqlitmus.stats.verdict import CORRECTIONS, Verdicts, adjust, decide, p_values
from tests.stats.noise import Array, spikes
from tests.stats.oracle import scipy

MARGIN = 0.02
SEEDS = st.integers(0, 2**32 - 1)


def mixed(seed: int) -> Array:
    """60 rows of log ratios with no, small and large differences; 6 have too few blocks."""
    rng = np.random.default_rng(seed)
    effects = rng.choice([0, 0.002, 0.01, 0.03, 0.1], (60, 1)) * rng.choice([-1, 1], (60, 1))
    values = rng.normal(effects, rng.choice([0.005, 0.02, 0.05], (60, 1)), (60, 30))
    values[:6, 8:] = np.nan
    return values


def differs(verdicts: Verdicts) -> NDArray[np.bool_]:
    return np.isin(verdicts.code, [0, 1, 3, 4])


@given(SEEDS, st.sampled_from([0.05, 0.02]))
def test_uncorrected_verdicts_are_what_the_intervals_say(seed: int, alpha: float) -> None:
    logs, bound = trimmed_means(mixed(seed)), np.log1p(MARGIN)
    (low, high), (inner_low, inner_high) = (logs.interval(1 - n * alpha) for n in (1, 2))
    expected = np.select(
        [
            logs.count < 10,
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


@given(SEEDS, st.sampled_from(CORRECTIONS))
def test_a_correction_takes_verdicts_away_never_gives_any_and_mirrors(
    seed: int, correction: Any
) -> None:
    logs, mirrored = trimmed_means(mixed(seed)), trimmed_means(-mixed(seed))
    plain, corrected = decide(logs, MARGIN), decide(logs, MARGIN, correction)
    assert not np.any(differs(corrected) & ~differs(plain))
    assert np.flatnonzero(corrected.code == 6).tolist() == [*range(6)]
    opposite = [each.opposite for each in corrected.names()]
    assert decide(mirrored, MARGIN, correction).names().tolist() == opposite


def test_bh_finds_more_than_holm_on_which_untestable_rows_do_not_weigh() -> None:
    draws = np.random.default_rng(10).normal(0.025, 0.05, (200, 30))
    found = [differs(decide(trimmed_means(draws), MARGIN, c)).sum() for c in CORRECTIONS]
    assert found[0] >= found[2] > found[1] + 20
    values = np.random.default_rng(3).normal(0.02, 0.04, (101, 30))
    values[1:, 5:] = np.nan
    assert decide(trimmed_means(values), MARGIN, "holm").names()[0] == "slower"


def test_no_interval_has_no_p_and_is_not_testable() -> None:
    nothing = trimmed_means(np.array([[0.3, np.nan, np.nan], [0.3, 0.3, 0.3]]))
    for of in (verdict.beyond_p, verdict.within_p):
        assert np.isnan(of(nothing, -1, 1)).all()
    assert np.isnan(p_values(nothing)).all()
    assert set(decide(trimmed_means(np.zeros((1, 30))), MARGIN).names()) == {"not testable"}
    for margin in (0.0, -0.1, float("nan")):
        with pytest.raises(ValueError, match="margin must be above 0"):
            decide(nothing, margin)


PS = arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1) | st.just(np.nan))


def test_holm_by_hand() -> None:
    p = np.array([0.04, 0.01, np.nan, 0.03, 0.005])
    assert adjust(p, "holm") == pytest.approx([0.06, 0.03, np.nan, 0.06, 0.02], nan_ok=True)
    with pytest.raises(ValueError, match="unknown correction 'sidak'; there are none, holm, bh"):
        adjust(p, "sidak")  # pyright: ignore[reportArgumentType]
    # by what 5 % are divided for the next of five, after two
    assert [verdict.divisor(method, 5, 2) for method in CORRECTIONS] == [1, 3, 5 / 3]
    assert [verdict.divisor(method, 0, 0) for method in CORRECTIONS] == [1, 1, 1]


@given(PS)
def test_bh_agrees_with_scipy_and_holm_rejects_what_its_definition_rejects(p: Array) -> None:
    there = np.sort(p[~np.isnan(p)])
    if len(there):
        expected = scipy.stats.false_discovery_control(there)
        assert np.sort(adjust(p, "bh"))[: len(there)] == pytest.approx(expected, rel=1e-12)
    rejected = 0
    while rejected < len(there) and there[rejected] * (len(there) - rejected) <= 0.05:
        rejected += 1
    assert np.count_nonzero(adjust(p, "holm") <= 0.05) == rejected


@given(PS, st.sampled_from(CORRECTIONS), SEEDS)
def test_adjusting_keeps_labels_and_order(p: Array, method: Any, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(p))
    adjusted = adjust(p, method)
    assert np.array_equal(np.isnan(adjusted), np.isnan(p))
    assert np.array_equal(adjust(p[order], method), adjusted[order], equal_nan=True)
    there = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]
    assert np.all((p[there] <= adjusted[there]) & (adjusted[there] <= 1))
    assert all(a <= b for a, b in pairwise(adjusted[there].tolist()))


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
    ],
)
def test_more_alarms_than_chance_gives(p: list[float], outcome: tuple[int, int, bool]) -> None:
    assert verdict.alarms(np.array(p)) == outcome


def test_pococks_levels_are_those_published() -> None:
    published = {1: 0.05, 2: 0.0294, 3: 0.0221, 4: 0.0182, 5: 0.0158, 10: 0.0106}
    levels = {looks: verdict.pocock(looks) for looks in published}
    assert levels == pytest.approx(published, abs=5e-5)
    for looks, alpha in ((0, 0.05), (2, 0.0), (2, 1.0)):
        with pytest.raises(ValueError, match="pocock needs"):
            verdict.pocock(looks, alpha)


def test_two_looks_by_the_bivariate_normal() -> None:
    c = float(scipy.stats.norm.isf(verdict.pocock(2, 0.01) / 2))
    both = scipy.stats.multivariate_normal(cov=[[1, 0.5**0.5], [0.5**0.5, 1]])
    inside = both.cdf([c, c], lower_limit=[-c, -c])
    assert 1 - float(inside) == pytest.approx(0.01, abs=1e-5)


@pytest.mark.parametrize("after", [(10, 15), (10, 20, 21), (10, 20, 29)])
def test_a_last_look_that_comes_early_errs_no_more_often(after: tuple[int, ...]) -> None:
    """As at the end of a run whose time budget was up before all of its blocks."""
    walks = np.random.default_rng(9).normal(size=(100_000, 30)).cumsum(axis=1)
    seen = [*after]
    p = 2 * scipy.stats.norm.sf(np.abs(walks[:, np.array(seen) - 1]) / np.sqrt(seen))
    assert (p <= verdict.pocock(len(seen))).any(axis=1).mean() < 0.052


def test_equal_things_are_told_apart_no_more_often_where_a_look_may_end_them() -> None:
    for looks in (1, 2, 3, 5):
        spent = [verdict.share(looks, early=number < looks - 1) for number in range(looks)]
        assert sum(spent) == pytest.approx(1)
        assert spent[-1] == (0.9 if looks > 1 else 1)
    logs = np.random.default_rng(5).normal(0, 0.02, (20_000, 60))
    early, last = (
        decide(trimmed_means(logs[:, :blocks]), MARGIN, share=verdict.share(2, early=blocks < 60))
        for blocks in (15, 60)
    )
    goes_on = early.names() == "not resolved"
    false = differs(early) | (goes_on & differs(last))
    assert 0.03 < false.mean() <= 0.05


# groups of cases ----------------------------------------------------------------------------------


def noise(shape: tuple[int, ...], shared: float, tails: float = 0.0) -> Array:
    """Log ratios of 2 %, cases x pairs x blocks; `shared` is the cases' intraclass correlation."""
    rng = np.random.default_rng(1)
    common = rng.normal(0, 0.02, shape[1:]) * np.sqrt(shared)
    own = rng.normal(0, 0.02, shape) * np.sqrt(1 - shared)
    flat = (shape[0], shape[1] * shape[2])
    peaks = (spikes(rng, flat, tails) - spikes(rng, flat, tails)).reshape(shape) if tails else 0
    return own + common + peaks


def misses(means: TrimmedMeans) -> float:
    low, high = means.interval()
    return float(np.mean((low > 0) | (high < 0)))


def same(found: TrimmedMeans, expected: TrimmedMeans) -> None:
    for column in ("mean", "error", "freedom", "count"):
        assert getattr(found, column) == pytest.approx(getattr(expected, column), rel=1e-12)


def test_a_block_counts_for_a_group_only_if_all_cases_have_it() -> None:
    logs = noise((3, 4, 14), 0)
    same(verdict.group_means(logs[:1]), trimmed_means(logs[0]))
    gappy = logs.copy()
    gappy[1, 0, 3] = gappy[2, 0, 9] = gappy[0, 2, 0] = np.nan
    means = verdict.group_means(gappy)
    assert means.count.tolist() == [12, 14, 13, 14]
    whole, kept = verdict.group_means(logs), np.delete(logs[:, :1], [3, 9], axis=2)
    same(means.rows(np.array([1, 3])), whole.rows(np.array([1, 3])))
    same(means.rows(slice(1)), verdict.group_means(kept))


def test_a_case_whose_values_are_all_equal_leaves_no_error() -> None:
    logs = noise((2, 1, 12), 0)
    logs[1] = 0.25
    assert np.isnan(verdict.group_means(logs).error).all()
    assert np.isnan(verdict.group_means(np.full((2, 1, 12), np.nan)).mean).all()


@pytest.mark.parametrize("shared", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("blocks", [10, 30])
def test_intervals_hold_however_far_cases_depend_on_each_other(shared: float, blocks: int) -> None:
    # with errors added as if cases were independent, half of them missed
    assert misses(verdict.group_means(noise((10, 4000, blocks), shared))) < 0.055


def test_a_spike_in_one_case_does_not_spoil_the_block_for_the_others() -> None:
    calm, tailed = (verdict.group_means(noise((10, 4000, 30), 0, tails=t)) for t in (0, 0.1))
    assert np.median(tailed.error) < 1.5 * np.median(calm.error)
    assert misses(tailed) < 0.05


def estimates(mean: list[float], error: float = 0.01, blocks: int = 30) -> TrimmedMeans:
    size = len(mean)
    return TrimmedMeans(
        np.array(mean), np.full(size, error), np.full(size, 17), np.full(size, blocks)
    )


def test_each_interval_is_at_the_level_that_all_rows_need_that_can_be_tested() -> None:
    logs = estimates([0.0] * 7)
    logs.error[1] = np.nan
    said = verdict.together(logs, MARGIN)
    half = scipy.stats.t.isf(0.025 / 6, 17) * 0.01
    assert said.high == pytest.approx([half, np.nan, *[half] * 5], nan_ok=True)
    assert said.low == pytest.approx(-said.high, nan_ok=True)
    few = verdict.together(estimates([0.5, 0.5], blocks=9), MARGIN)
    assert np.isnan(few.low).all()
    assert few.verdicts.names().tolist() == ["not testable"] * 2


def test_verdicts_are_read_off_the_intervals() -> None:
    def words(mean: list[float], error: float = 0.01) -> list[str]:
        return verdict.together(estimates(mean, error), MARGIN).verdicts.names().tolist()

    half = float(scipy.stats.t.isf(0.005, 17)) * 0.01  # of five rows
    assert words([0.5, -0.5, half + 0.001, 0.0, 0.019]) == [
        "materially slower", "materially faster", "slower", "not resolved", "not resolved"
    ]  # fmt: skip
    assert words([0.0, 0.004], error=0.002) == ["equivalent"] * 2
    assert words([0.01], error=0.002) == ["slower"]  # small, and told from 1


def test_no_more_is_said_of_a_group_than_both_say() -> None:
    codes = np.arange(7, dtype=np.int8)
    groups, cases = Verdicts(codes.repeat(7)), Verdicts(np.tile(codes, 7))
    every = (of.names() for of in (groups.capped(cases), groups, cases))
    for both, group, case in zip(*every, strict=True):
        if both.side != "undecided":
            assert both.side == group.side == case.side
            assert both.material == (group.material and case.material)
        else:
            assert group.side != case.side or group.side == "undecided"


# weighed operations -------------------------------------------------------------------------------

CALLS = np.array([600.0, 250.0, 150.0])
LEVELS = np.log([[2e3, 3e4, 1e4], [2e3, 4.5e4, 1e4]])


def grouped(rows: int, blocks: int, *, shared: float, own: float) -> Array:
    """Two runners' log times, runners x operations x rows x blocks."""
    rng = np.random.default_rng(1)
    common = rng.normal(0, shared, (1, 3, rows, blocks))
    return LEVELS[:, :, None, None] + common + rng.normal(0, own, (2, 3, rows, blocks))


def test_the_ratio_is_of_sums_and_the_other_way_round_its_inverse() -> None:
    first, second = grouped(4, 20, shared=0.0, own=1e-6)
    there, back = (
        verdict.summed(verdict.parts(*pair), CALLS) for pair in ((first, second), (second, first))
    )
    truth = np.divide(*(np.exp(LEVELS) @ CALLS))
    assert np.exp(there.mean) == pytest.approx(np.full(4, truth), rel=1e-5)
    assert back.mean == pytest.approx(-there.mean)
    assert back.error == pytest.approx(there.error)
    # one operation alone is its trimmed mean
    alone = verdict.summed(verdict.parts(first, second), np.array([0.0, 250.0, 0.0]))
    same(alone, trimmed_means(first[1] - second[1]))


def test_what_two_runners_share_in_a_block_cancels_but_for_their_shares() -> None:
    first, second = grouped(400, 10, shared=0.2, own=0.005)
    alike = verdict.summed(verdict.parts(first[[0, 2]], second[[0, 2]]), CALLS[[0, 2]])
    unlike = verdict.summed(verdict.parts(first, second), CALLS)
    assert np.median(alike.error) < 0.003
    # noise of an operation moves the ratio as far as its shares of the two sums differ
    p, q = verdict.shares(LEVELS, CALLS)
    assert np.median(unlike.error) == pytest.approx(
        0.2 * float(np.linalg.norm(p - q)) / np.sqrt(10), rel=0.25
    )
    low, high = unlike.interval()
    mine, others = np.log(np.exp(LEVELS) @ CALLS)
    assert 0.92 <= np.mean((low <= mine - others) & (mine - others <= high)) <= 0.98


def test_a_block_counts_for_a_sum_that_has_all_operations_of_both() -> None:
    first, second = grouped(1, 12, shared=0.1, own=0.02)
    first[0, 0, 3] = second[2, 0, 7] = np.nan
    assert verdict.parts(first, second).count.tolist() == [10]
    second[1] = np.nan
    of = verdict.parts(first, second)
    assert np.isnan(verdict.summed(of, CALLS).mean).all()
    assert not np.isnan(verdict.summed(of, CALLS * [1, 0, 1]).mean).any()
    equal = verdict.parts(*grouped(1, 12, shared=0.1, own=0.0), resolution=1e-12)
    assert np.isnan(verdict.summed(equal, CALLS).error).all()


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_quantiles_agree_with_scipy_also_between_whole_degrees(coverage: float) -> None:
    expected = float(scipy.stats.norm.ppf((1 + coverage) / 2))
    assert estimate.normal(coverage) == pytest.approx(expected, rel=1e-9)
    freedom = np.concatenate([np.linspace(1, 60, 300), np.arange(1, 200), [123.4, 1000, 5000.5]])
    expected = scipy.stats.t.ppf((1 + coverage) / 2, freedom)
    assert estimate.student_t(coverage, freedom) == pytest.approx(expected, rel=1e-9)
    assert np.isnan(estimate.student_t(coverage, np.array([0.5, np.nan]))).all()
    for none in (0.0, 1.0, np.nan):
        with pytest.raises(ValueError, match="student_t needs"):
            estimate.student_t(none, 5)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 7.25, 17, 26, 59.5, 200, 1000, 20_000])
def test_p_of_t_agrees_with_scipy_from_the_centre_far_into_the_tail(freedom: float) -> None:
    tails = scipy.stats.t.isf(np.geomspace(1e-14, 0.5, 200) / 2, freedom)
    t = np.concatenate([np.linspace(0, 6, 200), tails])
    p = estimate.student_p(t, np.full(len(t), freedom))
    assert p == pytest.approx(2 * scipy.stats.t.sf(t, freedom), rel=1e-9)
    assert np.array_equal(estimate.student_p(-t, np.full(len(t), freedom)), p)


def test_p_of_t_for_rows_of_all_sorts_at_once() -> None:
    t = np.array([0.0, np.inf, 2.0, 2.0, np.nan, 1e200, 2.0])
    freedom = np.array([3, 3, 0, 1, 5, 2, 50])
    expected = 2 * scipy.stats.t.sf(t, freedom)
    assert estimate.student_p(t, freedom) == pytest.approx(expected, rel=1e-9, nan_ok=True)
    assert len(estimate.student_p(np.empty(0), np.empty(0))) == 0


@pytest.mark.parametrize("trials", [1, 20, 300, 5000])
def test_binomial_tail_and_wilsons_interval_agree_with_scipy(trials: int) -> None:
    for count in {0, 1, trials // 50, trials // 20, trials}:
        expected = float(scipy.stats.binom.sf(count - 1, trials, 0.01))
        assert estimate.binomial_tail(count, trials, 0.01) == pytest.approx(expected, rel=1e-9)
        wilson = scipy.stats.binomtest(count, trials).proportion_ci(0.95, method="wilson")
        found = estimate.rate(count / trials, trials)
        assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high), abs=1e-12)


@pytest.mark.parametrize("coverage", [0.9, 0.95, 0.99])
def test_sign_test_rank_is_the_largest_with_enough_coverage(coverage: float) -> None:
    counts = np.arange(1, 400)
    ranks = np.array([estimate.sign_test_rank(count, coverage) or 0 for count in counts.tolist()])
    alpha = (1 - coverage) / 2
    assert np.all(scipy.stats.binom.cdf(ranks - 1, counts, 0.5) <= alpha + 1e-12)
    assert np.all(scipy.stats.binom.cdf(ranks, counts, 0.5) > alpha)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7, 8, 9, 10, 30])
def test_normal_noise_gives_its_standard_deviation(count: int) -> None:
    draws = np.random.default_rng(1).normal(7, 0.5, (40_000, count))
    assert estimate.deviation(draws).mean() == pytest.approx(0.5, rel=0.02)


def test_it_is_the_scaled_median_absolute_deviation_of_which_a_single_value_has_none() -> None:
    values = np.random.default_rng(2).exponential(size=200)
    expected = scipy.stats.median_abs_deviation(values, scale="normal") * 200 / 199.2
    assert float(estimate.deviation(values)) == pytest.approx(expected, rel=1e-5)
    assert estimate.deviation(np.ones((3, 1))).tolist() == [0, 0, 0]


# how many blocks ----------------------------------------------------------------------------------


def row(mean: float, error: float, freedom: int, count: int) -> TrimmedMeans:
    return TrimmedMeans(*(np.array([each]) for each in (mean, error, freedom, count)))


@pytest.mark.parametrize("effect", [0.0, 0.008, 0.03, 0.1])
def test_that_many_blocks_resolve_and_a_third_of_them_would_not(effect: float) -> None:
    def settled(blocks: int) -> float:
        draws = np.random.default_rng(2).normal(effect, 0.08, (4000, blocks))
        return float((decide(trimmed_means(draws), MARGIN).names() != "not resolved").mean())

    error = float(trimmed_means(np.random.default_rng(3).normal(0, 0.08, (1, 100_000))).error[0])
    of_ten = row(effect, error * 100, 9, 10)
    asked = int(power.blocks_to_resolve(of_ten, MARGIN)[0])
    assert settled(asked) > 0.75
    if effect in (0.0, 0.03):
        assert settled(asked // 3) < 0.6


def test_what_is_asked_for_is_more_than_there_is_and_grows_with_comparisons() -> None:
    assert power.blocks_to_resolve(row(1.0, 0.002, 9, 30), MARGIN)[0] == 31
    assert power.blocks_to_resolve(row(0.5, np.nan, 9, 30), MARGIN)[0] == 0
    noisy = row(0.02, 0.0126, 9, 10)
    asked = [int(power.blocks_to_resolve(noisy, MARGIN, m, m)[0]) for m in (1, 4, 200)]
    assert asked == sorted(set(asked))
    # far beyond what is tabulated
    (many,) = power.blocks_to_resolve(row(0.0002, 0.0126, 9, 10), 1e-9)
    spread = np.array([0.0126 * np.sqrt(10)])
    assert power.detectable(spread, np.array([many]))[0] == pytest.approx(0.0002, rel=0.01)


@pytest.mark.parametrize("sessions", [2, 3, 9])
def test_more_blocks_of_sessions_are_more_sessions(sessions: int) -> None:
    means = row(0.02, 0.01, sessions - 1, 14 * sessions)
    asked = int(power.blocks_to_resolve(means, 0.001, sessions=sessions)[0])
    # the same error of a session: as many sessions, however many there were
    spread, count = 0.01 * np.sqrt(14 * sessions), round(asked / 14)
    found = power.detectable(np.array([spread]), np.array([asked]), sessions=count)
    assert found[0] == pytest.approx(0.02, rel=0.1)


@pytest.mark.parametrize(("blocks", "comparisons"), [(10, 1), (12, 200), (30, 4)])
def test_what_is_called_detectable_is_found_four_times_in_five(
    blocks: int, comparisons: int
) -> None:
    rng = np.random.default_rng(5)
    calm = trimmed_means(rng.normal(0, 0.04, (20_000, blocks)))
    deviation = np.sqrt(np.mean(np.square(calm.error)) * blocks)
    effect = power.detectable(np.array([deviation]), np.array([blocks]), comparisons)[0]
    found = p_values(trimmed_means(rng.normal(effect, 0.04, (20_000, blocks))))
    assert (found <= 0.05 / comparisons).mean() == pytest.approx(0.8, abs=0.02)


def test_detectable_scales_with_the_spread_and_needs_two_kept_blocks_and_sessions() -> None:
    spread, blocks = np.array([0.02, 0.04, 0.04, 0.04]), np.array([30, 30, 1, 60])
    found = power.detectable(spread, blocks, 4)
    assert found[1] == pytest.approx(2 * found[0])
    assert np.isnan(found[2])
    assert found[3] < found[1]
    # few sessions find little however many blocks they have
    three, nine, none = (power.detectable(spread[:1], np.array([135]), 4, k)[0] for k in (3, 9, 1))
    assert three > 2 * nine
    assert nine < 1.3 * none
    with pytest.raises(ValueError, match="at least one comparison"):
        power.detectable(spread, blocks, comparisons=0)


@pytest.mark.parametrize(("processes", "count"), [(5, 40), (10, 12), (60, 100)])
def test_components_of_simulated_noise_are_those_put_in(processes: int, count: int) -> None:
    rng = np.random.default_rng(1)
    found = [
        power.components(
            np.exp(rng.normal(0, 0.02, (processes, 1)) + rng.normal(0, 0.04, (processes, count)))
        )
        for _ in range(200)
    ]
    within, between = np.mean(found, axis=0)
    assert within == pytest.approx(0.04, rel=0.05)
    assert between == pytest.approx(0.02, rel=0.1)


def test_processes_that_agree_have_nothing_between_them_and_an_odd_one_does_not_decide() -> None:
    rng = np.random.default_rng(3)
    assert power.components(np.repeat(rng.lognormal(0, 0.05, (1, 30)), 5, axis=0))[1] == 0
    times = np.exp(rng.normal(0, 0.02, (9, 1)) + rng.normal(0, 0.04, (9, 30)))
    times[4] *= 10
    assert power.components(times)[1] < 0.05


@pytest.mark.parametrize(
    ("spreads", "costs", "usual", "expected"),
    [
        # cases alike get the usual ones
        ([0.1] * 3, [5.0] * 3, 8, [8, 8, 8]),
        ([0.0, 0.0], [1.0, 2.0], 8, [8, 8]),
        ([], [], 8, []),
        # they go where laps differ most and cost least
        ([0.1, 0.2], [1.0, 1.0], 9, [6, 12]),
        ([0.1, 0.1], [1.0, 4.0], 8, [13, 7]),
        # the bounds hold, and what one case cannot take the others share
        ([0.01, 1.0, 0.1, 0.1], [1.0] * 4, 8, [4, 16, 6, 6]),
        # none gets too few to leave some out
        ([0.01, 1.0], [1.0, 1.0], 5, [4, 6]),
        ([0.01, 1.0], [1.0, 1.0], 4, [4, 4]),
        ([0.01, 1.0], [1.0, 1.0], 3, [3, 3]),
    ],
)
def test_rounds(spreads: list[float], costs: list[float], usual: int, expected: list[int]) -> None:
    assert power.rounds(spreads, costs, usual) == expected


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0.001, 1000)), min_size=1, max_size=30),
    st.integers(1, 40),
)
@example([(0.0, 1.0), (1e-308, 1.0)], 1)
def test_rounds_take_no_longer_than_the_usual_ones(
    cases: list[tuple[float, float]], usual: int
) -> None:
    spreads, costs = zip(*cases, strict=True)
    each = power.rounds(spreads, costs, usual)
    assert all(-(-usual // 2) <= count <= 2 * usual for count in each)
    # each is rounded by at most a half
    assert np.dot(each, costs) <= (usual + 0.5) * sum(costs) * (1 + 1e-9)
