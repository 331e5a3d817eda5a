"""What a publication said, held against the ratio that a row gives."""

import pytest

from sqlitmus.catalog.claims import figure_problems


@pytest.mark.parametrize(
    ("published", "said"),
    [
        (155.0, "6.0 µs against 930 µs"),
        (1.587, "0.121 s against 0.192 s"),
        (2.40, "86.2 ± 1.3 ms against 206.7 ± 6.2 ms"),
        (1.745, "5,454.5 reads/s against 3,125 reads/s"),
        (2.8, "7,553,000 against 2,701,000 rows/s"),
        (1.5, "900 µs against 0.6 ms"),
        (1.186, "+18.6 %"),
        (0.995, "−0.5 %"),
        (1.14, "1.14 times (issue 271)"),
        (1.63, "1.63 ± 0.05 times as fast"),
        (143.85, "2.66, 154.8 and 312.3 ms against 1.4 to 2.2 ms"),
        (1.0, "without effect"),
        (2.0, "less than half the CPU cycles"),
        (3.0, "12 MB against 4 ms"),
    ],
)
def test_words_that_agree_or_say_no_ratio_pass(published: float, said: str) -> None:
    assert list(figure_problems(published, said)) == []


@pytest.mark.parametrize(
    ("published", "said", "problem"),
    [
        (1.5, "", "needs `said`"),
        (1.5, "3 against 2", "a figure without a unit"),
        (1.5, "see issue 271", "a figure without a unit"),
        (1.5, "312.3 ms against 2.171 ms", "gives 143.9 or 0.006952"),
        (1.5, "900 ms against 0.6 ms", "gives 1500 or"),
        (1.5, "+15 %", "gives 1.15 or"),
        (1.5, "5 times", "gives 5 or 0.2"),
    ],
)
def test_words_that_say_another_figure_or_none_are_refused(
    published: float, said: str, problem: str
) -> None:
    (text,) = figure_problems(published, said)
    assert problem in text


def test_what_a_row_saves_is_held_against_a_difference() -> None:
    words = "312.3 ms against 2.2 ms"
    assert list(figure_problems(310.1, words, saves=True)) == []
    (text,) = figure_problems(143.85, words, saves=True)
    assert text == "published = 143.85, but '312.3 ms against 2.2 ms' saves 310.1 ms; correct one"
    assert (
        list(figure_problems(153.0, "154.8 ms, the second of three, against 2 ms", saves=True))
        == []
    )
