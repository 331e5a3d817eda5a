"""Lines over a number of threads; no markup."""

from collections.abc import Callable, Sequence

from sqlitmus.render.document import format as fmt
from sqlitmus.render.html import charts
from sqlitmus.render.html.panels import Line, Panel, numbered
from sqlitmus.results.claims import ThreadLine, Threads
from sqlitmus.results.report import Runner

SIZE = (340, 230)
BOX = (52, 12, 328, 196)
# As far above and below as the axis goes on, as a factor.
ROOM = 1.15


def panels(threads: Threads, _: Sequence[Runner]) -> list[Panel]:
    """One with both axes logarithmic; none without a point."""
    points = [point for line in threads.lines for point in line.points]
    if not points:
        return []
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
    return [
        Panel(
            f"{threads.title} by threads. The table below has the numbers.",
            SIZE,
            BOX,
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
