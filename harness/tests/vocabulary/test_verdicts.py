"""Words and texts: codes are places, sides exchange, every symbol is told apart, and no text from
elsewhere drives a terminal."""

import json
import re
import unicodedata

import pytest
from hypothesis import given, strategies as st

from sqlitmus.vocabulary import contract, text
from sqlitmus.vocabulary.verdicts import ClaimWord, Verdict
from tests.known import RUNNERS


def test_codes_are_the_places_that_stored_columns_hold() -> None:
    assert [verdict.code for verdict in Verdict] == list(range(len(Verdict)))
    assert (Verdict.MATERIALLY_FASTER.code, Verdict.NOT_TESTABLE.code) == (0, 6)
    assert json.dumps([Verdict.SLOWER]) == '["slower"]'
    assert f"{Verdict.MATERIALLY_FASTER}" == "materially faster"


def test_exchanging_the_runners_exchanges_the_sides() -> None:
    names = [(verdict.value, verdict.opposite.value) for verdict in Verdict]
    assert names == [
        ("materially faster", "materially slower"),
        ("faster", "slower"),
        ("equivalent", "equivalent"),
        ("slower", "faster"),
        ("materially slower", "materially faster"),
        ("not resolved", "not resolved"),
        ("not testable", "not testable"),
    ]


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
    # and what refutes a claim decides before what agrees
    assert sorted(ClaimWord, key=lambda word: word.decides)[:4] == [
        ClaimWord.OTHER_WORK,
        ClaimWord.REVERSED,
        ClaimWord.NO_EFFECT,
        ClaimWord.SMALLER,
    ]


def test_names_and_numbers_in_a_sentence() -> None:
    assert [text.counted(n, "case") for n in range(3)] == ["0 cases", "1 case", "2 cases"]
    assert [text.counted(n, "pass", "passes") for n in (1, 2)] == ["1 pass", "2 passes"]
    told = [text.listed("abc"[:count]) for count in range(4)]
    assert told == ["", "a", "a and b", "a, b and c"]
    assert text.by_value({"a": "1", "b": "2", "c": "1"}) == "1: a and c; 2: b"


def test_a_long_text_is_cut_at_a_line_or_within_one_and_says_so() -> None:
    lines = "\n".join(f"line {number}" for number in range(100))
    cut = "(the end; all of it is in logs/x.log)"
    assert text.ending("\nfirst\nsecond\n", "logs/x.log") == "first\nsecond"
    assert text.ending("", "logs/x.log") == ""
    assert text.ending(lines, "logs/x.log", limit=30) == f"{cut}\nline 97\nline 98\nline 99"
    assert text.ending("x" * 50 + "end", "logs/x.log", limit=10) == f"{cut}\nxxxxxxxend"
    assert text.one_line("abcd", 3) == text.shortened("abcd", 3) == "abc…"
    assert text.one_line("abc", 3) == text.shortened("abc", 3) == "abc"
    assert text.shortened("a\r\nb\x1b") == "a\nb?"


BIDI = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
MARKS = "\u200e\u200f\u061c"


def drives(character: str) -> bool:
    """Whether a character is a control other than a line end and a tab, or turns the order."""
    control = unicodedata.category(character) == "Cc" and character not in "\n\t"
    return control or unicodedata.bidirectional(character) in BIDI or character in MARKS


def test_every_character_that_drives_is_replaced_and_ordinary_ones_stay() -> None:
    # without planes of ideographs and of private use
    every = "".join(map(chr, [*range(0x20000), *range(0xE0000, 0xF0000)]))
    shown = text.visible(every)
    assert not any(map(drives, shown))
    replaced = {was for was, now in zip(every, shown, strict=True) if was != now}
    assert not [c for c in replaced if c.isprintable() or c in "\n\t\u202f\u00a0"]


@given(st.text())
def test_one_line_is_one_and_json_says_the_same_without_what_drives(given_: str) -> None:
    line, value = text.one_line(given_), {given_: [given_]}
    assert len(line.splitlines()) <= 1
    assert "\t" not in line
    told = text.json_text(json.dumps(value, ensure_ascii=False))
    assert json.loads(told) == value
    assert not any(map(drives, line + told))


def test_json_escapes_what_its_writers_leave() -> None:
    for character in ("\x9b", "\u202e", "\U000e0041"):
        told = text.json_text(json.dumps(character, ensure_ascii=False))
        assert told.isascii()
        assert json.loads(told) == character


def test_an_old_plan_reads_as_the_new_one() -> None:
    lines = {
        "SCAN TABLE users": "SCAN users",
        "SEARCH TABLE users USING INDEX a (b=?)": "SEARCH users USING INDEX a (b=?)",
        "SEARCH TABLE users AS u USING INDEX a (b=?)": "SEARCH u USING INDEX a (b=?)",
        "SCAN SUBQUERY 2": "SCAN (subquery-2)",
        "SCAN SUBQUERY 2 AS best": "SCAN best",
        "USE TEMP B-TREE FOR ORDER BY": "USE TEMP B-TREE FOR ORDER BY",
    }
    for old, new in lines.items():
        assert text.modern(old) == text.modern(new) == new


def test_the_contract_has_the_same_options_and_values() -> None:
    whole = (RUNNERS / "contract" / "CONTRACT.md").read_text("utf-8")
    section = whole.partition("### Engine options\n")[2].partition("\n### ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, re.MULTILINE)
    assert {option: re.findall(r"[\w-]+", values) for option, values in rows} == {
        option: [str(value) for value in values] for option, values in contract.VALUES.items()
    }


def test_what_an_option_cannot_be() -> None:
    for option, value in (("threading", "multi-thread"), ("memstatus", 0), ("own", "anything")):
        assert contract.problem(option, value) == ""
    told = "memstatus is 0 or 1, not '0'; did you mean 0?"
    assert contract.problem("memstatus", "0") == told
    told = "threading is serialized, multi-thread or single-thread, not 1"
    assert contract.problem("threading", 1) == told
