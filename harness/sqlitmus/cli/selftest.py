"""`./just selftest`."""

from dataclasses import replace
from typing import Annotated

import typer

from sqlitmus.catalog import definitions
from sqlitmus.catalog.cases import make_case, parse_case
from sqlitmus.cli.options import finish_selftest, watched, with_options
from sqlitmus.run.plan.options import Options
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError

COPIES = 5


@with_options(
    "mode scheme blocks time_budget_s margin size seed label out timeout_s fresh wait quiet",
    mode="quick",
    time_budget_s="5m",
    label="selftest",
)
def selftest(
    runner: Annotated[
        str,
        typer.Option(
            "-r",
            "--runner",
            help="Runner whose equal copies are measured; also a subject such as node@24.",
        ),
    ] = "node",
    case: Annotated[str, typer.Option(help="The case they do.")] = "get-pk@transaction=read",
    *,
    options: Options,
    json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Measure equal copies of one runner as a run measures runners, and count the reports that tell
    them apart; later reports show the result."""
    from sqlitmus.compare.subject import copies
    from sqlitmus.run import session

    catalog = definitions.load()
    resolved = copies(runner, COPIES, catalog, paths.tools())
    _, mode = options.mode_in(catalog)
    if make_case(*parse_case(case, catalog), catalog, mode).metric == "cold":
        raise UsageError(f"{case} is a cold case; the self-test needs a steady one")
    options = replace(
        options,
        kind="selftest",
        cases=[case],
        runners=resolved.labels,
        reference=resolved.labels[0],
        subjects=resolved.subjects,
    )
    progress = watched(options)
    ended = session.run(options, resolved.catalog, resolved.tools, progress)
    finish_selftest(ended, progress, json_=json_)
