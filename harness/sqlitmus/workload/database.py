"""The user's database: copied as a whole, looked at, and never written."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from sqlitmus.machine.facts import network
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.workload import sample
from sqlitmus.workload.about import About, about

PATIENCE_S = 5.0
TRIES = 5
ROOM = 2  # copies that have to fit on the disk: this one, and one in a profile's journal mode
_MAGIC = b"SQLite format 3\0"
_LOGS = ("-wal", "-journal")
_LARGE = 2**30


class Snapshot(NamedTuple):
    """A copy of a database, which is the harness's own."""

    file: Path
    about: About


def snapshot(
    source: Path,
    folder: Path,
    say: Callable[[str], None] = lambda _: None,
    amount: float | None = None,
) -> Snapshot:
    """A consistent copy of `source` in `folder`, by SQLite's backup API, checked as a whole; or one
    of so many rows of each table, or of such a share of them, see `sample`.

    The original is opened for reading only; without a log beside it not even a lock is taken.
    Raises UsageError when it is no database that can be read, NotFit when the copy does not fit.
    """
    size = _size(source)
    if remote := network(source.absolute().parent):
        say(
            f"{source}: it lies on a network file system ({remote}), where other computers' locks "
            f"may not be seen: nobody should write to it while it is copied to {folder}"
        )
    if remote := network(folder):
        say(
            f"{folder}: it lies on a network file system ({remote}), which is then measured, too; "
            "choose a folder of this machine with SQLITMUS_TOOLCHAIN"
        )
    if amount is None:
        check_room(source, size, folder, ROOM)
    if size > _LARGE:
        shorter = "" if amount else "; --sample 100000 takes so many rows of each table"
        what = "read" if amount else "copied and checked"
        say(f"{source}: {size / 2**30:.1f} GB are {what}, which takes minutes{shorter}")
    partial = folder / f"{os.getpid()}.part"
    partial.unlink(missing_ok=True)
    try:
        journal_mode, rows = _copy(source, partial, amount, say)
        facts = about(f"{source.name}{rows}", partial, journal_mode)
        if amount:
            check_room(source, facts.bytes, folder, ROOM)
        file = folder / f"{facts.content}.db"
        partial.replace(file)
    except OSError as error:
        raise NotFit(f"{folder}: the copy cannot be made: {error.strerror}") from error
    finally:
        partial.unlink(missing_ok=True)
    return Snapshot(file, facts)


def check_room(source: Path, size: int, folder: Path, copies: int) -> None:
    """Raise NotFit if so many `copies` of a database of `size` do not fit on the disk."""
    free = shutil.disk_usage(folder).free
    if copies * size > free:
        raise NotFit(
            f"{source}: {size / 2**20:,.0f} MB are copied, and {copies} copies have to fit on the "
            f"disk, which has {free / 2**20:,.0f} MB free; free some, choose another folder with "
            "SQLITMUS_TOOLCHAIN, or take fewer rows with --sample"
        )


def _size(source: Path) -> int:
    try:
        with source.open("rb") as file:
            head = file.read(100)
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise UsageError(f"{source}: cannot be read: {error.strerror}") from error
    if not head.startswith(_MAGIC):
        what = "it is empty" if not head else "it begins with other bytes"
        raise UsageError(
            f"{source}: it is no SQLite database ({what}), or it is encrypted; give the path of a "
            "plain one"
        )
    return size


def _copy(
    source: Path, target: Path, amount: float | None, say: Callable[[str], None]
) -> tuple[str, str]:
    """Back `source` up to `target`, or a part of it; its journal mode, and what part in words."""
    rows = ""
    for _ in range(TRIES):
        quiet = not any(os.path.lexists(f"{source}{suffix}") for suffix in _LOGS)
        before = _state(source)
        target.unlink(missing_ok=True)
        try:
            # Nothing lies in a log: then a reader without locks leaves no file beside it either.
            with (
                _reading(source, immutable=quiet) as original,
                closing(sqlite3.connect(_uri(target), isolation_level=None, uri=True)) as copy,
            ):
                # A lock that others hold is waited for here; `backup` would wait for ever.
                original.execute("BEGIN")
                original.execute("SELECT count(*) FROM sqlite_schema").fetchone()
                if amount is None:
                    original.backup(copy)
                else:
                    whole = _uri(source, "mode=ro&immutable=1" if quiet else "mode=ro")
                    held, total = sample.take(original, copy, whole, amount, say)
                    rows = f" (a sample of {held:,} of {total:,} rows)"
                copy.execute("PRAGMA journal_mode = DELETE")
                finding = str(copy.execute("PRAGMA integrity_check(1)").fetchone()[0])
        except sqlite3.Error as error:
            raise UsageError(f"{source}: {_words(error)}") from error
        changed = quiet and (
            _state(source) != before or any(os.path.lexists(f"{source}{s}") for s in _LOGS)
        )
        if changed:
            continue
        if finding != "ok":
            raise UsageError(
                f"{source}: it is damaged: {finding}; `PRAGMA integrity_check` has the details"
            )
        with source.open("rb") as file:
            versions = file.read(20)[18:20]
        return "wal" if versions == b"\2\2" else "delete", rows
    raise UsageError(
        f"{source}: another process changed it during each of {TRIES} copies; stop that, or give "
        "the path of a backup"
    )


@contextmanager
def _reading(source: Path, *, immutable: bool) -> Generator[sqlite3.Connection]:
    uri = _uri(source, "mode=ro&immutable=1" if immutable else "mode=ro")
    with closing(sqlite3.connect(uri, uri=True, timeout=PATIENCE_S)) as connection:
        yield connection


def _uri(file: Path, query: str = "") -> str:
    return f"{file.absolute().as_uri()}?{query}"


def _state(file: Path) -> tuple[int, int, int]:
    facts = file.stat()
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _words(error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"another process holds a lock on it for more than {PATIENCE_S:g} s; stop it first"
    if code == sqlite3.SQLITE_READONLY:
        return (
            "a journal beside it has to be rolled back first, which writes; open it once with the "
            "program that it belongs to"
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return f"it is damaged, encrypted, or of a newer format: {error}"
    if code == sqlite3.SQLITE_CANTOPEN:
        return f"it cannot be opened: {error}; a log beside it may not be readable"
    return f"SQLite {sqlite3.sqlite_version} says: {error}"
