"""A report as JSON (`summary.json`) and back."""

from functools import cache

from pydantic import TypeAdapter

from sqlitmus.results.machines import MergedReport
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.plain import json_text


@cache
def adapter() -> TypeAdapter[Report]:
    """The schema of a run's report."""
    return TypeAdapter(Report)


def render(report: Report | MergedReport) -> str:
    """The report as JSON, two spaces deep; numbers in full."""
    if isinstance(report, MergedReport):
        text = TypeAdapter(MergedReport).dump_json(report, indent=2)
    else:
        text = adapter().dump_json(report, indent=2)
    return f"{json_text(text.decode())}\n"


def load(text: str | bytes) -> Report:
    """A run's report from its JSON; raises pydantic's ValidationError with each fault's path."""
    return adapter().validate_json(text)
