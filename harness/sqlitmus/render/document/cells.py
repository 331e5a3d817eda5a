"""Figures, outcomes and verdicts as cells of a table."""

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.model import LegendEntry
from sqlitmus.render.document.symbols import ABSENT, OUTCOMES, shade
from sqlitmus.render.document.table import Cell, Mark
from sqlitmus.results.comparisons import Comparison
from sqlitmus.results.estimate import Interval
from sqlitmus.results.report import Cell as Measured
from sqlitmus.results.report import Standing
from sqlitmus.vocabulary.terms import CellOutcome
from sqlitmus.vocabulary.verdicts import Verdict

NONE = Cell("\u2013", style="un")


def mark(verdict: Verdict) -> Mark:
    """The verdict's symbol."""
    return Mark(verdict.symbol, verdict.ascii)


def verdicts() -> list[LegendEntry]:
    """All verdicts as a legend."""
    return [LegendEntry(mark(v), str(v), v.meaning, v.style) for v in Verdict]


def side(standing: Standing) -> str:
    """Which side of 1 a group's mean is shown to lie on: f, s, or un."""
    verdict = standing.verdict
    return verdict.style if verdict and verdict.different else Verdict.NOT_RESOLVED.style


def mean(standing: Standing | None) -> Cell:
    """A group's mean ratio."""
    if standing is None or standing.ratio is None:
        return NONE
    ratio = standing.ratio
    return Cell(*fmt.ratio(ratio), style=side(standing), value=ratio)


def compared(ratio: Interval, verdict: Verdict) -> Cell:
    """A ratio with its verdict."""
    return Cell(
        *fmt.ratio(ratio),
        mark(verdict),
        style=shade(verdict, ratio.value),
        emphasis="strong" if verdict.different else "",
        value=ratio,
        tooltip=str(verdict),
    )


def change(ratio: Interval, verdict: Verdict) -> Cell:
    """A ratio as a difference in percent."""
    return Cell(
        *fmt.change(ratio),
        style=shade(verdict, ratio.value),
        emphasis="strong" if verdict.different else "",
        value=ratio,
    )


def of_medians(new: Measured | None, old: Measured | None, ratio: Interval) -> Interval | None:
    """The ratio of the two times shown, where that lies outside the interval of `ratio`; it is an
    estimate over blocks in which both ran, and the times are medians of each one's own."""
    if not (new and old and new.time and old.time and old.time.value):
        return None
    quotient = new.time.value / old.time.value
    low, high = ratio.low, ratio.high
    if low is None or high is None or low <= quotient <= high:
        return None
    return Interval(quotient, None, None)


def outcome(name: CellOutcome | None, reason: str = "") -> Cell:
    """A cell without a time: not planned where there is none."""
    label = OUTCOMES[name].label if name else ABSENT.label
    style = "bad" if name in ("wrong", "failed") else "na"
    return Cell(label, style=style, emphasis="aside", tooltip=reason)


def above_floor(over: Interval, verdict: Verdict | None) -> tuple[str, str]:
    """Time above the floor, and its bounds with the verdict on it in words."""
    text, bounds = fmt.signed_time(over)
    return text, f"{bounds} against the floor: {verdict}" if verdict else bounds


def time(cell: Measured | None) -> Cell:
    """A cell's time, or what became of it."""
    if cell is None or cell.outcome != "ok" or cell.time is None:
        return outcome(cell and cell.outcome, (cell and cell.reason) or "")
    return Cell(fmt.time(cell.time)[0], style="un", value=cell.time)


def against(cell: Measured | None, comparison: Comparison | None) -> Cell:
    """A cell's ratio, or its time where it has no comparison, or its outcome."""
    if comparison is None or cell is None or cell.outcome != "ok":
        return time(cell)
    return compared(comparison.ratio, comparison.verdict)
