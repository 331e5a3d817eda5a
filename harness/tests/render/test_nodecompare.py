import re
from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.render.terminal import nodecompare
from sqlitmus.results.estimate import RateTest, Speedup
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.errors import UsageError


def test_golden(ab: Report, snapshot: SnapshotAssertion) -> None:
    assert nodecompare.render(ab) == snapshot


@pytest.mark.parametrize(
    ("p", "mark"),
    [(0.05, ""), (0.0499, "*"), (0.01, "*"), (0.0099, "**"), (0.001, "**"), (0.0009, "***"),
     (None, "NA")],
)  # fmt: skip
def test_stars_are_those_of_node(p: float | None, mark: str) -> None:
    assert nodecompare.stars(p) == mark


def test_improvement_is_of_the_rate_and_accuracy_half_an_interval() -> None:
    intervals = [Speedup(1.25, 1.25 - h, 1.25 + h) for h in (0.01, 0.02, 0.03)]
    found = nodecompare.cells(RateTest(intervals, 0.0001, 0.02))
    assert found == ("***", "25.00 %", "±1.00%", "±2.00%", "±3.00%", "*")
    assert nodecompare.cells(RateTest([], None, None)) == ("NA",) * 6


def test_columns_are_aligned_and_a_case_without_a_pair_is_left_out(ab: Report) -> None:
    lines = nodecompare.render(ab).split("\n\n")[0].splitlines()
    assert len(lines) - 1 == sum(case.rate is not None for case in ab.cases) == 23
    end = lines[0].index("improvement") + len("improvement")
    assert all(line[end - 2 : end] == " %" for line in lines[1:])


def test_the_note_counts_what_chance_gives_and_what_correction_leaves(ab: Report) -> None:
    strong, weak = RateTest([], 0.0004, 0.0008), RateTest([], 0.03, 0.06)
    cases = [
        replace(case, rate=rate) for case, rate in zip(ab.cases[:2], (strong, weak), strict=True)
    ]
    text = nodecompare.render(replace(ab, cases=cases))
    assert "there are 2 comparisons" in text
    assert re.findall(r"^  (\d\.\d\d) false positives", text, re.MULTILINE) == [
        "0.10",
        "0.02",
        "0.00",
    ]
    assert "1 of 2 with a star keep one after Holm's correction for all 2" in text


def test_a_suite_is_refused_and_names_cannot_drive_a_terminal(small: Report, ab: Report) -> None:
    with pytest.raises(UsageError, match="no comparison"):
        nodecompare.render(small)
    odd = replace(ab, cases=[replace(ab.cases[0], scenario="a\x1b[31m\nb")])
    text = nodecompare.render(odd)
    assert "\x1b" not in text
    assert len(text.split("\n\n")[0].splitlines()) == 2
