"""Reports printed as a command prints them."""

from sqlitmus.render.document.build import build
from sqlitmus.render.markdown import page as markdown
from sqlitmus.render.terminal import page as terminal
from sqlitmus.results.machines import MergedReport
from sqlitmus.results.report import Report


def as_markdown(report: Report | MergedReport, *, all_rows: bool = False) -> str:
    """GitHub-flavoured Markdown."""
    return markdown.render(build(report), all_rows=all_rows)


def as_text(
    report: Report | MergedReport,
    width: int = 80,
    *,
    color: bool = False,
    plain: bool = False,
    all_rows: bool = False,
) -> str:
    """Text for a terminal."""
    return terminal.render(build(report), width, color=color, plain=plain, all_rows=all_rows)
