"""The page of an A/B comparison as its template sees it."""

from dataclasses import dataclass

from markupsafe import Markup, escape

from sqlitmus.render.document import comparison
from sqlitmus.render.document.model import Row, Table
from sqlitmus.render.html import charts, fragments
from sqlitmus.render.html.view import safe
from sqlitmus.results.estimate import Interval
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.nouns import counted

WIDTH = 164


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One figure: its differences, and the others with their count in words."""

    id: str
    title: str
    rows: Markup
    count: str
    folded: Markup
    ticks: Markup


@dataclass(frozen=True, slots=True)
class ChangesView:
    """All figures, and the geometric means of the first one."""

    base: str
    new: str
    tables: list[ChangeView]
    means: list[tuple[str, str, str, str, Markup]]


def changed(report: Report) -> ChangesView:
    """The tables of an A/B comparison; each has an axis of its own."""
    base, new = comparison.subjects(report)
    tables = {table.id: table for table in comparison.build(report).tables()}
    means = tables.get("means")
    views: list[ChangeView] = []
    mean_views: list[tuple[str, str, str, str, Markup]] = []
    for table in tables.values():
        if not table.id.startswith("change-"):
            continue
        ratios = [ratio_of(table, row) for row in table.every_row]
        if means and not views:
            ratios += [ratio_of(means, row) for row in means.rows]
        axis = charts.ratio_axis([r for r in ratios if r], WIDTH, charts.FOREST_PAD)
        frame = fragments.forest_frame(axis, report.margin)
        for row in means.rows if means and not views else []:
            cases, mean = row.cells
            drawn = safe(fragments.forest(frame, axis, ratio_of(means, row))) if means else safe("")
            number = counted(int(cases.text), "case")
            mean_views.append((row.head.text, number, mean.text, mean.bounds, drawn))
        folded = table.folded.rows if table.folded else []
        views.append(
            ChangeView(
                table.id,
                table.title,
                safe("\n".join(change_tr(table, row, axis, frame) for row in table.rows)),
                table.folded.count if table.folded else "",
                safe("\n".join(change_tr(table, row, axis, frame) for row in folded)),
                safe(fragments.ticks(axis)),
            )
        )
    return ChangesView(base, new, views, mean_views)


def ratio_of(table: Table, row: Row) -> Interval | None:
    """The change of a row."""
    value = table.cell(row, "change").value
    return value if isinstance(value, Interval) else None


def change_tr(table: Table, row: Row, axis: charts.RatioAxis, frame: str) -> str:
    """Case, base, new, change with its interval, verdict, blocks."""
    axes = " ".join(row.head.axes)
    small = f" <small>{escape(axes)}</small>" if axes else ""
    badge = fragments.badge("C") if row.head.grade == "C" else ""
    base, new, change, verdict, *blocks = row.cells
    head = (
        f'<tr data-c="{row.key}" class="{row.style}"><th scope="row">'
        f'<a href="#{row.head.link}">{escape(row.head.title)}</a>{small}{badge}'
        f'<td class="n">{base.text}<td class="n">{new.text}'
    )
    if verdict.mark is None:
        return f'{head}<td class="na" colspan="4">{escape(verdict.text)}'
    needs = f"; {verdict.note}" if verdict.note else ""
    return (
        f'{head}<td class="n">{fragments.pair((change.text, change.bounds))}'
        f'<td class="glyph">{fragments.forest(frame, axis, ratio_of(table, row))}'
        f'<td><i aria-hidden="true">{verdict.mark.symbol}</i> {verdict.text}{needs}'
        + "".join(f'<td class="n">{cell.text}' for cell in blocks)
    )
