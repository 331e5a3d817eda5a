"""Node's own form: its figures, its names, its CSV; R itself says the same of that file."""

import csv
import io
import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.analysis import analyse
from sqlitmus.render.terminal import nodecompare
from sqlitmus.results.report import RateTest, Report
from sqlitmus.vocabulary.errors import UsageError
from tests import left_out
from tests.analysis.runs import case, make, noisy, plan, samples

# What compare.R computes, for each row of its table, with the digits that a test needs.
WELCH = r"""
rows = read.csv(file("stdin"),
                colClasses = c("character", "character", "character", "numeric", "numeric"))
rows$name = paste(rows$filename, rows$configuration)
options(digits = 12)
for (name in unique(rows$name)) {
  some = rows[rows$name == name, ]
  old = some[some$binary == "old", ]$rate
  new = some[some$binary == "new", ]$rate
  w = t.test(rate ~ binary, data = some)
  error = sqrt(var(old) / length(old) + var(new) / length(new))
  halves = qt(1 - c(0.05, 0.01, 0.001) / 2, w$parameter) * error / mean(old)
  cat(name, (mean(new) - mean(old)) / mean(old), w$p.value, halves, sep = "\t")
  cat("\n")
}
"""


def compared(spread: float = 0.02, blocks: int = 12, ratio: float = 1.02) -> Report:
    cases = [
        case("get-pk@a", axes={"workers": "1", "profile": "shipped"}),
        case("get-pk@b", axes={"workers": "2", "profile": "it's"}),
        case("noop"),
    ]
    of = plan(["base", "new"], kind="compare", correction="holm", blocks=blocks, cases=cases)
    return analyse(make(of, lines=samples(of, noisy({"new": ratio}, spread=spread))))


def test_golden(ab: Report, snapshot: SnapshotAssertion) -> None:
    assert nodecompare.render(ab) == snapshot


def test_r_says_the_same_of_the_csv() -> None:
    rscript = shutil.which("Rscript")
    if rscript is None:
        left_out.skip("R", "install r-base-core")
    report = compared()
    done = subprocess.run(
        [rscript, "-e", WELCH],
        input=nodecompare.as_csv(report),
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [name for name, *_ in rows] == [
        "get-pk workers=1 profile='shipped'",
        'get-pk workers=2 profile="it\'s"',
        "noop ",
    ]
    for (_, *figures), of in zip(rows, report.cases, strict=True):
        assert of.rate is not None
        ours = [of.rate.improvement, of.rate.p, *of.rate.accuracy]
        assert ours == pytest.approx([float(figure) for figure in figures], rel=1e-9)


def test_the_csv_is_that_of_compare_js() -> None:
    report = compared(blocks=2)
    lines = nodecompare.as_csv(report).splitlines()
    assert lines[0] == '"binary","filename","configuration","rate","time"'
    assert lines[1].startswith('"old","get-pk","workers=1 profile=\'shipped\'",')
    assert lines[5].startswith('"old","get-pk","workers=2 profile=""it\'s""",')
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    assert [row["binary"] for row in rows] == ["old", "old", "new", "new"] * 3
    for row, ns in zip(rows, (ns for c in report.cases for x in c.cells for ns in x.samples),
                       strict=True):  # fmt: skip
        assert ns is not None
        assert float(row["rate"]) == pytest.approx(1e9 / ns)
        assert float(row["time"]) == pytest.approx(ns / 1e9)


@pytest.mark.parametrize(
    ("p", "mark"),
    [(0.05, ""), (0.0499, "*"), (0.01, "*"), (0.0099, "**"), (0.001, "**"), (0.0009, "***")],
)
def test_stars_are_those_of_node(p: float, mark: str) -> None:
    assert nodecompare.stars(p) == mark


def test_improvement_is_of_the_rate_and_accuracy_half_an_interval() -> None:
    shown = nodecompare.rate_cells(RateTest(0.25, [0.01, 0.02, 0.03], 0.0001))
    assert shown == ("***", "25.00 %", "±1.00%", "±2.00%", "±3.00%")
    assert nodecompare.rate_cells(RateTest(0.25, [], None)) == ("NA", "25.00 %", "NA", "NA", "NA")


def test_a_single_block_has_an_improvement_only() -> None:
    table = nodecompare.render(compared(blocks=1)).split("\n\n")[0]
    assert table.splitlines()[1:] == []  # one block gives no ratio, and so no row


def test_noise_that_hides_a_difference_gives_no_star() -> None:
    wide = nodecompare.render(compared(spread=0.2)).split("\n\n")[0].splitlines()[-1]
    assert wide.split() == ["noop", "3.46", "%", "±17.83%", "±24.32%", "±32.90%"]


def test_columns_are_aligned_and_a_case_without_a_pair_is_left_out(ab: Report) -> None:
    lines = nodecompare.render(ab).split("\n\n")[0].splitlines()
    assert len(lines) - 1 == sum(case.rate is not None for case in ab.cases) == 23
    end = lines[0].index("improvement") + len("improvement")
    assert all(line[end - 2 : end] == " %" for line in lines[1:])


def test_the_note_counts_what_chance_gives(ab: Report) -> None:
    text = nodecompare.render(replace(ab, cases=ab.cases[:2]))
    assert "there are 2 comparisons" in text
    chances = re.findall(r"^  (\d\.\d\d) false positives", text, re.MULTILINE)
    assert chances == ["0.10", "0.02", "0.00"]


def test_what_sqlitmus_says_stands_below_under_its_own_title(ab: Report) -> None:
    theirs, _, ours = nodecompare.render(ab).partition(nodecompare.OWN)
    assert "verdict" not in theirs
    assert "improvement" in ours.splitlines()[1]
    assert ours.endswith("by Holm (5 % any false alarm).\n")
    assert any(line.endswith(" materially slower") for line in ours.splitlines())


def test_a_suite_is_refused_and_names_cannot_drive_a_terminal(small: Report, ab: Report) -> None:
    for refused in (nodecompare.render, nodecompare.as_csv):
        with pytest.raises(UsageError, match="no comparison"):
            refused(small)
    odd = replace(ab, cases=[replace(ab.cases[0], scenario="a\x1b[31m\nb")])
    text = nodecompare.render(odd)
    assert "\x1b" not in text + nodecompare.as_csv(odd)
    assert len(text.split("\n\n")[0].splitlines()) == 2
