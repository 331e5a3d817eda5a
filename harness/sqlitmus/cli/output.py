"""Writes a command's output: a file, stdout, stderr."""

import shlex
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sqlitmus.vocabulary.errors import Exit, NotFit, UsageError

if TYPE_CHECKING:
    from sqlitmus.run.progress import Progress

FORMATS = ("html", "md", "json", "text", "node", "node-csv")


def write(text: str, output: Path | None) -> None:
    """Write a command's output to a file, or to stdout for `-` and None."""
    if output is None or str(output) == "-":
        sys.stdout.write(text)
        return
    save(text, output)
    print(output, file=sys.stderr)


def save(text: str, output: Path) -> None:
    """Write a file whole; raises NotFit when it cannot be written."""
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_bytes(text.encode())
    except OSError as error:
        raise NotFit(
            f"{output}: cannot be written: {error.strerror}; free some space or choose another file"
        ) from error


def check_format(
    name: str, formats: Sequence[str] = FORMATS, lead: str = "there is no format"
) -> None:
    """Raise UsageError for a name that is not among `formats`, by default those of a report."""
    if name not in formats:
        raise UsageError(f"{lead} {name!r}; expected one of {', '.join(formats)}")


def interrupted(directory: Path | None, progress: "Progress") -> None:
    """Print how to resume; `directory` is None when there is nothing to resume."""
    command = f"./just run --resume {shlex.quote(str(directory))}"
    where = f"go on with: {command}" if directory else "nothing was measured yet"
    progress.insist(f"interrupted; {where}")


@contextmanager
def reporting(directory: Path) -> Generator[None]:
    """Where the report of a whole run is made: after a Ctrl-C inside the block, says how to."""
    try:
        yield
    except KeyboardInterrupt:
        command = f"./just report {shlex.quote(str(directory))}"
        print(f"interrupted; all is measured, and this renders it: {command}", file=sys.stderr)
        raise typer.Exit(Exit.INTERRUPTED) from None
