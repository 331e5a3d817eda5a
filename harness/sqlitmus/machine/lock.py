"""One run at a time on a machine, for all users and clones: two at once would disturb each other.

The operating system holds the lock on a file and releases it when the holder dies, however it dies.
The text in the file serves messages only, and is checked before it is shown.
"""

import datetime
import os
import shlex
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

from bootstrap.filelock import lock
from sqlitmus.vocabulary.errors import NotFit
from sqlitmus.vocabulary.text import one_line

SHARED = 0o666
MOST_READ = 4096
MOST_SHOWN = 200
START_TOLERANCE_S = 5.0
GUARDIAN_S = 5.0


class Holder(BaseModel):
    """The holder of the lock: its process and start (s since 1970, UTC), and what it runs."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    pid: int
    started: float
    label: str
    command: str

    def __str__(self) -> str:
        """The holder in words, without control characters: anyone could have written the file."""
        since = datetime.datetime.fromtimestamp(self.started, datetime.UTC)
        return (
            f"pid {self.pid} since {since:%Y-%m-%d %H:%M:%S} UTC, "
            f"label {one_line(self.label, MOST_SHOWN)}: {one_line(self.command, MOST_SHOWN)}"
        )


def place() -> Path:
    """The lock's file: `$SQLITMUS_LOCK`, or one that all users of the machine share."""
    named = os.environ.get("SQLITMUS_LOCK")
    # Not $TMPDIR, which is often a user's own; Windows has no folder that all may write to.
    folder = tempfile.gettempdir() if sys.platform == "win32" else "/tmp"  # noqa: S108
    return Path(named) if named else Path(folder) / "sqlitmus.lock"


@contextmanager
def hold(label: str, *, wait: bool, say: Callable[[str], None]) -> Generator[int]:
    """Hold the machine's lock inside the block; yields its descriptor, whose heirs hold it, too.

    While another run holds it, raises NotFit, or with `wait` announces that and waits. Ctrl-C ends
    the waiting unless a handler for SIGINT swallows it, so take the lock before installing one.
    """
    file = place()
    while True:
        with _opened(file) as handle:
            _take(handle, wait=wait, say=say)
            if not _is(file, handle):
                continue
            try:
                started = psutil.Process().create_time()
            except psutil.Error as error:
                raise NotFit(
                    "the system tells nothing of this process, so that what a run starts could not "
                    "be ended with it; mount /proc, without hidepid"
                ) from error
            command = shlex.join(["./just", *sys.argv[1:]])
            _write(handle, Holder(pid=os.getpid(), started=started, label=label, command=command))
            try:
                yield handle
            finally:
                _write(handle, None)
            return


def holder() -> Holder | None:
    """The present holder of the machine, found without trying to lock it."""
    record = _record()
    return record if record and _lives(record) else None


def _record() -> Holder | None:
    """What the file says of the holder, who may be dead."""
    try:
        if not place().is_file():
            return None
        with place().open("rb") as file:
            return Holder.model_validate_json(file.read(MOST_READ).rstrip(b"\0"))
    except (OSError, ValidationError):
        return None


def _lives(record: Holder) -> bool:
    try:
        process = psutil.Process(record.pid)
        if process.status() == psutil.STATUS_ZOMBIE:  # whose parent has not asked how it ended
            return False
        return abs(process.create_time() - record.started) < START_TOLERANCE_S
    except (psutil.Error, ValueError, OverflowError):
        return False


@contextmanager
def _opened(file: Path) -> Generator[int]:
    """A handle to read and write; creates the file for all users."""
    try:
        # Linux refuses O_CREAT on another user's file in /tmp, hence a try without it.
        with suppress(FileExistsError):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL, SHARED))
            file.chmod(SHARED)
        # No following of links and no waiting for pipes: anyone may have put them there.
        handle = os.open(
            file, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        )
    except OSError as error:
        raise NotFit(
            f"{file}: the lock of this machine cannot be opened: {error.strerror}. Remove that "
            "file, or name another with SQLITMUS_LOCK."
        ) from error
    try:
        yield handle
    finally:
        os.close(handle)


def _take(handle: int, *, wait: bool, say: Callable[[str], None]) -> None:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise NotFit(f"{place()}: no ordinary file. Remove it, or name another with SQLITMUS_LOCK.")
    if lock(handle) or _left_by_the_dead(handle):
        return
    record = _record()
    if record and not _lives(record):
        who = f"what a killed run left running holds this machine: {record}"
    else:
        who = f"another run holds this machine: {record or 'its name is not known yet'}"
    if not wait:
        raise NotFit(
            f"{who}. Two runs at once would disturb each other. Wait for it to end, or add --wait."
        )
    say(f"waiting: {who}")
    lock(handle, wait=True)


def _left_by_the_dead(handle: int) -> bool:
    """Whether the lock came free while a killed run's guardian was ending what that run left."""
    end = time.monotonic() + GUARDIAN_S
    while (record := _record()) and not _lives(record) and time.monotonic() < end:
        if lock(handle):
            return True
        time.sleep(0.02)
    return False


def _is(file: Path, handle: int) -> bool:
    """Whether `handle` is still the file of that name: a cleaner of /tmp may have removed it."""
    try:
        return file.stat().st_ino == os.fstat(handle).st_ino
    except FileNotFoundError:
        return False


def _write(handle: int, holder: Holder | None) -> None:
    # The lock holds without a text, as on a full disk.
    with suppress(OSError):
        os.lseek(handle, 0, os.SEEK_SET)
        os.ftruncate(handle, 0)
        if holder:
            os.write(handle, holder.model_dump_json().encode())
