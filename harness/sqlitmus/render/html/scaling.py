"""Throughput over numbers of workers: a small panel per runtime; no markup."""

from collections.abc import Sequence

from sqlitmus.render.document import format as fmt
from sqlitmus.render.html import charts
from sqlitmus.render.html.look import looks
from sqlitmus.render.html.panels import Line, Panel
from sqlitmus.results.curves import Curve, Scaling
from sqlitmus.results.report import Runner

SIZE = (250, 190)
BOX = (44, 12, 238, 160)
# As far above and below as the axis goes on, as a factor.
ROOM = 1.15


def panels(scaling: Scaling, runners: Sequence[Runner]) -> list[Panel]:
    """One for each runtime in order of appearance, on one pair of log axes for all of them."""
    curves = [curve for curve in scaling.curves if curve.points]
    if not curves:
        return []
    points = [point for curve in curves for point in curve.points]
    workers = sorted({point.workers for point in points})
    low = min(point.rate.low or point.rate.value for point in points) / ROOM
    high = max(point.rate.high or point.rate.value for point in points) * ROOM
    left, top, right, bottom = BOX
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
        Panel(
            f"Operations per second by number of workers in {runtime}. The table has the numbers.",
            SIZE,
            BOX,
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
