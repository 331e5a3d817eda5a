"""Files of a database: copies of it, and logs beside it."""

import shutil
from pathlib import Path

from sqlitmus.catalog import seal
from sqlitmus.vocabulary.errors import NotFit


def fresh_copy(source: Path, target: Path) -> None:
    """Copy `source` to `target`, and remove what a former writer left beside it.

    Raises NotFit when the copy cannot be written.
    """
    try:
        remove_logs(target)
        # Bytes, not a clone, whose pages the first write to each would copy, on the clock.
        shutil.copyfile(source, target)
    except OSError as error:
        raise NotFit(f"{target}: a copy of the fixture cannot be made: {error.strerror}") from error


def remove_logs(file: Path) -> None:
    """Remove what a writer left beside `file`. Raises OSError."""
    for suffix in seal.BESIDE:
        file.with_name(file.name + suffix).unlink(missing_ok=True)
