"""What stands beside a fixture's database: files that hold the same as rows of it, or copies."""

import os
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path, PureWindowsPath

from sqlitmus.catalog.authorizer import confined
from sqlitmus.vocabulary.errors import UsageError

_BLOCK = 4096


def folder_of(database: Path) -> Path:
    """The folder of what stands beside `database`."""
    return database.with_suffix(".files")


def bytes_of_files(database: Path) -> int:
    """What the files beside `database` take on a disk that gives out blocks of 4,096 bytes."""
    return sum(-(-file.stat().st_size // _BLOCK) * _BLOCK for file in folder_of(database).iterdir())


def put_files(path: Path, database: Path, query: str) -> None:
    """Write each blob that `query` finds in `database` to a file of its name, beside `path`."""
    with (
        _filled(path) as folder,
        closing(sqlite3.connect(database)) as connection,
        confined(connection),
    ):
        for name, content in connection.execute(query):
            named(folder, str(name)).write_bytes(content)


def put_databases(path: Path, database: Path, sql: str, count: int) -> None:
    """Write a copy of `database` for each number from 1 to `count`, in which `sql` is executed with
    it, beside `path`."""
    with _filled(path) as folder:
        for number in range(1, count + 1):
            copy = folder / str(number)
            shutil.copyfile(database, copy)
            with (
                closing(sqlite3.connect(copy, isolation_level=None)) as connection,
                confined(connection),
            ):
                connection.execute(sql, (number,))


def named(folder: Path, name: str) -> Path:
    """The file of that name in `folder`. Raises UsageError for a name that leads elsewhere."""
    if name in ("", "..") or "\0" in name or PureWindowsPath(name).name != name:
        raise UsageError(
            f"{name!r} is no name of a file beside a database; give it one without / \\ and :"
        )
    return folder / name


@contextmanager
def _filled(path: Path) -> Generator[Path]:
    """A folder to fill, which appears beside `path` as a whole."""
    folder = folder_of(path)
    partial = folder.with_suffix(f".{os.getpid()}.part.files")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        yield partial
        shutil.rmtree(folder, ignore_errors=True)
        partial.replace(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
