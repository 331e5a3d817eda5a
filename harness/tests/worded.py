"""What a report says first, in words."""

from sqlitmus.render.document import sentences
from sqlitmus.results.machines import MergedReport
from sqlitmus.results.report import Report


def headline(report: Report | MergedReport) -> list[str]:
    """The sentences of the headline."""
    return list(map(sentences.statement, report.headline))


def notices(report: Report) -> list[str]:
    """The notices as sentences."""
    return list(map(sentences.notice, report.notices))


def canary(report: Report) -> str:
    """What the A/A control showed; "" without one."""
    return sentences.control(report.canary) if report.canary else ""
