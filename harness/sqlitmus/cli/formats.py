"""A report in the format that was asked for."""

import os
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from sqlitmus.results.machines import MergedReport
    from sqlitmus.results.report import Report


def text_of(
    report: "Report | MergedReport",
    format_: str,
    pages: Sequence[bytes | None] = (),
    *,
    all_rows: bool = False,
) -> str:
    """`report` in one of the formats; `all_rows` of its tables, not only those of interest. `pages`
    are the packed ones of a merged report's machines."""
    from sqlitmus.render.document.build import build
    from sqlitmus.results import summary
    from sqlitmus.results.machines import MergedReport

    if format_ == "json":
        return summary.render(report)
    if format_ == "html":
        from sqlitmus.render.html import packed, page

        if isinstance(report, MergedReport):
            return packed.render(report, [made or b"" for made in pages])
        return page.render(report)
    if format_ == "node-csv" and not isinstance(report, MergedReport):
        from sqlitmus.export import node_csv

        return node_csv.render(report)
    if format_ == "md":
        from sqlitmus.render.markdown import page as markdown

        return markdown.render(build(report), all_rows=all_rows)
    from sqlitmus.render.terminal import page as terminal

    return terminal.render(build(report), **terminal_look(), all_rows=all_rows)


class Look(TypedDict):
    """How a terminal wants its text."""

    width: int
    color: bool
    plain: bool


def terminal_look() -> Look:
    """Width of the terminal, whether it shows colours, and whether it has ASCII only."""
    encoding = sys.stdout.encoding or "ascii"
    return Look(
        width=shutil.get_terminal_size((100, 24)).columns,
        color=sys.stdout.isatty() and "NO_COLOR" not in os.environ,
        plain=not encoding.lower().startswith("utf"),
    )
