"""The page of an A/B comparison as its template sees it."""

from dataclasses import dataclass

from sqlitmus.render.document import comparison as changes
from sqlitmus.render.document import symbols as words
from sqlitmus.render.html import charts
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.nouns import counted

WIDTH = 164


@dataclass(frozen=True, slots=True)
class RowView:
    """A case: its axes as text, its style class and where its interval lies."""

    row: changes.Row
    axes: str
    style: str
    mark: charts.Mark | None


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One figure: its differences, and the others with their count in words."""

    id: str
    title: str
    rows: list[RowView]
    count: str
    folded: list[RowView]
    axis: charts.RatioAxis


@dataclass(frozen=True, slots=True)
class ChangesView:
    """All figures, and the geometric means of the first one."""

    base: str
    new: str
    tables: list[ChangeView]
    means: list[tuple[str, str, str, str, charts.Mark | None]]


def changed(report: Report) -> ChangesView:
    """The tables of an A/B comparison; each has an axis of its own."""
    base, new = changes.subjects(report)
    views: list[ChangeView] = []
    means: list[tuple[str, str, str, str, charts.Mark | None]] = []
    for number, table in enumerate(changes.tables(report)):
        found = changes.means(report) if number == 0 else []
        known = [r.ratio for r in (*table.rows, *table.folded, *found) if r.ratio]
        axis = charts.ratio_axis(known, WIDTH, charts.FOREST_PAD)
        views.append(
            ChangeView(
                f"change-{number}",
                table.title,
                [row_view(row, axis) for row in table.rows],
                table.count(),
                [row_view(row, axis) for row in table.folded],
                axis,
            )
        )
        means += [
            (
                mean.group,
                counted(mean.cases, "case"),
                mean.change,
                mean.bounds,
                axis.mark(mean.ratio) if mean.ratio else None,
            )
            for mean in found
        ]
    return ChangesView(base, new, views, means)


def row_view(row: changes.Row, axis: charts.RatioAxis) -> RowView:
    """One row."""
    axes = row.name.removeprefix(row.case.scenario).strip()
    return RowView(row, axes, style(row), axis.mark(row.ratio) if row.ratio else None)


def style(row: changes.Row) -> str:
    """The style class of a row: its shade, or that of what has no number."""
    if row.verdict is None or row.ratio is None:
        return "bad" if changes.rank(row)[0] < 0 else "na"
    return words.shade(row.verdict, row.ratio.value)
