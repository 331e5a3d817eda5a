"""`./just export`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlitmus.cli.options import check_format, warn, write
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import json_text

if TYPE_CHECKING:
    from sqlitmus.results.report import Report

FORMATS = ("csv", "claims-csv", "json", "markdown", "bmf", "gha-benchmark")


def export(
    run: Annotated[
        Path | None,
        typer.Argument(parser=paths.given, help="Run directory; the newest by default."),
    ] = None,
    format_: Annotated[
        str,
        typer.Option("--format", help="csv, claims-csv, json, markdown, bmf or gha-benchmark."),
    ] = "csv",
    reference: Annotated[str | None, typer.Option(help="Runner that ratios refer to.")] = None,
    limit: Annotated[
        int | None,
        typer.Option(help="Bytes of Markdown, 1 MiB by default; rows beyond are left out.", min=1),
    ] = None,
    columns: Annotated[
        bool, typer.Option("--columns", help="Say what each column of a CSV holds; read no run.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="File, or - for stdout.")
    ] = None,
) -> None:
    """Write a run's figures in a form that other tools read."""
    from sqlitmus.export.model import ClaimRow, described, row_model
    from sqlitmus.export.rows import reports_of
    from sqlitmus.store.folder import latest

    check_format(format_, FORMATS)
    if limit is not None and format_ != "markdown":
        raise UsageError(f"--limit is for --format markdown; {format_} is always whole")
    if columns:
        write(described(ClaimRow if format_ == "claims-csv" else row_model()), output)
        return
    write(text_of(reports_of(run or latest(paths.RESULTS), reference), format_, limit), output)


def text_of(reports: list[tuple[str, "Report"]], format_: str, limit: int | None = None) -> str:
    """The reports, by machine, in one of the formats; prints on stderr which cells it left out."""
    from sqlitmus.export import formats
    from sqlitmus.export.model import ClaimRow, row_model
    from sqlitmus.export.rows import export_of

    if format_ == "markdown":
        return formats.render_markdown(reports, limit or formats.LIMIT)
    exported = export_of(reports)
    if format_ == "json":
        return json_text(exported.model_dump_json(indent=1)) + "\n"
    if format_ == "claims-csv":
        if not exported.claims:
            raise UsageError("claims-csv: the run measured no published claims; export it as csv")
        return formats.render_csv(ClaimRow, exported.claims)
    if format_ == "csv":
        if exported.claims:
            warn("csv: the cells alone; --format claims-csv has published figures and words")
        return formats.render_csv(row_model(), exported.rows)
    if missing := formats.untracked(exported.rows):
        warn(f"{format_}: {missing}")
    return json_text(
        (formats.render_bmf if format_ == "bmf" else formats.render_gha_benchmark)(exported.rows)
    )
