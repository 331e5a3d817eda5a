"""The merged page as its template sees it: rows as markup, the forest of each as one picture."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import machines as mergedwords
from sqlitmus.render.document import symbols as words
from sqlitmus.render.document.naming import varying_axes
from sqlitmus.render.html import charts, fragments
from sqlitmus.render.html.view import safe, sentence
from sqlitmus.results.machines import Answer, MergedReport, Pooled, Row
from sqlitmus.results.report import Interval

WIDTH = 150
STEP = 6
TIGHT = 3
MANY = 12
# What all rows may take of the page; the machines' own pages get the rest.
ROOM = 1_500_000


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group's rows: those that say something, and the others with their count in words."""

    name: str
    title: str
    ticks: Markup
    rows: Markup
    count: str
    folded: Markup


@dataclass(frozen=True, slots=True)
class HoldsView:
    """All groups, and what was left out."""

    groups: list[GroupView]
    left_out: str


def holds(report: MergedReport, room: int = ROOM) -> HoldsView:
    """The table "Does it hold?" as far as it fits into `room` bytes."""
    varying = varying_axes(report.rows)
    axes = {group: axis([r for r in report.rows if r.group == group]) for group in report.groups}
    made = {id(row): row_tr(row, varying[row.scenario], axes[row.group]) for row in report.rows}
    kept, rest = mergedwords.chosen(report.rows, room, lambda row: len(made[id(row)].encode()))
    groups: list[GroupView] = []
    for group in report.groups:
        mine = [row for row in kept if row.group == group]
        shown = [made[id(row)] for row in mine if not mergedwords.folded(row)]
        folded = [row for row in mine if mergedwords.folded(row)]
        if mine:
            groups.append(
                GroupView(
                    group,
                    sentence(group),
                    safe(fragments.ticks(axes[group])),
                    safe("\n".join(shown)),
                    mergedwords.count(folded),
                    safe("\n".join(made[id(row)] for row in folded)),
                )
            )
    return HoldsView(groups, mergedwords.left_out(rest, report))


def axis(rows: Sequence[Row]) -> charts.RatioAxis:
    """One axis for a group, as wide as its estimates need, at most to 4 times to both sides."""
    found = [Interval(a.ratio.value, None, None) for row in rows for a in row.answers if a.ratio]
    tight = charts.ratio_axis(found, WIDTH, charts.FOREST_PAD)
    low, high = max(tight.low, 1 / charts.GLYPH_RATIO), min(tight.high, charts.GLYPH_RATIO)
    return charts.RatioAxis(low, high, WIDTH, charts.FOREST_PAD)


def row_tr(row: Row, varying: list[str], axis: charts.RatioAxis) -> str:
    """Case, runner, word, forest, means by kind, then each machine."""
    word = mergedwords.WORDS[row.word]
    axes = fragments.axes((name, row.axes[name]) for name in varying if name in row.axes)
    beside = f"<small>{escape(row.beside)}</small>" if row.beside else ""
    return (
        f'<tr class="{mergedwords.side(row)}" data-w="{row.word}" data-c="{escape(row.case)}">'
        f'<th scope="row">'
        f"{escape(row.title)} {axes}<td>{escape(row.runner)}"
        f'<td class="word"><b><i aria-hidden="true">{word.symbol}</i> '
        f"{escape(mergedwords.said(row))}</b>{beside}"
        f'<td class="glyph">{forest(row, axis)}<td class="n">{pooled(row.pooled)}'
        f"{''.join(map(answer_td, row.answers))}"
    )


def answer_td(answer: Answer) -> str:
    """One machine's ratio, or why there is none."""
    if answer.ratio is None or answer.verdict is None:
        return f'<td class="na">{escape(answer.said)}'
    value, bounds = fmt.ratio(answer.ratio)
    style = "em" if answer.emulated else words.shade(answer.verdict, answer.ratio.value)
    note = " emulated" if answer.emulated else ""
    return (
        f'<td class="{style}"><b>{answer.verdict.symbol} {value}</b>'
        f'<span class="v"> {answer.verdict}</span> <small>{bounds}{note}</small>'
    )


def pooled(means: Sequence[Pooled]) -> str:
    """Each kind's mean, and where one more machine would lie."""
    return "".join(
        f"<div>{fragments.pair(fmt.ratio(one.ratio))}<br><small>{escape(one.kind)} × "
        f"{one.machines}; next {fmt.ratio(one.next)[1]}</small></div>"
        for one in means
    )


def forest(row: Row, axis: charts.RatioAxis) -> str:
    """All machines' intervals below each other, then each kind's mean as a diamond."""
    step = STEP if len(row.answers) <= MANY else TIGHT
    marks: dict[str, list[tuple[str, str]]] = {}
    y = step
    for answer in row.answers:
        if answer.ratio is not None and answer.verdict is not None:
            side = "em" if answer.emulated else answer.verdict.style
            marks.setdefault(side, []).append(_mark(axis.mark(answer.ratio), y, axis.width))
        y += step
    drawn = "".join(
        f'<g class="{side}"><path class="i" d="{"".join(i for i, _ in parts)}"/>'
        f'<path class="d" d="{"".join(d for _, d in parts)}"/></g>'
        for side, parts in marks.items()
    )
    for one in row.pooled:
        drawn += _diamond(axis.mark(one.ratio), axis.mark(one.next), y)
        y += STEP
    return (
        f'<svg class="holding" viewBox="0 0 {axis.width} {y}" width="{axis.width}" height="{y}" '
        f'aria-hidden="true"><path class="z" d="M{axis.at(1.0):g} 0v{y}"/>{drawn}</svg>'
    )


def _mark(mark: charts.Mark, y: int, width: int) -> tuple[str, str]:
    """An interval and its estimate; one beyond the axis is an arrow head."""
    if mark.over:
        end = width - 2 if mark.over > 0 else 2
        return f"M{end - 4 * mark.over} {y - 2}l{4 * mark.over} 2l{-4 * mark.over} 2", ""
    return f"M{mark.left:g} {y}H{mark.right:g}", f"M{mark.centre:g} {y}h0"


def _diamond(mean: charts.Mark, further: charts.Mark, y: int) -> str:
    left, right = min(mean.left, mean.centre - 2), max(mean.right, mean.centre + 2)
    return (
        f'<path class="next" d="M{further.left:g} {y}H{further.right:g}"/>'
        f'<path class="mean" d="M{left:g} {y}L{mean.centre:g} {y - 2.5}L{right:g} {y}'
        f'L{mean.centre:g} {y + 2.5}z"/>'
    )
