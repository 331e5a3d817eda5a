"""What a report says first, in words."""

from typing import Any

from sqlitmus.render.document import sentences


def headline(report: Any) -> list[str]:
    """The sentences of the headline."""
    return list(map(sentences.statement, report.headline))


def notices(report: Any) -> list[str]:
    """The notices as sentences."""
    return list(map(sentences.notice, report.notices))


def canary(report: Any) -> str:
    """What the A/A control showed; "" without one."""
    return sentences.control(report.canary) if report.canary else ""
