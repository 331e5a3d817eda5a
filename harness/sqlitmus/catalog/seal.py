"""What a database file held when it was built, and whether it still holds that."""

import hashlib
import os
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from sqlitmus.vocabulary.contract.model import Model

Damage = Literal["absent", "unsealed", "changed"]
# Size, times of change in ns and inode, then the bytes of a log beside the file. Equal states are
# equal content: what a program writes moves the second time, which no program can put back.
State = tuple[int, int, int, int, int, int]

LOGS = ("-wal", "-journal")
BESIDE = (*LOGS, "-shm")


class Seal(Model):
    """The SHA-256 of a file, and the state in which it was last seen to have it."""

    sha256: str
    state: State


def state(file: Path) -> State | None:
    """The state of `file`, None where there is no such file."""
    try:
        status = file.stat()
    except OSError:
        return None
    wal, journal = (_size(f"{file}{suffix}") for suffix in LOGS)
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return (status.st_size, *times, status.st_ino, wal, journal)


def put(file: Path, sha256: str | None = None, *, of: Path | None = None) -> None:
    """Seal `file` as it is, with the content that it or `of` has, or that `sha256` tells.

    Raises OSError.
    """
    content = of or file
    now = state(content)
    assert now is not None
    seal = Seal(sha256=sha256 or digest(content), state=now)
    partial = file.with_suffix(f".seal.{os.getpid()}.part")
    partial.write_bytes(seal.model_dump_json().encode())
    partial.replace(beside(file))


def damage(file: Path) -> Damage | None:
    """What became of `file` since it was sealed; None while its content is the same.

    The content is read only if the state is another one, which is then remembered. Bytes in a log
    count as a change, since whoever opens the file next may find them in it.
    """
    now = state(file)
    if now is None:
        return "absent"
    try:
        seal = Seal.model_validate_json(beside(file).read_bytes())
    except (OSError, ValidationError):
        return "unsealed"
    if now == seal.state:
        return None
    try:
        if any(now[-len(LOGS) :]) or digest(file) != seal.sha256:
            return "changed"
        put(file, seal.sha256)
    except OSError:
        return "absent"
    return None


def beside(file: Path) -> Path:
    """Where the seal of `file` is."""
    return file.with_suffix(".seal")


def digest(file: Path) -> str:
    """The SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _size(name: str) -> int:
    try:
        return Path(name).stat().st_size
    except OSError:
        return 0
