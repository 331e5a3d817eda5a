"""The column of pictures in a table: its axis, and what is drawn in each row; no markup."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlitmus.render.document.model import Chart, Table
from sqlitmus.render.document.model import Row as model_Row
from sqlitmus.render.html import charts
from sqlitmus.results.machines import Answer, MergedReport, Pooled, Row
from sqlitmus.results.ranking import Speedup
from sqlitmus.results.report import Interval, Report

MACHINE_WIDTH = 150
STEP = 6
TIGHT = 3
MANY = 12


@dataclass(frozen=True, slots=True)
class MachineDrawing:
    """A row's picture as SVG paths: (side, bars, points), then (next machine, mean) per kind."""

    height: int
    sides: list[tuple[str, str, str]]
    means: list[tuple[str, str]]


def machine_axis(rows: Sequence[Row]) -> charts.RatioAxis:
    """One axis for a group, as wide as its estimates need, at most to 4 times to both sides."""
    values = [Interval(a.ratio.value, None, None) for row in rows for a in row.answers if a.ratio]
    tight = charts.ratio_axis(values, MACHINE_WIDTH, charts.FOREST_PAD)
    low, high = max(tight.low, 1 / charts.GLYPH_RATIO), min(tight.high, charts.GLYPH_RATIO)
    return charts.RatioAxis(low, high, MACHINE_WIDTH, charts.FOREST_PAD)


def drawing(
    answers: Sequence[Answer], pooled: Sequence[Pooled], axis: charts.RatioAxis
) -> MachineDrawing:
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
    return MachineDrawing(y, [(side, *paths) for side, paths in sides.items()], means)


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


# The column of pictures in a table: its axis, and what is drawn in each row.


WIDTH = 164
# Columns whose values are ratios of times.
RATIOS = ("change", "here")
PUBLISHED = "published"
MACHINES = "holds"


@dataclass(frozen=True, slots=True)
class Picture:
    """One row's: where its interval and the published ratio lie, or its machines."""

    mark: charts.Mark | None = None
    published: float | None = None
    drawing: MachineDrawing | None = None


@dataclass(frozen=True, slots=True)
class Pictures:
    """`after` is the id of the column that they stand behind, "" where a table has none.

    `margin` is that around 1, None where it is not drawn.
    """

    after: str = ""
    axis: charts.RatioAxis = charts.GLYPH
    rows: list[Picture] = field(default_factory=list[Picture])
    margin: float | None = None


def pictures(table: Table, rows: list[model_Row], chart: Chart | None) -> Pictures:
    """Those of `rows`, on an axis that holds the whole table."""
    if chart is not None and isinstance(chart.data, MergedReport):
        return of_machines(table, rows, chart.data)
    margin = chart.data.margin if chart is not None and isinstance(chart.data, Report) else None
    return forest(table, rows, margin)


def forest(table: Table, rows: list[model_Row], margin: float | None) -> Pictures:
    """Intervals of the column of ratios, if there is one."""
    after = next((column.id for column in table.columns if column.id in RATIOS), None)
    if after is None:
        return Pictures()
    ratios = [ratio(table, row, after) for row in table.every_row]
    claimed = [published(table, row) for row in table.every_row]
    intervals = [*filter(None, ratios), *(Interval(v, None, None) for v in claimed if v)]
    axis = charts.ratio_axis(intervals, WIDTH, charts.FOREST_PAD)
    drawn: list[Picture] = []
    for row in rows:
        mine = ratio(table, row, after)
        drawn.append(Picture(axis.mark(mine) if mine else None, published(table, row)))
    return Pictures(after, axis, drawn, margin if after == RATIOS[0] else None)


def ratio(table: Table, row: model_Row, column: str) -> Interval | None:
    """A row's value in a column of ratios."""
    value = table.cell(row, column).value
    if isinstance(value, Speedup):
        return Interval(value.value, value.low, value.high)
    return value if isinstance(value, Interval) else None


def published(table: Table, row: model_Row) -> float | None:
    """The ratio that others published, where a table has them."""
    if all(column.id != PUBLISHED for column in table.columns):
        return None
    value = table.cell(row, PUBLISHED).value
    return value if isinstance(value, float) else None


def of_machines(table: Table, rows: list[model_Row], report: MergedReport) -> Pictures:
    """The pictures of comparisons, found by their case and runner."""
    by_name = {(row.case, row.runner): row for row in report.rows}

    def comparison(row: model_Row) -> Row:
        return by_name[row.head.name, table.cell(row, "runner").text]

    if all(column.id != MACHINES for column in table.columns):
        return Pictures()
    axis = machine_axis([comparison(row) for row in table.every_row])
    drawn = [
        Picture(drawing=drawing(compared.answers, compared.pooled, axis))
        for compared in map(comparison, rows)
    ]
    return Pictures(MACHINES, axis, drawn)
