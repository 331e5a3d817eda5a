"""How each kind of chart is drawn: the template, and the view of its data that the template
shows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, hypot, log1p
from operator import attrgetter
from typing import Any, Literal

from pydantic_core import to_json

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.model import Chart, ChartKind, Document, Section
from sqlitmus.render.html import assets, charts, view
from sqlitmus.render.html.charts import Box, Line, Panel as LinePanel, Place, Scale, Tick
from sqlitmus.render.html.view import Look, looks, numbered
from sqlitmus.results.claims import Histograms, Latencies, Threads
from sqlitmus.results.report import Curve, Interval, Report, Runner, Scaling, Tail, Tails
from sqlitmus.vocabulary.text import counted

# As far above and below as an axis goes on, as a factor.
ROOM = 1.15


def upright(
    values: Iterable[float], label: Callable[[float], str], bottom: float, top: float
) -> tuple[Scale, list[Tick]]:
    """A logarithmic axis that holds the values, with some room, and its ticks."""
    least, *_, most = sorted(values) * 2
    low, high = least / ROOM, most * ROOM
    down = charts.log_scale(low, high, bottom, top)
    return down, [(down(value), label(value)) for value in charts.rate_ticks(low, high)]


def ends_of(interval: Interval) -> tuple[float, float]:
    """Its bounds, or its value twice."""
    return interval.low or interval.value, interval.high or interval.value


# Histograms.

HISTOGRAM_BOX = (8, 6, 242, 62)
BINS = 78
TICKS = 5


@dataclass(frozen=True, slots=True)
class Panel:
    """A histogram as the path of its bars; all of a table's have the same axis."""

    label: str
    runner: str
    bars: str
    ticks: list[Tick]
    said: str
    size: tuple[int, int] = (250, 84)
    box: Box = HISTOGRAM_BOX


def histogram_panels(histograms: Histograms, _runners: Sequence[Runner]) -> list[Panel]:
    """A panel for each cell; heights are logarithmic, so that a single operation can be seen."""
    if not histograms.cells:
        return []
    left, _, right, _ = HISTOGRAM_BOX
    low = max(1, min(cell.buckets[0][0] for cell in histograms.cells))
    high = max(low + 1, *(cell.buckets[-1][1] for cell in histograms.cells))
    if histograms.step is None:
        across = charts.log_scale(low / ROOM, high * ROOM, left, right)
        values = charts.rate_ticks(low, high)
    else:
        end = ceil(high / histograms.step) * histograms.step
        across = charts.linear(end, left, right)
        stride = ceil(end / histograms.step / TICKS)
        values = [histograms.step * n for n in range(0, round(end / histograms.step) + 1, stride)]
    ticks = [(across(value), fmt.duration(value) if value else "0") for value in values]
    return [
        Panel(cell.label, cell.runner, bars(cell, across), ticks, said(cell))
        for cell in histograms.cells
    ]


def bars(cell: Latencies, across: Scale) -> str:
    """The bars of one cell as an SVG path."""
    left, top, right, bottom = HISTOGRAM_BOX
    width = (right - left) / BINS
    bins = [0] * BINS
    for low, high, count in cell.buckets:
        place = int((across(max(1.0, (low + high) / 2)) - left) / width)
        bins[min(max(place, 0), BINS - 1)] += count
    most = log1p(max(bins))
    return "".join(
        f"M{left + place * width:g} {bottom}v{-(bottom - top) * log1p(count) / most:.1f}h{width:g}"
        f"V{bottom}z"
        for place, count in enumerate(bins)
        if count
    )


def said(cell: Latencies) -> str:
    """A histogram in words."""
    count = sum(count for *_, count in cell.buckets)
    ends = (fmt.duration(cell.buckets[0][0]), fmt.duration(cell.buckets[-1][1]))
    return f"{counted(count, 'operation')}, {ends[0]} to {ends[1]}"


# Percentile curves, and the size of a log or of memory over time; no markup.

TAIL_SIZE = (540, 240)
TAIL_BOX = (60, 12, 408, 200)
# Between two labels at the ends of lines.
LABEL = 12
# Shares of operations that take longer, and what such a place is called.
PLACES = ((0.5, "50 %"), (0.1, "90 %"), (0.01, "99 %"), (0.001, "99.9 %"), (0.0001, "99.99 %"))
# Of many buckets so many points are drawn: a curve through them misses none by half a pixel.
NEAR = 0.4


def tail_panels(case: Tails, runners: Sequence[Runner]) -> list[LinePanel]:
    """Latency over the share of operations that take longer, both logarithmic; none without
    histograms."""
    curves = [(place, cell.runner, steps(cell.buckets)) for place, cell in enumerate(case.cells)]
    drawn = [(place, name, curve) for place, name, curve in curves if curve]
    if not drawn:
        return []
    left, top, right, bottom = TAIL_BOX
    least = min(share for *_, curve in drawn for share, _ in curve)
    across = charts.log_scale(1.0, min(least, 0.1), left, right)
    times = (max(1.0, ns) for *_, curve in drawn for _, ns in curve)
    down, y_ticks = upright(times, fmt.duration, bottom, top)
    lines = [(place, name, points(curve, across, down)) for place, name, curve in drawn]
    x_ticks = [(across(share), text) for share, text in PLACES if share >= least]
    share = "share of operations that take at most so long"
    return [panel("Latency", lines, runners, x_ticks, y_ticks, share)]


def panel(
    what: str,
    curves: Sequence[tuple[int, str, list[Place]]],
    runners: Sequence[Runner],
    x_ticks: list[Tick],
    y_ticks: list[Tick],
    across: str,
) -> LinePanel:
    """A line for each cell's place, runner and points, marked and named at its end."""
    _, top, right, bottom = TAIL_BOX
    heights = spread([places[-1][1] for *_, places in curves], top, bottom)
    lines = [
        replace(
            plain(name, place, looks(runners)),
            points=charts.joined(places),
            marks=places[-1:],
            named=(right + 12, height),
        )
        for (place, name, places), height in zip(curves, heights, strict=True)
    ]
    words = f"{what} by {across}. The table has the numbers."
    return LinePanel(words, TAIL_SIZE, TAIL_BOX, lines, x_ticks, y_ticks, across, ruled=True)


def plain(runner: str, place: int, styles: Mapping[str, Look]) -> Line:
    """A runner's line, of which nothing is drawn yet."""
    look = styles.get(runner) or numbered(place)
    return Line(runner, look.hue, look.shape)


def spread(heights: Sequence[float], top: float, bottom: float) -> list[float]:
    """Where labels stand that belong at these heights, in order and `LABEL` or more from each
    other, above `bottom` as far as that leaves room."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    places = list(heights)
    for number, place in enumerate(order):
        places[place] = max(places[place], places[order[number - 1]] + LABEL if number else top)
    for number, place in reversed([*enumerate(order)]):
        below = bottom if number == len(order) - 1 else places[order[number + 1]] - LABEL
        places[place] = min(places[place], below)
    return places


def steps(buckets: Sequence[tuple[int, int, int]]) -> list[tuple[float, float]]:
    """(share of operations that take so long or longer, ns) of each bucket, shortest first."""
    total = sum(count for *_, count in buckets)
    left, curve = total, list[tuple[float, float]]()
    for low, high, count in buckets:
        curve.append((left / total, (low + high) / 2))
        left -= count
    return curve


def points(curve: Sequence[tuple[float, float]], across: Scale, down: Scale) -> list[Place]:
    """The points of a curve that a line through them needs: the others lie `NEAR` it."""
    places = [(across(share), down(max(1.0, ns))) for share, ns in curve]
    needed, waiting = places[:1], list[Place]()
    for place in places[1:]:
        if waiting and any(off(point, needed[-1], place) > NEAR for point in waiting):
            needed.append(waiting[-1])
            waiting = []
        waiting.append(place)
    return [*needed, *waiting[-1:]]


def off(point: Place, start: Place, end: Place) -> float:
    """How far a point lies from the line through two others, in px; from one if they are alike."""
    (x, y), (left, top), (right, bottom) = point, start, end
    wide, high = right - left, bottom - top
    length = hypot(wide, high)
    if not length:
        return hypot(x - left, y - top)
    return abs(wide * (y - top) - high * (x - left)) / length


def sizes(
    kind: Literal["wal", "resident"], what: str, case: Tails, runners: Sequence[Runner]
) -> list[LinePanel]:
    """A size over the time since the process started, both linear; none where nobody looked."""
    of: Callable[[Tail], list[tuple[float, int]]] = attrgetter(kind)
    logs = [(place, cell.runner, of(cell)) for place, cell in enumerate(case.cells) if of(cell)]
    if not logs:
        return []
    left, top, right, bottom = TAIL_BOX
    last = max(ms for *_, seen in logs for ms, _ in seen)
    most = max(1, *(size for *_, seen in logs for _, size in seen))
    across, down = charts.linear(last, left, right), charts.linear(most, bottom, top)
    lines = [
        (place, name, [(across(ms), down(size)) for ms, size in seen]) for place, name, seen in logs
    ]
    x_ticks = [(across(ms), fmt.duration(ms * 1e6)) for ms in charts.linear_ticks(0, last) if ms]
    y_ticks = [(down(size), fmt.size(size)) for size in charts.linear_ticks(0, most)]
    return [panel(what, lines, runners, x_ticks, y_ticks, "time since the process started")]


# p99 at each offered load: one panel for a desk, one for a phone; no markup.

Load = tuple[float, Tails]
Width = Literal["wide", "narrow"]
LOADS: dict[Width, tuple[tuple[int, int], Box]] = {
    "wide": ((1300, 210), (64, 20, 1150, 182)),
    "narrow": ((320, 300), (48, 8, 196, 272)),
}
# How high the band is for those who fell behind, who have no latency.
LOST = 22


def load_panels(report: Report, runners: Sequence[Runner]) -> list[LinePanel]:
    """p99 of every runner at each offered load, for a desk and for a phone; least load first."""
    families: dict[str, list[Load]] = {}
    for case in report.tails:
        if rate := case.offered:
            families.setdefault(case.title, []).append((rate, case))
    for family in families.values():
        family.sort(key=lambda load: load[0])
    ordered = sorted(families.values(), key=lambda family: family[0][0])
    return [loads_panel(ordered, look, runners) for look in LOADS] if ordered else []


def loads_panel(
    families: Sequence[Sequence[Load]], look: Width, runners: Sequence[Runner]
) -> LinePanel:
    """One of these panels; a runner's name stands beside its last mark."""
    size, box = LOADS[look]
    left, top, right, bottom = box
    loads = [load for family in families for load in family]
    cells = [cell for _, case in loads for cell in case.cells if cell.p99]
    ends = [ns for cell in cells if cell.p99 and not cell.late for ns in ends_of(cell.p99)] or [1.0]
    lost = top + LOST if any(cell.late for cell in cells) else None
    down = charts.log_scale(min(ends) / ROOM, max(ends) * ROOM, bottom, lost or top)
    width = (right - left) / len(loads)
    starts = {case.case: left + n * width for n, (_, case) in enumerate(loads)}
    lines: dict[str, list[Line]] = {}
    for place, runner in enumerate(runners):
        # beside each other, so that no mark hides another
        aside = width * (0.15 + 0.7 * (place + 0.5) / len(runners))
        across = {case: round(start + aside, 1) for case, start in starts.items()}
        line = plain(runner.name, place, looks(runners))
        mine = [loaded(line, family, across, down, top + LOST / 2) for family in families]
        if mine := [each for each in mine if each.marks or each.beyond]:
            lines[runner.name] = mine
    last = [(each[-1].marks or each[-1].beyond)[-1] for each in lines.values()]
    for mine, height in zip(lines.values(), spread([y for _, y in last], top, bottom), strict=True):
        mine[:-1] = [replace(each, label="") for each in mine[:-1]]
        mine[-1] = replace(mine[-1], named=(right + 8, height))
    wide = look == "wide"
    return LinePanel(
        "p99 latency of each runner at each offered load. Tables below have the numbers.",
        size,
        box,
        [each for mine in lines.values() for each in mine],
        [
            (starts[case.case] + width / 2, planned(rate) + f"/s {case.axes_text}" * wide)
            for rate, case in loads
        ],
        [(down(value), fmt.duration(value)) for value in charts.rate_ticks(min(ends), max(ends))],
        "offered load, operations a second",
        lost=lost,
        heads=[
            (starts[family[0][1].case] + len(family) * width / 2, family[0][1].title)
            for family in families
            if wide
        ],
        look=look,
        ruled=True,
    )


def loaded(
    line: Line, family: Sequence[Load], across: Mapping[str, float], down: Scale, lost: float
) -> Line:
    """The `line` over the loads of one scenario. It joins unequal loads only, for cases of an
    equal one are other work; who fell behind stands at the height of what is `lost`."""
    marks, beyond, joined, whiskers = list[Place](), list[Place](), dict[str, Place](), ""
    for rate, case in family:
        for cell in case.cells:
            x = across[case.case]
            if cell.runner != line.label or not cell.p99:
                continue
            if cell.late:
                beyond.append((x, lost))
                continue
            low, high = map(down, ends_of(cell.p99))
            joined[planned(rate)] = x, down(cell.p99.value)
            marks.append(joined[planned(rate)])
            whiskers += f"M{x:g} {low:g}V{high:g}"
    points = charts.joined([*joined.values()])
    return replace(line, points=points, marks=marks, beyond=beyond, whiskers=whiskers)


def planned(rate: float) -> str:
    """An offered load as it was planned: the ends of an iteration make it uneven."""
    return fmt.rate_label(float(f"{rate:.2g}"))


# Throughput over numbers of workers: a small panel per runtime; no markup.

SCALING_SIZE = (250, 190)
SCALING_BOX = (44, 12, 238, 160)


def scaling_panels(scaling: Scaling, runners: Sequence[Runner]) -> list[LinePanel]:
    """One for each runtime in order of appearance, on one pair of log axes for all of them."""
    curves = [curve for curve in scaling.curves if curve.points]
    if not curves:
        return []
    workers = sorted({point.workers for curve in curves for point in curve.points})
    ends = [end for curve in curves for point in curve.points for end in ends_of(point.rate)]
    left, top, right, bottom = SCALING_BOX
    across = charts.log_scale(workers[0], workers[-1], left + 10, right - 10)
    down, y_ticks = upright(ends, fmt.rate_label, bottom, top)
    styles = looks(runners)

    def line(curve: Curve) -> Line:
        marks = [(across(p.workers), down(p.rate.value)) for p in curve.points]
        lower = [(across(p.workers), down(ends_of(p.rate)[0])) for p in curve.points]
        upper = [(across(p.workers), down(ends_of(p.rate)[1])) for p in curve.points]
        ideal = _ideal(curve, workers[-1], max(ends) * ROOM)
        return replace(
            plain(curve.runner, 0, styles),
            points=charts.joined(marks),
            marks=marks,
            band=charts.joined(upper + lower[::-1]),
            ideal=charts.joined([(across(x), down(y)) for x, y in ideal]),
        )

    over = workers[-1] > scaling.cores
    shade = across(max(scaling.cores, workers[0])) if over else None
    runtimes = {runner.name: runner.runtime for runner in runners}
    return [
        LinePanel(
            f"Operations per second by number of workers in {runtime}. The table has the numbers.",
            SCALING_SIZE,
            SCALING_BOX,
            [line(curve) for curve in curves if runtimes[curve.runner] == runtime],
            [(across(count), str(count)) for count in workers],
            y_ticks,
            "workers",
            runtime,
            shade,
            "more workers than cores",
        )
        for runtime in dict.fromkeys(runtimes[curve.runner] for curve in curves)
    ]


def _ideal(curve: Curve, most: int, high: float) -> list[tuple[float, float]]:
    """Linear scaling, a straight line on these axes, to where the panel ends."""
    first = curve.points[0]
    end = min(float(most), first.workers * high / first.rate.value)
    rate = first.rate.value
    return [(float(first.workers), rate), (end, rate * end / first.workers)]


# Lines over a number of threads; no markup.

THREAD_SIZE = (340, 230)
THREAD_BOX = (52, 12, 328, 196)


def thread_panels(threads: Threads, _: Sequence[Runner]) -> list[LinePanel]:
    """One with both axes logarithmic; none without a point. What is beyond the cores, nothing
    joins."""
    points = [point for line in threads.lines for point in line.points]
    if not points:
        return []
    left, top, right, bottom = THREAD_BOX
    numbers = sorted({point.threads for point in points})
    across = charts.log_scale(numbers[0], numbers[-1], left + 12, right - 12)
    ends = [end for point in points for end in ends_of(point.value)]
    down, y_ticks = upright(ends, fmt.rate_label if threads.rates else fmt.duration, bottom, top)
    over = [point.threads for point in points if point.over]
    within = [point.threads for point in points if not point.over]
    shade = None
    if over:
        shade = (across(max(within)) + across(min(over))) / 2 if within else float(left)
    lines: list[Line] = []
    for place, line in enumerate(threads.lines):
        marks = [(across(p.threads), down(p.value.value), p.over) for p in line.points]
        inside, beyond = ([(x, y) for x, y, out in marks if out is side] for side in (False, True))
        drawn = replace(plain(line.label, place, {}), points=charts.joined(inside))
        lines.append(replace(drawn, marks=inside, beyond=beyond))
    return [
        LinePanel(
            f"{threads.title} by threads. The table below has the numbers.",
            THREAD_SIZE,
            THREAD_BOX,
            lines,
            [(across(number), str(number)) for number in numbers],
            y_ticks,
            "threads",
            shade=shade,
            shaded="more threads than cores",
        )
    ]


PANELS = "_panels.html.j2"
DRAWINGS: dict[ChartKind, tuple[str, Callable[[Any, Sequence[Runner]], object]]] = {
    "matrix": ("_matrix.html.j2", view.cases_view),
    "scatter": ("_scatter.html.j2", view.cases_view),
    "cases": ("_cases.html.j2", view.cases_view),
    "conditions": ("_strips.html.j2", view.strips),
    "histogram": ("_histogram.html.j2", histogram_panels),
    "scaling": (PANELS, scaling_panels),
    "threads": (PANELS, thread_panels),
    "loads": (PANELS, load_panels),
    "tails": (PANELS, tail_panels),
    "wal": (PANELS, partial(sizes, "wal", "Size of the write-ahead log")),
    "resident": (PANELS, partial(sizes, "resident", "Memory of the process")),
}
# These stand in for all of their section: the reader works with them.
WHOLE: tuple[ChartKind, ...] = ("matrix", "scatter", "cases")


# As many characters a folded part may take in the page itself.
SHORT = 1_000


class Drawn:
    """A document with the views of its charts; charts of the same data share one."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._views: dict[tuple[object, int], object] = {}
        self._folds: list[str] = []

    def view(self, chart: Chart) -> object:
        """What the chart's template shows."""
        _, make = DRAWINGS[chart.kind]
        key = (make, id(chart.data))
        if key not in self._views:
            self._views[key] = make(chart.data, self.document.runners)
        return self._views[key]

    def kept(self, part: str) -> int | None:
        """The place of a folded part among those in the page's data; None for one that is short."""
        if len(part) < SHORT:
            return None
        self._folds.append(part)
        return len(self._folds) - 1

    def packed(self, data: Mapping[str, object]) -> str:
        """The page's data, and with them the folded parts, which have to be drawn before."""
        return assets.packed(to_json({**data, "folds": self._folds}))

    def template(self, chart: Chart) -> str:
        """The name of the template that draws it; "" for one that is drawn within a table."""
        return DRAWINGS[chart.kind][0] if chart.kind in DRAWINGS else ""

    def whole(self, section: Section) -> list[Chart]:
        """The charts of a section that stand in for all of it."""
        return [chart for chart in section.charts if chart.kind in WHOLE]

    @property
    def begins_whole(self) -> bool:
        """Whether the first section is a chart that the reader works with."""
        return any(map(self.whole, self.document.sections[:1]))

    @property
    def worked(self) -> bool:
        """Whether the reader can choose a reference for the figures."""
        kinds = {c.kind for section in self.document.sections for c in section.charts}
        return "matrix" in kinds
