"""A report as JSON (`summary.json`) and back."""

from functools import cache

from pydantic import TypeAdapter

from sqlitmus.results.report import Report


@cache
def adapter() -> "TypeAdapter[Report]":
    """The schema of a report."""
    return TypeAdapter(Report)


def render(report: Report) -> str:
    """The report as JSON, two spaces deep; numbers in full."""
    return adapter().dump_json(report, indent=2).decode()


def load(text: str | bytes) -> Report:
    """A report from its JSON; raises pydantic's ValidationError with the path of each fault."""
    return adapter().validate_json(text)
