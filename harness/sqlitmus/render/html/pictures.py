"""The column of pictures in a table: its axis, and what is drawn in each row.

A column of ratios gets a forest beside it. Where a chart of machines stands over the table, each
row gets the picture of its comparison on all of them.
"""

from dataclasses import dataclass, field

from sqlitmus.render.document.model import Chart
from sqlitmus.render.document.table import Row, Table
from sqlitmus.render.html import charts, machines
from sqlitmus.results.estimate import Interval, Speedup
from sqlitmus.results.machines import MergedReport
from sqlitmus.results.report import Report

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
    drawing: machines.Drawing | None = None


@dataclass(frozen=True, slots=True)
class Pictures:
    """`after` is the id of the column that they stand behind, "" where a table has none.

    `margin` is that around 1, None where it is not drawn.
    """

    after: str = ""
    axis: charts.RatioAxis = charts.GLYPH
    rows: list[Picture] = field(default_factory=list[Picture])
    margin: float | None = None


def pictures(table: Table, rows: list[Row], chart: Chart | None) -> Pictures:
    """Those of `rows`, on an axis that holds the whole table."""
    if chart is not None and isinstance(chart.data, MergedReport):
        return of_machines(table, rows, chart.data)
    margin = chart.data.margin if chart is not None and isinstance(chart.data, Report) else None
    return forest(table, rows, margin)


def forest(table: Table, rows: list[Row], margin: float | None) -> Pictures:
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


def ratio(table: Table, row: Row, column: str) -> Interval | None:
    """A row's value in a column of ratios."""
    value = table.cell(row, column).value
    if isinstance(value, Speedup):
        return Interval(value.value, value.low, value.high)
    return value if isinstance(value, Interval) else None


def published(table: Table, row: Row) -> float | None:
    """The ratio that others published, where a table has them."""
    if all(column.id != PUBLISHED for column in table.columns):
        return None
    value = table.cell(row, PUBLISHED).value
    return value if isinstance(value, float) else None


def of_machines(table: Table, rows: list[Row], report: MergedReport) -> Pictures:
    """The pictures of comparisons, found by their case and runner."""
    by_name = {(row.case, row.runner): row for row in report.rows}

    def comparison(row: Row) -> machines.Row:
        return by_name[row.head.name, table.cell(row, "runner").text]

    if all(column.id != MACHINES for column in table.columns):
        return Pictures()
    axis = machines.axis([comparison(row) for row in table.every_row])
    drawn = [
        Picture(drawing=machines.drawing(compared.answers, compared.pooled, axis))
        for compared in map(comparison, rows)
    ]
    return Pictures(MACHINES, axis, drawn)
