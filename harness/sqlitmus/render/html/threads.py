"""Geometry of lines over a number of threads: numbers in, coordinates and ticks out; no markup."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlitmus.render.document import format as fmt
from sqlitmus.render.html import charts
from sqlitmus.results.claims import ThreadLine, Threads

SIZE = (340, 230)
BOX = (52, 12, 328, 196)
LOOKS = 6
SHAPES = 4
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
class Panel:
    """Ticks are (position, text); `shade` is x from which threads are more than cores."""

    lines: list[Drawn]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    shade: float | None


def panel(threads: Threads) -> Panel | None:
    """Both axes logarithmic; None without a point."""
    points = [point for line in threads.lines for point in line.points]
    if not points:
        return None
    left, top, right, bottom = BOX
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
    return Panel(
        [drawn(place, line, across, down) for place, line in enumerate(threads.lines)],
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
