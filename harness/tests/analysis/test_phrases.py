import pytest

from sqlitmus.analysis.phrases import by_value, listed, sentence, some, times
from sqlitmus.results.report import Interval


def test_listed() -> None:
    assert [listed([]), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]


def test_some_names_three_and_counts_the_rest() -> None:
    assert some(list("abc")) == "a, b and c"
    assert some(list("abcde")) == "a, b, c and 2 more"


def test_by_value_gathers_the_runners() -> None:
    assert by_value({"a": "1", "b": "2", "c": "1"}) == "1: a and c; 2: b"


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(1.3123, 1.281, 1.352), "1.31 [1.28, 1.35]"),
        (Interval(1.31234, 1.3091, 1.3156), "1.312 [1.309, 1.316]"),
        (Interval(13.123, 9.1, 17.2), "13 [9, 17]"),
        (Interval(1.3123, None, None), "1.3 (no interval)"),
    ],
)
def test_times_shows_the_digits_that_the_interval_supports(interval: Interval, text: str) -> None:
    assert times(interval) == text


def test_sentence_ends_in_one_full_stop() -> None:
    assert [sentence("it works"), sentence("it works.")] == ["it works.", "it works."]
