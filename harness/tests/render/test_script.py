"""The page's modules in Node: they must say what the Python side says."""

from math import exp
from random import Random
from typing import Any, cast

import pytest

from sqlitmus.render.document import format as fmt, symbols
from sqlitmus.render.html import charts
from tests.render import synthetic
from tests.render.printing import data_of, page_of, run
from tests.render.synthetic import Interval

pytestmark = pytest.mark.usefixtures("node")


def triples(count: int = 400) -> list[list[float | None]]:
    random = Random(7)
    found: list[list[float | None]] = []
    for _ in range(count):
        value, half = exp(random.uniform(-2, 24)), exp(random.uniform(-8, -0.5))
        found.append([value, value * (1 - half), value * (1 + half)])
    return [*found, [1.0, None, None], [999.7, 999.6, 999.8], [12.5e6, 12.5e6, 12.5e6]]


def test_numbers_read_alike_on_both_sides() -> None:
    given = triples()
    sizes = [0.0, 1.0, 1023.9, 1024.0, 34.1e6, 2.5e9, 9.9e12]
    counts = [0.0, 0.0034, 1.0, 12.25, 40_000.0]
    shares = [0.0, 0.00123, 0.25, 1.0]
    code = (
        "[given[0].map((t) => [time(t), ratio(t), rate(t), signedTime(t.map((x) => x && -x))]),"
        " given[1].map(size), given[2].map(count), given[3].map(share)]"
    )
    theirs = run("format", code, [given, sizes, counts, shares])
    ours: list[list[list[str]]] = []
    for value, low, high in given:
        assert value is not None
        one = Interval(value, low, high)
        minus = Interval(-value, low and -low, high and -high)
        written = fmt.time(one), fmt.ratio(one), fmt.rate(one), fmt.difference(minus)
        ours.append([*map(list, written)])
    rest = [[*map(fmt.size, sizes)], [*map(fmt.count, counts)], [*map(fmt.share, shares)]]
    assert theirs == [ours, *rest]


def test_a_figure_is_compared_with_the_reference_and_judged_only_against_the_reports_own() -> None:
    item = {
        "outcomes": "kkkf",
        "figures": {"peak_rss": [100.0, 150.0, None, None]},
        "judged": {"peak_rss": [[None, 405465, None, None], [], [], " S  "]},
    }
    words = {"S": "materially more"}
    data = {
        "reference": 0,
        "figures": [["peak_rss", "peak_rss_bytes", "bytes", "Peak memory", words]],
        "verdicts": {"S": ["materially slower", "▼", "s", "F"]},
    }
    state = {"figure": "peak_rss", "view": "", "unit": "", "ref": "a"}
    code = (
        "[[1, 0], [0, 0], [0, 1], [2, 0], [3, 0]].map(([runner, reference]) => {"
        " const shown = figureReading(given[0], given[1], runner, reference, given[2]);"
        " return shown && [shown.cls, shown.text, shown.words]; })"
    )
    assert run("format data figures", code, [data, item, state]) == [
        ["s2", "1.50×", "materially more"],
        ["base", "100\u202fB", "reference"],
        ["un", "0.667×", "no verdict"],
        ["un", "–", "not measured"],
        None,
    ]


def test_who_still_warms_up_stays_marked_against_any_reference() -> None:
    why = "still warming up: its second half took 11.0 % less time than its first"
    item = {
        "outcomes": "kk",
        "time": [[1.0, 2.0]] * 3,
        "apart": {"1": ["still warming up", why]},
        "verdicts": " ",
    }
    code = "[0, 1].map((of) => reading(given, given.cases[0], 1, of, {}))"
    for shown in cast("list[Any]", run("data format markup svg matrix", code, {"cases": [item]})):
        assert (shown["words"], shown["apart"]) == (why, "still warming up")


def test_ratio_axes_and_their_ticks_are_alike() -> None:
    random = Random(3)
    groups = [[exp(random.gauss(0, 1)) for _ in range(5)] for _ in range(100)]
    given = [[(v, v * 0.97, v * 1.03) for v in group] for group in groups]
    data = {"forest": [240, 16, charts.LABEL_GAP], "steps": charts.RATIO_STEPS}
    code = (
        "given[0].map((all) => { const a = ratioAxis(all, given[1]);"
        " return [a.low, a.high, a.ticks]; })"
    )
    axes = [charts.ratio_axis([Interval(*each) for each in group], 240) for group in given]
    ours = [[axis.low, axis.high, [*map(list, axis.ticks())]] for axis in axes]
    assert run("markup svg", code, [given, data]) == ours


def test_pairs_shades_and_further_sessions_are_alike() -> None:
    report = synthetic.build(cases=14, sessions=3)
    names = [runner.name for runner in report.runners]
    both = [(i, c) for i, case in enumerate(report.cases) for c in case.comparisons]
    assert len(both) > 500
    asked = [[i, names.index(c.runner), names.index(c.reference)] for i, c in both]
    code = (
        "(spreadOut(given[0]), given[1]).map(([c, r, o]) => {"
        " const x = comparison(given[0], given[0].cases[c], r, o);"
        " return [[x.verdict, x.shade, x.symbol, x.blocks, x.needs], x.ratio, x.next]; })"
    )
    theirs = run("data", code, [data_of(page_of(report)), asked])
    for (_, c), (words, *ratios) in zip(both, cast("list[Any]", theirs), strict=True):
        shade = symbols.shade(c.verdict, c.ratio.value)
        assert words == [c.verdict, shade, c.verdict.symbol, c.blocks, c.needs_blocks]
        for own, found in zip((c.ratio, c.next), ratios, strict=True):
            assert own is not None
            assert found == pytest.approx((own.value, own.low, own.high), rel=2e-6)


CELL = {
    "id": "all@rows=100,profile=shipped", "scenario": "all", "bound": "mapping",
    "group": "reads", "axes": {"rows": "100", "profile": "shipped"},
}  # fmt: skip
RUNNER = ["bun-better-sqlite3", "Bun", "bun", "better-sqlite3", "runner"]
HITS = """
 ,all,ALL,-get-pk,rows:100,-rows:10,runtime:bun rows:100,bun-better,bound:mapping,
-python profile:shipped,driver:better-sqlite3,shipped/bun,-
"""
MISSES = "get-pk,rows:10,-rows:100,runtime:bun rows:10,runner:bun,nokey:1,group:"


def test_the_filter_reads_as_on_the_command_line() -> None:
    code = "given[0].filter((text) => matches(parse(text), facts(given[1], given[2])))"
    hits = [text.strip() for text in HITS.split(",")]
    assert run("filter", code, [[*hits, *MISSES.split(",")], CELL, RUNNER]) == hits


def test_the_address_holds_only_what_differs_and_ignores_what_it_does_not_know() -> None:
    data = {"runners": [["node"], ["bun"]], "reference": 0}
    choices = {"ref": ["node", "bun"], "case": [], "sort": ["case"], "group": ["reads"],
               "profile": [], "runner": []}  # fmt: skip
    code = (
        "(() => { const [data, choices] = given; const none = write(defaults(data), data);"
        ' const one = { ...defaults(data), ref: "bun", group: ["reads"], decided: true };'
        " const back = read(write(one, data), data, choices);"
        ' const odd = read("#ref=evil&group=reads~x&zz=1&theme=pink", data, choices);'
        " return [none, JSON.stringify(back.state) === JSON.stringify(one), odd.state.ref,"
        " odd.state.group, odd.unknown]; })()"
    )
    unknown = ["ref=evil", "x", "zz=1", "theme=pink"]
    assert run("state", code, [data, choices]) == ["", True, "node", ["reads"], unknown]


def test_csv_quotes_and_disarms_formulas() -> None:
    line = run("export", "csvLine(given)", ['a"b', "x,y", "=1+1", -3, None, "plain"])
    assert line == '"a""b","x,y",\'=1+1,-3,,plain\r\n'
