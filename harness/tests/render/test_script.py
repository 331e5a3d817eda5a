"""The page's modules in Node: they must say what the Python side says."""

import json
from math import exp
from random import Random
from typing import Any, cast

import pytest

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import symbols
from sqlitmus.render.html import charts, embed
from sqlitmus.results.report import Interval
from tests.render import synthetic
from tests.render.printing import run

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
    code = "given.map((t) => [time(t), ratio(t), rate(t), signedTime(t.map((x) => x && -x))])"
    theirs = run("format", code, given)
    ours: list[list[object]] = []
    for value, low, high in given:
        assert value is not None
        one = Interval(value, low, high)
        minus = Interval(-value, low and -low, high and -high)
        ours.append([list(f) for f in (fmt.time(one), fmt.ratio(one), fmt.rate(one))])
        ours[-1].append(list(fmt.difference(minus)))
    assert theirs == ours


def test_sizes_counts_and_shares_read_alike_on_both_sides() -> None:
    sizes = [0.0, 1.0, 1023.9, 1024.0, 34.1e6, 2.5e9, 9.9e12]
    counts = [0.0, 0.0034, 1.0, 12.25, 40_000.0]
    shares = [0.0, 0.00123, 0.25, 1.0]
    code = "[given[0].map(size), given[1].map(count), given[2].map(share)]"
    theirs = run("format", code, [sizes, counts, shares])
    assert theirs == [
        [fmt.size(x) for x in sizes],
        [fmt.count(x) for x in counts],
        [fmt.share(x) for x in shares],
    ]


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
    given = [
        [[v, v * 0.97, v * 1.03] for v in (exp(random.gauss(0, 1)) for _ in range(5))]
        for _ in range(100)
    ]
    data = {"forest": [240, 16, charts.LABEL_GAP], "steps": charts.RATIO_STEPS}
    code = (
        "given[0].map((all) => { const a = ratioAxis(all, given[1]);"
        " return [a.low, a.high, a.ticks]; })"
    )
    theirs = run("markup svg", code, [given, data])
    ours: list[list[object]] = []
    for group in given:
        axis = charts.ratio_axis([Interval(*triple) for triple in group], 240)
        ours.append([axis.low, axis.high, [list(tick) for tick in axis.ticks()]])
    assert theirs == ours


def test_pairs_shades_and_further_sessions_are_alike() -> None:
    report = synthetic.build(cases=14, sessions=3)
    data = json.loads(json.dumps(embed.page_data(report)))
    names = [runner.name for runner in report.runners]
    both = [(i, c) for i, case in enumerate(report.cases) for c in case.comparisons]
    asked = [[i, names.index(c.runner), names.index(c.reference)] for i, c in both]
    code = (
        "(spreadOut(given[0]), given[1]).map(([c, r, o]) => {"
        " const x = comparison(given[0], given[0].cases[c], r, o);"
        " return [[x.verdict, x.shade, x.symbol, x.blocks, x.needs], x.ratio, x.next]; })"
    )
    theirs = cast("list[list[Any]]", run("data", code, [data, asked]))
    for (i, c), (words, ratio, further) in zip(both, theirs, strict=True):
        shade = symbols.shade(c.verdict, c.ratio.value)
        assert words == [c.verdict, shade, c.verdict.symbol, c.blocks, c.needs_blocks]
        assert ratio[1] <= ratio[0] <= ratio[2], report.cases[i].id
        assert c.next is not None
        assert further == pytest.approx((c.next.value, c.next.low, c.next.high), rel=2e-6)


CELL = {
    "id": "all@rows=100,profile=shipped", "scenario": "all", "bound": "mapping",
    "group": "reads", "axes": {"rows": "100", "profile": "shipped"},
}  # fmt: skip
RUNNER = ["bun-better-sqlite3", "Bun", "bun", "better-sqlite3", "runner"]


@pytest.mark.parametrize(
    ("text", "hit"),
    [
        ("", True), ("all", True), ("ALL", True), ("get-pk", False), ("-get-pk", True),
        ("rows:100", True), ("rows:10", False), ("-rows:10", True), ("-rows:100", False),
        ("runtime:bun rows:100", True), ("runtime:bun rows:10", False), ("bun-better", True),
        ("runner:bun", False), ("bound:mapping", True), ("nokey:1", False),
        ("-python profile:shipped", True), ("driver:better-sqlite3", True), ("shipped/bun", True),
        ("-", True), ("group:", False),
    ],
)  # fmt: skip
def test_the_filter_reads_as_on_the_command_line(text: str, hit: bool) -> None:
    code = "matches(parse(given[0]), facts(given[1], given[2]))"
    assert run("filter", code, [text, CELL, RUNNER]) is hit


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
