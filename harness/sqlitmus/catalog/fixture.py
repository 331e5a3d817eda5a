"""Database files: built once per definition, size and journal mode, then copied or shared."""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import psutil

from sqlitmus.catalog import beside, generate, seal
from sqlitmus.catalog.authorizer import confined
from sqlitmus.catalog.databasefiles import remove_logs
from sqlitmus.catalog.declared import Fixture
from sqlitmus.catalog.scenario import Encoding
from sqlitmus.catalog.steps import Generator
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit, UsageError

LAYOUT = 1  # part of the hash: raise it when `build` itself changes what a file holds


PAGE_SIZE = 4096


def key(
    name: str,
    fixture: Fixture,
    size: str,
    journal_mode: str,
    encoding: Encoding = "UTF-8",
    page_size: int | None = None,
) -> str:
    """The file's name without suffix; it differs by definition, size, journal mode, encoding and
    page size."""
    other = [] if encoding == "UTF-8" else [encoding]
    other += [f"pages-{page_size}"] if page_size else []
    text = "/".join(
        [str(LAYOUT), size, journal_mode, *other, fixture.model_dump_json(exclude_defaults=True)]
    )
    parts = [name, size, journal_mode, *other, hashlib.sha256(text.encode()).hexdigest()[:12]]
    return "-".join(parts).lower()


def ensure(
    name: str,
    fixture: Fixture,
    size: str,
    journal_mode: str,
    folder: Path,
    encoding: Encoding = "UTF-8",
    say: Callable[[str], None] = lambda _: None,
    page_size: int | None = None,
) -> Path:
    """The path of the fixture's file in `folder`; builds it if it is absent or not as it was built.

    In the latter case `say` is told.
    """
    path = folder / f"{key(name, fixture, size, journal_mode, encoding, page_size)}.db"
    damage = seal.damage(path)
    has_files = fixture.files or fixture.databases
    if damage is None and (not has_files or beside.folder_of(path).is_dir()):
        return path
    damage = damage or "absent"
    if damage != "absent":
        say(f"{path}: {_NOT_TRUSTED[damage]}; it is built again")
    partial = path.with_suffix(f".{os.getpid()}.part")
    partial.unlink(missing_ok=True)
    try:
        build(fixture, size, journal_mode, partial, encoding, page_size)
        if query := fixture.files:
            beside.put_files(path, partial, query)
        if sql := fixture.databases:
            beside.put_databases(path, partial, sql, rows(fixture, size))
        remove_logs(path)  # one of the former file would be taken for one of the new
        # Sealed before it has its name, so that no other process finds it without a seal; and
        # again after, because a new name is a new state.
        seal.put(path, of=partial)
        partial.replace(path)
        seal.damage(path)
    except OSError as error:
        raise NotFit(f"{path}: fixture {name} cannot be built: {error.strerror}") from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            raise NotFit(f"{path}: fixture {name} cannot be built: {error}") from error
        raise UsageError(f"fixtures/{name}.toml: SQLite says of its SQL: {error}") from error
    except UsageError as error:
        raise UsageError(f"fixtures/{name}.toml: {error}") from error
    finally:
        for leftover in folder.glob(f"{partial.name}*"):
            leftover.unlink(missing_ok=True)
    return path


_NOT_TRUSTED = {
    "unsealed": "nothing tells what this fixture held when it was built",
    "changed": "this fixture has changed since it was built",
}


def rows(fixture: Fixture, size: str) -> int:
    """Rows of the main table at `size`; raises UsageError for a size that is not defined."""
    if size not in fixture.sizes:
        raise UsageError(f"there is no size {size}; expected one of {', '.join(fixture.sizes)}")
    return fixture.sizes[size]


def snapshots() -> Path:
    """This process's folder for copies of a user's database and what is made of them.

    Folders of processes that were killed, so that they could not clean up, are removed.
    """
    for folder in paths.cache("databases").iterdir():
        if folder.name.isdigit() and not psutil.pid_exists(int(folder.name)):
            shutil.rmtree(folder, ignore_errors=True)
    return paths.cache(f"databases/{os.getpid()}")


def forget_snapshots() -> None:
    """Remove all copies of users' databases that this process made."""
    shutil.rmtree(snapshots(), ignore_errors=True)


def build(
    fixture: Fixture,
    size: str,
    journal_mode: str,
    path: Path,
    encoding: Encoding = "UTF-8",
    page_size: int | None = None,
) -> None:
    """Create the file: fill tables, index, ANALYZE, checkpoint, and leave it in `journal_mode`.

    A user's database is copied as it is, and has only its journal mode set; a `page_size` is set
    by VACUUM.
    """
    if fixture.content:
        shutil.copyfile(snapshots() / f"{fixture.content}.db", path)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            if page_size:
                connection.execute(f"PRAGMA page_size={page_size}")
                connection.execute("VACUUM")
            connection.execute(f"PRAGMA journal_mode={journal_mode}")
        return
    count = rows(fixture, size)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        fast = (
            f"encoding='{encoding}'",
            f"page_size={page_size or PAGE_SIZE}",
            "journal_mode=OFF",
            "synchronous=OFF",
            "cache_size=-200000",
        )
        for pragma in fast:
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN")
        with confined(connection):
            for sql in fixture.tables:
                connection.execute(sql)
            for table, spec in fixture.fill.items():
                _fill(connection, fixture, table, spec, count)
            for sql in fixture.indexes:
                connection.execute(sql)
        connection.execute("COMMIT")
        connection.execute("ANALYZE")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(f"PRAGMA journal_mode={journal_mode}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _fill(
    connection: sqlite3.Connection,
    fixture: Fixture,
    table: str,
    spec: dict[str, Generator | str],
    size: int,
) -> None:
    if "copy" in spec:
        connection.execute(insertion(table, spec))
        return
    count = size if spec["rows"] == "size" else int(str(spec["rows"]))
    columns: list[Sequence[generate.Value]] = []
    for name, generator in spec.items():
        if isinstance(generator, Generator):
            seed = f"{fixture.seed}/{table}/{name}"
            columns.append(generate.column(generator, count, size, seed))
    connection.executemany(insertion(table, spec), zip(*columns, strict=True))


def insertion(table: str, spec: dict[str, Generator | str]) -> str:
    """The SQL that fills a table."""
    if "copy" in spec:
        return f"INSERT INTO {table} SELECT * FROM {spec['copy']}"
    names = [name for name, value in spec.items() if isinstance(value, Generator)]
    return f"INSERT INTO {table}({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
