"""The file that a user begins with: queries that keys and indexes of a database suggest."""

import json
import re
import sqlite3
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from sqlitmus.catalog.authorizer import Refused, confined
from sqlitmus.machine.system import usable
from sqlitmus.vocabulary.text import quoted
from sqlitmus.workload.database import looked_into
from sqlitmus.workload.statements import limited, look

_HEAD = Path(__file__).with_name("head.txt").read_text("utf-8")
_TABLES = "\n# The tables of {name}, with their number of rows and columns:\n"
ACTIVE, MOST = 8, 24  # queries that are measured, and with those that are comments
WORKERS = 4  # that are proposed at most
SAMPLED = 500  # rows of a table that are looked at
PATIENCE_S = 0.1  # to count a table's rows
_TIME = re.compile(
    r"(?:^|_)(?:at|on|date|time|ts|timestamp|created|updated|modified|changed|published|seen|added)"
    r"$|(?:At|Date|Time|On)$|date$|time$"
)


class Column(NamedTuple):
    """A column: its declared type, its place in the primary key from 1, or 0, and which types its
    values have in a sample, without NULL."""

    name: str
    declared: str
    key: int
    stored: bool
    types: frozenset[str]

    @property
    def read(self) -> str:
        """How it is read as values of one type."""
        name = quoted_if_needed(self.name)
        if len(self.types) <= 1:
            return name
        kind = "BLOB" if "blob" in self.types else "TEXT" if "text" in self.types else "REAL"
        return f"CAST({name} AS {kind}) AS {name}"


@dataclass(frozen=True, slots=True)
class Table:
    """A table, its rows, None for more than can be counted soon, and what indexes and keys it has:
    columns of each index with whether they descend, its condition and whether it is unique."""

    name: str
    rows: int | None
    columns: dict[str, Column]
    indexes: list[tuple[list[tuple[str, bool]], str, bool]]
    references: list[str]
    has_rowid: bool

    @property
    def keys(self) -> list[str]:
        """The columns by which a row is found."""
        keys = sorted((c for c in self.columns.values() if c.key), key=lambda column: column.key)
        return [column.name for column in keys] or ["rowid"]

    def bindable(self, names: Sequence[str]) -> bool:
        """Whether values of these columns can be bound: they have one type each."""
        return all(
            name == "rowid" or (name in self.columns and len(self.columns[name].types) == 1)
            for name in names
        )


def template(file: Path, database: str, target: str, title: str) -> str:
    """The text of a workload's file `target` on `database`, which is read at `file`.

    Raises UsageError for what is no database that can be read.
    """
    with looked_into(file) as connection:
        with confined(connection):
            tables = list(_tables(connection))
        filled = sorted((t for t in tables if t.rows != 0), key=lambda t: -(t.rows or 2**63))
        proposed = [each for table in filled for each in _queries(table)]
        inserts = [each for table in filled for each in _insert(table)]
        proposed, inserts = (
            [p for p in each if _compiles(connection, p)] for each in (proposed, inserts)
        )
    path, workers = json.dumps(database, ensure_ascii=False), min(usable(), WORKERS)
    lines = [_HEAD.format(file=target, database=path, workers=workers)]
    lines.append(_TABLES.format(name=title))
    for table in tables:
        columns = ", ".join(f"{c.name} {c.declared}".strip() for c in table.columns.values())
        rows = "many" if table.rows is None else f"{table.rows:,}"
        lines.append(f"#   {table.name} ({rows} rows): {columns}\n".replace("\r", " "))
    if not tables:
        return "".join([*lines, "#   none: it has no table yet\n"])
    queries: dict[str, str] = {}
    for name, text in proposed:
        queries.setdefault(_slug(name), text)
    active = ACTIVE - len(inserts[:1])
    for number, (name, text) in enumerate([*queries.items()][:MOST]):
        whole = f"\n[query.{name}]\n{text}"
        lines.append(
            whole if number < active else re.sub(r"^(?=.)", "# ", whole, flags=re.MULTILINE)
        )
    for name, text in inserts[:1]:
        head = "# Inserted rows are deleted again."
        lines.append(f"\n{head}\n[query.{_slug(name)}]\n{text}")
    return "".join(lines)


def _compiles(connection: sqlite3.Connection, proposed: tuple[str, str]) -> bool:
    """Whether SQLite has all that the query needs, such as a collation."""
    with suppress(Refused):
        return bool(look(connection, str(tomllib.loads(proposed[1])["sql"])))
    return False


def _tables(connection: sqlite3.Connection) -> Iterator[Table]:
    """Tables of rows, without those that hold a virtual table's."""
    listing = connection.execute("PRAGMA main.table_list").fetchall()
    for _, name, kind, _, without_rowid, _ in sorted(listing, key=lambda row: str(row[1])):
        if kind != "table" or name.startswith("sqlite_"):
            continue
        with suppress(sqlite3.Error):  # such as a column that calls what no schema may
            yield _table(connection, name, has_rowid=not without_rowid)


def _table(connection: sqlite3.Connection, name: str, *, has_rowid: bool) -> Table:
    rows: int | None = None
    with suppress(Refused), limited(connection, PATIENCE_S):
        (rows,) = connection.execute(f"SELECT count(*) FROM {quoted(name)}").fetchone()
    info = connection.execute(f"PRAGMA table_xinfo({quoted(name)})").fetchall()
    types = ", ".join(f"typeof({quoted(column)})" for _, column, *_ in info)
    seen = connection.execute(f"SELECT {types} FROM {quoted(name)} LIMIT {SAMPLED}").fetchall()
    columns = {
        str(column): Column(
            *(column, kind, key, hidden == 0),
            frozenset(row[number] for row in seen) - {"null"},
        )
        for number, (_, column, kind, _, _, key, hidden) in enumerate(info)
    }
    keys = connection.execute(f"PRAGMA foreign_key_list({quoted(name)})").fetchall()
    numbers = [number for number, *_ in keys]
    references = [str(key[3]) for key in keys if numbers.count(key[0]) == 1]
    return Table(name, rows, columns, list(_indexes(connection, name)), references, has_rowid)


def _indexes(
    connection: sqlite3.Connection, table: str
) -> Iterator[tuple[list[tuple[str, bool]], str, bool]]:
    for _, index, unique, _, partial in connection.execute(
        f"PRAGMA index_list({quoted(table)})"
    ).fetchall():
        parts = connection.execute(f"PRAGMA index_xinfo({quoted(index)})").fetchall()
        columns = [(str(name), bool(down)) for _, _, name, down, _, is_key in parts if is_key]
        condition = ""
        if partial:
            query = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?"
            (sql,) = connection.execute(query, [index]).fetchone()
            condition = re.split(r"\bWHERE\b", sql, maxsplit=1, flags=re.IGNORECASE)[-1].strip()
        yield columns, condition, bool(unique)


def _queries(table: Table) -> Iterator[tuple[str, str]]:
    """What is probably asked of a table, with names: a row, lists, what came last."""
    name, keys = quoted_if_needed(table.name), [quoted_if_needed(key) for key in table.keys]
    columns = [column.read for column in table.columns.values()]
    chosen = "*" if columns == [*map(quoted_if_needed, table.columns)] else ", ".join(columns)
    by_key = " AND ".join(f"{key} = ?" for key in keys)
    if table.bindable(table.keys) and (table.has_rowid or table.keys != ["rowid"]):
        drawn = f"SELECT {', '.join(keys)} FROM {name} ORDER BY random() LIMIT 1024"
        sql = f"SELECT {chosen} FROM {name} WHERE {by_key}"
        yield f"get-{table.name}", _text(10, sql, drawn, 'operation = "get"\n')
    leading = {parts[0][0] for parts, condition, _ in table.indexes if parts and not condition}
    for column in table.references:
        if column in leading and table.bindable([column]):
            found_by = quoted_if_needed(column)
            drawn = f"SELECT DISTINCT {found_by} FROM {name} WHERE {found_by} IS NOT NULL"
            sql = f"SELECT {chosen} FROM {name} WHERE {found_by} = ? ORDER BY {', '.join(keys)}"
            yield (
                f"{table.name}-by-{column}",
                _text(5, f"{sql} LIMIT 50", f"{drawn} ORDER BY random() LIMIT 256"),
            )
    for parts, condition, _ in table.indexes:
        names = [part for part, _ in parts]
        declared = (
            table.columns[names[-1]].declared if names[-1:] and names[-1] in table.columns else ""
        )
        recent = names and (_TIME.search(names[-1]) or re.search("DATE|TIME", declared.upper()))
        if not recent or not table.bindable(names[:-1]) or names[-1] not in table.columns:
            continue
        before = [quoted_if_needed(part) for part in names[:-1]]
        partly = [f"({condition})"] if condition else []
        where = " AND ".join([*(f"{part} = ?" for part in before), *partly])
        # rowids follow in the order in which an index is read
        last = ", ".join(f"{key} {'' if parts[-1][1] else 'DESC'}".strip() for key in keys)
        sql = f"SELECT {chosen} FROM {name} {f'WHERE {where} ' if where else ''}"
        sql += f"ORDER BY {quoted_if_needed(names[-1])} DESC, {last} LIMIT 50"
        among = " AND ".join([*(f"{part} IS NOT NULL" for part in before), *partly])
        drawn = f"SELECT DISTINCT {', '.join(before)} FROM {name} WHERE {among}"
        by = f"-by-{'-'.join(names[:-1])}" if before else ""
        yield (
            f"recent-{table.name}{by}",
            _text(5, sql, f"{drawn} ORDER BY random() LIMIT 256" if before else ""),
        )


def _insert(table: Table) -> Iterator[tuple[str, str]]:
    """Rows that are there already, once more, with a name; nothing where a key forbids it."""
    numbered = [c for c in table.columns.values() if c.key and c.declared.upper() == "INTEGER"]
    given = [c for c in table.columns.values() if c.stored and c not in numbered]
    if any(unique for *_, unique in table.indexes) or not given or not table.has_rowid:
        return
    if any(len(column.types) > 1 for column in given):
        return
    name, columns = quoted_if_needed(table.name), ", ".join(quoted_if_needed(c.name) for c in given)
    sql = f"INSERT INTO {name}({columns}) VALUES ({', '.join('?' * len(given))})"
    drawn = f"SELECT {columns} FROM {name} ORDER BY random() LIMIT 1024"
    yield f"add-{table.name}", _text(1, sql, drawn, 'transaction = "immediate"\n')


def _text(weight: int, sql: str, drawn: str, more: str = "") -> str:
    parameters = f"parameters = {json.dumps(drawn, ensure_ascii=False)}\n" if drawn else ""
    return f"weight = {weight}\n{more}sql = {json.dumps(sql, ensure_ascii=False)}\n{parameters}"


def _slug(name: str) -> str:
    """A name as a query may have it."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-") or "query"


@lru_cache
def quoted_if_needed(name: str) -> str:
    """`name` as SQL takes it."""
    whole = quoted(name)
    query = f"WITH {whole}({whole}) AS (SELECT 7) SELECT {name} FROM {name} ORDER BY {name}"
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        with closing(sqlite3.connect(":memory:")) as connection, suppress(sqlite3.Error):
            if connection.execute(query).fetchall() == [(7,)]:
                return name
    return whole
