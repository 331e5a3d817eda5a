from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sqlitmus.stats.estimate import Array, TrimmedMeans, trimmed_means
from sqlitmus.stats.verdict import (
    CORRECTIONS,
    adjust,
    beyond_margin_p,
    decide,
    equivalence_p,
    p_values,
    pocock,
    share,
)
from sqlitmus.vocabulary.verdicts import Correction, Verdict
from tests.stats.oracle import scipy_stats

MARGIN = 0.02
PS = arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1) | st.just(np.nan))
CORRECTING: tuple[Correction, ...] = ("holm", "bh")


def logs(seed: int = 1, rows: int = 4000, blocks: int = 30) -> TrimmedMeans:
    rng = np.random.default_rng(seed)
    return trimmed_means(rng.normal(rng.normal(0, 0.02, (rows, 1)), 0.04, (rows, blocks)))


@pytest.mark.usefixtures("plain_yuen")
@pytest.mark.parametrize("blocks", [2, 5, 10, 30, 31])
def test_p_is_yuens(blocks: int) -> None:
    values = np.random.default_rng(blocks).normal(0.02, 0.04, (1, blocks))
    # Yuen's two-sample test against a constant second sample is the one-sample test.
    expected = scipy_stats.ttest_ind(values[0], np.zeros(blocks), equal_var=False, trim=0.2)
    assert p_values(trimmed_means(values))[0] == pytest.approx(float(expected.pvalue), rel=1e-9)


def test_p_of_at_most_5_percent_is_the_interval_that_excludes_0() -> None:
    means = logs()
    low, high = means.interval()
    assert np.array_equal(p_values(means) <= 0.05, (low > 0) | (high < 0))


def test_p_beyond_the_margin_is_the_interval_beyond_it() -> None:
    means, bound = logs(), np.log1p(MARGIN)
    low, high = means.interval()
    beyond = (low > bound) | (high < -bound)
    assert 100 < beyond.sum() < len(beyond) - 100
    assert np.array_equal(beyond_margin_p(means, MARGIN) <= 0.05, beyond)


def test_p_of_equivalence_is_the_90_percent_interval_within_the_margin() -> None:
    means, bound = logs(), np.log1p(MARGIN)
    low, high = means.interval(0.9)
    within = (low > -bound) & (high < bound)
    assert 100 < within.sum() < len(within) - 100
    assert np.array_equal(equivalence_p(means, MARGIN) <= 0.05, within)


def test_equivalence_is_two_one_sided_tests() -> None:
    means, bound = logs(rows=50), np.log1p(MARGIN)
    above = scipy_stats.t.sf((bound + means.mean) / means.error, means.freedom)
    below = scipy_stats.t.sf((bound - means.mean) / means.error, means.freedom)
    expected = np.maximum(above, below)
    assert equivalence_p(means, MARGIN) == pytest.approx(expected, rel=1e-9)


@given(st.floats(-1, 1), st.floats(1e-6, 1), st.integers(2, 60), st.floats(0.5, 2))
def test_p_knows_no_direction_and_no_unit(mean: float, error: float, n: int, by: float) -> None:
    def one(mean: float, error: float) -> TrimmedMeans:
        return TrimmedMeans(*(np.array([x]) for x in (mean, error, n - 1, n)))

    plain, mirrored = one(mean, error), one(-mean, error)
    assert p_values(plain) == p_values(mirrored)
    assert beyond_margin_p(plain, MARGIN) == beyond_margin_p(mirrored, MARGIN)
    assert equivalence_p(plain, MARGIN) == equivalence_p(mirrored, MARGIN)
    assert p_values(one(mean * by, error * by)) == pytest.approx(p_values(plain), rel=1e-6)
    assert p_values(plain) <= beyond_margin_p(plain, MARGIN)


def test_no_interval_has_no_p() -> None:
    nothing = trimmed_means(np.array([[0.3, np.nan, np.nan], [0.3, 0.3, 0.3]]))
    for p in (p_values(nothing), beyond_margin_p(nothing, 0.02), equivalence_p(nothing, 0.02)):
        assert np.isnan(p).all()


def test_holm_by_hand() -> None:
    p = np.array([0.04, 0.01, np.nan, 0.03, 0.005])
    assert adjust(p, "holm") == pytest.approx([0.06, 0.03, np.nan, 0.06, 0.02], nan_ok=True)


def test_bh_by_hand() -> None:
    p = np.array([0.04, 0.01, np.nan, 0.03, 0.005])
    assert adjust(p, "bh") == pytest.approx([0.04, 0.02, np.nan, 0.04, 0.02], nan_ok=True)


@given(PS)
def test_bh_agrees_with_scipy(p: Array) -> None:
    there = ~np.isnan(p)
    assert np.array_equal(np.isnan(adjust(p, "bh")), ~there)
    if there.any():
        expected = scipy_stats.false_discovery_control(p[there])
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


@given(PS, st.sampled_from(CORRECTIONS))
def test_smaller_p_give_smaller_adjusted_p(p: Array, method: Correction) -> None:
    there = ~np.isnan(p)
    assert np.all(adjust(p / 2, method)[there] <= adjust(p, method)[there])


def test_holm_holds_the_family_and_bh_the_share() -> None:
    rng = np.random.default_rng(4)
    families = 1000
    false_family, false_share = 0, 0.0
    for _ in range(families):
        t = rng.standard_t(17, 20)
        t[:8] += 4  # eight true differences
        p = 2 * scipy_stats.t.sf(np.abs(t), 17)
        false_family += bool((adjust(p, "holm")[8:] <= 0.05).any())
        found = adjust(p, "bh") <= 0.05
        false_share += found[8:].sum() / max(found.sum(), 1)
    assert 0.02 < false_family / families < 0.06
    assert 0.015 < false_share / families < 0.05


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
    c = float(scipy_stats.norm.isf(pocock(2, 0.01) / 2))
    both = scipy_stats.multivariate_normal(cov=[[1, 0.5**0.5], [0.5**0.5, 1]])
    inside = both.cdf([c, c], lower_limit=[-c, -c])
    assert 1 - float(inside) == pytest.approx(0.01, abs=1e-5)


def test_looking_three_times_errs_as_often_as_promised() -> None:
    walks = np.random.default_rng(8).normal(size=(200_000, 3)).cumsum(axis=1)
    z = np.abs(walks) / np.sqrt([1, 2, 3])
    p = 2 * scipy_stats.norm.sf(z)
    assert (p <= pocock(3)).any(axis=1).mean() == pytest.approx(0.05, abs=0.002)


@pytest.mark.parametrize(("looks", "alpha"), [(0, 0.05), (2, 0.0), (2, 1.0)])
def test_pocock_refuses_what_is_no_plan(looks: int, alpha: float) -> None:
    with pytest.raises(ValueError, match="pocock needs"):
        pocock(looks, alpha)


@pytest.mark.parametrize("method", CORRECTING)
def test_one_comparison_needs_no_correction(method: Correction) -> None:
    assert adjust(np.array([np.nan, 0.04]), method)[1] == 0.04


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
