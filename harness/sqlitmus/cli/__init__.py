"""The command line: a module per command or two; errors leave here as one message and an exit code.

Imports: vocabulary, machine, catalog, store, workload, run, results, analysis, compare, machines,
render, export.
"""

import sys
import traceback
from collections.abc import Callable
from functools import cache

import typer
from typer.core import TyperGroup

from sqlitmus.machine import system
from sqlitmus.run.processes.progress import all_like_ctrl_c
from sqlitmus.vocabulary.errors import Exit, SqlitmusError
from sqlitmus.vocabulary.text import visible

EPILOG = (
    "Exit codes: 0 done, 1 a gate failed, 2 usage, 3 environment not fit, 4 some cells failed, "
    "5 wrong answers, 70 internal error, 130 interrupted and resumable. Where several hold, the "
    "command ends with the first of 130, 5, 1 and 4, and prints the others."
)


class Commands(TyperGroup):
    """The commands, each of which Ctrl-C ends with a word and an exit code."""

    def invoke(self, ctx: typer.Context) -> object:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Run the command that `ctx` names."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            print("sqlitmus: interrupted", file=sys.stderr)
            raise typer.Exit(Exit.INTERRUPTED) from None


app = typer.Typer(
    name="sqlitmus",
    cls=Commands,
    help="A litmus test for SQLite across runtimes.",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def register(to: typer.Typer) -> None:
    """Add the commands, in the order of the help."""
    from sqlitmus.cli import (
        advise,
        claims,
        compare,
        doctor,
        export,
        list_,
        merge,
        report,
        run,
        selftest,
        workload,
    )

    to.command(name="list")(list_.list_)
    for add in (doctor.doctor, doctor.version, run.run, compare.compare, claims.claims,
                workload.workload, advise.advise, selftest.selftest, doctor.verify, report.report,
                merge.merge, export.export, export.schema):  # fmt: skip
        to.command()(add)


@cache
def command() -> Callable[..., object]:
    """All commands as one; made once, since tests call it more often."""
    register(app)
    return typer.main.get_command(app)


def main() -> None:
    """Entry point: parse, run, turn errors into exit codes."""
    system.prepare()
    try:
        with all_like_ctrl_c():
            command()(prog_name="./just")
    except SqlitmusError as error:
        print(f"sqlitmus: {visible(str(error))}", file=sys.stderr)
        sys.exit(error.exit)
    except BrokenPipeError:
        sys.exit(Exit.DONE)
    except Exception:  # noqa: BLE001 — the last resort, with its own exit code
        print(visible(traceback.format_exc()), file=sys.stderr)
        print("sqlitmus: this is a fault in sqlitmus; please report it", file=sys.stderr)
        sys.exit(Exit.INTERNAL)
