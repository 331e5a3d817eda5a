"""Text of unknown origin: what it may bring to a terminal, and that JSON loses nothing."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.vocabulary.text import json_text, one_line, shortened, visible

BIDI = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
MARKS = "\u200e\u200f\u061c"


def drives(character: str) -> bool:
    """Whether a character is a control other than a line end and a tab, or turns the order."""
    control = unicodedata.category(character) == "Cc" and character not in "\n\t"
    return control or unicodedata.bidirectional(character) in BIDI or character in MARKS


def test_every_character_that_drives_is_replaced_and_ordinary_ones_stay() -> None:
    for code in range(0x110000):
        character = chr(code)
        shown = visible(character)
        assert not any(map(drives, shown)), hex(code)
        if character.isprintable() or character in "\n\t\u202f\u00a0":
            assert shown == character, hex(code)


@given(st.text())
def test_one_line_is_one(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
    assert not any(map(drives, one_line(text)))
    assert "\t" not in one_line(text)


def test_a_cut_is_told() -> None:
    assert one_line("abcd", 3) == shortened("abcd", 3) == "abc…"
    assert one_line("abc", 3) == shortened("abc", 3) == "abc"
    assert shortened("a\r\nb\x1b") == "a\nb?"


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_says_the_same_without_them(value: object) -> None:
    text = json_text(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert not any(map(drives, text))


@pytest.mark.parametrize("character", ["\x9b", "\u202e", "\U000e0041"])
def test_json_escapes_what_its_writers_leave(character: str) -> None:
    text = json_text(json.dumps(character, ensure_ascii=False))
    assert text.isascii()
    assert json.loads(text) == character
