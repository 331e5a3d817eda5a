"""Latencies under load in a document and as curves."""

import re
from dataclasses import replace
from itertools import pairwise
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.render import markdown, terminal
from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import parts, suite
from sqlitmus.render.document.build import build
from sqlitmus.render.document.model import Chart, Paragraph, Table
from sqlitmus.render.html import drawings, view
from sqlitmus.results.ranking import Interval
from sqlitmus.results.report import Block, Cell, Report, Tail, Tails
from sqlitmus.vocabulary.detail import Syncs
from tests.render import synthetic
from tests.render.printing import as_html, as_markdown, as_text, cards, check_80_columns

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
    (section,) = suite.tails_section(replace(synthetic.build(cases=4, blocks=10), tails=[case]))
    return next(section.tables())


def test_the_shortest_p99_comes_first_and_what_is_not_ranked_last() -> None:
    rows = table(CASE).rows
    assert [row.head.name for row in rows] == ["rust", "node", "bun"]
    assert [row.cells[-1].text for row in rows] == ["", "", suite.LATE]


def test_columns_without_a_figure_are_left_out() -> None:
    titles = [column.title for column in table(CASE).columns]
    assert titles == ["p50", "p99", "max", "max of all blocks", ""]
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
    said = " ".join(suite.tails_said(CASE))
    assert "fell behind for bun (700" in said
    assert "core" not in said
    assert "3 threads on 2 cores" in " ".join(suite.tails_said(replace(CASE, threads=3)))
    assert list(suite.tails_said(replace(CASE, threads=9, cores=None, cells=[FAST]))) == []


def test_every_format_has_the_section_and_a_report_without_has_none(report: Report) -> None:
    built = build(report)
    written = (
        as_html(report),
        markdown.render(built),
        terminal.render(built, 100, color=False),
    )
    for text in written:
        assert "Latencies under load" in text
        assert "not compared with others" in " ".join(text.split())
    assert "Latencies under load" not in markdown.render(build(synthetic.build(cases=4, blocks=10)))


def test_a_curve_falls_neither_in_time_nor_in_share() -> None:
    steps = drawings.steps(FAST.buckets)
    assert [round(share, 4) for share, _ in steps] == [1.0, 0.01, 0.001]
    (drawn,) = drawings.tail_panels(CASE, [])
    assert [line.label for line in drawn.lines] == ["node", "bun", "rust"]
    points = [tuple(map(float, p.split(","))) for p in drawn.lines[0].points.split()]
    left, top, right, bottom = drawings.TAIL_BOX
    assert all(left <= x <= right and top <= y <= bottom for x, y in points)
    assert points == sorted(points)  # to the right
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)  # upwards
    assert [text for _, text in drawn.x_ticks] == ["50 %", "90 %", "99 %", "99.9 %"]


def test_a_case_without_histograms_has_no_curve() -> None:
    assert drawings.tail_panels(replace(CASE, cells=[replace(FAST, buckets=[])]), []) == []


def over_time(kind: Literal["wal", "resident"], case: Tails) -> list[drawings.LinePanel]:
    return drawings.sizes(kind, "Size", case, [])


def test_the_logs_size_is_drawn_over_time_where_it_was_looked_at(report: Report) -> None:
    assert over_time("wal", CASE) == []
    grown = replace(FAST, wal=[(0.0, 0), (20.0, 4096), (40.0, 8192)])
    case = replace(CASE, cells=[SLOW, grown])
    assert over_time("resident", case) == []
    (drawn,) = over_time("wal", case)
    left, top, right, bottom = drawings.TAIL_BOX
    assert [line.label for line in drawn.lines] == ["rust"]
    assert (
        drawn.lines[0].points
        == f"{left},{bottom} {(left + right) / 2:g},{(top + bottom) / 2:g} {right},{top}"
    )
    (section,) = suite.tails_section(replace(report, tails=[case]))
    kinds = [block.kind for block in section.sections[0].blocks if isinstance(block, Chart)]
    assert kinds == ["tails", "wal"]
    text = as_html(replace(report, tails=[case]))
    assert len(re.findall(r'aria-label="Size of the write-ahead log by time', text)) == 1


def test_growth_of_memory_is_told_and_drawn_only_where_it_is_beyond_doubt(report: Report) -> None:
    mib = 2.0**20
    leaks = tail("node", MS, growth=Interval(3 * mib, mib, 5 * mib), resident=[(0.0, 1), (20.0, 9)])
    steady = tail("rust", MS, growth=Interval(mib, -mib, 3 * mib), resident=[(0.0, 1), (20.0, 1)])
    case = replace(CASE, cells=[leaks, steady])
    drawn = table(case)
    cells = {row.head.name: drawn.cell(row, "growth") for row in drawn.rows}
    assert cells["node"].text == f"+3.0{fmt.THIN}MiB"
    assert cells["rust"].bounds == f"[{fmt.MINUS}1.0, 3.0]"
    said = " ".join(suite.tails_said(case))
    assert f"Memory grows while the operations are timed in node (+3.0{fmt.THIN}MiB" in said
    assert "rust" not in said
    text = as_html(replace(report, tails=[case]))
    assert len(re.findall(r'aria-label="Memory of the process by time', text)) == 1


WHY = "no C compiler <found>"


def told(cell: Cell) -> Cell:
    """Counted, of a kind that its runner's name decides, or not counted."""
    if cell.runner == "bun":
        return replace(cell, uncounted=WHY)
    calls = {"fdatasync": 40, "fsync": 0} if cell.runner == "python" else {"fsync": 1}
    syncs = Syncs.model_validate({"transactions": 10, "fdatasync": 0, "bytes": 312_960, **calls})
    return replace(cell, syncs=syncs)


def report_durability() -> Report:
    """Counted in its last case alone."""
    whole = synthetic.build(cases=12)
    *others, last = whole.cases
    return replace(whole, cases=[*others, replace(last, cells=list(map(told, last.cells)))])


def test_each_write_case_is_a_row() -> None:
    text = as_markdown(report_durability())
    section = text.partition("## Syncs per transaction: ")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    head, _, row = ([cell.strip(" `_") for cell in line.split("|")] for line in lines)
    of = dict(zip(head, row, strict=True))
    assert of["case"].startswith(report_durability().cases[-1].scenario)
    assert (of["node"], of["bun"], of["python"]) == ("0.1", "not counted", "4")


def test_a_terminal_has_it_in_80_columns() -> None:
    assert "Syncs per transaction" in as_text(report_durability())
    check_80_columns(report_durability())


@pytest.mark.usefixtures("node")
def test_the_page_says_it_of_the_case() -> None:
    page = "".join(cards(report_durability()))
    assert page.count("<h4>Made durable</h4>") == 1
    words = page.partition("<h4>Made durable</h4>")[2].partition("</p>")[0]
    assert "4 fdatasync, 31.3 kB per transaction: python" in words
    assert "not counted: no C compiler &lt;found&gt;: bun;" in words


@pytest.mark.usefixtures("node")
def test_reports_of_runs_in_which_it_was_not_counted_say_nothing() -> None:
    older = synthetic.build(cases=12)
    for text in (as_markdown(older), as_text(older), as_html(older), *cards(older)):
        assert "Syncs per transaction" not in text
        assert "Made durable" not in text


shares = st.floats(min_value=0, max_value=1)
blocks = st.builds(
    Block,
    st.integers(0, 99),
    st.none() | st.integers(1, 10**9),
    *[st.none() | shares] * 3,
    st.none() | st.floats(min_value=0, max_value=64),
    st.none() | st.booleans(),
)


@pytest.fixture(scope="module")
def by_title(small: Report) -> dict[str, view.Strip]:
    return {strip.title: strip for strip in view.strips(small, [])}


def test_what_cannot_be_read_says_so(by_title: dict[str, view.Strip]) -> None:
    assert (by_title["Throttled"].bars, by_title["Throttled"].said) == ("", "not readable here")
    assert by_title["I/O pressure"].said == "1.0 %; not readable here in 11 blocks"


def test_ranges_are_in_words(by_title: dict[str, view.Strip]) -> None:
    assert by_title["CPU stolen"].said == "0.0 % to 12.0 %"
    assert by_title["Load"].said == "0.40 to 1.90"
    assert by_title["Fixed work"].said == "41.0\u202fms to 46.3\u202fms"


def test_a_run_of_which_nothing_was_read_says_so(small: Report) -> None:
    section = parts.conditions_section(replace(small, blocks=[]), ["It finds 2 %."])
    assert (section.lead, section.sections) == (["It finds 2 %."], [])
    assert section.blocks == [
        Paragraph("Nothing was read of the machine between the blocks of this run.")
    ]


@given(st.lists(blocks, min_size=1, max_size=8))
def test_bars_stay_in_the_strip_and_the_table_holds_every_block(
    small: Report, drawn: list[Block]
) -> None:
    for reading in parts.READINGS:
        strip = view.strip(reading, drawn)
        tall = [float(v) for v in re.findall(r"v-([\d.e-]+)", strip.bars)]
        assert all(0 <= height <= view.HEIGHT for height in tall)
        assert (strip.bars == "") == all(reading.read(block) is None for block in drawn)
    (table,) = parts.conditions_section(replace(small, blocks=drawn), []).tables()
    assert len(table.rows) == len(drawn)


def test_a_drift_of_the_fixed_work_is_drawn_larger_than_it_is() -> None:
    fixed_work = parts.READINGS[0]
    first, second, none, last = view.heights(fixed_work, [100.0, 110.0, None, 105.0])
    assert (first, second, none) == (0.0, pytest.approx(1.0), None)
    assert last == pytest.approx(0.5)
    # A quiet machine is not made to look restless.
    assert view.heights(fixed_work, [100.0, 101.0])[1] == pytest.approx(0.01 / 0.05)


@given(st.lists(st.floats(0, 200), min_size=1, max_size=15))
def test_names_at_the_ends_of_lines_keep_their_order_and_do_not_overlap(ends: list[float]) -> None:
    places = drawings.spread(ends, 12, 200)
    order = sorted(range(len(ends)), key=ends.__getitem__)
    for above, below in pairwise(order):
        assert places[below] - places[above] >= drawings.LABEL - 1e-9
    assert max(places) <= 200


def test_each_line_has_its_name_at_its_end() -> None:
    (drawn,) = drawings.tail_panels(CASE, [])
    ends = [line.marks[-1][1] for line in drawn.lines]
    _, top, right, bottom = drawings.TAIL_BOX
    places = drawings.spread(ends, top, bottom)
    assert [line.named for line in drawn.lines] == [(right + 12, place) for place in places]


# The picture of p99 at each offered load.


def load(case: str, rate: float, *cells: Tail, **axes: str) -> Tails:
    carried = [replace(cell, rate=at(rate)) for cell in cells]
    return replace(CASE, case=case, title=case.partition("@")[0], axes=axes, cells=carried)


def test_p99_stands_at_its_offered_load_and_who_fell_behind_in_a_band_without_one() -> None:
    runners = synthetic.build(cases=4, blocks=10).runners
    tails = [
        load("reads@mix=a", 7_612.0, SLOW, LATE, FAST, mix="a"),
        load("reads@mix=b", 5_598.0, replace(SLOW, p99=at(2 * MS)), FAST, mix="b"),
        load("writes", 83.0, SLOW),
        load("writes@thread=main", 82.9, SLOW, thread="main"),
        replace(load("closed", 10.0, SLOW), planned=False),
    ]
    report = replace(synthetic.build(cases=4, blocks=10), tails=tails)
    wide, narrow = drawings.load_panels(report, runners)
    # the least load first, and of each panel its own words
    assert [text for _, text in wide.heads] == ["writes", "reads"]
    assert [text for _, text in wide.x_ticks] == [
        "83/s thread=main", "83/s ", f"5.6{fmt.THIN}k/s mix=b", f"7.6{fmt.THIN}k/s mix=a",
    ]  # fmt: skip
    assert [text for _, text in narrow.x_ticks] == [
        "83",
        "83",
        f"5.6{fmt.THIN}k",
        f"7.6{fmt.THIN}k",
    ]
    for panel in (wide, narrow):
        left, top, right, bottom = panel.box
        named = {line.label: line for line in panel.lines if line.label}
        assert sorted(named) == ["bun", "node", "rust"]
        # a line joins two loads of a scenario, and not two cases of one load
        joined = [len(line.points.split()) for line in panel.lines if line.hue == named["node"].hue]
        assert joined == [1, 2]
        (_, height), (_, above) = named["node"].marks  # 2 ms below 5 ms
        assert top < above < height < bottom
        # no latency counts of a load that was not carried
        assert (named["bun"].marks, named["bun"].points) == ([], "")
        assert panel.lost is not None
        assert all(top < y < panel.lost for _, y in named["bun"].beyond)
        assert all(panel.lost < y <= bottom for line in panel.lines for _, y in line.marks)
        places = [x for line in panel.lines for x, _ in line.marks + line.beyond]
        assert len({*places}) == len(places)
        assert all(left < x < right for x in places)
    page = as_html(report)
    first = page[: page.index("<main>")]
    assert first.count('aria-label="p99 latency of each runner at each offered load.') == 2
    assert first.count(">load lost<") == 2


def test_no_band_and_no_picture_without_a_lost_load_or_any_load() -> None:
    report = replace(synthetic.build(cases=4, blocks=10), tails=[load("reads", 100.0, SLOW, FAST)])
    assert [panel.lost for panel in drawings.load_panels(report, report.runners)] == [None, None]
    assert "load lost" not in as_html(report)
    closed = replace(report, tails=[replace(report.tails[0], planned=False)])
    assert build(closed).picture is None
    assert "offered load" not in as_html(closed)
