"""The page of an A/B comparison as its template sees it."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from sqlitmus.render.document import comparison as changes
from sqlitmus.render.document import symbols as words
from sqlitmus.render.html import charts, fragments
from sqlitmus.render.html.view import safe
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
    base, new = changes.subjects(report)
    views: list[ChangeView] = []
    means: list[tuple[str, str, str, str, Markup]] = []
    for number, table in enumerate(changes.tables(report)):
        found = changes.means(report) if number == 0 else []
        known = [r.ratio for r in (*table.rows, *table.folded, *found) if r.ratio]
        axis = charts.ratio_axis(known, WIDTH, charts.FOREST_PAD)
        frame = fragments.forest_frame(axis, report.margin)
        rows, folded = (markup(some, axis, frame) for some in (table.rows, table.folded))
        views.append(
            ChangeView(
                f"change-{number}",
                table.title,
                rows,
                table.count(),
                folded,
                safe(fragments.ticks(axis)),
            )
        )
        means += [
            (
                mean.group,
                counted(mean.cases, "case"),
                mean.change,
                mean.bounds,
                safe(fragments.forest(frame, axis, mean.ratio)),
            )
            for mean in found
        ]
    return ChangesView(base, new, views, means)


def markup(rows: Sequence[changes.Row], axis: charts.RatioAxis, frame: str) -> Markup:
    """Rows of one table."""
    return safe("\n".join(change_tr(row, axis, frame) for row in rows))


def change_tr(row: changes.Row, axis: charts.RatioAxis, frame: str) -> str:
    """Case, base, new, change with its interval, verdict, blocks."""
    case = row.case
    axes = row.name.removeprefix(case.scenario).strip()
    small = f" <small>{escape(axes)}</small>" if axes else ""
    badge = fragments.badge("C") if case.grade == "C" else ""
    head = (
        f'<tr data-c="{row.index}" class="{style(row)}"><th scope="row">'
        f'<a href="#c-{row.index}">{escape(case.title)}</a>{small}{badge}'
    )
    if row.verdict is None:
        return (
            f'{head}<td class="n">{row.base}<td class="n">{row.new}'
            f'<td class="na" colspan="4">{escape(row.said)}'
        )
    symbol = row.verdict.symbol
    needs = "" if row.needs is None else f"; needs about {row.needs:d} blocks"
    blocks = "" if row.blocks is None else f'<td class="n">{row.blocks}'
    return (
        f'{head}<td class="n">{row.base}<td class="n">{row.new}'
        f'<td class="n">{fragments.pair((row.change, row.bounds))}'
        f'<td class="glyph">{fragments.forest(frame, axis, row.ratio)}'
        f'<td><i aria-hidden="true">{symbol}</i> {row.said}{needs}{blocks}'
    )


def style(row: changes.Row) -> str:
    """The style class of a row: its shade, or that of what has no number."""
    if row.verdict is None or row.ratio is None:
        return "bad" if changes.rank(row)[0] < 0 else "na"
    return words.shade(row.verdict, row.ratio.value)
