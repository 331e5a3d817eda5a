"""`./just advise`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sqlitmus.cli import options as command
from sqlitmus.run.plan.options import Options
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import unknown


@command.with_options(
    "blocks time_budget_s scheme seed label out timeout_s fresh wait quiet", time_budget_s="270s"
)
def advise(
    runner: Annotated[
        str, typer.Option("-r", "--runner", help="The runner that settings are tried on.")
    ] = "node",
    workload: Annotated[
        Path | None,
        typer.Option(
            parser=paths.given,
            metavar="FILE",
            help="Try them on the queries and the database of this workload.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--setting", help="Only these settings, by name, and what they are beside."),
    ] = None,
    *,
    options: Options,
    format_: command.Format = "text",
    explain: command.Explain = False,
) -> None:
    """Try SQLite's settings on this machine, one at a time and together, and say what each does."""
    from sqlitmus.catalog import definitions, fixture, settings as settingfile
    from sqlitmus.run import session
    from sqlitmus.workload.scenarios import tried

    command.check_format(format_)
    catalog = definitions.load()
    if runner not in catalog.runners:
        raise UsageError(unknown("runner", runner, catalog.runners))
    progress = command.watched(options)
    trying, planned = tried(
        settingfile.only(settingfile.read(), settings or []),
        *(catalog, runner, workload, progress.insist),
    )
    start = trying.advice.settings.start
    progress.say(f"settings for {runner}, added to the profile {start}")
    options = replace(
        options,
        kind="advise",
        suite="advise",
        advice=trying.advice,
        workload=planned,
        runners=[runner],
        margin=trying.advice.settings.margin,
        label=options.label or command.as_label(f"advise-{runner}"),
    )
    try:
        ended = session.run(options, trying.catalog, paths.tools(), progress)
    finally:
        fixture.forget_snapshots()
    command.finish(ended, progress, format_, explain=explain)
