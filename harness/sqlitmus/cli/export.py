"""`./just export` and `./just schema`."""

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    from sqlitmus.store.folder import latest

    check_format(format_, FORMATS)
    if limit is not None and format_ != "markdown":
        raise UsageError(f"--limit is for --format markdown; {format_} is always whole")
    if columns:
        write(described(ClaimRow if format_ == "claims-csv" else row_model()), output)
        return
    write(text_of(reports_of(run or latest(paths.RESULTS), reference), format_, limit), output)


def reports_of(directory: Path, reference: str | None) -> list[tuple[str, "Report"]]:
    """Each machine's name with its report; runs from before machines had names are `unnamed`.

    Raises UsageError when the directory is no run, cannot be read, or lacks the reference.
    """
    from sqlitmus.analysis.assemble import analyse
    from sqlitmus.analysis.data import load_file
    from sqlitmus.machines.merge import merged
    from sqlitmus.machines.report import machine_report, reference_of
    from sqlitmus.store.file import check_file

    file = check_file(directory)
    several = merged(file)
    if several is None:
        run = load_file(file)
        return [(run.plan.machine or "unnamed", analyse(run, reference))]
    against = reference_of(several, reference)
    return [
        (machine.name, machine_report(several.file, machine, against)[1])
        for machine in several.machines
    ]


def text_of(reports: list[tuple[str, "Report"]], format_: str, limit: int | None = None) -> str:
    """The reports, by machine, in one of the formats; prints on stderr which cells it left out."""
    from sqlitmus.export import formats
    from sqlitmus.export.model import ClaimRow, row_model

    if format_ == "markdown":
        return formats.render_markdown(reports, limit or formats.LIMIT)
    exported = formats.export_of(reports)
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


def schema(
    name: Annotated[
        str, typer.Argument(help="job, result, describe, plan, verified, detail or export.")
    ],
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="File, or - for stdout.")
    ] = None,
) -> None:
    """Print a JSON Schema: the contract's, of what a run's file has as JSON, or of an export."""
    by_name = schemas()
    if name not in by_name:
        raise UsageError(f"there is no schema {name!r}; expected one of {', '.join(by_name)}")
    write(json.dumps(by_name[name], indent=1, ensure_ascii=False) + "\n", output)


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """All schemas by name."""
    from sqlitmus.catalog.plan import Plan
    from sqlitmus.export.model import export_model
    from sqlitmus.store.file import Verified
    from sqlitmus.vocabulary.contract import Description, Job, Result
    from sqlitmus.vocabulary.figures import Detail

    models = {
        "job": Job,
        "result": Result,
        "describe": Description,
        "plan": Plan,
        "verified": Verified,
        "detail": Detail,
        "export": export_model(),
    }
    return {
        name: {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **model.model_json_schema(),
        }
        for name, model in models.items()
    }
