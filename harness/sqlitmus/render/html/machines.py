"""Geometry of the picture of a comparison on several machines; no markup."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlitmus.render.html import charts
from sqlitmus.results.machines import Answer, Pooled, Row
from sqlitmus.results.report import Interval

WIDTH = 150
STEP = 6
TIGHT = 3
MANY = 12


@dataclass(frozen=True, slots=True)
class Drawing:
    """A row's picture as SVG paths: (side, bars, points), then (next machine, mean) per kind."""

    height: int
    sides: list[tuple[str, str, str]]
    means: list[tuple[str, str]]


def axis(rows: Sequence[Row]) -> charts.RatioAxis:
    """One axis for a group, as wide as its estimates need, at most to 4 times to both sides."""
    values = [Interval(a.ratio.value, None, None) for row in rows for a in row.answers if a.ratio]
    tight = charts.ratio_axis(values, WIDTH, charts.FOREST_PAD)
    low, high = max(tight.low, 1 / charts.GLYPH_RATIO), min(tight.high, charts.GLYPH_RATIO)
    return charts.RatioAxis(low, high, WIDTH, charts.FOREST_PAD)


def drawing(answers: Sequence[Answer], pooled: Sequence[Pooled], axis: charts.RatioAxis) -> Drawing:
    """All machines' intervals below each other, then each kind's mean as a diamond."""
    step = STEP if len(answers) <= MANY else TIGHT
    sides: dict[str, tuple[str, str]] = {}
    y = step
    for answer in answers:
        if answer.ratio is not None and answer.verdict is not None:
            side = "em" if answer.emulated else answer.verdict.style
            bars, points = sides.get(side, ("", ""))
            bar, point = _mark(axis.mark(answer.ratio), y, axis.width)
            sides[side] = bars + bar, points + point
        y += step
    means: list[tuple[str, str]] = []
    for mean in pooled:
        means.append(_diamond(axis.mark(mean.ratio), axis.mark(mean.next), y, axis.width))
        y += STEP
    return Drawing(y, [(side, *paths) for side, paths in sides.items()], means)


def _mark(mark: charts.Mark, y: int, width: int) -> tuple[str, str]:
    """An interval and its estimate; one beyond the axis is an arrow head."""
    if mark.over:
        end = width - 2 if mark.over > 0 else 2
        return f"M{end - 4 * mark.over} {y - 2}l{4 * mark.over} 2l{-4 * mark.over} 2", ""
    return f"M{mark.left:g} {y}H{mark.right:g}", f"M{mark.centre:g} {y}h0"


def _diamond(mean: charts.Mark, further: charts.Mark, y: int, width: int) -> tuple[str, str]:
    """Where the next machine would lie, and the mean; a mean beyond the axis is half of it, which
    points there."""
    if mean.over:
        end = width - 1 if mean.over > 0 else 1
        back = end - 5 * mean.over
        return (
            f"M{further.left:g} {y}H{further.right:g}",
            f"M{back} {y - 3}L{end} {y}L{back} {y + 3}z",
        )
    left, right = min(mean.left, mean.centre - 2), max(mean.right, mean.centre + 2)
    return (
        f"M{further.left:g} {y}H{further.right:g}",
        f"M{left:g} {y}L{mean.centre:g} {y - 2.5}L{right:g} {y}L{mean.centre:g} {y + 2.5}z",
    )
