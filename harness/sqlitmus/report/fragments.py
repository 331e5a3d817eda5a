"""The page's cells and rows, of which there are tens of thousands: markup as plain text, already
safe.

What goes in unescaped is numbers and this project's own words; a name or a reason from a result
file is escaped where it enters. One string per cell instead of a dozen template expressions is what
keeps a page of ten thousand cells quick. End tags that HTML lets one omit are omitted.
"""

from markupsafe import escape

from sqlitmus.report import charts
from sqlitmus.report import format as fmt
from sqlitmus.report.look import Look
from sqlitmus.report.model import Cell, Comparison, Interval
from sqlitmus.report.words import ABSENT, OUTCOMES, VERDICTS, OutcomeWord

DASH = "\u2013"
GLYPH_HEAD = '<svg class="g" viewBox="0 0 88 10" aria-hidden="true"><path class="z" d="M44 0v10"/>'

Pair = tuple[str, str]


def runner_head(name: str, look: Look) -> str:
    """A runner's name behind its marker."""
    return (
        f'<svg class="k {look.hue}" viewBox="-6 -6 12 12" aria-hidden="true">'
        f'<use href="#m{look.shape}"/></svg>{escape(name)}'
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
        f'<td class="{style}"><b><i aria-hidden="true">{VERDICTS[verdict].symbol}</i> {ratio[0]}'
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


def outcome_tr(head: str, cell: Cell | None) -> str:
    """A forest row without a time."""
    word, reason = outcome(cell)
    return (
        f'<tr class="na x-{word.code}"><th scope="row">{head}'
        f'<td class="na" colspan="8"><b>{word.label}</b> {reason}'
    )


def forest_tr(
    style: str, head: str, cell: Cell, drawn: str, ratio: str, said: str, time: Pair
) -> str:
    """A forest row: time, interval, ratio, verdict, then what is secondary."""
    over = " ".join(fmt.signed_time(cell.overhead)) if cell.overhead else DASH
    return (
        f'<tr class="{style}"><th scope="row">{head}<td>{pair(time)}<td>{drawn}<td>{ratio}'
        f"<td>{said}<td>{over}<td>{fmt.duration(cell.cold_ns)}<td>{fmt.duration(cell.cpu_ns)}"
        f"<td>{fmt.size(cell.peak_rss_bytes)}"
    )


def verdict_words(comparison: Comparison) -> str:
    """The verdict of a forest row, and what would resolve it."""
    needs = comparison.needs_blocks
    more = "" if needs is None else f"; needs about {needs:d} blocks"
    symbol = VERDICTS[comparison.verdict].symbol
    return f'<i aria-hidden="true">{symbol}</i> {comparison.verdict}{more}'


def overhead_td(hue: str, text_and_bounds: Pair, ends: tuple[float, float, float]) -> str:
    """An overhead: its number, and a bar to `ends[0]` with a whisker from `ends[1]` to `ends[2]`,
    in px."""
    text, bounds = text_and_bounds
    value, left, right = ends
    return (
        f'<td>{text}<span class="v"> {bounds}</span><svg class="h {hue}" viewBox="0 0 80 6" '
        f'aria-hidden="true"><path d="M0 3H{value:g}"/>'
        f'<path class="e" d="M{left:g} 3H{right:g}"/></svg>'
    )
