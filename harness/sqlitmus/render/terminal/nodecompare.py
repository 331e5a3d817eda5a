"""Comparisons in the form of Node's benchmark/compare.R, which its maintainers read.

Improvement is the change of the rate (1 / time), so that more is better, and the accuracy the
half-widths of its 95, 99 and 99.9 % intervals. One column is ours: the stars that are left after
Holm's correction.
"""

from collections.abc import Iterator, Sequence

from sqlitmus.render.document.comparison import subjects
from sqlitmus.render.document.naming import heads
from sqlitmus.results.report import RateTest, Report

LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
HEADER = ("", "confidence", "improvement", "accuracy (*)", "(**)", "(***)", "after Holm")
NOT_AVAILABLE = "NA"


def render(report: Report) -> str:
    """The table, the expected number of false positives without correction, and what a correction
    leaves; of claims one for each claim and runner. UsageError for a report that compares nothing.
    """
    if report.claims:
        return "\n".join(
            f"{one(title)}\n\n{form(rated)}" for title, rated in by_claim_and_runner(report)
        )
    subjects(report)
    named = zip(heads(report.cases), report.cases, strict=True)
    return form([(head.text, case.rate) for head, case in named if case.rate])


def by_claim_and_runner(report: Report) -> Iterator[tuple[str, list[tuple[str, RateTest]]]]:
    """The rows that have a ratio, by the families that they were corrected in."""
    for claim in report.claims:
        rows = [(group, row) for group in claim.groups for row in group.rows if row.rate]
        for runner in dict.fromkeys(row.runner for _, row in rows):
            mine = [
                (f"{group.title}: {row.name}", row.rate)
                for group, row in rows
                if row.runner == runner and row.rate
            ]
            yield f"{claim.title}: {runner}", mine


def form(rated: Sequence[tuple[str, RateTest]]) -> str:
    """Rows by name, and the note below them."""
    rows = [HEADER, *((one(name), *cells(rate)) for name, rate in rated)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        " ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, "", *note([rate for _, rate in rated])]) + "\n"


def one(name: str) -> str:
    """Untrusted text on one line."""
    return "".join(c if c.isprintable() else " " for c in name)


def cells(rate: RateTest) -> tuple[str, ...]:
    """Stars, improvement, three accuracies, stars after correction."""
    if rate.p is None or not rate.intervals:
        return (NOT_AVAILABLE,) * (len(HEADER) - 1)
    improvement = f"{(rate.intervals[0].value - 1) * 100:.2f} %"
    accuracies = [
        NOT_AVAILABLE
        if i.low is None or i.high is None
        else f"\u00b1{(i.high - i.low) / 2 * 100:.2f}%"
        for i in rate.intervals
    ]
    return stars(rate.p), improvement, *accuracies, stars(rate.holm)


def stars(p: float | None) -> str:
    """One star below 5 %, two below 1 %, three below 0.1 %."""
    if p is None:
        return NOT_AVAILABLE
    return next((mark for level, mark in LEVELS if p < level), "")


def note(rates: list[RateTest]) -> list[str]:
    """What chance alone would give, in the words of compare.R, and what survives correction."""
    count = len(rates)
    false_when = "false positives, when considering a"
    starred = sum(stars(rate.p) not in {"", NOT_AVAILABLE} for rate in rates)
    left = sum(stars(rate.holm) not in {"", NOT_AVAILABLE} for rate in rates)
    return [
        "Be aware that when doing many comparisons the risk of a false-positive",
        f"result increases. In this case, there are {count} comparisons, you can thus",
        "expect the following amount of false-positive results:",
        f"  {count * 0.05:.2f} {false_when}   5% risk acceptance (*, **, ***),",
        f"  {count * 0.01:.2f} {false_when}   1% risk acceptance (**, ***),",
        f"  {count * 0.001:.2f} {false_when} 0.1% risk acceptance (***)",
        "",
        f"{left} of {starred} with a star keep one after Holm's correction for all {count}, which",
        "holds the risk of any false positive to the same levels.",
    ]
