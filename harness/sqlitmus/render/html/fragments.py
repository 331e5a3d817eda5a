"""The page's cells and rows, of which there are tens of thousands: markup as plain text, already
safe.

What goes in unescaped is numbers and this project's own words; a name or a reason from a result
file is escaped where it enters. One string per cell instead of a dozen template expressions is what
keeps a page of ten thousand cells quick. End tags that HTML lets one omit are omitted.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache

from markupsafe import escape

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.symbols import (
    ABSENT,
    GRADES,
    OUTCOMES,
    STEADINESS,
    OutcomeWord,
)
from sqlitmus.render.html import charts
from sqlitmus.render.html.look import Look
from sqlitmus.results.report import Cell, Comparison, Interval, Measure
from sqlitmus.vocabulary.terms import Grade, Steadiness
from sqlitmus.vocabulary.verdicts import Verdict

DASH = "\u2013"
TICKS = 18
GLYPH_HEAD = '<svg class="g" viewBox="0 0 88 10" aria-hidden="true"><path class="z" d="M44 0v10"/>'

Pair = tuple[str, str]


def runner_head(name: str, look: Look) -> str:
    """A runner's name behind its marker."""
    return (
        f'<svg class="k {look.hue}" viewBox="-6 -6 12 12" aria-hidden="true">'
        f'<use href="#m{look.shape}"/></svg>{escape(name)}'
    )


def axes(pairs: Iterable[Pair]) -> str:
    """Axes as name and value."""
    return "".join(map(axis_tag, pairs))


@lru_cache(maxsize=4096)
def axis_tag(pair: Pair) -> str:
    """One axis; a report has few different ones."""
    return f'<span class="axis"><span>{escape(pair[0])}</span> {escape(pair[1])}</span>'


def ticks(axis: charts.RatioAxis) -> str:
    """The labelled ticks above a forest."""
    return ticks_of(axis.low, axis.high, axis.width, axis.pad)


@lru_cache(maxsize=1024)
def ticks_of(low: float, high: float, width: int, pad: int) -> str:
    """The same by the axis' definition; a report has few different ones."""
    marks = "".join(
        f'<path d="M{x} {TICKS - 4}v4"/><text x="{x}" y="{TICKS - 6}">{text}×</text>'
        for x, text in charts.RatioAxis(low, high, width, pad).ticks()
    )
    return (
        f'<svg class="ticks" viewBox="0 0 {width} {TICKS}" width="{width}" height="{TICKS}" '
        f'aria-hidden="true">{marks}</svg>'
    )


def badge(grade: Grade) -> str:
    """A case's grade, its meaning for a pointer and for a screen reader."""
    meaning = GRADES[grade]
    return (
        f' <span class="grade g-{grade}" title="{meaning}">noise {grade}'
        f'<span class="v">: {meaning}</span></span>'
    )


def commands(cells: Iterable[Cell]) -> str:
    """The commands that run one cell again, as list items."""
    return "\n".join(
        f'<li><code class="copy">{escape(cell.command)}</code></li>'
        for cell in cells
        if cell.command
    )


def pair(text_and_bounds: Pair) -> str:
    """A formatted number and its bounds."""
    text, bounds = text_and_bounds
    return f"<b>{text}</b> <small>{bounds}</small>"


def outcome(cell: Cell | None) -> tuple[OutcomeWord, str]:
    """The word for a cell without a time, and why, escaped."""
    word = OUTCOMES[cell.outcome] if cell else ABSENT
    return word, str(escape((cell.reason if cell else None) or word.meaning))


def outcome_td(cell: Cell | None) -> str:
    """A matrix cell without a time."""
    word, reason = outcome(cell)
    return f'<td class="na x-{word.code}"><b>{word.label}</b><span class="v">{reason}</span>'


def plain_td(style: str, text: str, said: str) -> str:
    """A matrix cell with a time but no comparison: the reference itself, or one that lacks it."""
    return f'<td class="{style}"><b>{text}</b><span class="v">{said}</span>'


def compared_td(style: str, comparison: Comparison, ratio: Pair) -> str:
    """A matrix cell with a ratio, its interval glyph, and its verdict for a screen reader."""
    mark = charts.GLYPH.mark(comparison.ratio)
    if mark.over:
        end = charts.GLYPH_WIDTH - 2 if mark.over > 0 else 2
        point = f'<path class="o" d="M{end} 5l{-4 * mark.over}-4v8z"/>'
    else:
        point = f'<path class="d" d="M{mark.centre:g} 5h0"/>'
    verdict = comparison.verdict
    return (
        f'<td class="{style}"><b><i aria-hidden="true">{verdict.symbol}</i> {ratio[0]}'
        f'</b>{GLYPH_HEAD}<path class="i" d="M{mark.left:g} 5H{mark.right:g}"/>{point}</svg>'
        f'<span class="v">{verdict} {ratio[1]}</span>'
    )


def forest_frame(axis: charts.RatioAxis, margin: float | None = None) -> str:
    """The start of each forest row of a table: the margin's band and the line at 1."""
    rope = ""
    if margin is not None:
        left, right = axis.at(1 / (1 + margin)), axis.at(1 + margin)
        rope = f'<path class="rope" d="M{left:g} 7H{right:g}"/>'
    return (
        f'<svg class="w" viewBox="0 0 {axis.width} 14" aria-hidden="true">{rope}'
        f'<path class="z" d="M{axis.at(1.0):g} 0v14"/>'
    )


def forest(frame: str, axis: charts.RatioAxis, ratio: Interval | None) -> str:
    """One interval of a forest plot in its frame."""
    if ratio is None:
        return f"{frame}</svg>"
    mark = axis.mark(ratio)
    return (
        f'{frame}<path class="i" d="M{mark.left:g} 7H{mark.right:g}"/>'
        f'<path class="d" d="M{mark.centre:g} 7h0"/></svg>'
    )


def outcome_tr(head: str, cell: Cell | None, columns: int) -> str:
    """A forest row without a time, over `columns` after the runner's name."""
    word, reason = outcome(cell)
    return (
        f'<tr class="na x-{word.code}"><th scope="row">{head}'
        f'<td class="na" colspan="{columns}"><b>{word.label}</b> {reason}'
    )


def forest_tr(
    style: str, head: str, cell: Cell, drawn: str, ratio: str, said: str, time: Pair
) -> str:
    """A forest row: time, interval, ratio, verdict, then what is secondary."""
    cold = measured_td(cell.cold, fmt.duration) if cell.cold else f"<td>{DASH}"
    return (
        f'<tr class="{style}"><th scope="row">{head}<td>{pair(time)}<td>{drawn}<td>{ratio}'
        f"<td>{said}{cold}{measured_td(cell.cpu, fmt.duration, amount=True)}"
        f"{measured_td(cell.memory, fmt.size, amount=True)}{steadiness_td(cell.steadiness)}"
    )


def measured_td(
    measure: Measure | None,
    written: Callable[[float], str],
    *,
    amount: bool = False,
) -> str:
    """A secondary figure with its ratio to the report's reference and the verdict on that."""
    if measure is None:
        return "<td>unknown"
    if measure.ratio is None or measure.verdict is None:
        return f"<td>{written(measure.value)}"
    ratio, bounds = fmt.ratio(measure.ratio)
    verdict = measure.verdict
    return (
        f'<td>{written(measure.value)} <span class="m {verdict.style}"><i aria-hidden="true">'
        f"{verdict.symbol}</i> {ratio}"
        f'<span class="v"> {verdict.amount if amount else verdict} {bounds}</span></span>'
    )


def steadiness_td(kind: Steadiness | None) -> str:
    """How the times moved during the pilot; what puts a time in doubt stands out."""
    if kind is None:
        return f"<td>{DASH}"
    return f"<td><b>! {kind}</b>" if STEADINESS[kind].bad else f"<td>{kind}"


def above_floor_td(cell: Cell) -> str:
    """Time above the floor, and whether that is a difference."""
    if cell.overhead is None:
        return f"<td>{DASH}"
    text, bounds = fmt.signed_time(cell.overhead)
    return f"<td>{text}{against_floor(cell.overhead_verdict, bounds)}"


def against_floor(verdict: Verdict | None, bounds: str) -> str:
    """The verdict of a cell against the floor, and in words the interval of its overhead."""
    if verdict is None:
        return f'<span class="v"> {bounds}</span>'
    return (
        f' <span class="m {verdict.style}"><i aria-hidden="true">{verdict.symbol}</i>'
        f'<span class="v"> {bounds} against the floor: {verdict}</span></span>'
    )


def verdict_words(comparison: Comparison) -> str:
    """The verdict of a forest row, what would resolve it, a cross-check that says otherwise, and
    where another session would lie."""
    needs, median, further = comparison.needs_blocks, comparison.median, comparison.next
    more = "" if needs is None else f"; needs about {needs:d} blocks"
    if comparison.disagrees and median is not None:
        more += f' <small class="more">but the median says {" ".join(fmt.ratio(median))}</small>'
    if further is not None:
        more += f' <small class="more">next session {fmt.ratio(further)[1]}</small>'
    symbol = comparison.verdict.symbol
    return f'<i aria-hidden="true">{symbol}</i> {comparison.verdict}{more}'


def overhead_td(
    hue: str, text_and_bounds: Pair, ends: tuple[float, float, float], verdict: Verdict | None
) -> str:
    """An overhead: its number and verdict, and a bar to `ends[0]` with a whisker from `ends[1]` to
    `ends[2]`, in px."""
    text, bounds = text_and_bounds
    value, left, right = ends
    return (
        f'<td>{text}{against_floor(verdict, bounds)}<svg class="h {hue}" viewBox="0 0 80 6" '
        f'aria-hidden="true"><path d="M0 3H{value:g}"/>'
        f'<path class="e" d="M{left:g} 3H{right:g}"/></svg>'
    )
