"""`./just report`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlitmus.cli.options import Weights, as_label, check_format, save, text_of, warn, write
from sqlitmus.vocabulary.errors import UsageError

if TYPE_CHECKING:
    from sqlitmus.machines.merge import Merged

MERGED_FORMATS = ("html", "md", "json", "text")


def report(
    run: Annotated[
        Path | None, typer.Argument(help="Run directory; the newest by default.")
    ] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            help="html, md, comment (for a pull request), json, text or, for a "
            "comparison, node-csv.",
        ),
    ] = "html",
    reference: Annotated[str | None, typer.Option(help="Runner that ratios refer to.")] = None,
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="File, or - for stdout.")
    ] = None,
    machine: Annotated[
        str | None, typer.Option(help="Of a merged run: this machine's own report.")
    ] = None,
    weights: Weights = None,
    runner: Annotated[
        list[str] | None,
        typer.Option("-r", "--runner", help="Only this runner; -r node -r bun for several."),
    ] = None,
) -> None:
    """Render a finished, interrupted or merged run again."""
    from sqlitmus.analysis.assemble import analyse
    from sqlitmus.analysis.data import load_file
    from sqlitmus.machines.merge import merged
    from sqlitmus.store.file import check_file
    from sqlitmus.store.folder import latest
    from sqlitmus.vocabulary import paths

    check_format(format_)
    directory = run or latest(paths.RESULTS)
    file = check_file(directory)
    if several := merged(file):
        for name, given in (("--weights", weights), ("-r", runner)):
            if given:
                raise UsageError(f"{name} {given!r}: {directory} is a merged run; name one run")
        text = _merged(several, machine, format_, reference)
    else:
        if machine is not None:
            raise UsageError(f"--machine {machine!r}: {directory} is no merged run directory")
        data = load_file(file)
        text = text_of(analyse(data.only(runner) if runner else data, reference, weights), format_)
    if output is None and format_ == "html":
        of = "" if machine is None else f"-{machine}"
        page = directory / f"{as_label(f'report{of}').strip('-')}.html"
        save(text, page)
        warn(f"{page}")
    else:
        write(text, output)


def _merged(merged: "Merged", machine: str | None, format_: str, reference: str | None) -> str:
    """A merged run's report, or that of one of its machines."""
    from sqlitmus.machines.report import machine_report, merged_report, reference_of, surveys
    from sqlitmus.render.html.page import pack

    if machine is None:
        check_format(format_, MERGED_FORMATS, "a merged run has no format")
        against = reference_of(merged, reference)
        surveyed = list(surveys(merged, against, pack if format_ == "html" else None))
        report = merged_report(merged, surveyed, against)
        return text_of(report, format_, [each.page for each in surveyed])
    named = {each.name: each for each in merged.machines}
    if machine not in named:
        raise UsageError(
            f"there is no machine {machine!r} in {merged.file.parent}; expected one of "
            f"{', '.join(named)}"
        )
    against = reference_of(merged, reference)
    return text_of(machine_report(merged.file, named[machine], against)[1], format_)
