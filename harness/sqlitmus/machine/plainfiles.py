"""Reads and replaces regular files only, in folders that anyone may have filled.

A link, a pipe or a device under the name of a file would let a command read what never ends, or
write to a file elsewhere. So no link is followed, nothing is waited for, and sizes are bounded.
"""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from sqlitmus.vocabulary.errors import UsageError

MB = 2**20
# Windows has neither of the first two: there the look before has to do.
_SAFE = (
    getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)  # fmt: skip


def size(file: Path) -> int | None:
    """Bytes of a regular file, None where nothing has that name.

    Raises UsageError where something else has it.
    """
    status = _look(file)
    return None if status is None else status.st_size


def unbounded(file: Path) -> BinaryIO:
    """A regular file of any size, to be read; raises UsageError for any other, and OSError."""
    return _open(file, os.O_RDONLY, "rb")


def named(file: Path) -> BinaryIO:
    """A regular file that the user names, to be read: links are followed, but no pipe is waited
    for. Raises UsageError for what is none or cannot be opened."""
    try:
        handle = os.open(file, os.O_RDONLY | (_SAFE & ~getattr(os, "O_NOFOLLOW", 0)))
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        what = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
        raise UsageError(f"{file}: cannot be read: it is {what}; give the path of a file")
    return os.fdopen(handle, "rb")


def read(file: Path, most: int) -> bytes:
    """A regular file of at most `most` bytes, whole.

    Raises UsageError for any other, and FileNotFoundError.
    """
    if (size(file) or 0) > most:
        raise UsageError(f"{file}: larger than {most // MB} MB, which no run writes")
    try:
        with unbounded(file) as stream:
            data = stream.read(most + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    if len(data) > most:
        raise UsageError(f"{file}: grows while it is read; wait until it is written")
    return data


def changeable(file: Path) -> None:
    """Raise UsageError where a change of `file` would change something else, too."""
    status = _look(file)
    if status is not None and status.st_nlink > 1:
        raise UsageError(
            f"{file} has a second name (a hard link), whose file would change, too; copy the "
            "folder, and give the copy"
        )


def replace(file: Path, data: bytes) -> None:
    """Write `file` whole; who reads it meanwhile sees the old one. Raises UsageError, OSError."""
    status = _look(file)
    part = file.with_name(f".{file.name[:100]}.{os.getpid()}.part")
    part.unlink(missing_ok=True)  # a link itself, never what it leads to
    try:
        with _open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, "wb") as stream:
            stream.write(data)
        if status:
            part.chmod(stat.S_IMODE(status.st_mode))
        part.replace(file)
    except BaseException:  # a Ctrl-C, too
        part.unlink(missing_ok=True)
        raise


def check_folder(folder: Path) -> None:
    """Raise UsageError where `folder` is there and is a link or no folder."""
    try:
        mode = folder.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(mode):
        raise UsageError(f"{folder} is a link or no folder; give a folder that holds it")


def _look(file: Path) -> os.stat_result | None:
    try:
        status = file.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    _check_regular(status, file)
    return status


def _open(file: Path, flags: int, mode: str) -> BinaryIO:
    handle = os.open(file, flags | _SAFE, 0o666)
    try:
        _check_regular(os.fstat(handle), file)
        return os.fdopen(handle, mode)  # pyright: ignore[reportReturnType]
    except BaseException:
        os.close(handle)
        raise


def _check_regular(status: os.stat_result, file: Path) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{file} is a link or no file; give a folder that holds it")
