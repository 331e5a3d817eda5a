"""`./just workload`."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlitmus.cli.options import (
    Blocks,
    Filters,
    Fresh,
    Label,
    Mode,
    Out,
    Quiet,
    Runners,
    SchemeName,
    Seed,
    TimeBudget,
    Timeout,
    Wait,
    as_label,
    check_label,
    finish,
    save,
    scheme,
    seconds,
    tell,
)
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError

if TYPE_CHECKING:
    from sqlitmus.run.progress import Progress


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(workload)


def workload(
    file: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="The workload's TOML file. `init FILE` writes one to begin with; `verify FILE` "
            "compares answers and measures nothing.",
        ),
    ],
    database: Annotated[
        Path | None,
        typer.Option(parser=paths.given, metavar="FILE", help="With init: your database."),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(
            metavar="ROWS",
            help="Take about so many rows of each table, or a share such as 1%, with those that "
            "their foreign keys lead to; for a database that is too large to be copied.",
        ),
    ] = None,
    mode: Mode = None,
    scheme_: SchemeName = None,
    filters: Filters = None,
    runners: Runners = None,
    reference: Annotated[str | None, typer.Option(help="Runner that ratios refer to.")] = None,
    blocks: Blocks = None,
    time_budget: TimeBudget = None,
    seed: Seed = None,
    label: Label = "",
    out: Out = None,
    timeout: Timeout = None,
    show_values: Annotated[
        bool,
        typer.Option(
            help="Keep the jobs and results of what goes wrong, which hold values of the database."
        ),
    ] = False,
    fresh: Fresh = False,
    wait: Wait = False,
    quiet: Quiet = False,
) -> None:
    """Measure your own queries on your own database, and say which runner serves them best."""
    from sqlitmus.analysis.assemble import settled
    from sqlitmus.catalog import definitions, fixture
    from sqlitmus.cli.verify import compare
    from sqlitmus.compare.subject import resolve
    from sqlitmus.run import session
    from sqlitmus.run.progress import Progress
    from sqlitmus.workload import scenarios
    from sqlitmus.workload.database import parsed

    progress = Progress(quiet=quiet)
    if file[0] == "init":
        _begin(file[1:], database, progress, parsed(sample) if sample else None)
        return
    only_verify = file[0] == "verify"
    names = file[1:] if only_verify else file
    if len(names) != 1 or database:
        raise UsageError("expected one FILE, verify FILE, or init FILE --database DATABASE")
    check_label(label)
    path, catalog, tools = paths.given(names[0]), definitions.load(), paths.tools()
    ready = scenarios.read(
        *(path, catalog, progress.insist),
        sample=parsed(sample) if sample else None,
        runners=len(runners or ()),
    )
    pragmas = ", ".join(f"{name} {value}" for name, value in ready.pragmas)
    progress.say(f"profile {ready.profile}: {pragmas or 'nothing set'}")
    if only_verify:
        try:
            ended_as = compare(
                *(ready.catalog, tools, ready.suite, None, runners, filters),
                size="m",
                timeout=timeout,
                keep_jobs=show_values,
            )
        finally:
            fixture.forget_snapshots()
        raise typer.Exit(ended_as)
    options = session.Options(
        suite=ready.suite,
        mode=mode,
        scheme=scheme(scheme_),
        filters=filters or [],
        runners=runners or [],
        reference=reference,
        blocks=blocks,
        time_budget_s=seconds(time_budget) if time_budget else None,
        seed=seed,
        label=label or as_label(path.stem),
        out=out,
        timeout_s=timeout,
        fresh=fresh,
        wait=wait,
        rerun=shlex.join(
            ["./just", "workload", names[0], *(["--sample", sample] if sample else [])]
        ),
        workload=ready.planned,
        show_values=show_values,
    )
    catalog = ready.catalog
    if any(set("@=+") & set(name) for name in options.runners):
        resolved = resolve(options.runners, catalog, tools)
        catalog, tools = resolved.catalog, resolved.tools
        options = replace(options, runners=resolved.labels, subjects=resolved.subjects)
    try:
        ended = session.run(options, catalog, tools, progress, settled)
    finally:
        fixture.forget_snapshots()
    finish(ended, progress)


def _begin(
    names: list[str], database: Path | None, progress: "Progress", amount: float | None
) -> None:
    """Write the file of a new workload."""
    from sqlitmus.catalog import fixture
    from sqlitmus.workload.database import snapshot
    from sqlitmus.workload.template import template

    if len(names) != 1 or database is None:
        raise UsageError("init takes a file and a database: init my.toml --database app.db")
    target = paths.given(names[0])
    if target.exists():
        raise UsageError(f"{target} is there already; choose another name, or remove it")
    copy = snapshot(database, fixture.snapshots(), progress.insist, amount)
    try:
        save(template(copy.file, str(database), names[0], copy.about.name), target)
    finally:
        fixture.forget_snapshots()
    tell(f"{target}: correct the queries and their weights, then: ./just workload {names[0]}")
