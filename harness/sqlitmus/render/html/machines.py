"""The merged page as its template sees it: rows as markup, the forest of each as one picture."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlitmus.render.document import machines as mergedwords
from sqlitmus.render.document import symbols as words
from sqlitmus.render.html import charts
from sqlitmus.render.html.view import Pair, sentence, varying_axes
from sqlitmus.results.machines import Answer, MergedReport, Row
from sqlitmus.results.report import Interval

WIDTH = 150
STEP = 6
TIGHT = 3
MANY = 12
# What all rows may take of the page, in bytes; the machines' own pages get the rest.
ROOM = 1_500_000
# About as much as a row takes without its machines, and with each of them.
ROW, ANSWER = 700, 240


@dataclass(frozen=True, slots=True)
class Drawing:
    """A row's picture as SVG paths: (side, bars, points), then (next machine, mean) per kind."""

    height: int
    sides: list[tuple[str, str, str]]
    means: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class RowView:
    """A row, the axes that tell it from its like, its word, a style class per answer, and its
    picture."""

    row: Row
    axes: list[Pair]
    said: str
    styles: list[str]
    drawing: Drawing


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group's rows: those that say something, and the others with their count in words."""

    name: str
    title: str
    axis: charts.RatioAxis
    rows: list[RowView]
    count: str
    folded: list[RowView]


@dataclass(frozen=True, slots=True)
class HoldsView:
    """All groups, and what was left out."""

    groups: list[GroupView]
    left_out: str


def holds(report: MergedReport, room: int = ROOM) -> HoldsView:
    """The table "Does it hold?" as far as it fits into `room` bytes."""
    varying = varying_axes(report.rows)
    axes = {group: axis([r for r in report.rows if r.group == group]) for group in report.groups}
    kept, rest = mergedwords.chosen(report.rows, room, size)
    groups: list[GroupView] = []
    for group in report.groups:
        mine = [row for row in kept if row.group == group]
        shown = [row for row in mine if not mergedwords.folded(row)]
        folded = [row for row in mine if mergedwords.folded(row)]
        views = (
            [row_view(row, varying[row.scenario], axes[group]) for row in rows]
            for rows in (shown, folded)
        )
        if mine:
            groups.append(
                GroupView(
                    group,
                    sentence(group),
                    axes[group],
                    next(views),
                    mergedwords.count(folded),
                    next(views),
                )
            )
    return HoldsView(groups, mergedwords.left_out(rest, report))


def size(row: Row) -> int:
    """About how many bytes a row takes."""
    return ROW + ANSWER * len(row.answers)


def axis(rows: Sequence[Row]) -> charts.RatioAxis:
    """One axis for a group, as wide as its estimates need, at most to 4 times to both sides."""
    found = [Interval(a.ratio.value, None, None) for row in rows for a in row.answers if a.ratio]
    tight = charts.ratio_axis(found, WIDTH, charts.FOREST_PAD)
    low, high = max(tight.low, 1 / charts.GLYPH_RATIO), min(tight.high, charts.GLYPH_RATIO)
    return charts.RatioAxis(low, high, WIDTH, charts.FOREST_PAD)


def row_view(row: Row, varying: list[str], axis: charts.RatioAxis) -> RowView:
    """One row."""
    return RowView(
        row,
        [(name, row.axes[name]) for name in varying if name in row.axes],
        mergedwords.said(row),
        [answer_style(answer) for answer in row.answers],
        drawing(row, axis),
    )


def answer_style(answer: Answer) -> str:
    """The style class of one machine's ratio."""
    if answer.ratio is None or answer.verdict is None:
        return "na"
    return "em" if answer.emulated else words.shade(answer.verdict, answer.ratio.value)


def drawing(row: Row, axis: charts.RatioAxis) -> Drawing:
    """All machines' intervals below each other, then each kind's mean as a diamond."""
    step = STEP if len(row.answers) <= MANY else TIGHT
    sides: dict[str, tuple[str, str]] = {}
    y = step
    for answer in row.answers:
        if answer.ratio is not None and answer.verdict is not None:
            side = "em" if answer.emulated else answer.verdict.style
            bars, points = sides.get(side, ("", ""))
            bar, point = _mark(axis.mark(answer.ratio), y, axis.width)
            sides[side] = bars + bar, points + point
        y += step
    means: list[tuple[str, str]] = []
    for mean in row.pooled:
        means.append(_diamond(axis.mark(mean.ratio), axis.mark(mean.next), y))
        y += STEP
    return Drawing(y, [(side, *paths) for side, paths in sides.items()], means)


def _mark(mark: charts.Mark, y: int, width: int) -> tuple[str, str]:
    """An interval and its estimate; one beyond the axis is an arrow head."""
    if mark.over:
        end = width - 2 if mark.over > 0 else 2
        return f"M{end - 4 * mark.over} {y - 2}l{4 * mark.over} 2l{-4 * mark.over} 2", ""
    return f"M{mark.left:g} {y}H{mark.right:g}", f"M{mark.centre:g} {y}h0"


def _diamond(mean: charts.Mark, further: charts.Mark, y: int) -> tuple[str, str]:
    """Where the next machine would lie, and the mean."""
    left, right = min(mean.left, mean.centre - 2), max(mean.right, mean.centre + 2)
    return (
        f"M{further.left:g} {y}H{further.right:g}",
        f"M{left:g} {y}L{mean.centre:g} {y - 2.5}L{right:g} {y}L{mean.centre:g} {y + 2.5}z",
    )
