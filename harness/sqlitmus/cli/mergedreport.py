"""`./just report` of a merged run directory, or of one of its machines."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sqlitmus.cli.output import write
from sqlitmus.vocabulary.errors import UsageError

if TYPE_CHECKING:
    from sqlitmus.results.machines import MergedReport
    from sqlitmus.results.report import Report

FORMATS = ("html", "md", "json", "text")


def merged(directory: Path, format_: str, reference: str | None, output: Path | None) -> None:
    """Write the merged report; an HTML page goes into `directory` by default."""
    from sqlitmus.machines import manifest as model
    from sqlitmus.machines.load import reference_of
    from sqlitmus.machines.report import merged_report
    from sqlitmus.machines.survey import surveys
    from sqlitmus.render.html import merged as mergedhtml

    if format_ not in FORMATS:
        raise UsageError(
            f"a merged run has no format {format_!r}; expected one of {', '.join(FORMATS)}"
        )
    found = model.read(directory)
    against = reference_of(directory, found, reference)
    make = mergedhtml.pack if format_ == "html" else _nothing
    surveyed = list(surveys(directory, found, against, make))
    report = merged_report(found, surveyed, against)
    if not report.machines:
        reasons = "; ".join(f"{one.path}: {one.reason}" for one in report.refused)
        raise UsageError(f"{directory}: no machine's run can be read: {reasons or 'none is there'}")
    if format_ == "html":
        pages = [one.made or b"" for one in surveyed if one.machine is not None]
        write(mergedhtml.render(report, pages), output or directory / "report.html")
        return
    write(_text_of(report, format_), output)


def one_machine(
    directory: Path, name: str, format_: str, reference: str | None, output: Path | None
) -> None:
    """Write the ordinary report of machine `name`; its page goes into `directory` by default."""
    from sqlitmus.cli.report import text_of
    from sqlitmus.machines import manifest as model
    from sqlitmus.machines.load import machine_report, reference_of
    from sqlitmus.results.machines import Refused

    found = model.read(directory)
    machine = next((one for one in found.machines if one.name == name), None)
    if machine is None:
        there = ", ".join(one.name for one in found.machines)
        raise UsageError(f"there is no machine {name!r} in {directory}; expected one of {there}")
    against = reference_of(directory, found, reference)
    refused: list[Refused] = []
    joined = machine_report(directory, machine, against, refused)
    if joined is None:
        raise UsageError("; ".join(f"{one.path}: {one.reason}" for one in refused))
    if format_ == "html" and output is None:
        file = re.sub(r"[^\w.@+-]+", "-", f"report-{name}").strip("-")
        output = directory / f"{file}.html"
    write(text_of(joined.report, format_), output)


def _nothing(_: "Report") -> None:
    """No page is wanted of a machine."""


def _text_of(report: "MergedReport", format_: str) -> str:
    if format_ == "md":
        from sqlitmus.render.markdown import machines as mergedmarkdown

        return mergedmarkdown.render(report)
    if format_ == "json":
        from pydantic import TypeAdapter

        from sqlitmus.results.machines import MergedReport

        return TypeAdapter(MergedReport).dump_json(report, indent=1).decode() + "\n"
    from sqlitmus.cli.report import terminal_look
    from sqlitmus.render.terminal import machines as mergedterminal

    return mergedterminal.render(report, **terminal_look())
