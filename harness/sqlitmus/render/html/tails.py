"""Percentile curves, and the size of a log or of memory over time; no markup."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from sqlitmus.render.document import format as fmt
from sqlitmus.render.html import charts
from sqlitmus.render.html.look import Look, looks
from sqlitmus.render.html.panels import Line, Panel, Place, Tick, numbered
from sqlitmus.results.report import Runner
from sqlitmus.results.tails import Tail, Tails

Sizes = list[tuple[float, int]]
SIZE = (420, 240)
BOX = (60, 12, 408, 200)
# Shares of operations that take longer, and what such a place is called.
PLACES = ((0.5, "50 %"), (0.1, "90 %"), (0.01, "99 %"), (0.001, "99.9 %"), (0.0001, "99.99 %"))
# As far above and below as the axis goes on, as a factor.
ROOM = 1.15
# Of many buckets so many points are drawn: neighbours of less than a pixel.
STEP = 0.5


def panels(case: Tails, runners: Sequence[Runner]) -> list[Panel]:
    """Latency over the share of operations that take longer, both logarithmic; none without
    histograms."""
    curves = [(place, cell, steps(cell.buckets)) for place, cell in enumerate(case.cells)]
    drawn = [(place, cell, curve) for place, cell, curve in curves if curve]
    if not drawn:
        return []
    left, top, right, bottom = BOX
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
) -> Panel:
    """One of this module's panels."""
    words = f"{what} by {across}. The table has the numbers."
    return Panel(words, SIZE, BOX, lines, x_ticks, y_ticks, across, ruled=True)


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


def log_sizes(case: Tails, runners: Sequence[Runner]) -> list[Panel]:
    """The size of the write-ahead log over time."""
    return sizes(case, "wal", "Size of the write-ahead log", runners)


def memory_sizes(case: Tails, runners: Sequence[Runner]) -> list[Panel]:
    """The process's memory over time."""
    return sizes(case, "resident", "Memory of the process", runners)


def sizes(
    case: Tails, kind: Literal["wal", "resident"], what: str, runners: Sequence[Runner]
) -> list[Panel]:
    """A size over the time since the process started, both linear; none where nobody looked."""
    looked: list[tuple[int, Tail, Sizes]] = [
        (place, cell, getattr(cell, kind)) for place, cell in enumerate(case.cells)
    ]
    logs = [(place, cell, seen) for place, cell, seen in looked if seen]
    if not logs:
        return []
    left, top, right, bottom = BOX
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
