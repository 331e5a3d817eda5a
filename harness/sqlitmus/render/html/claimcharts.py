"""Geometry of the charts of claims: numbers in, coordinates and ticks out; no markup."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log, log1p

from sqlitmus.render.document import format as fmt
from sqlitmus.render.html import charts
from sqlitmus.results.claims import Histograms, Latencies, ThreadLine, Threads
from sqlitmus.vocabulary.nouns import counted

SIZE = (340, 230)
BOX = (52, 12, 328, 196)
LOOKS = 6
SHAPES = 4
BARS = (250, 84)
BARS_BOX = (8, 6, 242, 62)
BINS = 78
TICKS = 5
# As far above and below as the axis goes on, as a factor.
ROOM = 1.15


@dataclass(frozen=True, slots=True)
class Drawn:
    """A line: joined points, all marks, and those beyond the cores, which nothing joins."""

    label: str
    look: int
    shape: int
    points: str
    marks: list[tuple[float, float]]
    beyond: list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class ThreadsPanel:
    """Ticks are (position, text); `shade` is x from which threads are more than cores."""

    lines: list[Drawn]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    shade: float | None


@dataclass(frozen=True, slots=True)
class BarsPanel:
    """A histogram as the path of its bars; all of a table's have the same axis."""

    label: str
    runner: str
    bars: str
    ticks: list[tuple[float, str]]
    said: str


def threads_panel(found: Threads) -> ThreadsPanel | None:
    """Both axes logarithmic; None without a point."""
    points = [point for one in found.lines for point in one.points]
    if not points:
        return None
    left, top, right, bottom = BOX
    numbers = sorted({point.threads for point in points})
    low = min(point.value.low or point.value.value for point in points) / ROOM
    high = max(point.value.high or point.value.value for point in points) * ROOM
    across = scale(numbers[0], numbers[-1], left + 12, right - 12)
    down = scale(low, high, bottom, top)
    over = [point.threads for point in points if point.over]
    within = [point.threads for point in points if not point.over]
    shade = None
    if over:
        shade = (across(max(within)) + across(min(over))) / 2 if within else float(left)
    label = fmt.rate_label if found.rates else fmt.duration
    return ThreadsPanel(
        [drawn(place, one, across, down) for place, one in enumerate(found.lines)],
        [(across(number), str(number)) for number in numbers],
        [(down(value), label(value)) for value in charts.rate_ticks(low, high)],
        shade,
    )


def drawn(
    place: int, line: ThreadLine, across: Callable[[float], float], down: Callable[[float], float]
) -> Drawn:
    """One line with the look of its place in the table."""
    marks = [(across(p.threads), down(p.value.value), p.over) for p in line.points]
    inside = [(x, y) for x, y, over in marks if not over]
    beyond = [(x, y) for x, y, over in marks if over]
    shape = place // LOOKS % SHAPES
    return Drawn(line.label, place % LOOKS, shape, charts.joined(inside), inside, beyond)


def scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """Values from `low` to `high` to px from `start` to `end`, logarithmic, to a tenth."""
    span = log(high / low) or 1.0
    return lambda value: round(start + log(value / low) / span * (end - start), 1)


def linear(top: float, start: float, end: float) -> Callable[[float], float]:
    """Values from 0 to `top` to px from `start` to `end`, to a tenth."""
    return lambda value: round(start + value / top * (end - start), 1)


def bars_panels(found: Histograms) -> list[BarsPanel]:
    """A panel for each cell; heights are logarithmic, so that a single operation can be seen."""
    if not found.cells:
        return []
    left, _, right, _ = BARS_BOX
    low = max(1, min(cell.buckets[0][0] for cell in found.cells))
    high = max(low + 1, *(cell.buckets[-1][1] for cell in found.cells))
    if found.step is None:
        across = scale(low / ROOM, high * ROOM, left, right)
        values = charts.rate_ticks(low, high)
    else:
        end = ceil(high / found.step) * found.step
        across = linear(end, left, right)
        stride = ceil(end / found.step / TICKS)
        values = [found.step * n for n in range(0, round(end / found.step) + 1, stride)]
    ticks = [(across(value), fmt.duration(value) if value else "0") for value in values]
    return [
        BarsPanel(cell.label, cell.runner, bars(cell, across), ticks, said(cell))
        for cell in found.cells
    ]


def bars(cell: Latencies, across: Callable[[float], float]) -> str:
    """The bars of one cell as an SVG path."""
    left, top, right, bottom = BARS_BOX
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
