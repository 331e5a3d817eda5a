"""`sqlitmus run`."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import Exit, UsageError

if TYPE_CHECKING:
    from sqlitmus.run.progress import Progress

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
Blocks = Annotated[int | None, typer.Option(help="Passes over all cells.", min=1)]
TimeBudget = Annotated[
    str | None, typer.Option(help="As many blocks as fit, such as 90s, 20m or 1h.")
]
Seed = Annotated[int | None, typer.Option(help="Seed of the order.")]
Label = Annotated[str, typer.Option(help="Ends the name of the run directory.")]
Out = Annotated[
    Path | None,
    typer.Option(parser=paths.given, metavar="FOLDER", help="Folder for run directories."),
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")]
Format = Annotated[
    str, typer.Option("--format", help="What stdout gets: text, md, html, json or node.")
]
FORMATS = ("html", "md", "json", "text", "node")
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
    timeout: Timeout = 60.0,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="K/N",
            help="Only the K-th of N parts of the scenarios, for N machines of a kind; see merge.",
        ),
    ] = None,
    machine: Annotated[
        str,
        typer.Option(help="Name of this machine in merged reports, such as linux-x64."),
    ] = "",
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
    from sqlitmus.catalog import definitions, shards
    from sqlitmus.cli.compare import finish
    from sqlitmus.cli.report import render_into
    from sqlitmus.compare import comparison
    from sqlitmus.compare.resolve import resolve
    from sqlitmus.run import session
    from sqlitmus.run.progress import Progress
    from sqlitmus.run.store import RunDirectory

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
        shard=shards.parse(shard) if shard else None,
        machine=machine,
    )
    check_label(label)
    check_label(machine, "--machine")
    known, tools = definitions.load(), paths.tools()
    planned = RunDirectory.open(resume).plan() if resume else None
    if resume and planned and planned.kind == "compare":
        done = comparison.resume(resume, options, known, tools, progress, force=force)
        finish(done, progress)
    named = planned.subjects if planned else runners or []
    if any(set("@=+") & set(name) for name in named):
        found = resolve(named, known, tools)
        known, tools = found.catalog, found.tools
        options = replace(options, runners=found.labels, subjects=found.subjects)
    if resume:
        ended = session.resume(resume, options, known, tools, progress, force=force)
    else:
        ended = session.run(options, known, tools, progress)
    if ended.exit == Exit.INTERRUPTED:
        interrupted(ended.directory, progress)
    elif ended.directory:
        render_into(ended.directory, progress)
    raise typer.Exit(ended.exit)


def interrupted(directory: Path | None, progress: "Progress") -> None:
    """Say how to go on; `directory` is None where there is nothing to go on with."""
    command = f"./just run --resume {shlex.quote(str(directory))}"
    where = f"go on with: {command}" if directory else "nothing was measured yet"
    progress.insist(f"interrupted; {where}")


def check_format(
    name: str, known: Sequence[str] = FORMATS, what: str = "there is no format"
) -> None:
    """Raise UsageError for a format that is not among those known, which are a report's."""
    if name not in known:
        raise UsageError(f"{what} {name!r}; expected one of {', '.join(known)}")


def check_label(label: str, option: str = "--label") -> None:
    """Raise UsageError for a label that cannot be part of a folder's name."""
    if re.search(r"[^\w.@+-]", label):
        raise UsageError(f"{option} {label!r}: use letters, digits and . _ @ + - only")


def seconds(text: str) -> float:
    """Seconds of `90`, `90s`, `20m` or `1h`; raises UsageError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if not match or float(match[1]) == 0:
        raise UsageError(
            f"--time-budget {text!r}: expected a number above 0 with s, m or h, such as 20m"
        )
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]
