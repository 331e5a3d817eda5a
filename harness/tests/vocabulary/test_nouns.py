"""Plurals, and where long texts are cut."""

from sqlitmus.vocabulary.text import by_value, counted, ending, listed

WHOLE = "logs/x.log"


def test_counted() -> None:
    assert [counted(n, "case") for n in range(3)] == ["0 cases", "1 case", "2 cases"]
    assert [counted(n, "pass", "passes") for n in (1, 2)] == ["1 pass", "2 passes"]


def test_a_short_text_is_told_whole() -> None:
    assert ending("\nfirst\nsecond\n", WHOLE) == "first\nsecond"
    assert ending("", WHOLE) == ""


def test_a_long_text_is_cut_at_a_line_and_says_so() -> None:
    lines = [f"line {number}" for number in range(100)]
    first, *kept = ending("\n".join(lines), WHOLE, limit=30).splitlines()
    assert first == "(the end; all of it is in logs/x.log)"
    assert kept == ["line 97", "line 98", "line 99"]


def test_a_single_long_line_is_cut_within() -> None:
    first, kept = ending("x" * 50 + "end", WHOLE, limit=10).splitlines()
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
