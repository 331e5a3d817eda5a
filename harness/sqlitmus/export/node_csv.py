"""The samples of a comparison as Node's benchmark/compare.js writes them, for its compare.R."""

import csv
import io
import json

from sqlitmus.render.document.comparison import subjects
from sqlitmus.render.document.naming import heads
from sqlitmus.render.document.table import Head
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.plain import one_line

COLUMNS = ("binary", "filename", "configuration", "rate", "time")


def render(report: Report) -> str:
    """A line per subject, case and block, of the cases that have a time on both sides. Rates are
    units of work per second, times the seconds of one unit. UsageError for a report that is no
    comparison."""
    sides = dict(zip(subjects(report), ("old", "new"), strict=True))
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(COLUMNS)
    for head, case in zip(heads(report.cases), report.cases, strict=True):
        if all(cell.time for cell in case.cells):
            writer.writerows(
                (sides[cell.runner], *named(head), 1e9 / ns, ns / 1e9)
                for cell in case.cells
                for ns in cell.samples
                if ns
            )
    return file.getvalue()


def named(head: Head) -> tuple[str, str]:
    """What Node calls the file and the configuration: there, texts stand in quotes."""
    axes = (axis.partition("=") for axis in head.axes)
    shown = [f"{name}={value if value.isdigit() else inspected(value)}" for name, _, value in axes]
    return one_line(head.name), one_line(" ".join(shown))


def inspected(text: str) -> str:
    """A text as Node's `util.inspect` shows it: in single quotes, unless it holds one."""
    return json.dumps(text) if "'" in text else f"'{text}'"
