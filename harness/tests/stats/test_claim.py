"""The rule that decides whether a published ratio is there again."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.stats.claim import Decision, Published, decide
from sqlitmus.stats.distributions import student_t
from sqlitmus.stats.estimate import LEVEL, TrimmedMeans

BLOCKS = 20
FREEDOM = 11
ratios = st.floats(0.02, 50).filter(lambda r: abs(log(r)) > 0.01)
halves = st.floats(0.001, 0.5)
tolerances = st.floats(1.05, 3)


def means(*rows: tuple[float, float], blocks: int = BLOCKS) -> TrimmedMeans:
    """Rows of (ratio, half of the 95 % interval of its logarithm)."""
    return TrimmedMeans(
        np.array([log(ratio) for ratio, _ in rows]),
        np.array([half for _, half in rows]) / student_t(LEVEL, np.array([FREEDOM])),
        np.full(len(rows), FREEDOM),
        np.full(len(rows), blocks),
    )


def one(
    ratio: float, half: float, published: Published, *, guard: float = 0.0, blocks: int = BLOCKS
) -> Decision:
    return decide(means((ratio, half), blocks=blocks), [published], "bh", np.array([guard]))[0]


LARGE, SMALL, SLOWER = Published(5.0), Published(1.2), Published(0.5)
NONE = Published(0.995, tolerance=1.02, effect=False)

VERDICTS = [
    # of a large effect, the ratio within a factor of 1.5
    (LARGE, 5.1, 0.02, "reproduced", "same size"),
    (LARGE, 3.6, 0.01, "reproduced", "same size"),
    (LARGE, 3.2, 0.01, "same direction, different size", "smaller"),
    (LARGE, 3.2, 0.06, "reproduced", "same size"),
    (LARGE, 9.0, 0.05, "same direction, different size", "larger"),
    # of a small one, its logarithm within a factor of 1.5: a ratio of 1.1 is less than 1.2^(1/1.5)
    (SMALL, 1.14, 0.005, "reproduced", "same size"),
    (SMALL, 1.1, 0.01, "same direction, different size", "smaller"),
    (SMALL, 1.4, 0.01, "same direction, different size", "larger"),
    (SMALL, 1.02, 0.03, "not resolved", "includes 1"),
    (SMALL, 0.9, 0.02, "reversed", "other side"),
    # what was slower
    (SLOWER, 0.5, 0.02, "reproduced", "same size"),
    (SLOWER, 0.9, 0.02, "same direction, different size", "smaller"),
    (SLOWER, 0.2, 0.02, "same direction, different size", "larger"),
    (SLOWER, 1.5, 0.02, "reversed", "other side"),
    # no effect
    (NONE, 1.004, 0.01, "reproduced", "no effect"),
    (NONE, 1.004, 0.002, "reproduced", "no effect"),
    (NONE, 1.01, 0.02, "not resolved", "neither"),
    (NONE, 1.03, 0.015, "not resolved", "neither"),
    (NONE, 1.1, 0.02, "reversed", "an effect"),
    (NONE, 0.9, 0.02, "reversed", "an effect"),
]


@pytest.mark.parametrize(("published", "ratio", "half", "word", "why"), VERDICTS)
def test_verdicts(published: Published, ratio: float, half: float, word: str, why: str) -> None:
    found = one(ratio, half, published)
    assert (found.word, found.why) == (word, why)


@pytest.mark.parametrize("published", [LARGE, NONE])
def test_nothing_is_said_of_few_blocks_or_without_an_interval(published: Published) -> None:
    assert one(5.0, 0.01, published, blocks=9) == Decision("not resolved", "few blocks")
    assert one(1.0, 0.001, published, blocks=9) == Decision("not resolved", "few blocks")
    assert one(5.0, float("nan"), published) == Decision("not resolved", "no interval")


def test_the_canary_must_be_cleared() -> None:
    assert one(1.2, 0.05, SMALL, guard=0.1).word == "reproduced"
    assert one(1.2, 0.05, SMALL, guard=0.15) == Decision("not resolved", "noise")
    assert one(0.8, 0.05, SMALL, guard=0.2) == Decision("not resolved", "noise")
    assert one(1.1, 0.02, NONE, guard=0.08).why == "neither"


def test_noise_draws_out_the_interval_of_no_effect() -> None:
    assert one(1.004, 0.005, NONE, guard=0.005).word == "reproduced"
    for ratio in (1.004, 1 / 1.004):
        assert one(ratio, 0.005, NONE, guard=0.02).word == "not resolved"
        assert one(ratio, 0.005, NONE, guard=0.012).word == "not resolved"


def test_rows_are_corrected_together() -> None:
    barely = (1.05, 0.045)
    nothing = [(1.0, 0.5)] * 9
    alone = decide(means(barely), [SMALL], "bh", np.zeros(1))
    assert alone[0].word != "not resolved"
    many = decide(means(barely, *nothing), [SMALL] * 10, "bh", np.zeros(10))
    assert many[0] == Decision("not resolved", "corrected")
    assert decide(means(barely, *nothing), [SMALL] * 10, "none", np.zeros(10))[0] == alone[0]


def test_no_rows_get_no_decisions() -> None:
    assert decide(means(), [], "bh", np.zeros(0)) == []


@given(ratios, ratios, halves, tolerances, st.floats(0, 0.3), st.booleans())
def test_base_and_new_can_be_exchanged(
    published: float, ratio: float, half: float, tolerance: float, guard: float, effect: bool
) -> None:
    found = one(ratio, half, Published(published, tolerance, effect), guard=guard)
    turned = one(1 / ratio, half, Published(1 / published, tolerance, effect), guard=guard)
    assert found == turned


@given(ratios, halves, tolerances)
def test_what_was_published_is_reproduced_once_it_is_resolved(
    ratio: float, half: float, tolerance: float
) -> None:
    word = one(ratio, half, Published(ratio, tolerance)).word
    assert word == ("reproduced" if abs(log(ratio)) > half else "not resolved")


@given(ratios, ratios, halves, tolerances, st.floats(1.01, 3))
def test_more_tolerance_never_takes_reproduced_away(
    published: float, ratio: float, half: float, tolerance: float, more: float
) -> None:
    strict = one(ratio, half, Published(published, tolerance))
    lenient = one(ratio, half, Published(published, tolerance * more))
    assert lenient == strict or lenient.word == "reproduced"


@given(ratios, ratios, halves, tolerances, st.floats(0, 0.3), st.floats(0, 0.3))
def test_more_noise_never_resolves_anything(
    published: float, ratio: float, half: float, tolerance: float, guard: float, more: float
) -> None:
    quiet = one(ratio, half, Published(published, tolerance), guard=guard)
    noisy = one(ratio, half, Published(published, tolerance), guard=guard + more)
    assert noisy.word in (quiet.word, "not resolved")


@given(ratios, tolerances)
def test_the_same_size_is_the_stricter_of_both_factors(published: float, tolerance: float) -> None:
    low, high = map(exp, Published(published, tolerance).same())
    assert low <= published <= high
    assert (low > 1) == (published > 1)
    assert low >= published / tolerance * (1 - 1e-9)
    assert high <= published * tolerance * (1 + 1e-9)
    powers = sorted((published ** (1 / tolerance), published**tolerance))
    assert powers[0] * (1 - 1e-9) <= low <= high <= powers[1] * (1 + 1e-9)
