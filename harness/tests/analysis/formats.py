"""A report in each of the forms in which it is read."""

import json

from sqlitmus.cli.export import text_of
from sqlitmus.render.html import page
from sqlitmus.results import machines
from tests.analysis.runs import Report
from tests.render.printing import as_html, as_markdown, as_text, data_of

FORMS = ("summary", "html", "markdown", "text", "csv", "json", "bmf", "gha-benchmark")
# Those that tell what a run's verdicts rest on.
TOLD = ("html", "markdown", "text", "json")


def written(report: Report, form: str) -> str:
    """The report as a user gets it."""
    match form:
        case "summary":
            return machines.render(report)
        case "html":
            return as_html(report) + json.dumps(data_of(page.render(report)))
        case "markdown":
            return as_markdown(report, all_rows=True)
        case "text":
            return as_text(report, 200, all_rows=True)
        case _:
            return text_of([("m", report)], form)


def line(report: Report, form: str) -> str:
    """The same on one line."""
    return " ".join(written(report, form).split())
