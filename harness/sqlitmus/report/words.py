"""Verdicts and outcomes as symbols, words and style classes: one table for every renderer.

A ratio is time over the reference's time, so below 1 is faster. Shade steps say how far a ratio is
from 1 (the larger of r and 1/r); only a decided verdict is shaded.
"""

from bisect import bisect_right
from dataclasses import dataclass

from sqlitmus.report import format as fmt
from sqlitmus.report.model import Comparison, Outcome, Verdict

LEVELS = (1.1, 1.25, 1.6, 2.5)


@dataclass(frozen=True, slots=True)
class Word:
    """`code` is one ASCII letter for the embedded data; `side` is f (faster), s (slower) or
    neutral."""

    code: str
    symbol: str
    ascii: str
    side: str
    material: bool
    meaning: str


VERDICTS: dict[Verdict, Word] = {
    "materially faster": Word(
        "F", "▲", "++", "f", True, "the whole interval is on the faster side, beyond the margin"
    ),
    "faster": Word(
        "f", "△", "+", "f", False, "the interval excludes 1; the gain may be inside the margin"
    ),
    "equivalent": Word(
        "e", "≈", "=", "eq", False, "the 90 % interval lies wholly inside the margin around 1"
    ),
    "slower": Word(
        "s", "▽", "-", "s", False, "the interval excludes 1; the loss may be inside the margin"
    ),
    "materially slower": Word(
        "S", "▼", "--", "s", True, "the whole interval is on the slower side, beyond the margin"
    ),
    "not resolved": Word(
        "n", "?", "?", "un", False, "the interval contains 1: this run cannot tell them apart"
    ),
    "not testable": Word("t", "·", ".", "un", False, "too few blocks for any verdict"),
}


@dataclass(frozen=True, slots=True)
class OutcomeWord:
    """How a cell without a number is labelled."""

    code: str
    label: str
    meaning: str


OUTCOMES: dict[Outcome, OutcomeWord] = {
    "ok": OutcomeWord("k", "ok", "answers match the oracle; timed"),
    "unsupported": OutcomeWord("u", "unsupported", "the runtime or driver has no such feature"),
    "wrong": OutcomeWord("w", "wrong answer", "answers differ from the oracle, so no time is kept"),
    "failed": OutcomeWord("f", "failed", "crash, time-out or unreadable result"),
    "missing": OutcomeWord("m", "not installed", "the runner is not on this machine"),
}
ABSENT = OutcomeWord("a", "not planned", "this run's plan does not hold that cell")


def shade(verdict: Verdict, value: float) -> str:
    """Style class of a compared cell: f1..f5, s1..s5, eq or un."""
    word = VERDICTS[verdict]
    if word.side not in {"f", "s"}:
        return word.side
    if not word.material:
        return f"{word.side}1"
    return f"{word.side}{1 + bisect_right(LEVELS, max(value, 1 / value))}"


def more_blocks(comparison: Comparison) -> str:
    """ "needs about 40 blocks" for an unresolved comparison that says so, else ""."""
    if comparison.needs_blocks is None:
        return ""
    return f"needs about {comparison.needs_blocks} blocks"


def phrase(comparison: Comparison) -> str:
    """One comparison as a sentence part: "0.76× the time of node [0.74, 0.79]: materially
    faster"."""
    value, bounds = fmt.ratio(comparison.ratio)
    text = f"{value} the time of {comparison.reference}"
    if bounds:
        text = f"{text} {bounds}"
    return f"{text}: {comparison.verdict}"
