"""Latencies under load, syncs of writes and the machine's conditions, as reports show them."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st
from syrupy.assertion import SnapshotAssertion

from sqlitmus.render.html import drawings
from sqlitmus.results.report import Tail, Tails
from tests.render import synthetic
from tests.render.printing import as_html, as_markdown, as_text, cards, check_80_columns, section
from tests.render.synthetic import Cell, Interval, Report

MS = 1e6
MIB = 2.0**20


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


def report(*tails: Tails) -> Report:
    return replace(synthetic.build(cases=4, blocks=10), tails=[*tails])


def test_a_section_golden(snapshot: SnapshotAssertion) -> None:
    leaks = tail("node", MS, growth=Interval(3 * MIB, MIB, 5 * MIB), resident=[(0.0, 1), (20.0, 9)])
    steady = tail("rust", MS, growth=Interval(MIB, -MIB, 3 * MIB), resident=[(0.0, 1), (20.0, 1)])
    all_figures = tail("bun", MS, busy=0.25, unfair=at(2.0), wal_most=at(4096.0), rate=at(5000.0))
    of = report(
        CASE,
        replace(CASE, case="grows", threads=3, cells=[leaks, steady]),
        replace(CASE, case="checkpoint", cells=[replace(all_figures, wal=[(0.0, 0), (9.0, 8192)])]),
        replace(CASE, case="bare", cores=None, threads=9, cells=[replace(FAST, buckets=[])]),
    )
    assert section(as_markdown(of), "Latencies under load") == snapshot
    page = as_html(of)
    drawn = re.findall(r'(?<=aria-label=")[^"]*(?= by (?:time|share))', page)
    memory, wal = "Memory of the process", "Size of the write-ahead log"
    assert drawn == ["Latency", "Latency", memory, "Latency", wal]
    for text in (page, as_text(of, 100)):
        assert "Latencies under load" in text
        assert "not compared with others" in " ".join(text.split())
    assert "Latencies under load" not in as_markdown(report())


@given(st.lists(st.floats(0, 200), min_size=1, max_size=15))
def test_names_at_the_ends_of_lines_keep_their_order_and_do_not_overlap(ends: list[float]) -> None:
    places = drawings.spread(ends, 12, 200)
    order = sorted(range(len(ends)), key=ends.__getitem__)
    for above, below in pairwise(order):
        assert places[below] - places[above] >= drawings.LABEL - 1e-9
    assert max(places) <= 200


# The picture of p99 at each offered load.


def load(case: str, rate: float, *cells: Tail, **axes: str) -> Tails:
    carried = [replace(cell, rate=at(rate)) for cell in cells]
    return replace(CASE, case=case, title=case.partition("@")[0], axes=axes, cells=carried)


def test_p99_stands_at_its_offered_load_and_who_fell_behind_in_a_band_without_one(
    snapshot: SnapshotAssertion,
) -> None:
    of = report(
        load("reads@mix=a", 7_612.0, SLOW, LATE, FAST, mix="a"),
        load("reads@mix=b", 5_598.0, replace(SLOW, p99=at(2 * MS)), FAST, mix="b"),
        load("writes", 83.0, SLOW),
        load("writes@thread=main", 82.9, SLOW, thread="main"),
        replace(load("closed", 10.0, SLOW), planned=False),
    )
    for panel in drawings.load_panels(of, of.runners):
        lines = [(line.label, line.points, line.marks, line.beyond) for line in panel.lines]
        drawn = [panel.box, panel.heads, panel.x_ticks, panel.y_ticks, panel.lost, *lines]
        assert "\n".join(map(str, drawn)) == snapshot(name=panel.look)
    first = as_html(of).partition("<main>")[0]
    assert first.count('aria-label="p99 latency of each runner at each offered load.') == 2
    assert first.count(">load lost<") == 2


def test_no_band_and_no_picture_without_a_lost_load_or_any_load() -> None:
    carried = load("reads", 100.0, SLOW, FAST)
    page = as_html(report(carried))
    assert "at each offered load" in page
    assert "load lost" not in page
    assert "offered load" not in as_html(report(replace(carried, planned=False)))


# Syncs of writes, counted in a report's last case alone.


def told(cell: Cell) -> Cell:
    """Counted, of a kind that its runner's name decides, or not counted."""
    if cell.runner == "bun":
        return replace(cell, uncounted="no C compiler <found>")
    calls = {"fdatasync": 40, "fsync": 0} if cell.runner == "python" else {"fsync": 1}
    return synthetic.durable(cell, transactions=10, bytes=312_960, **calls)


@pytest.fixture(scope="module")
def counted() -> Report:
    whole = synthetic.build(cases=12)
    *others, last = whole.cases
    return replace(whole, cases=[*others, replace(last, cells=list(map(told, last.cells)))])


def test_each_write_case_is_a_row(counted: Report) -> None:
    table = section(as_markdown(counted), "Syncs per transaction: ")
    lines = [line for line in table.splitlines() if line.startswith("|")]
    head, _, row = ([cell.strip(" `_") for cell in line.split("|")] for line in lines)
    of = dict(zip(head, row, strict=True))
    assert of["case"].startswith(counted.cases[-1].scenario)
    assert (of["node"], of["bun"], of["python"]) == ("0.1", "not counted", "4")
    assert "Syncs per transaction" in as_text(counted)
    check_80_columns(counted)
    assert "Syncs per transaction" not in as_text(synthetic.build(cases=12))


@pytest.mark.usefixtures("node")
def test_the_page_says_it_of_the_case(counted: Report) -> None:
    *others, page = cards(counted)
    assert "<h4>Made durable</h4>" not in "".join(others)
    words = page.partition("<h4>Made durable</h4>")[2].partition("</p>")[0]
    assert "4 fdatasync, 31.3 kB per transaction: python" in words
    assert "not counted: no C compiler &lt;found&gt;: bun;" in words


def test_what_was_read_of_the_machine_is_told_and_what_could_not_be(small: Report) -> None:
    page = as_html(small)
    drawn = r'<p class="strip"><b>(.*?)</b>(.*?)<span>(.*?)</span></p>'
    strips = {title: (bars, said) for title, bars, said in re.findall(drawn, page, re.DOTALL)}
    assert "<path" not in strips["Throttled"][0]
    assert {title: said for title, (_, said) in strips.items()} == {
        "Fixed work": "41.0\u202fms to 46.3\u202fms",
        "CPU stolen": "0.0 % to 12.0 %",
        "CPU pressure": "1.0 % to 20.0 %",
        "Load": "0.40 to 1.90",
        "I/O pressure": "1.0 %; not readable here in 11 blocks",
        "Throttled": "not readable here",
    }
    unread = as_html(replace(small, blocks=[]))
    assert "Nothing was read of the machine between the blocks of this run." in unread
