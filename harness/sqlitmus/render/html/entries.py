"""A runner's line of a case: its figures, each judged."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import symbols as words
from sqlitmus.render.document.cells import above_floor, of_medians
from sqlitmus.render.document.symbols import OutcomeWord
from sqlitmus.render.html import charts
from sqlitmus.results.comparisons import Comparison
from sqlitmus.results.estimate import Interval
from sqlitmus.results.report import Cell, Report
from sqlitmus.vocabulary.figure import Figure
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.verdicts import Verdict

Pair = tuple[str, str]
UNITY = Interval(1.0, None, None)
DASH = "\u2013"


@dataclass(frozen=True, slots=True)
class Judged:
    """A figure as text; `verdict` is None where it is compared with nothing."""

    name: str
    text: str
    verdict: Verdict | None = None
    ratio: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A runner in a case, against the report's reference.

    `words` say the verdict, or why there is no time; `glyph` and `mark` are where its interval
    lies in the matrix and on the axis of the case; `medians` is the ratio of the times shown where
    that is another one; `over` is what it takes over the floor.
    """

    runner: int
    name: str
    style: str
    words: str
    cell: Cell | None
    outcome: OutcomeWord | None = None
    time: Pair = ("", "")
    ratio: Pair = ("", "")
    comparison: Comparison | None = None
    medians: str = ""
    glyph: charts.Mark | None = None
    mark: charts.Mark | None = None
    figures: tuple[Judged, ...] = ()
    over: Judged | None = None


def entry(
    place: int,
    name: str,
    cell: Cell | None,
    base: Cell | None,
    compared: Comparison | None,
    axis: charts.RatioAxis,
    columns: Sequence[Figure],
    report: Report,
) -> Entry:
    """One runner in one case, whose figures are those `columns`."""
    if cell is None or cell.outcome != "ok" or cell.time is None:
        outcome = words.OUTCOMES[cell.outcome] if cell else words.ABSENT
        reason = (cell.reason if cell else None) or outcome.meaning
        return Entry(place, name, f"na x-{outcome.code}", reason, cell, outcome)
    time = fmt.time(cell.time)
    beside = tuple(judged(figure, cell) for figure in columns)
    over = over_floor(cell) if report.floor else None
    if compared is None:
        is_base = name == report.reference
        style, text = ("base", "reference") if is_base else ("un", "not compared")
        mark = axis.mark(UNITY) if is_base else None
        return Entry(
            place, name, style, text, cell, time=time, mark=mark, figures=beside, over=over
        )
    medians = of_medians(cell, base, compared.ratio)
    return Entry(
        place,
        name,
        words.shade(compared.verdict, compared.ratio.value),
        words.worded(compared.verdict, report),
        cell,
        time=time,
        ratio=fmt.ratio(compared.ratio),
        comparison=compared,
        medians=fmt.ratio(medians)[0] if medians else "",
        glyph=charts.GLYPH.mark(compared.ratio),
        mark=axis.mark(compared.ratio),
        figures=beside,
        over=over,
    )


def judged(figure: Figure, cell: Cell) -> Judged:
    """A secondary figure with its ratio to the report's reference and the verdict on that."""
    measure = cell.figures.get(figure.name)
    if measure is None:
        return Judged(figure.name, "unknown")
    text = fmt.figure(measure.value, figure.unit)
    if measure.ratio is None or measure.verdict is None:
        return Judged(figure.name, text)
    ratio, bounds = fmt.ratio(measure.ratio)
    return Judged(
        figure.name, text, measure.verdict, ratio, f"{figure.said(measure.verdict)} {bounds}"
    )


def iterated(cell: Cell, *, operations: bool) -> str:
    """`5 iterations after a warm-up of 100 ms`, with the `operations` of one if asked."""
    text = counted(cell.iterations, "iteration")
    if operations:
        text += f" of {counted(cell.operations, 'operation')}"
    if cell.warmup_ms:
        return f"{text} after a warm-up of {cell.warmup_ms:g} ms"
    if cell.warmup_iterations:
        return f"{text} after {cell.warmup_iterations} of warm-up"
    return f"{text} without warm-up"


def over_floor(cell: Cell) -> Judged:
    """Time over the floor, and whether that is a difference."""
    if cell.overhead is None:
        return Judged("over", DASH)
    text, words = above_floor(cell.overhead, cell.overhead_verdict)
    return Judged("over", text, cell.overhead_verdict, words=words)
