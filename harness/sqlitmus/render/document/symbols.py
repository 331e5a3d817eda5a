"""Verdicts, outcomes, grades and steadiness as symbols, words and style classes: one table for all.

A ratio is time over the reference's time, so below 1 is faster. Shade steps say how far a ratio is
from 1 (the larger of r and 1/r); only a decided verdict is shaded.
"""

from bisect import bisect_right
from dataclasses import dataclass

from sqlitmus.render.document import format as fmt
from sqlitmus.results.comparisons import Comparison
from sqlitmus.results.headline import Unpaired
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.terms import CellOutcome, Grade, Steadiness
from sqlitmus.vocabulary.verdicts import Verdict

LEVELS = (1.1, 1.25, 1.6, 2.5)
TOGETHER = "Intervals of groups hold together: in 95 % of reports all of them are right."


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
GRADES: dict[Grade, str] = {
    "A": "the reference against itself is known to within 1 %",
    "B": "the reference against itself is known to within 2.5 %",
    "C": "the reference against itself is known less well, or differs",
}


@dataclass(frozen=True, slots=True)
class SteadyWord:
    """What a class of steadiness means; `bad` where it puts a steady time in doubt."""

    meaning: str
    bad: bool


STEADINESS: dict[Steadiness, SteadyWord] = {
    "flat": SteadyWord("as fast in its first iteration as in its last", bad=False),
    "warm-up": SteadyWord(
        "it grew faster, then steady; the slow iterations are left out", bad=False
    ),
    "slowdown": SteadyWord(
        "it grew slower, then steady: its first work is not its lasting speed", bad=True
    ),
    "no steady state": SteadyWord(
        "it never settled: its time depends on how long it runs", bad=True
    ),
}
ABSENT = OutcomeWord("a", "not planned", "this run's plan does not hold that cell")


def shade(verdict: Verdict, value: float) -> str:
    """Style class of a compared cell: f1..f5, s1..s5, eq or un."""
    if not verdict.different:
        return verdict.style
    if not verdict.material:
        return f"{verdict.style}1"
    return f"{verdict.style}{1 + bisect_right(LEVELS, max(value, 1 / value))}"


def more_blocks(comparison: Comparison) -> str:
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


def phrase(comparison: Comparison) -> str:
    """One comparison as a sentence part: "0.76× the time of node [0.74, 0.79]: materially
    faster"."""
    value, bounds = fmt.ratio(comparison.ratio)
    text = f"{value} the time of {comparison.reference}"
    if bounds:
        text = f"{text} {bounds}"
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


def selftest(report: Report) -> list[str]:
    """The last self-test on this machine, in lines."""
    last = report.selftest
    if last is None:
        return ["No self-test on this machine yet: `./just selftest`."]
    result = "passed" if last.passed else "FAILED"
    return [
        f"Self-test of {last.created.replace('T', ' ').replace('Z', ' UTC')}: {result}.",
        *last.lines,
    ]
