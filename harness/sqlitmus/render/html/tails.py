"""Geometry of percentile curves and of a log's size over time: numbers in, lines and ticks out; no
markup."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlitmus.render.document import format as fmt
from sqlitmus.render.html import charts
from sqlitmus.results.tails import Tail, Tails

Sizes = list[tuple[float, int]]
SIZE = (420, 240)
BOX = (60, 12, 408, 200)
LOOKS = 6
# Shares of operations that take longer, and what such a place is called.
PLACES = ((0.5, "50 %"), (0.1, "90 %"), (0.01, "99 %"), (0.001, "99.9 %"), (0.0001, "99.99 %"))
# As far above and below as the axis goes on, as a factor.
ROOM = 1.15
# Of many buckets so many points are drawn: neighbours of less than a pixel.
STEP = 0.5


@dataclass(frozen=True, slots=True)
class Drawn:
    """One runner's curve as SVG points, with its end."""

    runner: str
    look: int
    shape: int
    points: str
    end: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Panel:
    """Ticks are (position, text); `across` says what the horizontal axis is."""

    lines: list[Drawn]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    across: str = "share of operations that take at most so long"


def panel(case: Tails) -> Panel | None:
    """Latency over the share of operations that take longer, both logarithmic; None without
    histograms."""
    curves = [(place, cell, steps(cell.buckets)) for place, cell in enumerate(case.cells)]
    drawn = [(place, cell, curve) for place, cell, curve in curves if curve]
    if not drawn:
        return None
    left, top, right, bottom = BOX
    least = min(share for *_, curve in drawn for share, _ in curve)
    low = max(1.0, min(ns for *_, curve in drawn for _, ns in curve)) / ROOM
    high = max(ns for *_, curve in drawn for _, ns in curve) * ROOM
    across = charts.log_scale(1.0, min(least, 0.1), left, right)
    down = charts.log_scale(low, high, bottom, top)
    return Panel(
        [line(place, cell, curve, across, down) for place, cell, curve in drawn],
        [(across(share), text) for share, text in PLACES if share >= least],
        [(down(value), fmt.duration(value)) for value in charts.rate_ticks(low, high)],
    )


def steps(buckets: Sequence[tuple[int, int, int]]) -> list[tuple[float, float]]:
    """(share of operations that take so long or longer, ns) of each bucket, shortest first."""
    total = sum(count for *_, count in buckets)
    left, curve = total, list[tuple[float, float]]()
    for low, high, count in buckets:
        curve.append((left / total, (low + high) / 2))
        left -= count
    return curve


def line(
    place: int,
    cell: Tail,
    curve: Sequence[tuple[float, float]],
    across: Callable[[float], float],
    down: Callable[[float], float],
) -> Drawn:
    """One curve with the look of its runner's place."""
    points: list[tuple[float, float]] = []
    for share, ns in curve:
        at = (across(share), down(max(1.0, ns)))
        if not points or abs(at[0] - points[-1][0]) + abs(at[1] - points[-1][1]) >= STEP:
            points.append(at)
    last = (across(curve[-1][0]), down(max(1.0, curve[-1][1])))
    joined = charts.joined([*points, last])
    return Drawn(cell.runner, place % LOOKS, place // LOOKS, joined, last)


def sizes(case: Tails, kind: Literal["wal", "resident"]) -> Panel | None:
    """The size of the write-ahead log, or of the process's memory, over the time since the process
    started, both linear; None where nobody looked at it."""
    looks: list[tuple[int, Tail, Sizes]] = [
        (place, cell, getattr(cell, kind)) for place, cell in enumerate(case.cells)
    ]
    logs = [(place, cell, seen) for place, cell, seen in looks if seen]
    if not logs:
        return None
    left, top, right, bottom = BOX
    last = max(ms for *_, seen in logs for ms, _ in seen)
    most = max(1, *(size for *_, seen in logs for _, size in seen))
    across, down = charts.linear(last, left, right), charts.linear(most, bottom, top)
    lines: list[Drawn] = []
    for place, cell, seen in logs:
        points = [(across(ms), down(size)) for ms, size in seen]
        look, shape = place % LOOKS, place // LOOKS
        lines.append(Drawn(cell.runner, look, shape, charts.joined(points), points[-1]))
    return Panel(
        lines,
        [(across(ms), fmt.duration(ms * 1e6)) for ms in charts.linear_ticks(0, last) if ms],
        [(down(size), fmt.size(size)) for size in charts.linear_ticks(0, most)],
        "time since the process started",
    )
