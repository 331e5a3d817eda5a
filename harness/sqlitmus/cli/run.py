"""`./just run`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sqlitmus.catalog import definitions, presets
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.cli.options import (
    Explain,
    Weights,
    finish,
    finish_selftest,
    show,
    watched,
    with_options,
)
from sqlitmus.run.plan.options import Options
from sqlitmus.run.processes.progress import Progress, clock
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError

PlanOnly = Annotated[
    bool, typer.Option("--plan", help="Say what a new run takes, and start nothing.")
]
COLUMNS = ("runner", "cells", "verification", "pilot", "blocks", "all")  # of --plan


@with_options(
    "suite mode scheme filters cases runners reference blocks time_budget_s margin counts size "
    "seed label out timeout_s machine fresh wait quiet"
)
def run(
    options: Options,
    *,
    weights: Weights = None,
    explain: Explain = False,
    resume: Annotated[
        Path | None,
        typer.Option(parser=paths.given, metavar="RUN", help="Go on with an interrupted run."),
    ] = None,
    again: Annotated[
        Path | None,
        typer.Option(
            parser=paths.given, metavar="RUN", help="Measure a complete run for one more sitting."
        ),
    ] = None,
    force: Annotated[bool, typer.Option(help="Go on although something changed.")] = False,
    plan: PlanOnly = False,
    first_look: Annotated[
        bool,
        typer.Option(
            "--first-look",
            help="Rank the runners that are set up by one process each, and keep no run.",
        ),
    ] = False,
) -> None:
    """Verify, then measure a suite in randomised blocks, and write the report."""
    from sqlitmus.analysis.assemble import settled
    from sqlitmus.cli import claims
    from sqlitmus.compare import comparison
    from sqlitmus.compare.subject import copies, with_subjects
    from sqlitmus.run import session
    from sqlitmus.run.plan import planning
    from sqlitmus.store.folder import RunDirectory
    from sqlitmus.workload import scenarios

    _check(plan, first_look, bool(resume), bool(again))
    resume = resume or again
    progress = watched(options, weights)
    catalog, tools = definitions.load(), paths.tools()
    presets.chosen(weights, catalog.presets, catalog)
    planned = RunDirectory.open(resume).plan() if resume else None
    if weights and planned and (planned.kind != "suite" or planned.workload):
        raise UsageError(f"--weights {weights!r}: only the run of a suite has them")
    if resume and planned and planned.kind == "compare":
        ended = comparison.resume(resume, options, catalog, tools, progress, force=force)
        finish(ended, progress, explain=explain)
    if resume and planned:
        planning.check_programs(resume, planned.programs, force=force)
    if resume and planned and planned.kind == "selftest":
        of = copies(planned.subjects[0], len(planned.runners), catalog, tools)
        ended = session.resume(resume, options, of.catalog, of.tools, progress, force=force)
        finish_selftest(ended, progress)
    if planned and planned.kind == "claims":
        tools = claims.again(planned.subjects, tools)
        catalog, tools = claims.with_versions(planned.claims, planned.sources, catalog, tools)
    named = options.runners
    if planned and planned.kind == "suite":
        named = planned.subjects
    options, catalog, tools = with_subjects(options, named, catalog, tools)
    if first_look:
        raise typer.Exit(session.first_look(options, catalog, tools, progress))
    if plan:
        foretell(options, catalog, tools)
        return
    if resume and planned:
        with scenarios.again(planned, catalog, progress.insist) as whole:
            of = (resume, options, whole, tools, progress, settled)
            ended = session.resume(*of, force=force, again=again is not None)
    else:
        ended = session.run(options, catalog, tools, progress, settled)
    finish(ended, progress, weights=weights, explain=explain)


def _check(*kinds: bool) -> None:
    if kinds.count(True) > 1:
        raise UsageError(
            "--plan is of a new run, --resume of an interrupted one, --again of a complete one, "
            "and --first-look of none: give one of them"
        )


def foretell(options: Options, catalog: Catalog, tools: paths.Tools) -> None:
    """Print what a new run takes of each runner, and of all."""
    from sqlitmus.run.plan.planning import outlook

    rows = [
        (n, f"{cells:g}", *map(clock, [*s, sum(s)]))
        for n, c in outlook(options, catalog, tools, Progress(sys.stdout)).items()
        for cells, *s in [c.tolist()]
    ]
    show([dict(zip(COLUMNS, row, strict=True)) for row in rows], as_json=False)
