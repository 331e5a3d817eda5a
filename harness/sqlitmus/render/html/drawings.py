"""How each kind of chart is drawn: the template, and the view of its data that the template
shows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.model import Chart, ChartKind, Document, Section
from sqlitmus.render.document.parts import (
    CPU_PRESSURE,
    IO_PRESSURE,
    LOAD,
    PROBE,
    STEAL,
    THROTTLED,
    UNREADABLE,
    Reading,
)
from sqlitmus.render.document.symbols import side
from sqlitmus.render.html import charts, curves, view
from sqlitmus.render.html.assets import sentence
from sqlitmus.render.html.view import DASH, UNITY, Pair
from sqlitmus.results.notices import Block
from sqlitmus.results.report import Report, Runner, Standing
from sqlitmus.vocabulary.text import counted
from sqlitmus.vocabulary.verdicts import Verdict

WIDTH = 10
HEIGHT = 30
# Less than these full heights would make a quiet machine look restless.
LEAST_PROBE = 0.05
LEAST_SHARE = 0.05
LEAST_LOAD = 1.0
Heights = Callable[[Sequence[float | None]], list[float | None]]


@dataclass(frozen=True, slots=True)
class Strip:
    """One reading over the blocks: bars as an SVG path, "" where it was never read, and its range
    in words."""

    title: str
    bars: str
    said: str


@dataclass(frozen=True, slots=True)
class Strips:
    """All of them, `width` px wide."""

    width: int
    strips: list[Strip]


def strips(report: Report, _: Sequence[Runner]) -> Strips:
    """The strips of a report's blocks."""
    drawn = [strip(reading, heights, report.blocks) for reading, heights in DRAWN]
    return Strips(len(report.blocks) * WIDTH, drawn)


def strip(reading: Reading, heights: Heights, blocks: Sequence[Block]) -> Strip:
    """Bars of one reading and its range."""
    values = [reading.read(block) for block in blocks]
    read = [value for value in values if value is not None]
    if not read:
        return Strip(reading.title, "", UNREADABLE)
    bars = "".join(
        f"M{place * WIDTH + 1} {HEIGHT}v{-HEIGHT * height:.4g}h{WIDTH - 2}V{HEIGHT}"
        for place, height in enumerate(heights(values))
        if height
    )
    low, high = reading.written(min(read)), reading.written(max(read))
    span = low if low == high else f"{low} to {high}"
    unread = len(values) - len(read)
    if unread:
        span += f"; {UNREADABLE} in {counted(unread, 'block')}"
    return Strip(reading.title, bars or f"M0 {HEIGHT}", span)


def over_fastest(values: Sequence[float | None]) -> list[float | None]:
    """Height by how much longer than the fastest, so that a drift of a few percent can be seen."""
    read = [value for value in values if value is not None]
    least = min(read)
    top = max(max(read) / least - 1, LEAST_PROBE)
    return [None if value is None else (value / least - 1) / top for value in values]


def from_zero(least: float) -> Heights:
    """Height in proportion to the largest value, or to `least` if that is larger."""

    def heights(values: Sequence[float | None]) -> list[float | None]:
        top = max([least, *(value for value in values if value is not None)])
        return [None if value is None else value / top for value in values]

    return heights


DRAWN: tuple[tuple[Reading, Heights], ...] = (
    (PROBE, over_fastest),
    (STEAL, from_zero(LEAST_SHARE)),
    (CPU_PRESSURE, from_zero(LEAST_SHARE)),
    (IO_PRESSURE, from_zero(LEAST_SHARE)),
    (LOAD, from_zero(LEAST_LOAD)),
    (THROTTLED, from_zero(1.0)),
)


# Standings by group as the template of the summary sees them.


BAR_WIDTH = 120
WITHOUT = "without result"
# What a standing counts: its words, its sign, and its style class; in the order of `embed`.
COUNTS = (
    ("faster", Verdict.MATERIALLY_FASTER.symbol, "t-faster"),
    ("slower", Verdict.MATERIALLY_SLOWER.symbol, "t-slower"),
    ("equivalent", Verdict.EQUIVALENT.symbol, "t-equivalent"),
    ("not resolved", Verdict.NOT_RESOLVED.symbol, "t-unresolved"),
    (WITHOUT, "\u2205", "t-not_ok"),
)


@dataclass(frozen=True, slots=True)
class StandingView:
    """A runner in a group: its mean ratio, where that lies, and its cases as (kind, sign, count).

    `bar` is the same as (style class, x, width) in px; both are empty for the reference.
    """

    runner: int
    name: str
    style: str
    ratio: Pair
    mark: charts.Mark | None
    counts: list[tuple[str, str, int]]
    bar: list[tuple[str, float, float]]

    @property
    def signs(self) -> str:
        """ "3▲ 1?": what occurs."""
        return " ".join(f"{count}{sign}" for _, sign, count in self.counts if count)

    @property
    def words(self) -> str:
        """The same in words; cases without a result only where there are any."""
        return ", ".join(
            f"{count} {kind}" for kind, _, count in self.counts if count or kind != WITHOUT
        )


@dataclass(frozen=True, slots=True)
class SummaryGroup:
    """A group's standings against the report's reference, smallest estimate first."""

    name: str
    title: str
    cases: int
    axis: charts.RatioAxis
    rows: list[StandingView]


def summary(report: Report, _: Sequence[Runner]) -> list[SummaryGroup]:
    """Standings by group, as far as there are any for the report's reference."""
    places = {runner.name: place for place, runner in enumerate(report.runners)}
    groups: list[SummaryGroup] = []
    for group in report.groups:
        mine = [s for s in report.standings if s.group == group and s.reference == report.reference]
        if not mine:
            continue
        ratios = [s.ratio for s in mine if s.ratio]
        axis = charts.ratio_axis(ratios, charts.SUMMARY_WIDTH, charts.FOREST_PAD)
        cases = max(s.cases for s in mine)
        mine.append(Standing(report.reference, report.reference, group, UNITY, 0, 0, 0, 0, 0, 0))
        mine.sort(key=lambda s: s.ratio.value if s.ratio else float("inf"))
        rows = [standing(s, places[s.runner], axis) for s in mine if s.runner in places]
        groups.append(SummaryGroup(group, sentence(group), cases, axis, rows))
    return groups


def standing(s: Standing, place: int, axis: charts.RatioAxis) -> StandingView:
    """One runner in one group."""
    if s.runner == s.reference:
        return StandingView(place, s.runner, "base", ("1×", "reference"), axis.mark(UNITY), [], [])
    numbers = (s.faster, s.slower, s.equivalent, s.unresolved, s.not_ok)
    counts = [(kind, sign, n) for (kind, sign, _), n in zip(COUNTS, numbers, strict=True)]
    if s.ratio is None:
        ratio, style, mark = (DASH, "not compared"), "un", None
    else:
        ratio, style, mark = fmt.ratio(s.ratio), side(s), axis.mark(s.ratio)
    return StandingView(place, s.runner, style, ratio, mark, counts, segments(numbers))


def segments(counts: tuple[int, ...]) -> list[tuple[str, float, float]]:
    """A stacked bar as (style class, x, width) in px."""
    total = sum(counts) or 1
    parts: list[tuple[str, float, float]] = []
    place = 0.0
    for (_, _, style), count in zip(COUNTS, counts, strict=True):
        width = BAR_WIDTH * count / total
        if count:
            parts.append((style, round(place, 1), round(width, 1)))
        place += width
    return parts


# How each kind of chart is drawn: the template, and the view of its data that the template shows.


@dataclass(frozen=True, slots=True)
class Drawing:
    """`whole` stands in for all of its section: the reader works with it."""

    template: str
    view: Callable[[Any, Sequence[Runner]], object]
    whole: bool = False


DRAWINGS: dict[ChartKind, Drawing] = {
    "summary": Drawing("_summary.html.j2", summary, whole=True),
    "matrix": Drawing("_matrix.html.j2", view.cases_view, whole=True),
    "scatter": Drawing("_scatter.html.j2", view.cases_view, whole=True),
    "cases": Drawing("_cases.html.j2", view.cases_view, whole=True),
    "conditions": Drawing("_strips.html.j2", strips),
    "histogram": Drawing("_histogram.html.j2", curves.histogram_panels),
    "scaling": Drawing("_panels.html.j2", curves.scaling_panels),
    "threads": Drawing("_panels.html.j2", curves.thread_panels),
    "tails": Drawing("_panels.html.j2", curves.tail_panels),
    "wal": Drawing("_panels.html.j2", curves.log_sizes),
    "resident": Drawing("_panels.html.j2", curves.memory_sizes),
}


class Drawn:
    """A document with the views of its charts; charts of the same data share one."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._views: dict[tuple[object, int], object] = {}

    def view(self, chart: Chart) -> object:
        """What the chart's template shows."""
        make = DRAWINGS[chart.kind].view
        key = (make, id(chart.data))
        if key not in self._views:
            self._views[key] = make(chart.data, self.document.runners)
        return self._views[key]

    def template(self, chart: Chart) -> str:
        """The name of the template that draws it; "" for one that is drawn within a table."""
        drawing = DRAWINGS.get(chart.kind)
        return drawing.template if drawing else ""

    def whole(self, section: Section) -> list[Chart]:
        """The charts of a section that stand in for all of it."""
        return [
            chart
            for chart in section.charts
            if chart.kind in DRAWINGS and DRAWINGS[chart.kind].whole
        ]

    @property
    def begins_whole(self) -> bool:
        """Whether the first section is a chart that the reader works with."""
        return any(map(self.whole, self.document.sections[:1]))

    @property
    def worked(self) -> bool:
        """Whether the reader can choose a reference for the figures."""
        kinds = {c.kind for section in self.document.sections for c in section.charts}
        return bool(kinds & {"summary", "matrix"})
