"""`./just report`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from sqlitmus.cli.options import (
    Weights,
    as_label,
    check_format,
    interrupted,
    reporting,
    save,
    text_of,
    warn,
    write,
)
from sqlitmus.vocabulary.errors import Exit, UsageError

if TYPE_CHECKING:
    from sqlitmus.results.report import Report
    from sqlitmus.run.blocks import Ended
    from sqlitmus.run.progress import Progress

MERGED_FORMATS = ("html", "md", "json", "text")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(report)


def report(
    run: Annotated[
        Path | None, typer.Argument(help="Run directory; the newest by default.")
    ] = None,
    format_: Annotated[
        str,
        typer.Option("--format", help="html, md, json, text or, for a comparison, node-csv."),
    ] = "html",
    reference: Annotated[str | None, typer.Option(help="Runner that ratios refer to.")] = None,
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="File, or - for stdout.")
    ] = None,
    machine: Annotated[
        str | None, typer.Option(help="Of a merged run: this machine's own report.")
    ] = None,
    weights: Weights = None,
) -> None:
    """Render a finished, interrupted or merged run again."""
    from sqlitmus.machine import plainfiles
    from sqlitmus.machines.admit import is_merged
    from sqlitmus.run.planning import latest
    from sqlitmus.run.store import RunDirectory
    from sqlitmus.vocabulary import paths

    check_format(format_)
    directory = run or latest(paths.RESULTS)
    if is_merged(directory):
        if weights is not None:
            raise UsageError(f"--weights {weights!r}: {directory} is a merged run; name one run")
        page = directory / _page(machine)
        plainfiles.size(page)  # refused before anything is read
        text = _merged(directory, machine, format_, reference)
    else:
        directory = RunDirectory.open(directory).path
        if machine is not None:
            raise UsageError(f"--machine {machine!r}: {directory} is no merged run directory")
        page = directory / _page(None)
        text = text_of(_analysed(directory, reference, weights), format_)
    if output is None and format_ == "html":
        save(text, page)
        warn(f"{page}")
    else:
        write(text, output)


def _page(machine: str | None) -> str:
    """The name of the page of a whole run, or of one machine of it."""
    if machine is None:
        return "report.html"
    return f"{as_label(f'report-{machine}').strip('-')}.html"


def _analysed(directory: Path, reference: str | None, weights: str | None = None) -> "Report":
    from sqlitmus.analysis import analyse, load

    return analyse(load(directory), reference, weights)


def _merged(directory: Path, machine: str | None, format_: str, reference: str | None) -> str:
    """A merged run's report, or that of one of its machines."""
    from sqlitmus.machines import admit
    from sqlitmus.machines.report import merged_report
    from sqlitmus.machines.survey import machine_report, reference_of, surveys
    from sqlitmus.render.html.page import pack
    from sqlitmus.results.machines import Refused

    merged = admit.read(directory)
    if machine is None:
        check_format(format_, MERGED_FORMATS, "a merged run has no format")
        against = reference_of(directory, merged, reference)
        make = pack if format_ == "html" else _no_page
        surveyed = list(surveys(directory, merged, against, make))
        report = merged_report(merged, surveyed, against)
        if not report.machines:
            reasons = "; ".join(f"{one.path}: {one.reason}" for one in report.refused)
            raise UsageError(
                f"{directory}: no machine's run can be read: {reasons or 'none is there'}"
            )
        return text_of(report, format_, [one.made for one in surveyed if one.machine])
    named = {one.name: one for one in merged.machines}
    if machine not in named:
        raise UsageError(
            f"there is no machine {machine!r} in {directory}; expected one of {', '.join(named)}"
        )
    refused: list[Refused] = []
    against = reference_of(directory, merged, reference)
    joined = machine_report(directory, named[machine], against, refused)
    if joined is None:
        raise UsageError("; ".join(f"{one.path}: {one.reason}" for one in refused))
    return text_of(joined.report, format_)


def _no_page(_: "Report") -> bytes:
    """No page is wanted of a machine."""
    return b""


def save_reports(report: "Report", directory: Path) -> None:
    """Write report.html and summary.json into the run directory."""
    save(text_of(report, "json"), directory / "summary.json")
    save(text_of(report, "html"), directory / "report.html")


def finish(
    ended: "Ended", progress: "Progress", format_: str = "text", *, all_rows: bool = False
) -> NoReturn:
    """End a command that measured and reports in `format_` on stdout, with the run's exit code."""
    if ended.exit == Exit.INTERRUPTED or ended.directory is None:
        interrupted(ended.directory, progress)
        raise typer.Exit(ended.exit)
    with reporting(ended.directory):
        report = _analysed(ended.directory, None)
        save_reports(report, ended.directory)
        write(text_of(report, format_, all_rows=all_rows), None)
    progress.say(f"report: {ended.directory / 'report.html'}")
    raise typer.Exit(ended.exit)


def render_into(directory: Path, progress: "Progress", weights: str | None = None) -> None:
    """Write both into the run directory and print the terminal summary."""
    report = _analysed(directory, None, weights)
    save_reports(report, directory)
    sys.stdout.write(text_of(report, "text"))
    progress.say(f"report: {directory / 'report.html'}")
