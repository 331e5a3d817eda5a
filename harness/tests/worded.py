"""What a report says first, in words."""

from typing import Any

from sqlitmus.render.document import sentences
from sqlitmus.render.document.parts import in_words


def headline(report: Any) -> list[str]:
    """The sentences of the headline."""
    return list(map(sentences.statement, report.headline))


def notices(report: Any, kinds: str = "") -> list[str]:
    """The notices as sentences: all, or those of kinds with this end."""
    return [sentences.notice(each) for each in report.notices if each.kind.endswith(kinds)]


def cases(report: Any) -> list[str]:
    """What is said of each case beside its figures."""
    return list(map(in_words, report.cases))


def canary(report: Any) -> str:
    """What the A/A control showed; "" without one."""
    return sentences.control(report.canary) if report.canary else ""
