"""`./just merge`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlitmus import paths
from sqlitmus.cli.run import Label, Out, Quiet, check_label
from sqlitmus.errors import Exit
from sqlitmus.words import counted

if TYPE_CHECKING:
    from sqlitmus.merging.model import Machine


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(merge)


def merge(
    folders: Annotated[
        list[Path],
        typer.Argument(
            parser=paths.given,
            metavar="DIR…",
            help="Run directories, merged ones, or folders that hold some up to two levels below.",
        ),
    ],
    out: Out = None,
    label: Label = "",
    partial: Annotated[
        bool, typer.Option("--partial", help="Take runs that were interrupted, too.")
    ] = False,
    expect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A machine that should be there; the report says if not."
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Merge runs of several machines, or shards of one suite, into one run directory.

    What does not belong to the others, or cannot be trusted, is refused by name; the rest is merged
    and the exit code is 4. A machine that --expect names and that did not arrive is no error: its
    own job has failed already.
    """
    import datetime
    import shlex

    from sqlitmus.merging.merge import merge as merge_runs
    from sqlitmus.progress import Progress

    check_label(label)
    now = datetime.datetime.now(datetime.UTC)
    done = merge_runs(folders, out or paths.RESULTS, label, expect or [], now, partial=partial)
    progress = Progress(quiet=quiet)
    for machine in done.merged.machines:
        progress.say(_told(machine))
    for same in done.twice:
        progress.say(f"the same run, counted once: {', '.join(same)}")
    for name in done.merged.expected:
        progress.say(f"expected, but not there: {name}", always=True)
    for refused in done.merged.refused:
        progress.say(f"refused: {refused.path}: {refused.reason}", always=True)
    progress.say(f"report: ./just report {shlex.quote(str(done.directory))}")
    print(done.directory)
    if done.merged.refused:
        raise typer.Exit(Exit.CELLS_FAILED)


def _told(machine: "Machine") -> str:
    """A machine in one line."""
    shards = [source.shard for source in machine.sources if source.shard]
    others = len(machine.sources) - len(shards)
    parts = [counted(others, "run")] if others else []
    if shards:
        numbers = ", ".join(str(shard.number) for shard in shards)
        parts.append(f"shard {numbers} of {shards[0].of}")
    if machine.missing:
        parts.append(f"missing {', '.join(map(str, machine.missing))}")
    if cut := sum(not source.complete for source in machine.sources):
        parts.append(f"{cut} interrupted")
    return f"{machine.name}: {', '.join(parts)}; CPU {', '.join(machine.cpus)}"
