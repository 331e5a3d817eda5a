"""The user's database: copied as a whole or in part, looked at, and never written."""

import os
import random
import re
import shutil
import sqlite3
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from sqlitmus.catalog.authorizer import Refused, confined, names_a_reaching_function
from sqlitmus.machine import plainfiles
from sqlitmus.machine.host import network
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.text import listed, quoted
from sqlitmus.workload.file import About, about

_KEPT_PRAGMAS = ("page_size", "encoding", "auto_vacuum", "user_version", "application_id")
_CHOSEN = "sqlitmus_chosen"
SMALL = 1000  # rows of a table that is taken whole
DRAWN = 10  # times as many rows as are taken has a table that is not read as a whole for them
PILOT = 2000  # numbers of rows that tell how dense they are
SPARSE = 0.05  # of them have a row: with fewer, too many would be drawn in vain


class Table(NamedTuple):
    """A table's name, the columns that are stored, and what its rows' number is called; None where
    they have none."""

    name: str
    columns: list[str]
    rowid: str | None

    @property
    def names(self) -> str:
        """The columns, as a list in SQL."""
        return ", ".join(map(quoted, self.columns))


def parsed(text: str) -> float:
    """`--sample`: rows of each table, or a share of them below 1; raises UsageError."""
    number = text.strip().replace(",", "").replace("_", "")
    try:
        value = float(number.rstrip("%")) / (100 if number.endswith("%") else 1)
    except ValueError:
        value = 0
    if not 0 < value < 2**63 or (value > 1 and value != int(value)):
        raise UsageError(
            f"--sample {text!r}: expected rows of each table, such as 100000, or a share such as 1%"
        )
    return value


def take(
    original: sqlite3.Connection,
    target: sqlite3.Connection,
    whole: str,
    amount: float,
    say: Callable[[str], None],
) -> str:
    """Fill the empty database `target` from `original`, which is at the URI `whole`; `amount` as
    `parsed` gives it. How many rows it has of how many, as a part of a sentence.

    `say` is told what could not be kept. Raises sqlite3.Error.
    """
    for name in _KEPT_PRAGMAS:
        (value,) = original.execute(f"PRAGMA {name}").fetchone()
        target.execute(f"PRAGMA {name} = {quoted(str(value))}")
    for unsafe in ("journal_mode = OFF", "synchronous = OFF", "ignore_check_constraints = ON"):
        target.execute(f"PRAGMA {unsafe}")
    target.execute("ATTACH ? AS whole", [whole])
    listing = target.execute("PRAGMA whole.table_list").fetchall()
    kinds = {str(name): str(kind) for _, name, kind, *_ in listing}
    numbered = {str(name) for _, name, _, _, without_rowid, _ in listing if not without_rowid}
    target.execute("BEGIN")
    tables = list(_created(target, kinds, numbered))
    rng = random.Random(0)
    rows = [
        _drawn(target, table, amount, rng) or _chosen(target, table, amount, rng)
        for table in tables
    ]
    lost = [name for name, kind in kinds.items() if kind == "virtual"]
    lost += _others(target, "index")
    _follow_keys(target, {table.name: table for table in tables})
    lost += [*_others(target, "view"), *_others(target, "trigger")]
    _keep_statistics(target, kinds)
    target.execute("COMMIT")
    target.execute("DETACH whole")
    if lost:
        say(f"the sample lacks virtual tables and what needs them: {listed(sorted(lost))}")
    held = sum(_count(target, "main", table.name) for table in tables)
    total = sum(rows)
    counted = all(isinstance(each, int) for each in rows)
    return f"{held:,} of {'' if counted else 'about '}{total:,.0f} rows"


def _drawn(
    connection: sqlite3.Connection, table: Table, amount: float, rng: random.Random
) -> float | None:
    """Take rows by numbers that are drawn, so that only their pages are read; about how many the
    whole has. None where more would be read so than by going through all.

    A number that no row has is left out, so each row is as likely as any other.
    """
    name, number = quoted(table.name), table.rowid
    if number is None:
        return None
    ends = [f"(SELECT {end}({number}) FROM whole.{name})" for end in ("min", "max")]
    first, last = connection.execute(f"SELECT {', '.join(ends)}").fetchone()
    if first is None or not DRAWN * PILOT < last - first + 1 < 2**62:
        return None
    numbers = range(first, last + 1)

    def draw(count: int) -> str:
        connection.execute(f"DROP TABLE IF EXISTS temp.{_CHOSEN}")
        connection.execute(f"CREATE TEMP TABLE {_CHOSEN}(number INTEGER PRIMARY KEY)")
        rows = ((each,) for each in sorted(rng.sample(numbers, count)))
        connection.executemany(f"INSERT INTO temp.{_CHOSEN} VALUES (?)", rows)
        return f"WHERE {number} IN temp.{_CHOSEN}"

    where = draw(PILOT)
    (held,) = connection.execute(f"SELECT count(*) FROM whole.{name} {where}").fetchone()
    dense = held / PILOT
    if dense < SPARSE:
        return None
    drawn = amount / dense if amount >= 1 else amount * len(numbers)
    if drawn * DRAWN >= dense * len(numbers):
        return None
    count = max(round(drawn), 1)
    return _sample_copy(connection, table, draw(count)) / count * len(numbers)


def _chosen(connection: sqlite3.Connection, table: Table, amount: float, rng: random.Random) -> int:
    """Take rows by going through all of the whole; how many it has. All of a small one."""
    rows = _count(connection, "whole", table.name)
    share = 1.0 if rows <= SMALL else amount if amount < 1 else min(amount / rows, 1.0)

    def chosen() -> bool:
        return rng.random() < share

    connection.create_function(_CHOSEN, 0, chosen)
    _sample_copy(connection, table, "" if share == 1 else f"WHERE {_CHOSEN}()")
    return rows


def _created(
    connection: sqlite3.Connection, kinds: dict[str, str], numbered: set[str]
) -> Iterator[Table]:
    query = "SELECT name, sql FROM whole.sqlite_schema WHERE type = 'table' AND sql IS NOT NULL"
    for name, sql in connection.execute(query).fetchall():
        if kinds.get(name) != "table" or name.startswith("sqlite_"):
            continue
        with confined(connection):
            connection.execute(sql)
        columns = connection.execute(f"PRAGMA whole.table_xinfo({quoted(name)})").fetchall()
        stored = [str(column) for _, column, _, _, _, _, hidden in columns if hidden == 0]
        taken = {str(column).lower() for _, column, *_ in columns}
        rowids = [each for each in ("rowid", "oid", "_rowid_") if each not in taken]
        yield Table(name, stored, rowids[0] if rowids and name in numbered else None)


def _count(connection: sqlite3.Connection, schema: str, name: str) -> int:
    query = f"SELECT count(*) FROM {schema}.{quoted(name)}"
    return int(connection.execute(query).fetchone()[0])


def _sample_copy(connection: sqlite3.Connection, table: Table, where: str) -> int:
    name = quoted(table.name)
    return connection.execute(
        f"INSERT INTO main.{name}({table.names}) SELECT {table.names} FROM whole.{name} {where}"
    ).rowcount


def _follow_keys(connection: sqlite3.Connection, tables: dict[str, Table]) -> None:
    """Take the rows that foreign keys lead to, and those that theirs lead to."""
    keys = [(child, *key) for child in tables for key in _keys(connection, child, tables)]
    before = -1
    while connection.total_changes != before:
        before = connection.total_changes
        for child, parent, columns, referred in keys:
            missing = (
                f"SELECT {columns} FROM main.{quoted(child)} EXCEPT "
                f"SELECT {referred} FROM main.{quoted(parent)}"
            )
            _sample_copy(connection, tables[parent], f"WHERE ({referred}) IN ({missing})")


def _keys(
    connection: sqlite3.Connection, child: str, tables: dict[str, Table]
) -> Iterator[tuple[str, str, str]]:
    """Parent, columns here and columns there of each foreign key of `child`."""
    by_number: dict[int, list[tuple[str, str, str | None]]] = {}
    for number, _, parent, column, referred, *_ in connection.execute(
        f"PRAGMA main.foreign_key_list({quoted(child)})"
    ):
        by_number.setdefault(number, []).append((parent, column, referred))
    for parts in by_number.values():
        names = {name.lower(): name for name in tables}
        parent = names.get(parts[0][0].lower())
        if parent is None:
            continue
        info = connection.execute(f"PRAGMA main.table_info({quoted(parent)})").fetchall()
        primary = [row[1] for row in sorted(info, key=lambda row: row[5]) if row[5]]
        columns = [column for _, column, _ in parts]
        referred_to = [name or primary[n] for n, (_, _, name) in enumerate(parts)]
        yield parent, ", ".join(map(quoted, columns)), ", ".join(map(quoted, referred_to))


def _others(connection: sqlite3.Connection, kind: str) -> list[str]:
    """Create all of a kind; the names of those that cannot be."""
    query = "SELECT name, sql FROM whole.sqlite_schema WHERE type = ? AND sql IS NOT NULL"
    lost: list[str] = []
    for name, sql in connection.execute(query, [kind]).fetchall():
        try:
            with confined(connection):
                connection.execute(sql)
        except (sqlite3.Error, Refused):
            lost.append(name)
    return lost


def _keep_statistics(connection: sqlite3.Connection, kinds: dict[str, str]) -> None:
    """What ANALYZE found in the whole, and from where AUTOINCREMENT goes on there."""
    if "sqlite_stat1" in kinds:
        connection.execute("ANALYZE main")
    for name in ("sqlite_sequence", "sqlite_stat1"):
        if name in kinds:
            connection.execute(f"DELETE FROM main.{name}")
            connection.execute(f"INSERT INTO main.{name} SELECT * FROM whole.{name}")


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
        how = "all of it is copied and checked"
        shorter = "; --sample 100000 takes so many rows of each table"
        if amount:
            how, shorter = "a table whose rows have no dense numbers is read as a whole", ""
        say(f"{source}: {size / 2**30:.1f} GB: {how}, which takes minutes{shorter}")
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


@contextmanager
def looked_into(source: Path) -> Generator[sqlite3.Connection]:
    """A connection that reads `source`, for reading only; without a log beside it not even a lock
    is taken. Raises UsageError when it is no database that can be read."""
    _size(source)
    try:
        with _reading(source, immutable=_quiet(source)) as connection:
            _distrust(connection, connection)
            yield connection
    except sqlite3.Error as error:
        raise UsageError(f"{source}: {_words(error)}") from error


def _quiet(source: Path) -> bool:
    """Whether nothing lies in a log beside it."""
    return not any(os.path.lexists(f"{source}{suffix}") for suffix in _LOGS)


def _distrust(schema: sqlite3.Connection, connection: sqlite3.Connection) -> None:
    """Let no check or index of `schema` call a function that reaches beyond the database: of them
    no authorizer hears. Without need nothing is set: SQLite 3.40 would refuse those of JSON."""
    texts = schema.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    if any(names_a_reaching_function(str(sql)) for (sql,) in texts):
        connection.execute("PRAGMA trusted_schema = OFF")


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
    with plainfiles.named(source) as file:
        head = file.read(100)
        size = os.fstat(file.fileno()).st_size
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
        quiet = _quiet(source)
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
                _distrust(original, copy)
                if amount is None:
                    original.backup(copy)
                else:
                    whole = _uri(source, "mode=ro&immutable=1" if quiet else "mode=ro")
                    rows = f" (a sample of {take(original, copy, whole, amount, say)})"
                copy.execute("PRAGMA journal_mode = DELETE")
                finding = _checked(copy, say)
        except sqlite3.Error as error:
            raise UsageError(f"{source}: {_words(error)}") from error
        if quiet and (_state(source) != before or not _quiet(source)):
            continue
        if finding != "ok":
            raise UsageError(
                f"{source}: it is damaged: {finding}; `PRAGMA integrity_check` has the details"
            )
        with plainfiles.named(source) as file:
            versions = file.read(20)[18:20]
        return "wal" if versions == b"\2\2" else "delete", rows
    raise UsageError(
        f"{source}: another process changed it during each of {TRIES} copies; stop that, or give "
        "the path of a backup"
    )


def _checked(copy: sqlite3.Connection, say: Callable[[str], None]) -> str:
    """What SQLite finds of damage; "ok" and a word to the user where it lacks what that takes."""
    try:
        return str(copy.execute("PRAGMA integrity_check(1)").fetchone()[0])
    except sqlite3.OperationalError as error:
        if not re.match("no such (?:collation|function|module)", str(error)):
            raise
        say(f"the copy is not checked for damage: {error}; no runner has it either")
        return "ok"


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
