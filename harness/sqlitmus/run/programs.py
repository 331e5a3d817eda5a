"""Programs that a plan names by their paths: resuming a folder from elsewhere must not start them.

What the user named in a command on this machine is remembered, and a plan may name it again.
"""

import hashlib
from contextlib import suppress
from pathlib import Path

from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.plain import one_line


def remember(subjects: list[str]) -> None:
    """Remember the programs among the subjects of a run that begins here."""
    for subject in filter(_is_program, subjects):
        with suppress(OSError):  # a full disk costs --force when the run is resumed
            _record(subject).touch()


def check(path: Path, subjects: list[str], *, force: bool) -> None:
    """Raise UsageError for a program that only the plan in `path` names, unless `force`."""
    new = [one_line(s) for s in subjects if _is_program(s) and not _record(s).exists()]
    if new and not force:
        raise UsageError(
            f"{path}: resuming it would start {', '.join(new)}, which no run begun on this machine "
            "named. If you trust this folder and that program, add --force."
        )


def _is_program(subject: str) -> bool:
    return "=" in subject.partition("+")[0]


def _record(subject: str) -> Path:
    return paths.cache("programs") / hashlib.sha256(subject.encode()).hexdigest()[:24]
