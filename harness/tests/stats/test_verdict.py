import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sqlitmus.stats.estimate import Array, TrimmedMeans, trimmed_means
from sqlitmus.stats.verdict import CORRECTIONS, MIN_BLOCKS, Verdicts, decide
from sqlitmus.vocabulary.verdicts import Correction, Verdict

MARGIN = 0.02


def estimate(mean: float, error: float, count: int = 30) -> TrimmedMeans:
    kept = count - 2 * int(0.2 * count)
    return TrimmedMeans(
        np.array([mean]), np.array([error]), np.array([kept - 1]), np.array([count])
    )


def verdict(mean: float, error: float, count: int = 30) -> str:
    return decide(estimate(mean, error, count), MARGIN).names()[0]


@pytest.mark.parametrize(
    ("mean", "error", "expected"),
    [
        (-0.10, 0.010, "materially faster"),
        (-0.03, 0.010, "faster"),
        (+0.03, 0.010, "slower"),
        (+0.10, 0.010, "materially slower"),
        (+0.001, 0.005, "equivalent"),
        (+0.01, 0.002, "slower"),  # resolved, although within the margin
        (+0.01, 0.010, "not resolved"),
        (+0.00, 0.100, "not resolved"),
    ],
)
def test_verdicts(mean: float, error: float, expected: str) -> None:
    assert verdict(mean, error) == expected


def test_materially_begins_where_the_whole_interval_is_beyond_the_margin() -> None:
    half = 2.1098155778331806 * 0.01  # t of 17 degrees of freedom
    assert verdict(np.log(1.02) + half + 1e-9, 0.01) == "materially slower"
    assert verdict(np.log(1.02) + half - 1e-9, 0.01) == "slower"
    assert verdict(-np.log(1.02) - half - 1e-9, 0.01) == "materially faster"
    assert verdict(-np.log(1.02) - half + 1e-9, 0.01) == "faster"


def test_a_stricter_level_asks_for_more() -> None:
    def at(alpha: float, mean: float, error: float) -> str:
        return decide(estimate(mean, error), MARGIN, alpha=alpha).names()[0]

    assert [at(alpha, 0.023, 0.010) for alpha in (0.05, 0.02)] == ["slower", "not resolved"]
    assert [at(alpha, 0.0, 0.0104) for alpha in (0.05, 0.02)] == ["equivalent", "not resolved"]
    assert [at(alpha, 0.042, 0.010) for alpha in (0.05, 0.02)] == ["materially slower", "slower"]


def test_equivalence_uses_the_90_percent_interval() -> None:
    # 95 % half-width 2.2 %, 90 % half-width 1.8 %: within 2 % only by the latter
    assert verdict(0.0, 0.0104) == "equivalent"


def test_fewer_than_ten_blocks_are_never_a_verdict() -> None:
    assert verdict(-1.0, 0.001, MIN_BLOCKS - 1) == "not testable"
    assert verdict(-1.0, 0.001, MIN_BLOCKS) == "materially faster"


def test_no_interval_is_not_testable() -> None:
    assert verdict(0.0, np.nan) == "not testable"
    assert decide(trimmed_means(np.zeros((1, 30))), MARGIN).names()[0] == "not testable"


@pytest.mark.parametrize("margin", [0.0, -0.1, float("nan")])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    with pytest.raises(ValueError, match="margin must be above 0"):
        decide(estimate(0, 1), margin)


@given(st.floats(-1, 1), st.floats(1e-6, 1), st.integers(2, 60))
def test_exchanging_runner_and_reference_mirrors_the_verdict(
    mean: float, error: float, count: int
) -> None:
    one = decide(estimate(mean, error, count), MARGIN)
    other = decide(estimate(-mean, error, count), MARGIN)
    assert [verdict.opposite for verdict in one.names()] == other.names().tolist()
    swapped = {"faster": "slower", "slower": "faster"}
    words = str(one.names()[0]).split()
    assert other.names()[0] == " ".join(swapped.get(word, word) for word in words)


@given(st.floats(0.1, 10), st.integers(0, 2**32 - 1))
def test_the_unit_of_time_does_not_matter(scale: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.lognormal(3, 0.05, (2, 5, 30))
    d: Array = np.log(a) - np.log(b)
    rescaled: Array = np.log(a * scale) - np.log(b * scale)
    plain, other = trimmed_means(d), trimmed_means(rescaled)
    assert other.mean == pytest.approx(plain.mean, abs=1e-12)
    assert decide(plain, MARGIN).names().tolist() == decide(other, MARGIN).names().tolist()


def test_equal_programs_seldom_differ() -> None:
    draws = np.random.default_rng(5).normal(0, 0.05, (20_000, 30))
    verdicts = decide(trimmed_means(draws), MARGIN)
    alarms = verdicts.are(*(verdict for verdict in Verdict if verdict.different)).mean()
    assert 0.03 < alarms < 0.06


def test_equivalence_at_the_margin_errs_at_most_one_time_in_twenty() -> None:
    draws = np.random.default_rng(6).normal(np.log(1.02), 0.02, (20_000, 30))
    assert (decide(trimmed_means(draws), MARGIN).names() == "equivalent").mean() <= 0.055


def mixed(seed: int, rows: int = 60, blocks: int = 30) -> Array:
    """Log ratios of rows with no, small and large differences, and some with too few blocks."""
    rng = np.random.default_rng(seed)
    effects = rng.choice([0, 0.002, 0.01, 0.03, 0.1], (rows, 1)) * rng.choice([-1, 1], (rows, 1))
    values = rng.normal(effects, rng.choice([0.005, 0.02, 0.05], (rows, 1)), (rows, blocks))
    values[: rows // 10, 8:] = np.nan
    return values


def differs(verdicts: Verdicts) -> NDArray[np.bool_]:
    return np.isin(verdicts.code, [0, 1, 3, 4])


@given(st.integers(0, 2**32 - 1))
def test_uncorrected_verdicts_are_what_the_intervals_say(seed: int) -> None:
    logs, bound = trimmed_means(mixed(seed)), np.log1p(MARGIN)
    (low, high), (inner_low, inner_high) = logs.interval(0.95), logs.interval(0.9)
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
    assert decide(logs, MARGIN).code.tolist() == expected.tolist()


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
    logs = trimmed_means(values)
    assert decide(logs, MARGIN).names()[0] == "slower"
    assert decide(logs, MARGIN, "holm").names()[0] == "slower"


def test_holm_quiets_a_family_of_equal_programs() -> None:
    draws = np.random.default_rng(9).normal(0, 0.05, (120, 40, 30))
    alarms = [differs(decide(trimmed_means(d), MARGIN, "holm")).any() for d in draws]
    plain = [differs(decide(trimmed_means(d), MARGIN)).any() for d in draws]
    assert np.mean(plain) > 0.8
    assert np.mean(alarms) < 0.12


def test_bh_finds_more_than_holm_among_many_differences() -> None:
    draws = np.random.default_rng(10).normal(0.025, 0.05, (200, 30))
    found = [differs(decide(trimmed_means(draws), MARGIN, c)).sum() for c in CORRECTIONS]
    assert found[0] >= found[2] > found[1] + 20
