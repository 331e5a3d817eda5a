"""`sqlitmus run`."""

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sqlitmus.errors import Exit, UsageError

Filters = Annotated[
    list[str] | None,
    typer.Option(
        "-f",
        "--filter",
        help="Narrow the suite's cells: substring, key:value, -not; all words in one -f match.",
    ),
]
Runners = Annotated[list[str] | None, typer.Option("-r", "--runner", help="Only these runners.")]
Cases = Annotated[list[str] | None, typer.Option("--case", help="These cases, by id.")]
Suite = Annotated[str, typer.Option(help="smoke, quick or full.")]
Mode = Annotated[
    str | None,
    typer.Option(help="smoke, quick, standard, rigorous or gate; the suite's own by default."),
]
Size = Annotated[str, typer.Option(help="Fixture size: s, m or l.")]
Timeout = Annotated[float, typer.Option(help="Seconds that one invocation may take.", min=0.1)]
Margin = Annotated[
    float,
    typer.Option(help="Differences below this many percent do not matter.", min=0.1, max=50),
]
Wait = Annotated[bool, typer.Option(help="Wait for another run on this machine to end.")]
Fresh = Annotated[bool, typer.Option(help="Forget earlier verifications and timings.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(run)


def run(
    suite: Suite = "quick",
    mode: Mode = None,
    filters: Filters = None,
    cases: Cases = None,
    runners: Runners = None,
    reference: Annotated[str | None, typer.Option(help="Runner that ratios refer to.")] = None,
    blocks: Annotated[int | None, typer.Option(help="Passes over all cells.", min=1)] = None,
    time_budget: Annotated[
        str | None, typer.Option(help="As many blocks as fit, such as 90s, 20m or 1h.")
    ] = None,
    margin: Margin = 2.0,
    plan: Annotated[
        Path | None, typer.Option(help="Take the counts from this run's plan; no pilot.")
    ] = None,
    size: Size = "m",
    seed: Annotated[int | None, typer.Option(help="Seed of the order.")] = None,
    label: Annotated[str, typer.Option(help="Ends the name of the run directory.")] = "",
    out: Annotated[Path | None, typer.Option(help="Folder for run directories.")] = None,
    timeout: Timeout = 60.0,
    fresh: Fresh = False,
    wait: Wait = False,
    resume: Annotated[Path | None, typer.Option(help="Go on with an interrupted run.")] = None,
    force: Annotated[bool, typer.Option(help="Resume although something changed.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")] = False,
) -> None:
    """Verify, then measure a suite in randomised blocks, and write the report."""
    from sqlitmus import catalog, paths, session
    from sqlitmus.cli.report import render_into
    from sqlitmus.progress import Progress
    from sqlitmus.resolve import resolve
    from sqlitmus.store import RunDirectory

    progress = Progress(quiet=quiet)
    options = session.Options(
        suite=suite,
        mode=mode,
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
    )
    check_label(label)
    known, tools = catalog.load(), paths.tools()
    named = RunDirectory.open(resume).plan().subjects if resume else runners or []
    if any(set("@=+") & set(name) for name in named):
        found = resolve(named, known, tools)
        known, tools = found.catalog, found.tools
        options = replace(options, runners=found.labels)
    if resume:
        ended = session.resume(resume, options, known, tools, progress, force=force)
    else:
        ended = session.run(options, known, tools, progress)
    if ended.exit == Exit.INTERRUPTED:
        command = f"./just run --resume {shlex.quote(str(ended.directory))}"
        where = f"go on with: {command}" if ended.directory else ""
        progress.say(f"interrupted; {where or 'nothing was measured yet'}", always=True)
    elif ended.directory:
        render_into(ended.directory, progress)
    raise typer.Exit(ended.exit)


def check_label(label: str) -> None:
    """Raise UsageError for a label that cannot be part of a folder's name."""
    if re.search(r"[^\w.@+-]", label):
        raise UsageError(f"--label {label!r}: use letters, digits and . _ @ + - only")


def seconds(text: str) -> float:
    """Seconds of `90`, `90s`, `20m` or `1h`; raises UsageError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if not match or float(match[1]) == 0:
        raise UsageError(
            f"--time-budget {text!r}: expected a number above 0 with s, m or h, such as 20m"
        )
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]
