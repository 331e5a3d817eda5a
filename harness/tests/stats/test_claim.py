"""The rule that decides how a measured ratio lies to the published one."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.stats.claim import Decision, Published, Rule, decide
from sqlitmus.stats.estimate import LEVEL, TrimmedMeans, student_t
from sqlitmus.vocabulary.verdicts import ClaimWord

BLOCKS = 20
FREEDOM = 11
RULE = Rule()
ratios = st.floats(0.02, 50).filter(lambda r: abs(log(r)) > 0.01)
halves = st.floats(0.001, 0.5)
tolerances = st.floats(1.05, 3)
shares = st.floats(0, 1)
publications = st.builds(Published, ratios, tolerances, st.booleans())


def means(*rows: tuple[float, float], blocks: int = BLOCKS) -> TrimmedMeans:
    """Rows of (ratio, half of the 95 % interval of its logarithm)."""
    return TrimmedMeans(
        np.array([log(ratio) for ratio, _ in rows]),
        np.array([half for _, half in rows]) / student_t(LEVEL, np.array([FREEDOM])),
        np.full(len(rows), FREEDOM),
        np.full(len(rows), blocks),
    )


def one(ratio: float, half: float, published: Published, *, blocks: int = BLOCKS) -> Decision:
    """A row alone: its interval is that of 95 %."""
    return decide(means((ratio, half), blocks=blocks), [published], RULE)[0]


def within(low: float, high: float, published: Published) -> str:
    """The word for an interval of ratios."""
    middle, half = (log(low) + log(high)) / 2, (log(high) - log(low)) / 2
    return one(exp(middle), half, published).word


LARGE, SMALL, SLOWER = Published(5.0), Published(1.24), Published(0.5)
NONE = Published(0.995, tolerance=1.03, effect=False)

WORDS = [
    # of a small effect: 1.154 to 1.38 counts as the same
    (SMALL, 1.16, 1.37, "reproduced"),
    (SMALL, 1.12, 1.30, "compatible"),
    (SMALL, 1.20, 1.50, "compatible"),
    (SMALL, 1.01, 1.90, "compatible"),
    (SMALL, 1.05, 1.14, "smaller than published"),
    (SMALL, 0.96, 1.14, "smaller than published"),  # includes 1, and excludes the published size
    (SMALL, 1.40, 1.50, "larger than published"),
    (SMALL, 0.985, 1.015, "no effect"),
    (SMALL, 1.005, 1.015, "no effect"),
    (SMALL, 0.985, 0.995, "no effect"),
    (SMALL, 0.90, 0.95, "reversed"),
    (SMALL, 0.95, 1.30, "not resolved"),
    (SMALL, 0.95, 1.90, "not resolved"),
    # of a large one: 3.3 to 7.5
    (LARGE, 4.0, 6.0, "reproduced"),
    (LARGE, 1.2, 40.0, "compatible"),
    (LARGE, 2.0, 3.0, "smaller than published"),
    (LARGE, 8.0, 9.0, "larger than published"),
    # what was slower: 0.33 to 0.63
    (SLOWER, 0.4, 0.6, "reproduced"),
    (SLOWER, 0.5, 0.9, "compatible"),
    (SLOWER, 0.7, 0.9, "smaller than published"),
    (SLOWER, 0.7, 1.1, "smaller than published"),
    (SLOWER, 0.2, 0.3, "larger than published"),
    (SLOWER, 1.1, 1.5, "reversed"),
    (SLOWER, 0.99, 1.01, "no effect"),
    # what the reviewed page called reproduced and not resolved: the noisier 318 is not the better
    (Published(155.0), 122.0, 826.0, "compatible"),
    (Published(155.0), 284.0, 369.0, "larger than published"),
    (Published(2.40), 1.04, 1.16, "smaller than published"),
    (Published(1.63), 1.00, 1.10, "smaller than published"),
    (Published(1.14), 0.95, 1.07, "smaller than published"),
    # no effect: 1 / 1.03 to 1.03
    (NONE, 0.98, 1.02, "reproduced"),
    (NONE, 0.95, 1.01, "not resolved"),
    (NONE, 1.01, 1.20, "not resolved"),
    (NONE, 1.05, 1.20, "larger than published"),
    (NONE, 0.80, 0.95, "larger than published"),
]


@pytest.mark.parametrize(("published", "low", "high", "word"), WORDS)
def test_words(published: Published, low: float, high: float, word: str) -> None:
    assert within(low, high, published) == word


@pytest.mark.parametrize("published", [LARGE, NONE])
def test_nothing_is_said_of_few_blocks_or_without_an_interval(published: Published) -> None:
    def said(ratio: float, half: float, blocks: int = BLOCKS) -> tuple[str, str, int]:
        found = one(ratio, half, published, blocks=blocks)
        return found.word, found.why, found.needed

    assert said(5.0, 0.01, 9) == ("not resolved", "few blocks", 0)
    assert said(1.0, 0.001, 9) == ("not resolved", "few blocks", 0)
    assert said(5.0, float("nan")) == ("not resolved", "no interval", 0)


def words(
    rows: list[tuple[float, float]],
    published: list[Published],
    rule: Rule = RULE,
    measured: list[int] | None = None,
) -> list[ClaimWord]:
    return [d.word for d in decide(means(*rows), published, rule, measured)]


def test_rows_are_corrected_together() -> None:
    barely, nothing = (1.25, 0.07), [(1.0, 0.8)] * 9
    many = [SMALL] * 10
    assert words([barely], [SMALL]) == ["reproduced"]
    assert words([barely, *nothing], many)[0] == "compatible"
    assert words([barely, *nothing], many, Rule(correction="none"))[0] == "reproduced"
    # what is settled beside it lends it level, but not under Holm's correction
    clear = [(5.0, 0.01)] * 9
    assert words([barely, *clear], many)[0] == "reproduced"
    assert words([barely, *clear], many, Rule(correction="holm"))[0] == "compatible"


def test_a_measurement_that_is_shown_twice_counts_once() -> None:
    barely, nothing = (1.25, 0.07), (1.0, 0.8)
    rows = [barely, *[nothing] * 9]
    assert words(rows, [SMALL] * 10)[0] == "compatible"
    assert words(rows, [SMALL] * 10, measured=[0] + [1] * 9)[0] == "compatible"
    assert words([barely] * 10, [SMALL] * 10, measured=[0] * 10) == ["reproduced"] * 10
    # ten rows of one measurement lend their level to none of the others
    other = (1.25, 0.0745)
    crowd = [(5.0, 0.01)] * 10 + [other, nothing]
    every = [SMALL] * 12
    assert words(crowd, every)[10] == "reproduced"
    assert words(crowd, every, measured=[0] * 10 + [1, 2])[10] != "reproduced"


def test_of_equal_things_few_intervals_miss() -> None:
    """Of what is said, at most 5 % is expected to be false: here all that is said."""
    rng = np.random.default_rng(5)
    false, said = 0, 0
    for _ in range(400):
        truth = np.where(np.arange(40) < 30, 0.0, log(1.24))
        logs = TrimmedMeans(
            truth + rng.normal(0, 0.06, 40), np.full(40, 0.06), np.full(40, 1e6), np.full(40, 20)
        )
        for real, found in zip(truth.tolist(), decide(logs, [SMALL] * 40, RULE), strict=True):
            if found.word is not ClaimWord.NOT_RESOLVED:
                said += 1
                false += not found.low <= real <= found.high
    assert 4000 < said < 14000
    assert false / said < 0.055


def test_rows_that_refute_do_not_help_others_to_show_an_effect_by_chance() -> None:
    rng = np.random.default_rng(6)
    an_effect = (
        ClaimWord.REPRODUCED,
        ClaimWord.COMPATIBLE,
        ClaimWord.LARGER,
        ClaimWord.REVERSED,
    )
    wrong = 0
    for _ in range(400):
        logs = TrimmedMeans(
            rng.normal(0, 0.06, 40), np.full(40, 0.06), np.full(40, 1e6), np.full(40, 20)
        )
        found = [one.word for one in decide(logs, [Published(1.5)] * 40, RULE)]
        assert found.count(ClaimWord.SMALLER) > 20
        wrong += any(word in an_effect for word in found)
    assert wrong / 400 < 0.08


def test_no_rows_get_no_decisions() -> None:
    assert decide(means(), [], RULE) == []


def test_how_many_blocks_would_settle_it() -> None:
    near, wide = one(1.25, 0.1, SMALL), one(1.25, 0.2, SMALL)
    assert near.word is ClaimWord.COMPATIBLE
    assert BLOCKS < near.needed < wide.needed
    assert one(1.25, 0.02, SMALL).needed == 0  # settled
    refuted = one(1.08, 0.1, SMALL)
    assert refuted.word is ClaimWord.COMPATIBLE or refuted.word is ClaimWord.NOT_RESOLVED
    assert refuted.needed > BLOCKS


@pytest.mark.parametrize(("ratio", "half"), [(1.25, 0.12), (1.09, 0.14), (1.6, 0.5)])
def test_as_many_blocks_as_it_asks_for_settle_it_in_most_runs(ratio: float, half: float) -> None:
    asked = one(ratio, half, SMALL)
    assert asked.word.rank < 2
    rng = np.random.default_rng(9)
    error = float(means((ratio, half)).error[0]) * np.sqrt(BLOCKS / asked.needed)
    freedom = 0.85 * (0.6 * asked.needed - 1)
    draws = 400
    logs = TrimmedMeans(
        log(ratio) + rng.normal(0, error, draws),
        error * np.sqrt(rng.chisquare(freedom, draws) / freedom),
        np.full(draws, freedom),
        np.full(draws, asked.needed),
    )
    found = decide(logs, [SMALL] * draws, Rule(correction="none"))
    settled = sum(d.word.rank == 2 for d in found) / draws
    assert 0.7 < settled < 0.95


# a wider interval never settles more --------------------------------------------------------------


@given(publications, ratios, halves, shares, shares)
def test_never_a_better_word_from_a_wider_interval(
    published: Published, ratio: float, half: float, inner: float, place: float
) -> None:
    """The narrow interval lies anywhere within the wide one."""
    narrow_half = max(half * inner, 1e-6)
    middle = log(ratio) + (2 * place - 1) * (half - narrow_half) * 0.999
    narrow = one(exp(middle), narrow_half, published).word
    wide = one(ratio, half, published).word
    assert narrow.rank >= wide.rank
    if wide is ClaimWord.REPRODUCED:
        assert narrow is ClaimWord.REPRODUCED
    elif wide.rank == 2:
        # what excluded the published size still does
        assert narrow.rank == 2
        assert narrow is not ClaimWord.REPRODUCED
    if narrow is not ClaimWord.REPRODUCED:
        assert wide is not ClaimWord.REPRODUCED


@given(st.lists(st.tuples(ratios, halves, publications), min_size=2, max_size=6), st.floats(1, 20))
def test_noise_in_one_row_never_settles_another(
    rows: list[tuple[float, float, Published]], factor: float
) -> None:
    published = [p for *_, p in rows]
    quiet = words([(ratio, half) for ratio, half, _ in rows], published)
    noisy = [(ratio, half) for ratio, half, _ in rows]
    noisy[0] = (noisy[0][0], noisy[0][1] * factor)
    for before, after in zip(quiet, words(noisy, published), strict=True):
        assert after.rank <= before.rank
        if after is ClaimWord.REPRODUCED:
            assert before is ClaimWord.REPRODUCED


@given(ratios, ratios, halves, tolerances, st.booleans())
def test_base_and_new_can_be_exchanged(
    published: float, ratio: float, half: float, tolerance: float, effect: bool
) -> None:
    found = one(ratio, half, Published(published, tolerance, effect))
    turned = one(1 / ratio, half, Published(1 / published, tolerance, effect))
    assert (found.word, found.why) == (turned.word, turned.why)


@given(ratios, tolerances)
def test_what_was_published_is_reproduced_by_an_interval_within_the_tolerance(
    ratio: float, tolerance: float
) -> None:
    published = Published(ratio, tolerance)
    low, high = published.same()
    half = min(log(ratio) - low, high - log(ratio))
    assert one(ratio, half * 0.99, published).word is ClaimWord.REPRODUCED
    assert one(ratio, half * 1.01, published).word is not ClaimWord.REPRODUCED


@given(ratios, ratios, halves, tolerances, st.floats(1.01, 3))
def test_more_tolerance_never_takes_reproduced_away(
    published: float, ratio: float, half: float, tolerance: float, more: float
) -> None:
    strict = one(ratio, half, Published(published, tolerance)).word
    lenient = one(ratio, half, Published(published, tolerance * more)).word
    assert lenient is ClaimWord.REPRODUCED or strict is not ClaimWord.REPRODUCED


@given(ratios, tolerances)
def test_the_same_size_is_the_stricter_of_both_factors(published: float, tolerance: float) -> None:
    low, high = map(exp, Published(published, tolerance).same())
    assert low <= published <= high
    assert (low > 1) == (published > 1)
    assert low >= published / tolerance * (1 - 1e-9)
    assert high <= published * tolerance * (1 + 1e-9)
    powers = sorted((published ** (1 / tolerance), published**tolerance))
    assert powers[0] * (1 - 1e-9) <= low <= high <= powers[1] * (1 + 1e-9)
