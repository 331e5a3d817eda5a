"""`./just run`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sqlitmus.cli.options import (
    Blocks,
    Cases,
    Filters,
    Fresh,
    Label,
    Margin,
    Mode,
    Out,
    Quiet,
    Runners,
    SchemeName,
    Seed,
    Size,
    Suite,
    TimeBudget,
    Timeout,
    Wait,
    Weights,
    check_label,
    finish,
    scheme,
    seconds,
)
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(run)


def run(
    suite: Suite = "quick",
    mode: Mode = None,
    scheme_: SchemeName = None,
    filters: Filters = None,
    cases: Cases = None,
    runners: Runners = None,
    reference: Annotated[str | None, typer.Option(help="Runner that ratios refer to.")] = None,
    blocks: Blocks = None,
    time_budget: TimeBudget = None,
    margin: Margin = 2.0,
    plan: Annotated[
        Path | None,
        typer.Option(
            parser=paths.given,
            metavar="RUN",
            help="Take the counts from this run's plan; no pilot.",
        ),
    ] = None,
    size: Size = "m",
    seed: Seed = None,
    label: Label = "",
    out: Out = None,
    timeout: Timeout = None,
    machine: Annotated[
        str,
        typer.Option(help="Name of this machine in merged reports, such as linux-x64."),
    ] = "",
    weights: Weights = None,
    fresh: Fresh = False,
    wait: Wait = False,
    resume: Annotated[
        Path | None,
        typer.Option(parser=paths.given, metavar="RUN", help="Go on with an interrupted run."),
    ] = None,
    force: Annotated[bool, typer.Option(help="Resume although something changed.")] = False,
    quiet: Quiet = False,
) -> None:
    """Verify, then measure a suite in randomised blocks, and write the report."""
    from sqlitmus.analysis.assemble import settled
    from sqlitmus.catalog import definitions, presets
    from sqlitmus.cli import claims
    from sqlitmus.compare import comparison
    from sqlitmus.compare.subject import resolve
    from sqlitmus.run import planning, session
    from sqlitmus.run.progress import Progress
    from sqlitmus.store.folder import RunDirectory
    from sqlitmus.workload import scenarios

    progress = Progress(quiet=quiet)
    options = session.Options(
        suite=suite,
        mode=mode,
        scheme=scheme(scheme_),
        filters=filters or [],
        cases=cases or [],
        runners=runners or [],
        reference=reference,
        blocks=blocks,
        time_budget_s=seconds(time_budget) if time_budget else None,
        margin=margin / 100,
        plan=plan,
        size=size,
        seed=seed,
        label=label,
        out=out,
        timeout_s=timeout,
        fresh=fresh,
        wait=wait,
        machine=machine,
    )
    check_label(label)
    check_label(machine, "--machine")
    catalog, tools = definitions.load(), paths.tools()
    presets.chosen(weights, presets.load(), catalog)
    planned = RunDirectory.open(resume).plan() if resume else None
    if weights and planned and (planned.kind != "suite" or planned.workload):
        raise UsageError(f"--weights {weights!r}: only the run of a suite has them")
    if resume and planned and planned.kind == "compare":
        finish(comparison.resume(resume, options, catalog, tools, progress, force=force), progress)
    if resume and planned:
        planning.check_programs(resume, planned.subjects, force=force)
    if planned and planned.kind == "claims":
        tools = claims.again(planned.subjects, tools)
    named = runners or []
    if planned and planned.kind == "suite":
        named = planned.subjects
    if any(set("@=+") & set(name) for name in named):
        resolved = resolve(named, catalog, tools)
        catalog, tools = resolved.catalog, resolved.tools
        options = replace(options, runners=resolved.labels, subjects=resolved.subjects)
    if resume and planned:
        with scenarios.again(planned, catalog, progress.insist) as whole:
            ended = session.resume(resume, options, whole, tools, progress, settled, force=force)
    else:
        ended = session.run(options, catalog, tools, progress, settled)
    finish(ended, progress, weights=weights)
