"""Claims in HTML, Markdown, for a terminal, and as Node prints comparisons."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from rich.table import Table as Grid
from syrupy.assertion import SnapshotAssertion

from sqlitmus.analysis import analyse, load
from sqlitmus.render.document import claims
from sqlitmus.render.document.model import Cell, Column, Head, Row, Table
from sqlitmus.render.html import drawings
from sqlitmus.render.terminal import Printer
from sqlitmus.results import machines as data
from sqlitmus.results.claims import (
    Group,
    Histograms,
    Latencies,
    Load,
    Place,
    Ranking,
    ThreadLine,
    ThreadPoint,
    Threads,
)
from sqlitmus.results.claims import Row as ClaimRow
from sqlitmus.results.ranking import Interval
from sqlitmus.results.report import Report
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.verdicts import ClaimWord
from tests.analysis.claims.claim_runs import claim, group, make, row
from tests.render.printing import as_html, as_markdown, as_text, parse


@pytest.fixture(scope="module")
def kept() -> Report:
    """The run of all claims that the example page shows."""
    return analyse(load(paths.ROOT / "reports/example/runs/claims"))


def test_terminal_golden(claimed: Report, snapshot: SnapshotAssertion) -> None:
    assert as_text(claimed) == snapshot


def test_a_page_without_claims_does_not_speak_of_them(small: Report) -> None:
    ids = {attributes.get("id") or "" for _, attributes in parse(as_html(small)).elements}
    assert not {name for name in ids if name.startswith("claim")}


def test_a_difference_is_shown_as_a_time_beside_the_published_one() -> None:
    saved = group(row("same", 0.0005), row("same", None, name="more"), compare="difference")
    report = analyse(make(claim(saved)))
    text = as_markdown(report)
    assert "less here \\[95 %\\]" in text
    assert "time per operation; base less new" in text
    assert "as fast here" not in text
    first, second = (line for line in text.splitlines() if line.startswith(("| same", "| more")))
    assert re.search(r"\| 500\u202fns \| \*\*(49|50)\d\u202fns\*\* \[4\d\d, 5\d\d\] \|", first)
    assert "reproduced" in first
    assert "no difference was published" in second
    assert data.load(data.render(report)) == report
    parse(as_html(report))


def test_files_are_shown_by_their_size() -> None:
    text = as_markdown(analyse(make(claim(group(row("same"), metric="file")))))
    assert "× as small here \\[95 %\\]" in text
    assert "\nsize of the database\n" in text
    assert "8.00 KiB → 8.00 KiB" in text.replace("\u202f", " ")


def test_a_terminal_without_unicode_gets_ascii(claimed: Report) -> None:
    text = as_text(claimed, 150, plain=True)
    assert text.isascii()
    assert "< reversed: " in text
    assert " #v " in text
    assert "999 ns -> 502 ns" in text


def test_long_groups_are_folded_and_counted(long: Report) -> None:
    folded = "22 rows: 4 smaller than published, 18 shown before"
    text = as_text(long, 150)
    assert f"{folded}; the HTML shows them" in text
    assert len(re.findall("^same 0 ", text, re.MULTILINE)) == 2
    assert "noisy 2" not in text
    whole = as_text(long, 150, all_rows=True)
    assert len(re.findall("^noisy 2 ", whole, re.MULTILINE)) == 2
    assert f"<details><summary>{folded}</summary>" in as_markdown(long)
    assert folded not in as_markdown(long, all_rows=True)
    assert f"<summary>{folded}: show</summary>" in (page := as_html(long))
    assert len(re.findall('data-f="row">(<a [^>]*>)?noisy 2<', page)) == 2


def test_the_page_has_each_row_with_its_verdict(claimed: Report) -> None:
    page = parse(as_html(claimed))
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


def test_no_line_shows_a_figure_with_the_word_of_another_row(
    claimed: Report, long: Report, kept: Report
) -> None:
    for each in (claimed, long, kept):
        lines = {line.head.name: line for line in claims.answers(each.claims).rows}
        for of_claim in each.claims:
            line = lines[of_claim.name]
            signs, word, published, here = line.cells
            shown = [
                one
                for of_group in of_claim.groups
                for one in of_group.rows
                if (
                    one.verdict and one.verdict.short,
                    replace(claims.published(one), note=""),
                    claims.here(one),
                )
                == (word.text, published, here)
            ]
            assert of_claim.decisive in shown
            assert line.style == word.style
            assert signs.mark
            assert word.mark
            many = sum(map(int, re.findall(r"\d+", signs.mark.symbol)))
            assert (many or len(signs.mark.symbol)) == len(of_claim.strip)
            assert word.mark.symbol in signs.mark.symbol


# charts ------------------------------------------------------------------------------------------


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
    (within,) = drawings.thread_panels(threads((1, 1e6, False), (2, 2e6, False)), [])
    assert within.shade is None


def test_all_points_beyond_the_cores_leave_no_line() -> None:
    (panel,) = drawings.thread_panels(threads((4, 1e6, True), (8, 1e6, True)), [])
    assert panel.lines[0].points == ""
    assert panel.shade == drawings.THREAD_BOX[0]
    assert drawings.thread_panels(Threads("T", "p99", rates=False, lines=[], problems=[]), []) == []


def titles(table: Table) -> list[str]:
    return [column.title for column in table.columns]


def by_column(table: Table) -> list[tuple[str, str]]:
    """The titles with the texts of the first row."""
    (row,) = table.rows
    texts = [row.head.text, *(cell.text for cell in row.cells)]
    return list(zip([table.head.title, *titles(table)], texts, strict=True))


def test_what_waits_stands_beside_the_time() -> None:
    load = Load(cpu=750.0, voluntary=12.0, involuntary=0.25)
    point = ThreadPoint(4, Interval(2e6, None, None), over=True, load=load)
    scaled = Threads("T", "steady", True, [ThreadLine("a", [point])], [])
    assert by_column(claims.threads(scaled)) == [
        ("option", "a"),
        ("threads", "4"),
        ("operations/s", "2.00\u202fM/s"),
        ("time, per operation", "500\u202fns"),
        ("CPU, per operation", "750\u202fns"),
        ("voluntary switches, per operation", "12"),
        ("involuntary switches, per operation", "0.25"),
    ]
    bare = claims.threads(threads((1, 1e6, False)))
    assert titles(bare) == ["threads", "operations/s", "time, per operation"]


def test_a_ranking_shows_a_writer_what_was_busy_and_the_pace() -> None:
    paced = Place("a", "r", writer_p99=Interval(7e6, None, None), busy=0.5,
                  pacing=900.0, p999=Interval(2e6, None, None), file=4096)  # fmt: skip
    alone = Place("b", "r", file=4096)
    table = claims.ranking(Ranking("T", "p99", [], [paced, alone], []))
    assert titles(table)[1:] == [
        "99.9 %", "writer's 99 %", "busy", "pacing error, 99 %"
    ]  # fmt: skip
    assert [[cell.text for cell in row.cells[1:]] for row in table.rows] == [
        ["2.00\u202fms", "7.00\u202fms", "50 %", "900\u202fns"],
        [claims.NONE] * 4,
    ]


def test_the_size_of_a_file_is_shown_where_it_differs() -> None:
    one, other = Place("a", "r", file=4096), Place("b", "r", file=8192)
    assert titles(claims.ranking(Ranking("T", "p99", [], [one, other], [])))[-1] == "file"


def test_a_terminal_gets_wide_tables_in_bands() -> None:
    numbers = [f"number {n}" for n in range(100, 120)]
    columns = [Column(name, name) for name in numbers]
    row = Row(Head("a"), [Cell(f"value-{n}") for n in range(100, 120)])
    table = Table("", Column("cell", "cell", "text"), columns, [row])
    bands = list(Printer(80).laid_out(table, table.rows))
    headers = [[str(c.header) for c in band.columns] for band in bands if isinstance(band, Grid)]
    assert len(headers) == 4
    assert all(header[0] == "cell" for header in headers)
    assert [name for header in headers for name in header[1:]] == numbers


def latencies(*buckets: tuple[int, int, int]) -> Latencies:
    return Latencies("a", "r", list(buckets))


def tops(bars: str) -> list[float]:
    """Heights of the bars, from left to right."""
    return [float(height) for height in re.findall(r"v-([\d.]+)h", bars)]


def test_bars_show_a_single_operation_and_share_their_axis() -> None:
    many, few = latencies((1000, 1007, 10_000), (64_000, 64_255, 1)), latencies((4000, 4015, 5))
    one, other = drawings.histogram_panels(Histograms("H", None, [many, few], []), [])
    box = drawings.HISTOGRAM_BOX
    assert max(tops(one.bars)) == box[3] - box[1]
    assert len(tops(one.bars)) == 2
    assert min(tops(one.bars)) > 3
    assert one.ticks == other.ticks
    assert one.said == "10,001 operations, 1.00\u202fµs to 64.3\u202fµs"
    start = [float(x) for x in re.findall(r"M([\d.]+) ", one.bars + other.bars)]
    assert start[0] < start[2] < start[1]


def test_a_linear_axis_has_a_tick_at_each_step() -> None:
    ms = 1_000_000
    found = latencies((2 * ms, 2 * ms + 9, 5), (152 * ms, 153 * ms, 3), (303 * ms, 304 * ms, 1))
    (panel,) = drawings.histogram_panels(Histograms("H", 150.0 * ms, [found], []), [])
    assert [text for _, text in panel.ticks] == [
        "0", "150\u202fms", "300\u202fms", "450\u202fms"
    ]  # fmt: skip
    places = [x for x, _ in panel.ticks]
    gaps = [round(b - a, 1) for a, b in pairwise(places)]
    assert max(gaps) - min(gaps) <= 0.1
    assert drawings.histogram_panels(Histograms("H", None, [], []), []) == []


GROUP = Group("times", "steady", "operation", [])


def test_a_row_tells_how_its_ratio_and_its_times_go_together() -> None:
    def shown(new_ns: float) -> Cell:
        times = (Interval(2600.0, None, None), Interval(new_ns, None, None))
        ratio = Interval(1.2, 1.1, 1.3)
        return claims.times(
            ClaimRow("a", "r", "b", "n", "", None, None, "", False, ratio, *times), GROUP
        )

    assert shown(2700.0) == Cell(
        "2.60\u202fµs \u2192 2.70\u202fµs", note="ratio of these medians: 0.963\u00d7"
    )
    assert shown(2600 / 1.21).note == ""


def test_a_row_prints_its_band() -> None:
    row = ClaimRow("a", "r", "b", "n", "", 2.0, ClaimWord.COMPATIBLE, "why")
    assert claims.same_size(row) == ""  # nothing was held against it
    told = claims.row_of(replace(row, same=(1.5, 3.0)), GROUP, {}).cells[4]
    assert told.text == "compatible: why; 1.5 to 3 counts as published"
