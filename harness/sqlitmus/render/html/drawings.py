"""How each kind of chart is drawn: the template, and the view of its data that the template
shows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, hypot, log1p
from typing import Any, Literal

from pydantic_core import to_json

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.model import Chart, ChartKind, Document, Section
from sqlitmus.render.document.suite import offered, tails_axes
from sqlitmus.render.html import assets, charts, view
from sqlitmus.render.html.charts import Line, Place, Tick, numbered
from sqlitmus.render.html.charts import Panel as LinePanel
from sqlitmus.render.html.view import Look, looks
from sqlitmus.results.claims import Histograms, Latencies, ThreadLine, Threads
from sqlitmus.results.report import Curve, Interval, Report, Runner, Scaling, Tail, Tails
from sqlitmus.vocabulary.text import counted

HISTOGRAM_SIZE = (250, 84)
HISTOGRAM_BOX = (8, 6, 242, 62)
BINS = 78
TICKS = 5
# As far above and below as an axis goes on, as a factor.
ROOM = 1.15


@dataclass(frozen=True, slots=True)
class Panel:
    """A histogram as the path of its bars; all of a table's have the same axis."""

    label: str
    runner: str
    bars: str
    ticks: list[tuple[float, str]]
    said: str
    size: tuple[int, int] = HISTOGRAM_SIZE
    box: tuple[int, int, int, int] = HISTOGRAM_BOX


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


def bars(cell: Latencies, across: Callable[[float], float]) -> str:
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


Sizes = list[tuple[float, int]]
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
    curves = [(place, cell, steps(cell.buckets)) for place, cell in enumerate(case.cells)]
    drawn = [(place, cell, curve) for place, cell, curve in curves if curve]
    if not drawn:
        return []
    left, top, right, bottom = TAIL_BOX
    least = min(share for *_, curve in drawn for share, _ in curve)
    low = max(1.0, min(ns for *_, curve in drawn for _, ns in curve)) / ROOM
    high = max(ns for *_, curve in drawn for _, ns in curve) * ROOM
    across = charts.log_scale(1.0, min(least, 0.1), left, right)
    down = charts.log_scale(low, high, bottom, top)
    styles = looks(runners)
    lines = [
        line(cell.runner, place, points(curve, across, down), styles)
        for place, cell, curve in drawn
    ]
    x_ticks = [(across(share), text) for share, text in PLACES if share >= least]
    y_ticks = [(down(value), fmt.duration(value)) for value in charts.rate_ticks(low, high)]
    return [
        panel("Latency", lines, x_ticks, y_ticks, "share of operations that take at most so long")
    ]


def panel(
    what: str, lines: list[Line], x_ticks: list[Tick], y_ticks: list[Tick], across: str
) -> LinePanel:
    """One of this module's panels, each line named beside its end."""
    _, top, right, bottom = TAIL_BOX
    heights = spread([each.marks[-1][1] for each in lines], top, bottom)
    lines = [
        replace(each, named=(right + 12, height))
        for each, height in zip(lines, heights, strict=True)
    ]
    words = f"{what} by {across}. The table has the numbers."
    return LinePanel(words, TAIL_SIZE, TAIL_BOX, lines, x_ticks, y_ticks, across, ruled=True)


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


def points(
    curve: Sequence[tuple[float, float]],
    across: Callable[[float], float],
    down: Callable[[float], float],
) -> list[Place]:
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


def line(runner: str, place: int, places: list[Place], styles: Mapping[str, Look]) -> Line:
    """A runner's line, marked at its end."""
    look = styles.get(runner)
    hue, shape = (look.hue, look.shape) if look else numbered(place)
    return Line(runner, hue, shape, charts.joined(places), places[-1:])


def log_sizes(case: Tails, runners: Sequence[Runner]) -> list[LinePanel]:
    """The size of the write-ahead log over time."""
    return sizes(case, "wal", "Size of the write-ahead log", runners)


def memory_sizes(case: Tails, runners: Sequence[Runner]) -> list[LinePanel]:
    """The process's memory over time."""
    return sizes(case, "resident", "Memory of the process", runners)


def sizes(
    case: Tails, kind: Literal["wal", "resident"], what: str, runners: Sequence[Runner]
) -> list[LinePanel]:
    """A size over the time since the process started, both linear; none where nobody looked."""
    looked: list[tuple[int, Tail, Sizes]] = [
        (place, cell, getattr(cell, kind)) for place, cell in enumerate(case.cells)
    ]
    logs = [(place, cell, seen) for place, cell, seen in looked if seen]
    if not logs:
        return []
    left, top, right, bottom = TAIL_BOX
    last = max(ms for *_, seen in logs for ms, _ in seen)
    most = max(1, *(size for *_, seen in logs for _, size in seen))
    across, down = charts.linear(last, left, right), charts.linear(most, bottom, top)
    styles = looks(runners)
    lines = [
        line(cell.runner, place, [(across(ms), down(size)) for ms, size in seen], styles)
        for place, cell, seen in logs
    ]
    x_ticks = [(across(ms), fmt.duration(ms * 1e6)) for ms in charts.linear_ticks(0, last) if ms]
    y_ticks = [(down(size), fmt.size(size)) for size in charts.linear_ticks(0, most)]
    return [panel(what, lines, x_ticks, y_ticks, "time since the process started")]


# p99 at each offered load: one panel for a desk, one for a phone; no markup.


Load = tuple[float, Tails]
LOADS: dict[Literal["wide", "narrow"], tuple[tuple[int, int], tuple[int, int, int, int]]] = {
    "wide": ((1300, 210), (64, 20, 1150, 182)),
    "narrow": ((320, 300), (48, 8, 196, 272)),
}
# How high the band is for those who fell behind, who have no latency.
LOST = 22


def load_panels(report: Report, runners: Sequence[Runner]) -> list[LinePanel]:
    """p99 of every runner at each offered load, for a desk and for a phone; least load first."""
    families: dict[str, list[Load]] = {}
    for case in report.tails:
        if rate := offered(case):
            families.setdefault(case.title, []).append((rate, case))
    for family in families.values():
        family.sort(key=lambda load: load[0])
    ordered = sorted(families.values(), key=lambda family: family[0][0])
    return [loads_panel(ordered, look, runners) for look in LOADS] if ordered else []


def loads_panel(
    families: Sequence[Sequence[Load]], look: Literal["wide", "narrow"], runners: Sequence[Runner]
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
        plain = line(runner.name, place, [(0.0, 0.0)], looks(runners))
        mine = [loaded(plain, family, across, down, top + LOST / 2) for family in families]
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
            (starts[case.case] + width / 2, planned(rate) + f"/s {tails_axes(case)}" * wide)
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
    plain: Line,
    family: Sequence[Load],
    across: Mapping[str, float],
    down: Callable[[float], float],
    lost: float,
) -> Line:
    """The `plain` line over the loads of one scenario. It joins unequal loads only, for cases of an
    equal one are other work; who fell behind stands at the height of what is `lost`."""
    marks, beyond, joined, whiskers = list[Place](), list[Place](), dict[str, Place](), ""
    for rate, case in family:
        for cell in case.cells:
            x = across[case.case]
            if cell.runner != plain.label or not cell.p99:
                continue
            if cell.late:
                beyond.append((x, lost))
                continue
            low, high = map(down, ends_of(cell.p99))
            joined[planned(rate)] = x, down(cell.p99.value)
            marks.append(joined[planned(rate)])
            whiskers += f"M{x:g} {low:g}V{high:g}"
    points = charts.joined([*joined.values()])
    return replace(plain, points=points, marks=marks, beyond=beyond, whiskers=whiskers)


def ends_of(interval: Interval) -> tuple[float, float]:
    """Its bounds, or its value twice."""
    return interval.low or interval.value, interval.high or interval.value


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
    points = [point for curve in curves for point in curve.points]
    workers = sorted({point.workers for point in points})
    low = min(point.rate.low or point.rate.value for point in points) / ROOM
    high = max(point.rate.high or point.rate.value for point in points) * ROOM
    left, top, right, bottom = SCALING_BOX
    across = charts.log_scale(workers[0], workers[-1], left + 10, right - 10)
    down = charts.log_scale(low, high, bottom, top)
    styles = looks(runners)

    def line(curve: Curve) -> Line:
        marks = [(across(p.workers), down(p.rate.value)) for p in curve.points]
        upper = [(across(p.workers), down(p.rate.high or p.rate.value)) for p in curve.points]
        lower = [(across(p.workers), down(p.rate.low or p.rate.value)) for p in curve.points]
        look = styles[curve.runner]
        return Line(
            curve.runner,
            look.hue,
            look.shape,
            charts.joined(marks),
            marks,
            band=charts.joined(upper + lower[::-1]),
            ideal=charts.joined(
                [(across(x), down(y)) for x, y in _ideal(curve, workers[-1], high)]
            ),
        )

    shade = None
    if workers[-1] > scaling.cores:
        shade = across(max(scaling.cores, workers[0]))
    runtimes = {runner.name: runner.runtime for runner in runners}
    return [
        LinePanel(
            f"Operations per second by number of workers in {runtime}. The table has the numbers.",
            SCALING_SIZE,
            SCALING_BOX,
            [line(curve) for curve in curves if runtimes[curve.runner] == runtime],
            [(across(count), str(count)) for count in workers],
            [(down(value), fmt.rate_label(value)) for value in charts.rate_ticks(low, high)],
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
    """One with both axes logarithmic; none without a point."""
    points = [point for line in threads.lines for point in line.points]
    if not points:
        return []
    left, top, right, bottom = THREAD_BOX
    numbers = sorted({point.threads for point in points})
    low = min(point.value.low or point.value.value for point in points) / ROOM
    high = max(point.value.high or point.value.value for point in points) * ROOM
    across = charts.log_scale(numbers[0], numbers[-1], left + 12, right - 12)
    down = charts.log_scale(low, high, bottom, top)
    over = [point.threads for point in points if point.over]
    within = [point.threads for point in points if not point.over]
    shade = None
    if over:
        shade = (across(max(within)) + across(min(over))) / 2 if within else float(left)
    label = fmt.rate_label if threads.rates else fmt.duration
    return [
        LinePanel(
            f"{threads.title} by threads. The table below has the numbers.",
            THREAD_SIZE,
            THREAD_BOX,
            [drawn(place, line, across, down) for place, line in enumerate(threads.lines)],
            [(across(number), str(number)) for number in numbers],
            [(down(value), label(value)) for value in charts.rate_ticks(low, high)],
            "threads",
            shade=shade,
            shaded="more threads than cores",
        )
    ]


def drawn(
    place: int, line: ThreadLine, across: Callable[[float], float], down: Callable[[float], float]
) -> Line:
    """One line with the look of its place in the table; what is beyond the cores, nothing joins."""
    marks = [(across(p.threads), down(p.value.value), p.over) for p in line.points]
    inside = [(x, y) for x, y, over in marks if not over]
    beyond = [(x, y) for x, y, over in marks if over]
    return Line(line.label, *numbered(place), charts.joined(inside), inside, beyond)


@dataclass(frozen=True, slots=True)
class Drawing:
    """`whole` stands in for all of its section: the reader works with it."""

    template: str
    view: Callable[[Any, Sequence[Runner]], object]
    whole: bool = False


DRAWINGS: dict[ChartKind, Drawing] = {
    "matrix": Drawing("_matrix.html.j2", view.cases_view, whole=True),
    "scatter": Drawing("_scatter.html.j2", view.cases_view, whole=True),
    "cases": Drawing("_cases.html.j2", view.cases_view, whole=True),
    "conditions": Drawing("_strips.html.j2", view.strips),
    "histogram": Drawing("_histogram.html.j2", histogram_panels),
    "scaling": Drawing("_panels.html.j2", scaling_panels),
    "threads": Drawing("_panels.html.j2", thread_panels),
    "loads": Drawing("_panels.html.j2", load_panels),
    "tails": Drawing("_panels.html.j2", tail_panels),
    "wal": Drawing("_panels.html.j2", log_sizes),
    "resident": Drawing("_panels.html.j2", memory_sizes),
}


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
        make = DRAWINGS[chart.kind].view
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
        return "matrix" in kinds
