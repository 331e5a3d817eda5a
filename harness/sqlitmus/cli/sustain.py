"""`./just sustain`."""

import dataclasses
import datetime
import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from sqlitmus.cli.options import Quiet, Wait
from sqlitmus.cli.output import check_format, write
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import Exit, UsageError
from sqlitmus.vocabulary.plain import json_text
from sqlitmus.vocabulary.suggest import unknown

NS_PER_MS = 1e6
FORMATS = ("text", "md", "json")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(sustain)


def sustain(
    runners: Annotated[
        list[str] | None,
        typer.Option("-r", "--runner", help="Only these runners; all of the table by default."),
    ] = None,
    limit: Annotated[
        float, typer.Option(help="Milliseconds that 99 % of operations may take.", min=0.1)
    ] = 10.0,
    blocks: Annotated[
        int, typer.Option(help="Searches by each runner; 6 at least give an interval.", min=1)
    ] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the order.")] = 1,
    format_: Annotated[
        str, typer.Option("--format", help="What stdout gets: text, md or json.")
    ] = "text",
    output: Annotated[
        Path | None,
        typer.Option("--out", "-o", parser=paths.given, help="File in place of stdout."),
    ] = None,
    wait: Wait = False,
    quiet: Quiet = False,
) -> None:
    """Find the highest planned rate at which 99 % of operations keep to a limit.

    Runs that follow on this machine show it beside their recommendations.
    """
    from sqlitmus.analysis.sustained import sustaining
    from sqlitmus.catalog import definitions, ladder
    from sqlitmus.cli.formats import terminal_look
    from sqlitmus.render.document.sustained import build
    from sqlitmus.render.markdown import page as markdown
    from sqlitmus.render.terminal import page as terminal
    from sqlitmus.run import remembered
    from sqlitmus.run.progress import Progress
    from sqlitmus.run.sustaining import climb

    check_format(format_, FORMATS)
    catalog, rungs = definitions.load(), ladder.read()
    for name in runners or []:
        if name not in catalog.runners:
            raise UsageError(unknown("runner", name, catalog.runners))
    names = runners or [n for n, spec in catalog.runners.items() if spec.role == "runner"]
    progress = Progress(quiet=quiet)
    limit_ns = limit * NS_PER_MS
    climbed = climb(
        *(rungs, catalog, paths.tools(), progress, names),
        limit_ns=limit_ns,
        blocks=blocks,
        seed=seed,
        wait=wait,
    )
    progress.clear()
    created = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    result = sustaining(climbed, rungs, limit_ns, created)
    record = remembered.file(remembered.SUSTAINED)
    record.write_bytes(json.dumps(dataclasses.asdict(result), indent=1).encode())
    words = ["./just", "sustain", *(w for name in runners or [] for w in ("-r", name))]
    words += ["--limit", f"{limit:g}", "--blocks", str(blocks)]
    document = build(result, shlex.join(words))
    if format_ == "json":
        text = json_text(json.dumps(dataclasses.asdict(result), indent=1)) + "\n"
    elif format_ == "md":
        text = markdown.render(document)
    else:
        text = terminal.render(document, **terminal_look())
    write(text, output)
    bad = {each.outcome for each in result.runners}
    if "wrong" in bad:
        raise typer.Exit(Exit.WRONG_ANSWERS)
    raise typer.Exit(Exit.CELLS_FAILED if "failed" in bad else Exit.DONE)
