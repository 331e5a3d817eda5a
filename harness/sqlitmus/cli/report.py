"""`sqlitmus report`."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from sqlitmus.cli import save, write
from sqlitmus.cli.run import check_format
from sqlitmus.vocabulary.errors import UsageError

if TYPE_CHECKING:
    from sqlitmus.results.report import Report
    from sqlitmus.run.progress import Progress


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(report)


def report(
    run: Annotated[
        Path | None, typer.Argument(help="Run directory; the newest by default.")
    ] = None,
    format_: Annotated[
        str, typer.Option("--format", help="html, md, json, text or, for a comparison, node.")
    ] = "html",
    reference: Annotated[str | None, typer.Option(help="Runner that ratios refer to.")] = None,
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="File, or - for stdout.")
    ] = None,
    machine: Annotated[
        str | None, typer.Option(help="Of a merged run: this machine's own report.")
    ] = None,
) -> None:
    """Render a finished, interrupted or merged run again."""
    from sqlitmus.machines.manifest import is_merged
    from sqlitmus.run import store
    from sqlitmus.vocabulary import paths

    check_format(format_)
    directory = run or store.latest(paths.RESULTS)
    if is_merged(directory):
        from sqlitmus.cli import mergedreport

        if machine is None:
            mergedreport.merged(directory, format_, reference, output)
        else:
            mergedreport.one_machine(directory, machine, format_, reference, output)
        return
    directory = store.RunDirectory.open(directory).path
    if machine is not None:
        raise UsageError(f"--machine {machine!r}: {directory} is no merged run directory")
    text = _render(directory, format_, reference)
    if format_ == "html" and output is None:
        output = directory / "report.html"
    write(text, output)


def _render(directory: Path, format_: str, reference: str | None) -> str:
    from sqlitmus.analysis import analyse, load

    return text_of(analyse(load(directory), reference), format_)


def text_of(report: "Report", format_: str, *, all_rows: bool = False) -> str:
    """`report` in one of the formats; `all_rows` of a comparison, not only the differences."""
    if format_ == "html":
        from sqlitmus.render.html import page as html

        return html.render(report)
    if format_ == "md":
        from sqlitmus.render.markdown import page as markdown

        return markdown.render(report, all_rows=all_rows)
    if format_ == "json":
        from sqlitmus.results import summary as data

        return data.render(report)
    if format_ == "node":
        from sqlitmus.render.terminal import nodecompare

        return nodecompare.render(report)
    from sqlitmus.render.terminal import page as terminal

    return terminal.render(report, **terminal_look(), all_rows=all_rows)


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


def save_reports(report: "Report", directory: Path) -> None:
    """Write report.html and summary.json into the run directory."""
    from sqlitmus.render.html import page as html
    from sqlitmus.results import summary as data

    save(data.render(report), directory / "summary.json")
    save(html.render(report), directory / "report.html")


def render_into(directory: Path, progress: "Progress") -> None:
    """Write both into the run directory and print the terminal summary."""
    from sqlitmus.analysis import analyse, load

    report = analyse(load(directory), None)
    save_reports(report, directory)
    sys.stdout.write(text_of(report, "text"))
    progress.say(f"report: {directory / 'report.html'}")
