"""Writes a command's output: a file, stdout, stderr."""

import os
import shlex
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sqlitmus.machine import plainfiles
from sqlitmus.vocabulary.errors import Exit, NotFit, UsageError
from sqlitmus.vocabulary.plain import visible

if TYPE_CHECKING:
    from sqlitmus.run.progress import Progress

FORMATS = ("html", "md", "json", "text", "node-csv")


def write(text: str, output: Path | None) -> None:
    """Write a command's output to the file that the user named, or to stdout for `-` and None.

    Here a link is followed, and a device or a pipe is written to: the user chose it.
    """
    if output is None or str(output) == "-":
        sys.stdout.write(text)
        return
    target = Path(os.path.realpath(output))
    with _written(output):
        if target.is_file() or not target.exists():
            _replace(target, text)
        else:
            target.write_bytes(text.encode())
    warn(f"{output}")


def save(text: str, output: Path) -> None:
    """Write a file whole, through no link; raises NotFit when it cannot be written, and UsageError
    where something else than a file has its name."""
    with _written(output):
        _replace(output, text)


def tell(text: str) -> None:
    """Print lines on stdout, without what drives a terminal."""
    print(visible(text))


def warn(text: str) -> None:
    """Print lines on stderr, without what drives a terminal."""
    print(visible(text), file=sys.stderr)


def _replace(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    plainfiles.replace(file, text.encode())


@contextmanager
def _written(output: Path) -> Generator[None]:
    try:
        yield
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
