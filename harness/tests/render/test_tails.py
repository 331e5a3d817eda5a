"""Latencies under load in a document and as curves."""

import re
from dataclasses import replace

import pytest

from sqlitmus.render import markdown, terminal
from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import tails
from sqlitmus.render.document.build import build
from sqlitmus.render.document.model import Chart, Table
from sqlitmus.render.html import curves, page
from sqlitmus.results.ranking import Interval
from sqlitmus.results.report import Report, Tail, Tails
from tests.render import synthetic

MS = 1e6


def at(value: float) -> Interval:
    return Interval(value, value * 0.9, value * 1.1)


def tail(runner: str, p99: float, **more: object) -> Tail:
    plain = Tail(
        runner,
        p50=at(p99 / 10),
        p99=at(p99),
        p999=None,
        longest=at(p99 * 3),
        most=p99 * 4,
        buckets=[(1000, 1007, 990), (100_000, 100_500, 9), (2_000_000, 2_010_000, 1)],
    )
    return replace(plain, **more)  # pyright: ignore[reportArgumentType]


SLOW = tail("node", 5 * MS)
FAST = tail("rust", 1 * MS)
LATE = tail("bun", 0.5 * MS, late=True, pacing=0.7 * MS)
CASE = Tails("mixed", "Mixed, p99", "?", {"mix": "95-5"}, "read", True, 2, 2, [SLOW, LATE, FAST])


@pytest.fixture
def report() -> Report:
    return replace(synthetic.build(cases=4, blocks=10), tails=[CASE])


def table(case: Tails) -> Table:
    (section,) = tails.section(replace(synthetic.build(cases=4, blocks=10), tails=[case]))
    return next(section.tables())


def test_the_shortest_p99_comes_first_and_what_is_not_ranked_last() -> None:
    rows = table(CASE).rows
    assert [row.head.name for row in rows] == ["rust", "node", "bun"]
    assert [row.cells[-1].text for row in rows] == ["", "", tails.LATE]


def test_columns_without_a_figure_are_left_out() -> None:
    titles = [column.title for column in table(CASE).columns]
    assert titles == ["p50", "p99", "longest", "longest of all", ""]
    more = tail("rust", MS, busy=0.25, unfair=at(2.0), wal_most=at(4096.0), rate=at(5000.0))
    drawn = table(replace(CASE, cells=[more]))
    row = drawn.rows[0]
    texts = {column: drawn.cell(row, column).text for column in ("busy", "unfair", "wal", "rate")}
    assert texts == {
        "busy": f"25.0{fmt.THIN}%".replace(fmt.THIN, " "),
        "unfair": "2.0×",
        "wal": f"4.00{fmt.THIN}KiB",
        "rate": f"5.0{fmt.THIN}k/s",
    }


def test_a_late_machine_and_too_few_cores_are_said() -> None:
    said = " ".join(tails.said(CASE))
    assert "late for bun (700" in said
    assert "core" not in said
    assert "3 threads on 2 cores" in " ".join(tails.said(replace(CASE, threads=3)))
    assert list(tails.said(replace(CASE, threads=9, cores=None, cells=[FAST]))) == []


def test_every_format_has_the_section_and_a_report_without_has_none(report: Report) -> None:
    built = build(report)
    written = (
        page.render(report),
        markdown.render(built),
        terminal.render(built, 100, color=False),
    )
    for text in written:
        assert "Latencies under load" in text
        assert "not compared with others" in " ".join(text.split())
    assert "Latencies under load" not in markdown.render(build(synthetic.build(cases=4, blocks=10)))


def test_a_curve_falls_neither_in_time_nor_in_share() -> None:
    steps = curves.steps(FAST.buckets)
    assert [round(share, 4) for share, _ in steps] == [1.0, 0.01, 0.001]
    (drawn,) = curves.tail_panels(CASE, [])
    assert [line.label for line in drawn.lines] == ["node", "bun", "rust"]
    points = [tuple(map(float, p.split(","))) for p in drawn.lines[0].points.split()]
    left, top, right, bottom = curves.TAIL_BOX
    assert all(left <= x <= right and top <= y <= bottom for x, y in points)
    assert points == sorted(points)  # to the right
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)  # upwards
    assert [text for _, text in drawn.x_ticks] == ["50 %", "90 %", "99 %", "99.9 %"]


def test_a_case_without_histograms_has_no_curve() -> None:
    assert curves.tail_panels(replace(CASE, cells=[replace(FAST, buckets=[])]), []) == []


def test_the_logs_size_is_drawn_over_time_where_it_was_looked_at(report: Report) -> None:
    assert curves.log_sizes(CASE, []) == []
    grown = replace(FAST, wal=[(0.0, 0), (20.0, 4096), (40.0, 8192)])
    case = replace(CASE, cells=[SLOW, grown])
    assert curves.memory_sizes(case, []) == []
    (drawn,) = curves.log_sizes(case, [])
    left, top, right, bottom = curves.TAIL_BOX
    assert [line.label for line in drawn.lines] == ["rust"]
    assert (
        drawn.lines[0].points
        == f"{left},{bottom} {(left + right) / 2:g},{(top + bottom) / 2:g} {right},{top}"
    )
    (section,) = tails.section(replace(report, tails=[case]))
    kinds = [block.kind for block in section.sections[0].blocks if isinstance(block, Chart)]
    assert kinds == ["tails", "wal"]
    html = page.render(replace(report, tails=[case]))
    assert len(re.findall(r'aria-label="Size of the write-ahead log by time', html)) == 1


def test_growth_of_memory_is_told_and_drawn_only_where_it_is_beyond_doubt(report: Report) -> None:
    mib = 2.0**20
    leaks = tail("node", MS, growth=Interval(3 * mib, mib, 5 * mib), resident=[(0.0, 1), (20.0, 9)])
    steady = tail("rust", MS, growth=Interval(mib, -mib, 3 * mib), resident=[(0.0, 1), (20.0, 1)])
    case = replace(CASE, cells=[leaks, steady])
    drawn = table(case)
    cells = {row.head.name: drawn.cell(row, "growth") for row in drawn.rows}
    assert cells["node"].text == f"+3.0{fmt.THIN}MiB"
    assert cells["rust"].bounds == f"[{fmt.MINUS}1.0, 3.0]"
    said = " ".join(tails.said(case))
    assert f"Memory grows while the operations are timed in node (+3.0{fmt.THIN}MiB" in said
    assert "rust" not in said
    html = page.render(replace(report, tails=[case]))
    assert len(re.findall(r'aria-label="Memory of the process by time', html)) == 1
