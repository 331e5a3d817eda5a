"""Comparisons as Node's benchmark/compare.R prints them, and the CSV that it reads.

Names, figures and the note are Node's, so that its maintainers can hold them against their own:
improvement is the change of the mean rate, stars are those of Welch's t-test, the accuracies its
half-widths at 95, 99 and 99.9 %. What sqlitmus itself says stands below, under a title of its own.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from sqlitmus.render.document.comparison import subjects
from sqlitmus.render.document.naming import heads
from sqlitmus.render.document.symbols import correction, worded
from sqlitmus.render.document.table import Head
from sqlitmus.results.estimate import Speedup, speedup
from sqlitmus.results.report import RateTest, Report
from sqlitmus.vocabulary.plain import one_line

LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
HEADER = ("", "confidence", "improvement", "accuracy (*)", "(**)", "(***)")
OWN_HEADER = ("", "improvement", "[95 %]", "verdict")
OWN = "By sqlitmus's own method, which compares log times by trimmed means:"
NOT_AVAILABLE = "NA"
CSV_HEADER = '"binary","filename","configuration","rate","time"'

Rated = tuple[str, RateTest]
Judged = tuple[str, Speedup, str]  # name, how many times as fast, verdict


def render(report: Report) -> str:
    """Node's table and note, and what sqlitmus says of the same; of claims both for each claim and
    runner. UsageError for a report that compares nothing."""
    if report.claims:
        return "\n".join(
            f"{one_line(title)}\n\n{form(rated)}\n{OWN}\n"
            f"{table(OWN_HEADER, map(own_cells, judged))}"
            for title, rated, judged in by_claim_and_runner(report)
        )
    base, new = subjects(report)
    rated: list[Rated] = []
    judged: list[Judged] = []
    for head, case in zip(heads(report.cases), report.cases, strict=True):
        compared = case.comparisons.of(new, base)
        if case.rate and compared:
            rated.append((" ".join(filter(None, named(head))), case.rate))
            words = worded(compared.verdict, report)
            judged.append((rated[-1][0], speedup(compared.ratio), words))
    below = table(OWN_HEADER, map(own_cells, judged))
    return f"{form(rated)}\n{OWN}\n{below}{correction(report)}\n"


def as_csv(report: Report) -> str:
    """What Node's benchmark/compare.js writes: a line per subject, case and block. Rates are units
    of work per second, times the seconds of one unit. UsageError for a report that is no
    comparison."""
    sides = dict(zip(subjects(report), ("old", "new"), strict=True))
    lines = [
        ",".join([*map(quoted, (sides[cell.runner], *named(head))), f"{1e9 / ns}", f"{ns / 1e9}"])
        for head, case in zip(heads(report.cases), report.cases, strict=True)
        if case.rate
        for cell in case.cells
        for ns in cell.samples
        if ns
    ]
    return "\n".join([CSV_HEADER, *lines]) + "\n"


def named(head: Head) -> tuple[str, str]:
    """What Node calls the file and the configuration: there, texts stand in quotes."""
    axes = (axis.partition("=") for axis in head.axes)
    shown = [f"{name}={value if value.isdigit() else inspected(value)}" for name, _, value in axes]
    return one_line(head.name), one_line(" ".join(shown))


def inspected(text: str) -> str:
    """A text as Node's `util.inspect` shows it: in single quotes, unless it holds one."""
    return json.dumps(text) if "'" in text else f"'{text}'"


def quoted(text: str) -> str:
    """A field of the CSV."""
    return '"' + one_line(text).replace('"', '""') + '"'


def by_claim_and_runner(report: Report) -> Iterator[tuple[str, list[Rated], list[Judged]]]:
    """The rows that have a ratio, for each claim and runner; names that several groups have come
    with the group's title."""
    for claim in report.claims:
        rows = [(group, row) for group in claim.groups for row in group.rows if row.rate]
        for runner in dict.fromkeys(row.runner for _, row in rows):
            rated_rows = [(group.title, row) for group, row in rows if row.runner == runner]
            times = Counter(row.name for _, row in rated_rows)
            mine = [
                (row.name if times[row.name] == 1 else f"{title}: {row.name}", row)
                for title, row in rated_rows
            ]
            yield (
                f"{claim.title}: {runner}",
                [(name, row.rate) for name, row in mine if row.rate],
                [(name, row.ratio, row.verdict or "") for name, row in mine if row.ratio],
            )


def form(rated: Sequence[Rated]) -> str:
    """Node's table, and Node's note below it."""
    cells = ((one_line(name), *rate_cells(rate)) for name, rate in rated)
    return "\n".join([table(HEADER, cells), *note(len(rated))]) + "\n"


def table(header: Sequence[str], cells: Iterator[tuple[str, ...]]) -> str:
    """Columns to the right but the first, as R prints a data frame."""
    rows = [tuple(header), *cells]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        " ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    )
    return "".join(f"{line}\n" for line in lines)


def rate_cells(rate: RateTest) -> tuple[str, ...]:
    """Stars, improvement, three accuracies."""
    improvement = f"{rate.improvement * 100:.2f} %"
    if rate.p is None:
        return (NOT_AVAILABLE, improvement, *[NOT_AVAILABLE] * 3)
    return (stars(rate.p), improvement, *(f"\u00b1{half * 100:.2f}%" for half in rate.accuracy))


def own_cells(judged: Judged) -> tuple[str, ...]:
    """Improvement of the rate, its interval, the verdict."""
    name, faster, verdict = judged

    def percent(value: float) -> str:
        return f"{(value - 1) * 100:.2f}"

    bounds = NOT_AVAILABLE
    if faster.low is not None and faster.high is not None:
        bounds = f"[{percent(faster.low)}, {percent(faster.high)}]"
    return one_line(name), f"{percent(faster.value)} %", bounds, verdict


def stars(p: float) -> str:
    """One star below 5 %, two below 1 %, three below 0.1 %."""
    return next((mark for level, mark in LEVELS if p < level), "")


def note(count: int) -> list[str]:
    """What chance alone would give, in the words of compare.R."""
    false_when = "false positives, when considering a"
    return [
        "Be aware that when doing many comparisons the risk of a false-positive",
        f"result increases. In this case, there are {count} comparisons, you can thus",
        "expect the following amount of false-positive results:",
        f"  {count * 0.05:.2f} {false_when}   5% risk acceptance (*, **, ***),",
        f"  {count * 0.01:.2f} {false_when}   1% risk acceptance (**, ***),",
        f"  {count * 0.001:.2f} {false_when} 0.1% risk acceptance (***)",
    ]
