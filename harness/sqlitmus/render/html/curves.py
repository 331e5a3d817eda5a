"""Curves and histograms: latencies, percentiles, growth, throughput over workers and threads; no
markup.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log1p
from typing import Literal

from sqlitmus.render.document import format as fmt
from sqlitmus.render.html import charts
from sqlitmus.render.html.charts import Line, Place, Tick, numbered
from sqlitmus.render.html.charts import Panel as panels_Panel
from sqlitmus.render.html.view import Look, looks
from sqlitmus.results.claims import Histograms, Latencies, ThreadLine, Threads
from sqlitmus.results.report import Curve, Runner, Scaling, Tail, Tails
from sqlitmus.vocabulary.text import counted

HISTOGRAM_SIZE = (250, 84)
HISTOGRAM_BOX = (8, 6, 242, 62)
BINS = 78
TICKS = 5
# As far above and below as the axis goes on, as a factor.
HISTOGRAM_ROOM = 1.15


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
        across = charts.log_scale(low / HISTOGRAM_ROOM, high * HISTOGRAM_ROOM, left, right)
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
TAIL_SIZE = (420, 240)
TAIL_BOX = (60, 12, 408, 200)
# Shares of operations that take longer, and what such a place is called.
PLACES = ((0.5, "50 %"), (0.1, "90 %"), (0.01, "99 %"), (0.001, "99.9 %"), (0.0001, "99.99 %"))
# As far above and below as the axis goes on, as a factor.
TAIL_ROOM = 1.15
# Of many buckets so many points are drawn: neighbours of less than a pixel.
STEP = 0.5


def tail_panels(case: Tails, runners: Sequence[Runner]) -> list[panels_Panel]:
    """Latency over the share of operations that take longer, both logarithmic; none without
    histograms."""
    curves = [(place, cell, steps(cell.buckets)) for place, cell in enumerate(case.cells)]
    drawn = [(place, cell, curve) for place, cell, curve in curves if curve]
    if not drawn:
        return []
    left, top, right, bottom = TAIL_BOX
    least = min(share for *_, curve in drawn for share, _ in curve)
    low = max(1.0, min(ns for *_, curve in drawn for _, ns in curve)) / TAIL_ROOM
    high = max(ns for *_, curve in drawn for _, ns in curve) * TAIL_ROOM
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
) -> panels_Panel:
    """One of this module's panels."""
    words = f"{what} by {across}. The table has the numbers."
    return panels_Panel(words, TAIL_SIZE, TAIL_BOX, lines, x_ticks, y_ticks, across, ruled=True)


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
    """A curve's points, as far as they lie apart, and its end."""
    apart: list[Place] = []
    for share, ns in curve:
        at = (across(share), down(max(1.0, ns)))
        if not apart or abs(at[0] - apart[-1][0]) + abs(at[1] - apart[-1][1]) >= STEP:
            apart.append(at)
    return [*apart, (across(curve[-1][0]), down(max(1.0, curve[-1][1])))]


def line(runner: str, place: int, places: list[Place], styles: Mapping[str, Look]) -> Line:
    """A runner's line, marked at its end."""
    look = styles.get(runner)
    hue, shape = (look.hue, look.shape) if look else numbered(place)
    return Line(runner, hue, shape, charts.joined(places), places[-1:])


def log_sizes(case: Tails, runners: Sequence[Runner]) -> list[panels_Panel]:
    """The size of the write-ahead log over time."""
    return sizes(case, "wal", "Size of the write-ahead log", runners)


def memory_sizes(case: Tails, runners: Sequence[Runner]) -> list[panels_Panel]:
    """The process's memory over time."""
    return sizes(case, "resident", "Memory of the process", runners)


def sizes(
    case: Tails, kind: Literal["wal", "resident"], what: str, runners: Sequence[Runner]
) -> list[panels_Panel]:
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


# Throughput over numbers of workers: a small panel per runtime; no markup.


SCALING_SIZE = (250, 190)
SCALING_BOX = (44, 12, 238, 160)
# As far above and below as the axis goes on, as a factor.
SCALING_ROOM = 1.15


def scaling_panels(scaling: Scaling, runners: Sequence[Runner]) -> list[panels_Panel]:
    """One for each runtime in order of appearance, on one pair of log axes for all of them."""
    curves = [curve for curve in scaling.curves if curve.points]
    if not curves:
        return []
    points = [point for curve in curves for point in curve.points]
    workers = sorted({point.workers for point in points})
    low = min(point.rate.low or point.rate.value for point in points) / SCALING_ROOM
    high = max(point.rate.high or point.rate.value for point in points) * SCALING_ROOM
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
        panels_Panel(
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
# As far above and below as the axis goes on, as a factor.
THREAD_ROOM = 1.15


def thread_panels(threads: Threads, _: Sequence[Runner]) -> list[panels_Panel]:
    """One with both axes logarithmic; none without a point."""
    points = [point for line in threads.lines for point in line.points]
    if not points:
        return []
    left, top, right, bottom = THREAD_BOX
    numbers = sorted({point.threads for point in points})
    low = min(point.value.low or point.value.value for point in points) / THREAD_ROOM
    high = max(point.value.high or point.value.value for point in points) * THREAD_ROOM
    across = charts.log_scale(numbers[0], numbers[-1], left + 12, right - 12)
    down = charts.log_scale(low, high, bottom, top)
    over = [point.threads for point in points if point.over]
    within = [point.threads for point in points if not point.over]
    shade = None
    if over:
        shade = (across(max(within)) + across(min(over))) / 2 if within else float(left)
    label = fmt.rate_label if threads.rates else fmt.duration
    return [
        panels_Panel(
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
