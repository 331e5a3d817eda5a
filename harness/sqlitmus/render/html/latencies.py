"""Geometry of histograms of latencies: buckets in, bars as a path and ticks out; no markup."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log1p

from sqlitmus.render.document import format as fmt
from sqlitmus.render.html import charts
from sqlitmus.results.claims import Histograms, Latencies
from sqlitmus.results.report import Runner
from sqlitmus.vocabulary.nouns import counted

SIZE = (250, 84)
BOX = (8, 6, 242, 62)
BINS = 78
TICKS = 5
# As far above and below as the axis goes on, as a factor.
ROOM = 1.15


@dataclass(frozen=True, slots=True)
class Panel:
    """A histogram as the path of its bars; all of a table's have the same axis."""

    label: str
    runner: str
    bars: str
    ticks: list[tuple[float, str]]
    said: str
    size: tuple[int, int] = SIZE
    box: tuple[int, int, int, int] = BOX


def panels(histograms: Histograms, _runners: Sequence[Runner]) -> list[Panel]:
    """A panel for each cell; heights are logarithmic, so that a single operation can be seen."""
    if not histograms.cells:
        return []
    left, _, right, _ = BOX
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
    left, top, right, bottom = BOX
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
