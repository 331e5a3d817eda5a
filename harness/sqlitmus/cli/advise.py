"""`./just advise`."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from sqlitmus.cli.options import (
    Blocks,
    Format,
    Fresh,
    Label,
    Out,
    Quiet,
    SchemeName,
    Seed,
    Timeout,
    Wait,
    as_label,
    check_format,
    check_label,
    finish,
    scheme,
    seconds,
)
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import unknown

RUNNER = "node"
BUDGET = "270s"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(advise)


def advise(
    runner: Annotated[
        str, typer.Option("-r", "--runner", help="The runner that settings are tried on.")
    ] = RUNNER,
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
    blocks: Blocks = None,
    time_budget: Annotated[
        str,
        typer.Option(
            help="As many blocks as fit beside verification and pilot, 10 at least, such as 90s."
        ),
    ] = BUDGET,
    scheme_: SchemeName = None,
    seed: Seed = None,
    label: Label = "",
    out: Out = None,
    format_: Format = "text",
    timeout: Timeout = None,
    fresh: Fresh = False,
    wait: Wait = False,
    quiet: Quiet = False,
) -> None:
    """Try SQLite's settings on this machine, one at a time and together, and say what each does."""
    from sqlitmus.catalog import definitions, fixture
    from sqlitmus.catalog import settings as settingfile
    from sqlitmus.run import session
    from sqlitmus.run.progress import Progress
    from sqlitmus.workload.scenarios import tried

    check_format(format_)
    check_label(label)
    catalog = definitions.load()
    if runner not in catalog.runners:
        raise UsageError(unknown("runner", runner, catalog.runners))
    progress = Progress(quiet=quiet)
    trying, planned = tried(
        settingfile.only(settingfile.read(), settings or []),
        *(catalog, runner, workload, progress.insist),
    )
    start = trying.advice.settings.start
    progress.say(f"settings for {runner}, added to the profile {start}")
    options = session.Options(
        kind="advise",
        suite="advise",
        advice=trying.advice,
        workload=planned,
        runners=[runner],
        margin=trying.advice.settings.margin,
        blocks=blocks,
        time_budget_s=seconds(time_budget),
        scheme=scheme(scheme_),
        seed=seed,
        label=label or as_label(f"advise-{runner}"),
        out=out,
        timeout_s=timeout,
        fresh=fresh,
        wait=wait,
        rerun=_rerun(runner, workload, settings or [], blocks, time_budget),
    )
    try:
        ended = session.run(options, trying.catalog, paths.tools(), progress)
    finally:
        fixture.forget_snapshots()
    finish(ended, progress, format_)


def _rerun(
    runner: str, workload: Path | None, settings: list[str], blocks: int | None, budget: str
) -> str:
    """The command that measures the same again, in another order."""
    words = ["./just", "advise", "-r", runner]
    words += ["--workload", str(workload)] if workload else []
    words += [word for name in settings for word in ("--setting", name)]
    words += ["--blocks", str(blocks)] if blocks else []
    words += ["--time-budget", budget] if budget != BUDGET else []
    return shlex.join(words)
