"""`./just workload`."""

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sqlitmus.cli.options import (
    Explain,
    as_label,
    compare_answers,
    finish,
    save,
    tell,
    watched,
    with_options,
)
from sqlitmus.run.plan.options import Options
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import with_keys


@with_options(
    "mode scheme filters runners reference blocks time_budget_s seed label out timeout_s "
    "show_values fresh wait quiet"
)
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
    *,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Refuse a trace if any part of it cannot be measured."),
    ] = False,
    explain: Explain = False,
    options: Options,
) -> None:
    """Measure your own queries on your own database, and say which runner serves them best."""
    from sqlitmus.analysis.assemble import settled
    from sqlitmus.catalog import definitions, fixture
    from sqlitmus.compare.subject import with_subjects
    from sqlitmus.run import session
    from sqlitmus.workload import scenarios
    from sqlitmus.workload.database import parsed

    progress = watched(options)
    if file[0] == "init":
        _begin(file[1:], database)
        return
    only_verify = file[0] == "verify"
    names = file[1:] if only_verify else file
    if len(names) != 1 or database:
        raise UsageError("expected one FILE, verify FILE, or init FILE --database DATABASE")
    path, catalog, tools = paths.given(names[0]), definitions.load(), paths.tools()
    ready = scenarios.read(
        *(path, catalog, progress.insist),
        sample=parsed(sample) if sample else None,
        runners=len(options.runners),
        strict=strict,
    )
    pragmas = ", ".join(f"{name} {value}" for name, value in with_keys(ready.pragmas).items())
    progress.say(f"profile {ready.profile}: {pragmas}")
    for name, spec in ready.catalog.scenarios.items():
        for note in spec.notes:
            progress.say(f"{name}: {note}")
    if only_verify:
        try:
            ended_as = compare_answers(
                *(replace(options, suite=ready.suite), ready.catalog, tools),
                keep_jobs=options.show_values,
            )
        finally:
            fixture.forget_snapshots()
        raise typer.Exit(ended_as)
    options = replace(
        options,
        suite=ready.suite,
        label=options.label or as_label(path.stem),
        workload=ready.planned,
    )
    options, catalog, tools = with_subjects(options, options.runners, ready.catalog, tools)
    try:
        ended = session.run(options, catalog, tools, progress, settled)
    finally:
        fixture.forget_snapshots()
    finish(ended, progress, explain=explain)


def _begin(names: list[str], database: Path | None) -> None:
    """Write the file of a new workload."""
    from sqlitmus.workload.template import template

    if len(names) != 1 or database is None:
        raise UsageError("init takes a file and a database: init my.toml --database app.db")
    target = paths.given(names[0])
    if target.exists():
        raise UsageError(f"{target} is there already; choose another name, or remove it")
    path = str(database)
    with suppress(ValueError):  # another drive
        path = Path(os.path.relpath(database, target.parent)).as_posix()
    save(template(database, path, names[0], database.name), target)
    tell(f"{target}: correct the queries and their weights, then: ./just workload {names[0]}")
