"""Verdicts, outcomes and figures as symbols, words, style classes and cells: one table
for all.
"""

import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.model import Cell, LegendEntry, Mark
from sqlitmus.results.ranking import Contrast, Interval
from sqlitmus.results.report import Cell as Measured, Report, Standing, Unpaired
from sqlitmus.vocabulary.text import counted
from sqlitmus.vocabulary.verdicts import CellOutcome, ClaimWord, Steadiness, Verdict

LEVELS = (1.1, 1.25, 1.6, 2.5)

LEADS: dict[str, str] = tomllib.loads(Path(__file__).with_name("leads.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class OutcomeWord:
    """How a cell without a number is labelled."""

    code: str
    label: str
    meaning: str


OUTCOMES: dict[CellOutcome, OutcomeWord] = {
    "ok": OutcomeWord("k", "ok", "answers match the oracle; timed"),
    "unsupported": OutcomeWord("u", "unsupported", "the runtime or driver has no such feature"),
    "wrong": OutcomeWord("w", "wrong answer", "answers differ from the oracle, so no time is kept"),
    "failed": OutcomeWord("f", "failed", "crash, time-out or unreadable result"),
    "missing": OutcomeWord("m", "not installed", "the runner is not on this machine"),
}


ABSENT = OutcomeWord("a", "", "this run's plan does not hold that cell")
STEADINESS: dict[Steadiness, str] = {
    "flat": "as fast in its first iteration as in its last",
    "warm-up": "it grew faster, then steady; the slow iterations are left out",
    "slowdown": "it grew slower, then steady: its first work is not its lasting speed",
    "no steady state": "it never settled: its time depends on how long it runs",
}
# These put a steady time in doubt.
DOUBTED: tuple[Steadiness, ...] = ("slowdown", "no steady state")


def shade(verdict: Verdict, value: float) -> str:
    """Style class of a compared cell: f1..f5, s1..s5, eq or un."""
    if not verdict.different:
        return verdict.style
    if not verdict.material:
        return f"{verdict.style}1"
    return f"{verdict.style}{1 + bisect_right(LEVELS, max(value, 1 / value))}"


def more_blocks(comparison: Contrast) -> str:
    """ "needs about 40 blocks" for an unresolved comparison that says so, else ""."""
    if comparison.needs_blocks is None:
        return ""
    return f"needs about {comparison.needs_blocks} blocks"


def worded(verdict: Verdict, report: Report) -> str:
    """The verdict, which says so if it is one between runs that shared no blocks: what is constant
    within a run is in no interval then."""
    unpaired = any(isinstance(statement, Unpaired) for statement in report.headline)
    decided = verdict.side != "undecided"
    return f"{verdict} between runs" if unpaired and decided else str(verdict)


def phrase(comparison: Contrast) -> str:
    """One comparison as a sentence part: "0.76× the time of node [0.74, 0.79]: materially
    faster"."""
    value, bounds = fmt.ratio(comparison.ratio)
    text = f"{value} the time of {comparison.reference} {bounds}".rstrip()
    return f"{text}: {comparison.verdict}"


def correction(report: Report, count: int | None = None) -> str:
    """What was done about the number of comparisons, as a sentence; `count` of them where they are
    not those within cases."""
    if report.correction == "none":
        return (
            "Verdicts are not corrected for the number of comparisons: each difference has a "
            "5 % chance of being a false alarm."
        )
    if count is None:
        count = sum(p is not None for case in report.cases for p in case.comparisons.p)
    how = {
        "bh": "Benjamini\u2013Hochberg (5 % false among differences)",
        "holm": "Holm (5 % any false alarm)",
    }[report.correction]
    return f"Verdicts are corrected for {counted(count, 'comparison')} by {how}."


def selftest(report: Report) -> str:
    """The last self-test on this machine."""
    last = report.selftest
    if last is None:
        return "No self-test on this machine yet: `./just selftest`."
    when, result = last.created.replace("T", " "), "passed" if last.passed else "FAILED"
    return " ".join([f"Self-test of {when.replace('Z', ' UTC')}: {result}.", *last.lines])


# Figures, outcomes and verdicts as cells of a table.

NONE = Cell("\u2013", style="un")
Write = Callable[[Interval], tuple[str, str]]


def mark(word: Verdict | ClaimWord) -> Mark:
    """The symbol of a verdict, or of a claim's word."""
    return Mark(word.symbol, word.ascii)


def verdicts(words: Iterable[Verdict | ClaimWord] = Verdict) -> list[LegendEntry]:
    """All verdicts, or those on claims, as a legend."""
    return [LegendEntry(mark(word), str(word), word.meaning, word.style) for word in words]


def mean(standing: Standing | None, write: Write = fmt.ratio) -> Cell:
    """A group's mean ratio; its style is the side of 1 that it is shown to lie on."""
    if standing is None or standing.contrast is None:
        return NONE
    ratio, verdict = standing.contrast.ratio, standing.contrast.verdict
    style = verdict.style if verdict.different else Verdict.NOT_RESOLVED.style
    return Cell(*write(ratio), style=style, value=ratio)


def compared(contrast: Contrast) -> Cell:
    """A ratio with its verdict."""
    ratio, verdict = contrast.ratio, contrast.verdict
    return Cell(
        *fmt.ratio(ratio),
        mark(verdict),
        style=shade(verdict, ratio.value),
        emphasis="strong" if verdict.different else "",
        value=ratio,
        tooltip=str(verdict),
    )


def change(contrast: Contrast) -> Cell:
    """A ratio as a difference in percent."""
    text, bounds = fmt.change(contrast.ratio)
    return replace(compared(contrast), text=text, bounds=bounds, mark=None, tooltip="")


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


def time(cell: Measured | None) -> Cell:
    """A cell's time, marked where it is compared with nothing, or what became of it."""
    why = (cell and cell.reason) or ""
    if cell is None or cell.outcome != "ok" or cell.time is None:
        label = OUTCOMES[cell.outcome].label if cell else ABSENT.label
        style = "bad" if cell and cell.outcome in ("wrong", "failed") else "na"
        return Cell(label, style=style, emphasis="aside", tooltip=why)
    text, note = fmt.time(cell.time)[0], cell.apart or ""
    return Cell(text, note=note, style="un", value=cell.time, tooltip=why)


def against(cell: Measured | None, comparison: Contrast | None) -> Cell:
    """A cell's ratio, or its time where it has no comparison, or its outcome."""
    if comparison is None or cell is None or cell.outcome != "ok":
        return time(cell)
    return compared(comparison)
