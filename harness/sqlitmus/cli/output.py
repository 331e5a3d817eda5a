"""Where a command's data and last words go: a file, stdout, stderr."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqlitmus.vocabulary.errors import NotFit, UsageError

if TYPE_CHECKING:
    from sqlitmus.run.progress import Progress

FORMATS = ("html", "md", "json", "text", "node")


def write(text: str, output: Path | None) -> None:
    """Put a command's data where it was asked for: a file, or stdout for `-` and None."""
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


def check_format(name: str, known: Sequence[str] = FORMATS) -> None:
    """Raise UsageError for a format that is not among those known, which are a report's."""
    if name not in known:
        raise UsageError(f"there is no format {name!r}; expected one of {', '.join(known)}")


def interrupted(directory: Path | None, progress: "Progress") -> None:
    """Say how to go on; `directory` is None where there is nothing to go on with."""
    command = f"./just run --resume {shlex.quote(str(directory))}"
    where = f"go on with: {command}" if directory else "nothing was measured yet"
    progress.insist(f"interrupted; {where}")
