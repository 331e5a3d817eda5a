"""`./just merge`."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from sqlitmus.cli.options import tell, text_of, with_options
from sqlitmus.run.plan.options import Options, name_for
from sqlitmus.run.processes.progress import Progress
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import Exit, UsageError
from sqlitmus.vocabulary.text import one_line


@with_options("out label quiet")
def merge(
    folders: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]DIR…",
            help="Run directories, merged ones, or folders that hold some up to two levels below; "
            "NAME names their machine in the merged report.",
        ),
    ],
    *,
    options: Options,
    partial: Annotated[
        bool, typer.Option("--partial", help="Take runs that were interrupted, too.")
    ] = False,
    expect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A machine that should be there; the report says if not."
        ),
    ] = None,
) -> None:
    """Merge runs of several machines into one run directory.

    What does not belong to the others, is a second run of a machine, has no case in common with
    another machine, or cannot be trusted, is refused by name; the rest is merged and the exit code
    is 4, or 2 where nothing is left. A machine that --expect names and that did not arrive is no
    error: its own job has failed already.
    """
    from sqlitmus.machines.merge import Given, label_of, merge as merge_runs, merged as merged_of
    from sqlitmus.machines.report import merged_report, reference_of, surveys
    from sqlitmus.store.file import check_file
    from sqlitmus.store.folder import free_moment

    folder, label = options.folder, options.label
    now = free_moment(folder, label_of(label))
    given = [Given(*_named(text)) for text in folders]
    done = merge_runs(given, folder, label, expect or [], now, partial=partial)
    progress = Progress(quiet=options.quiet)
    for name, run in done.machines.items():
        cut = "" if run.complete else "interrupted; "
        progress.say(f"{name}: {cut}CPU {one_line(run.hardware[0], 1000)}")
    for same in done.twice:
        progress.say(f"the same run, counted once: {', '.join(same)}")
    for name in done.made.expected:
        progress.insist(f"expected, but not there: {name}")
    for refused in done.made.refused:
        progress.insist(f"refused: {refused.path}: {refused.reason}")
    if not options.quiet and (merged := merged_of(check_file(done.directory))):
        against = reference_of(merged, None)
        report = merged_report(merged, list(surveys(merged, against)), against)
        sys.stderr.write(text_of(report, "text", brief=True))
    progress.say(f"report: ./just report {shlex.quote(str(done.directory))}")
    tell(f"{done.directory}")
    if done.made.refused:
        raise typer.Exit(Exit.CELLS_FAILED)


def _named(text: str) -> tuple[Path, str]:
    """A folder and the machine's name before it; a folder with `=` in its own name has none."""
    name, sign, folder = text.partition("=")
    if not sign or paths.given(text).is_dir():
        return paths.given(text), ""
    name_for("the name before =")(name)
    if not name:
        raise UsageError(f"{text!r}: expected NAME=DIR, or a folder")
    return paths.given(folder), name
