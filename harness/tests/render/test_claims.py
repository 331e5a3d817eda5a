"""Claims in HTML, Markdown and for a terminal."""

import re
from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.render.document import claims
from sqlitmus.render.html import drawings
from sqlitmus.results.claims import Histograms, Latencies, ThreadLine, ThreadPoint, Threads
from sqlitmus.vocabulary.verdicts import ClaimWord
from tests.analysis.claims.claim_runs import claim, group, make, row
from tests.analysis.runs import analyse, load
from tests.known import ROOT
from tests.render.printing import Page, as_html, as_markdown, as_text
from tests.render.synthetic import Interval, Report


def test_terminal_golden(claimed: Report, snapshot: SnapshotAssertion) -> None:
    assert as_text(claimed) == snapshot


def test_a_difference_is_shown_as_a_time_beside_the_published_one() -> None:
    saved = group(row("same", 0.0005), row("same", None, name="more"), compare="difference")
    text = as_markdown(analyse(make(claim(saved))))
    assert "less here \\[95 %\\]" in text
    assert "time per operation; base less new" in text
    assert "as fast here" not in text
    first, second = (line for line in text.splitlines() if line.startswith(("| same", "| more")))
    assert re.search(r"\| 500\u202fns \| \*\*(49|50)\d\u202fns\*\* \[4\d\d, 5\d\d\] \|", first)
    assert "reproduced" in first
    assert "no difference was published" in second


def test_long_groups_are_folded_and_counted(long: Report) -> None:
    text, whole = as_text(long, 150), as_text(long, 150, all_rows=True)
    assert "22 rows: 4 smaller than published, 18 shown before; the HTML shows them" in text
    rows = [re.findall("^(same 0|noisy 2) ", each, re.MULTILINE) for each in (text, whole)]
    assert rows == [["same 0"] * 2, ["same 0"] * 2 + ["noisy 2"] * 2]


def test_the_page_has_each_row_with_its_verdict(claimed: Report) -> None:
    page = Page(as_html(claimed))
    anchors = {attributes.get("id") for _, attributes in page.elements}
    assert {"claim-modes", "cases"} <= anchors
    assert "summary" not in anchors
    links = {attributes.get("href") for name, attributes in page.elements if name == "a"}
    assert {"#claim-modes", "#c-0"} <= links
    text = " ".join(" ".join(page.words).split())
    for word in ClaimWord:
        assert f"{word.symbol} {word}" in text
    assert "2.00× 2.0 times as fast" in text
    assert "no ratio was published" in text


@pytest.mark.parametrize("kind", ["claimed", "long", "kept"])
def test_no_line_shows_a_figure_with_the_word_of_another_row(
    kind: str, request: pytest.FixtureRequest
) -> None:
    kept = ROOT / "reports/example/runs/claims"
    report = analyse(load(kept)) if kind == "kept" else request.getfixturevalue(kind)
    lines = {line.head.name: line for line in claims.answers(report.claims).rows}
    for of_claim in report.claims:
        line = lines[of_claim.name]
        signs, word, published, here = line.cells
        shown = [
            one
            for of_group in of_claim.groups
            for one in of_group.rows
            if one.verdict
            and one.verdict.short == word.text
            and replace(claims.published(one), note="") == published
            and claims.here(one) == here
        ]
        assert of_claim.decisive in shown
        assert line.style == word.style
        assert signs.mark
        assert word.mark
        many = sum(map(int, re.findall(r"\d+", signs.mark.symbol)))
        assert (many or len(signs.mark.symbol)) == len(of_claim.strip)
        assert word.mark.symbol in signs.mark.symbol


def threads(*values: tuple[int, float, bool]) -> Threads:
    points = [ThreadPoint(n, Interval(value, None, None), over) for n, value, over in values]
    return Threads("T", "steady", rates=True, lines=[ThreadLine("a", points)], problems=[])


def test_points_beyond_the_cores_are_not_joined() -> None:
    (panel,) = drawings.thread_panels(threads((1, 1e6, False), (2, 2e6, False), (4, 2e6, True)), [])
    (line,) = panel.lines
    assert len(line.points.split()) == len(line.marks) == 2
    assert len(line.beyond) == 1
    assert panel.shade is not None
    assert line.marks[-1][0] < panel.shade < line.beyond[0][0]
    assert line.marks[1][1] < line.marks[0][1]  # more is higher
    (beyond,) = drawings.thread_panels(threads((4, 1e6, True), (8, 1e6, True)), [])
    assert beyond.lines[0].points == ""
    assert beyond.shade == drawings.THREAD_BOX[0]
    assert drawings.thread_panels(Threads("T", "p99", rates=False, lines=[], problems=[]), []) == []


def test_bars_show_a_single_operation_and_share_their_axis() -> None:
    many = Latencies("a", "r", [(1000, 1007, 10_000), (64_000, 64_255, 1)])
    few = Latencies("b", "r", [(4000, 4015, 5)])
    one, other = drawings.histogram_panels(Histograms("H", None, [many, few], []), [])
    heights = [float(height) for height in re.findall(r"v-([\d.]+)h", one.bars)]
    box = drawings.HISTOGRAM_BOX
    assert max(heights) == box[3] - box[1]
    assert len(heights) == 2
    assert min(heights) > 3
    assert one.ticks == other.ticks
    assert one.said == "10,001 operations, 1.00\u202fµs to 64.3\u202fµs"
    start = [float(x) for x in re.findall(r"M([\d.]+) ", one.bars + other.bars)]
    assert start[0] < start[2] < start[1]
    assert drawings.histogram_panels(Histograms("H", None, [], []), []) == []
