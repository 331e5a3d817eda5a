"""The rule that decides how a measured ratio lies to what is expected of it."""

from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sqlitmus.stats.estimate import TrimmedMeans
from sqlitmus.stats.expectation import Expectation, Finding, hold
from tests.stats.oracle import scipy

BLOCKS, FREEDOM, MARGIN = 20, 11, 0.02
HALF = scipy.stats.t.ppf(0.975, FREEDOM)
RANK = {"open": 0, "apart": 1}  # how much a position settles; 2 for others
Row = tuple[float, float]


def effect(ratio: float, tolerance: float = 1.5) -> Expectation:
    return Expectation.of_effect(log(ratio), tolerance)


def no_effect(tolerance: float) -> Expectation:
    return Expectation(-log(tolerance), log(tolerance))


ratios = st.floats(0.02, 50).filter(lambda r: abs(log(r)) > 0.01)
halves = st.floats(0.001, 0.5)
tolerances = st.floats(1.05, 3)
shares = st.floats(0, 1)
expectations = st.builds(effect, ratios, tolerances) | st.builds(no_effect, tolerances)


def findings(
    rows: list[Row], expected: list[Expectation], blocks: int = BLOCKS, **options: Any
) -> list[Finding]:
    """Of rows of (ratio, half of the 95 % interval of its logarithm)."""
    logs, errors = np.log([ratio for ratio, _ in rows]), np.array([half for _, half in rows]) / HALF
    counts = np.full(len(rows), blocks)
    means = TrimmedMeans(logs, errors, np.full(len(rows), FREEDOM), counts)
    return hold(means, expected, MARGIN, **options)


def one(ratio: float, half: float, expected: Expectation, blocks: int = BLOCKS) -> Finding:
    """A row alone: its interval is that of 95 %."""
    return findings([(ratio, half)], [expected], blocks)[0]


def positions(rows: list[Row], expected: list[Expectation], **options: Any) -> list[str]:
    return [finding.position for finding in findings(rows, expected, **options)]


LARGE, SMALL, SLOWER = effect(5.0), effect(1.24), effect(0.5)
NONE = no_effect(1.03)

POSITIONS = [
    # of a small effect: 1.154 to 1.38 counts as the same
    (SMALL, 1.16, 1.37, "within"),
    (SMALL, 1.12, 1.30, "apart"),
    (SMALL, 1.20, 1.50, "apart"),
    (SMALL, 1.05, 1.14, "short"),
    (SMALL, 0.96, 1.14, "short"),  # includes 1, and excludes the published size
    (SMALL, 1.40, 1.50, "beyond"),
    (SMALL, 0.985, 1.015, "none"),
    (SMALL, 1.005, 1.015, "none"),
    (SMALL, 0.985, 0.995, "none"),
    (SMALL, 0.90, 0.95, "opposite"),
    (SMALL, 0.95, 1.90, "open"),
    # of a large one: 3.3 to 7.5
    (LARGE, 4.0, 6.0, "within"),
    (LARGE, 1.2, 40.0, "apart"),
    (LARGE, 2.0, 3.0, "short"),
    (LARGE, 8.0, 9.0, "beyond"),
    # what was slower: 0.33 to 0.63
    (SLOWER, 0.4, 0.6, "within"),
    (SLOWER, 0.5, 0.9, "apart"),
    (SLOWER, 0.7, 1.1, "short"),
    (SLOWER, 0.2, 0.3, "beyond"),
    (SLOWER, 1.1, 1.5, "opposite"),
    (SLOWER, 0.99, 1.01, "none"),
    # what the reviewed page called reproduced and not resolved: the noisier 318 is not the better
    (effect(155.0), 122.0, 826.0, "apart"),
    (effect(155.0), 284.0, 369.0, "beyond"),
    # no effect: 1 / 1.03 to 1.03
    (NONE, 0.98, 1.02, "within"),
    (NONE, 0.95, 1.01, "open"),
    (NONE, 1.01, 1.20, "open"),
    (NONE, 1.05, 1.20, "beyond"),
    (NONE, 0.80, 0.95, "beyond"),
]


@pytest.mark.parametrize(("expected", "low", "high", "position"), POSITIONS)
def test_positions(expected: Expectation, low: float, high: float, position: str) -> None:
    middle, half = (log(low) + log(high)) / 2, (log(high) - log(low)) / 2
    assert one(exp(middle), half, expected).position == position


@pytest.mark.parametrize("expected", [LARGE, NONE])
def test_nothing_is_said_of_few_blocks_or_without_an_interval(expected: Expectation) -> None:
    for ratio, half, blocks, word in (
        (5.0, 0.01, 9, "few blocks"),
        (1.0, 0.001, 9, "few blocks"),
        (5.0, float("nan"), BLOCKS, "no interval"),
    ):
        found = one(ratio, half, expected, blocks)
        assert (found.position, found.needed) == (word, 0)
        assert np.isnan([found.low, found.high]).all()


BARELY, NEARLY, NOTHING, CLEAR = (1.25, 0.07), (1.25, 0.0745), (1.0, 0.8), (5.0, 0.01)


@pytest.mark.parametrize(
    ("rows", "options", "position"),
    [
        ([BARELY], {}, "within"),
        ([BARELY, *[NOTHING] * 9], {}, "apart"),
        ([BARELY, *[NOTHING] * 9], {"correction": "none"}, "within"),
        # what is settled beside it lends it level, but not under Holm's correction
        ([BARELY, *[CLEAR] * 9], {}, "within"),
        ([BARELY, *[CLEAR] * 9], {"correction": "holm"}, "apart"),
        # a measurement that is shown several times counts once
        ([BARELY, *[NOTHING] * 9], {"measured": [0] + [1] * 9}, "apart"),
        ([BARELY] * 10, {"measured": [0] * 10}, "within"),
        ([NEARLY, *[CLEAR] * 10, NOTHING], {}, "within"),
        ([NEARLY, *[CLEAR] * 10, NOTHING], {"measured": [0] + [1] * 10 + [2]}, "apart"),
    ],
)
def test_rows_are_corrected_together(
    rows: list[Row], options: dict[str, Any], position: str
) -> None:
    assert positions(rows, [SMALL] * len(rows), **options)[0] == position


def drawn(rng: np.random.Generator, truth: Any, expected: Expectation) -> list[Finding]:
    """What is said of 40 rows whose log ratios have an error of 6 %."""
    logs = TrimmedMeans(
        truth + rng.normal(0, 0.06, 40), np.full(40, 0.06), np.full(40, 1e6), np.full(40, 20)
    )
    return hold(logs, [expected] * 40, MARGIN)


def test_of_equal_things_few_intervals_miss() -> None:
    """Of what is said, at most 5 % is expected to be false: here all that is said."""
    rng = np.random.default_rng(5)
    truth = np.where(np.arange(40) < 30, 0.0, log(1.24))
    right = [
        found.low <= real <= found.high
        for _ in range(150)
        for real, found in zip(truth.tolist(), drawn(rng, truth, SMALL), strict=True)
        if found.position != "open"
    ]
    assert 1500 < len(right) < 5250
    assert right.count(False) / len(right) < 0.055


def test_rows_that_refute_do_not_help_others_to_show_an_effect_by_chance() -> None:
    rng = np.random.default_rng(6)
    an_effect = {"within", "apart", "beyond", "opposite"}
    wrong = 0
    for _ in range(150):
        found = [finding.position for finding in drawn(rng, 0.0, effect(1.5))]
        assert found.count("short") > 20
        wrong += not an_effect.isdisjoint(found)
    assert wrong / 150 < 0.08


def test_a_wider_interval_asks_for_more_blocks_and_a_settled_row_for_none() -> None:
    near, wide = one(1.25, 0.1, SMALL), one(1.25, 0.2, SMALL)
    assert (near.position, one(1.25, 0.02, SMALL).needed) == ("apart", 0)
    assert BLOCKS < near.needed < wide.needed


@pytest.mark.parametrize(("ratio", "half"), [(1.25, 0.12), (1.09, 0.14), (1.6, 0.5)])
def test_as_many_blocks_as_it_asks_for_settle_it_in_most_runs(ratio: float, half: float) -> None:
    asked = one(ratio, half, SMALL)
    assert asked.position in RANK
    assert asked.needed > BLOCKS
    rng = np.random.default_rng(9)
    error = half / HALF * np.sqrt(BLOCKS / asked.needed)
    freedom = 0.85 * (0.6 * asked.needed - 1)
    draws = 400
    logs = TrimmedMeans(
        log(ratio) + rng.normal(0, error, draws),
        error * np.sqrt(rng.chisquare(freedom, draws) / freedom),
        np.full(draws, freedom),
        np.full(draws, asked.needed),
    )
    said = hold(logs, [SMALL] * draws, MARGIN, "none")
    assert 0.7 < sum(finding.position not in RANK for finding in said) / draws < 0.95


@given(expectations, ratios, halves, shares, shares)
def test_never_more_from_a_wider_interval(
    expected: Expectation, ratio: float, half: float, inner: float, place: float
) -> None:
    """The narrow interval lies anywhere within the wide one."""
    narrow_half = max(half * inner, 1e-6)
    middle = log(ratio) + (2 * place - 1) * (half - narrow_half) * 0.999
    narrow = one(exp(middle), narrow_half, expected).position
    wide = one(ratio, half, expected).position
    assert RANK.get(narrow, 2) >= RANK.get(wide, 2)
    # what excluded the expectation still does, and what lay within it, too
    if wide not in RANK:
        assert (narrow == "within") == (wide == "within")
    # base and new can be exchanged
    turned = Expectation(-expected.high, -expected.low)
    assert one(1 / ratio, half, turned).position == wide


@given(st.lists(st.tuples(ratios, halves, expectations), min_size=2, max_size=6), st.floats(1, 20))
def test_noise_in_one_row_never_settles_another(
    rows: list[tuple[float, float, Expectation]], factor: float
) -> None:
    expected = [e for *_, e in rows]
    quiet = [(ratio, half) for ratio, half, _ in rows]
    noisy = [(quiet[0][0], quiet[0][1] * factor), *quiet[1:]]
    for before, after in zip(positions(quiet, expected), positions(noisy, expected), strict=True):
        assert RANK.get(after, 2) <= RANK.get(before, 2)
        assert after != "within" or before == "within"


@given(ratios, tolerances)
def test_the_same_size_is_the_stricter_of_both_factors(published: float, tolerance: float) -> None:
    expected = effect(published, tolerance)
    low, high = map(exp, expected)
    assert low <= published <= high
    assert (low > 1) == (published > 1)
    assert low >= published / tolerance * (1 - 1e-9)
    assert high <= published * tolerance * (1 + 1e-9)
    powers = sorted((published ** (1 / tolerance), published**tolerance))
    assert powers[0] * (1 - 1e-9) <= low <= high <= powers[1] * (1 + 1e-9)
    # what was published is reproduced by an interval within it
    half = min(log(published) - expected.low, expected.high - log(published))
    assert one(published, half * 0.99, expected).position == "within"
    assert one(published, half * 1.01, expected).position != "within"
