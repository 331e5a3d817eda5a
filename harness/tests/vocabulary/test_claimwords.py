"""The words for published figures, and the one word of a whole claim."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.vocabulary.verdicts import ClaimWord

OF_ROWS = [word for word in ClaimWord if word is not ClaimWord.MIXED]
YES, NEAR, LESS, MORE, NONE, TURNED, _, OPEN, GONE = ClaimWord

WHOLE: list[tuple[list[ClaimWord], ClaimWord]] = [
    ([YES, YES], YES),
    ([YES, NEAR], NEAR),
    ([YES, OPEN], OPEN),
    ([LESS, NONE], LESS),
    ([LESS, MORE], ClaimWord.MIXED),
    ([YES, LESS], ClaimWord.MIXED),
    ([YES, LESS, OPEN], ClaimWord.MIXED),
    ([NONE, TURNED], ClaimWord.MIXED),
    ([LESS, NEAR], ClaimWord.MIXED),
    ([LESS, OPEN], OPEN),
    ([YES, GONE], YES),
    ([GONE], GONE),
    ([], GONE),
]


@pytest.mark.parametrize(("words", "whole"), WHOLE)
def test_the_word_of_a_claim_holds_for_each_of_its_rows(
    words: list[ClaimWord], whole: ClaimWord
) -> None:
    assert ClaimWord.of_all(words) is whole
    assert ClaimWord.of_all(words[::-1]) is whole


@given(st.lists(st.sampled_from(OF_ROWS), min_size=1), st.data())
def test_a_row_that_is_less_certain_never_settles_a_claim(
    words: list[ClaimWord], data: st.DataObject
) -> None:
    row = data.draw(st.integers(0, len(words) - 1))
    if words[row] is ClaimWord.NOT_TESTABLE:
        return
    weaker = [w for w in (ClaimWord.COMPATIBLE, ClaimWord.NOT_RESOLVED) if w.rank < words[row].rank]
    for word in weaker:
        noisy = ClaimWord.of_all([*words[:row], word, *words[row + 1 :]])
        clear = ClaimWord.of_all(words)
        assert noisy.rank <= clear.rank
        assert noisy is not ClaimWord.REPRODUCED


def test_symbols_tell_words_apart() -> None:
    for signs in ([word.symbol for word in ClaimWord], [word.ascii for word in ClaimWord]):
        assert len(set(signs)) == len(ClaimWord)
    assert all(word.ascii.isascii() for word in ClaimWord)
