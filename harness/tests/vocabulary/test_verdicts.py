"""One enumeration of verdicts: codes are places, sides exchange, every symbol is told apart."""

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.vocabulary import contract
from sqlitmus.vocabulary.text import (
    by_value,
    counted,
    ending,
    json_text,
    listed,
    modern,
    one_line,
    shortened,
    visible,
)
from sqlitmus.vocabulary.verdicts import ClaimWord, Verdict
from tests.known import RUNNERS


def test_codes_are_the_places_that_stored_columns_hold() -> None:
    assert [verdict.code for verdict in Verdict] == list(range(len(Verdict)))
    assert Verdict.MATERIALLY_FASTER.code == 0
    assert Verdict.NOT_TESTABLE.code == 6


@pytest.mark.parametrize("verdict", Verdict)
def test_exchanging_the_runners_exchanges_the_sides(verdict: Verdict) -> None:
    exchanged = {"faster": "slower", "slower": "faster"}
    assert verdict.opposite.side == exchanged.get(verdict.side, verdict.side)
    assert verdict.opposite.material == verdict.material
    assert verdict.opposite.opposite is verdict


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        *((Verdict, name) for name in ("letter", "symbol", "ascii", "meaning", "rank")),
        *((ClaimWord, name) for name in ("symbol", "ascii", "meaning", "decides")),
    ],
)
def test_words_are_told_apart(words: type[Verdict | ClaimWord], shown: str) -> None:
    values = [getattr(word, shown) for word in words]
    assert len(set(values)) == len(values)
    assert all(word.ascii.isascii() for word in words)


def test_what_is_decided_comes_before_what_is_not_and_losses_before_gains() -> None:
    ordered = sorted(Verdict, key=lambda verdict: verdict.rank)
    assert [v.different for v in ordered] == [True] * 4 + [False] * 3
    assert [v.side for v in ordered[:4]] == ["slower", "slower", "faster", "faster"]


def test_a_verdict_is_its_words_in_json_and_text() -> None:
    assert json.dumps([Verdict.SLOWER]) == '["slower"]'
    assert f"{Verdict.MATERIALLY_FASTER}" == "materially faster"
    assert Verdict("equivalent") is Verdict.EQUIVALENT


def test_what_refutes_a_claim_decides_before_what_agrees() -> None:
    assert sorted(ClaimWord, key=lambda word: word.decides)[:4] == [
        ClaimWord.OTHER_WORK,
        ClaimWord.REVERSED,
        ClaimWord.NO_EFFECT,
        ClaimWord.SMALLER,
    ]


WHOLE_TEXT = "logs/x.log"


def test_counted() -> None:
    assert [counted(n, "case") for n in range(3)] == ["0 cases", "1 case", "2 cases"]
    assert [counted(n, "pass", "passes") for n in (1, 2)] == ["1 pass", "2 passes"]


def test_a_short_text_is_told_whole() -> None:
    assert ending("\nfirst\nsecond\n", WHOLE_TEXT) == "first\nsecond"
    assert ending("", WHOLE_TEXT) == ""


def test_a_long_text_is_cut_at_a_line_and_says_so() -> None:
    lines = [f"line {number}" for number in range(100)]
    first, *kept = ending("\n".join(lines), WHOLE_TEXT, limit=30).splitlines()
    assert first == "(the end; all of it is in logs/x.log)"
    assert kept == ["line 97", "line 98", "line 99"]


def test_a_single_long_line_is_cut_within() -> None:
    first, kept = ending("x" * 50 + "end", WHOLE_TEXT, limit=10).splitlines()
    assert (first, kept) == ("(the end; all of it is in logs/x.log)", "x" * 7 + "end")


def test_listed() -> None:
    assert [listed([]), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]


def test_by_value_gathers_the_names() -> None:
    assert by_value({"a": "1", "b": "2", "c": "1"}) == "1: a and c; 2: b"


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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SCAN TABLE users", "SCAN users"),
        ("SEARCH TABLE users USING INDEX a (b=?)", "SEARCH users USING INDEX a (b=?)"),
        ("SEARCH TABLE users AS u USING INDEX a (b=?)", "SEARCH u USING INDEX a (b=?)"),
        ("SCAN SUBQUERY 2", "SCAN (subquery-2)"),
        ("SCAN SUBQUERY 2 AS best", "SCAN best"),
        ("USE TEMP B-TREE FOR ORDER BY", "USE TEMP B-TREE FOR ORDER BY"),
    ],
)
def test_an_old_plan_reads_as_the_new_one(old: str, new: str) -> None:
    assert modern(old) == new
    assert modern(new) == new


def test_the_contract_has_the_same_options_and_values() -> None:
    text = (RUNNERS / "contract" / "CONTRACT.md").read_text("utf-8")
    section = text.partition("### Engine options\n")[2].partition("\n### ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, re.MULTILINE)
    assert {option: re.findall(r"[\w-]+", values) for option, values in rows} == {
        option: [str(value) for value in values] for option, values in contract.VALUES.items()
    }


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("threading", "multi-thread", ""),
        ("memstatus", 0, ""),
        ("a runner's own", "anything", ""),
        ("memstatus", "0", "memstatus is 0 or 1, not '0'; did you mean 0?"),
        ("threading", 1, "threading is serialized, multi-thread or single-thread, not 1"),
    ],
)
def test_what_an_option_cannot_be(option: str, value: str | int, text: str) -> None:
    assert contract.problem(option, value) == text
