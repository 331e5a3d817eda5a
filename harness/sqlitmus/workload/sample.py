"""A part of a database that is too large to be copied: so many rows of each table, and theirs.

Rows that foreign keys of chosen rows lead to are taken, too, so that a join finds what it finds in
the whole. What the whole's ANALYZE found is kept: SQLite then plans as it does there.
"""

import random
import sqlite3
from collections.abc import Callable, Iterator
from typing import NamedTuple

from sqlitmus.catalog.authorizer import Refused, confined
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.nouns import listed
from sqlitmus.workload.writes import quoted

_KEPT_PRAGMAS = ("page_size", "encoding", "auto_vacuum", "user_version", "application_id")
_CHOSEN = "sqlitmus_chosen"
SMALL = 1000  # rows of a table that is taken whole


class Table(NamedTuple):
    """A table's name, its rows in the whole, and the columns that are stored."""

    name: str
    rows: int
    columns: list[str]

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
) -> tuple[int, int]:
    """Fill the empty database `target` from `original`, which is at the URI `whole`; `amount` as
    `parsed` gives it. The numbers of rows, here and there.

    `say` is told what could not be kept. Raises sqlite3.Error.
    """
    for name in _KEPT_PRAGMAS:
        (value,) = original.execute(f"PRAGMA {name}").fetchone()
        target.execute(f"PRAGMA {name} = {quoted(str(value))}")
    for unsafe in ("journal_mode = OFF", "synchronous = OFF", "ignore_check_constraints = ON"):
        target.execute(f"PRAGMA {unsafe}")
    target.execute("ATTACH ? AS whole", [whole])
    listing = target.execute("PRAGMA whole.table_list")
    kinds = {str(name): str(kind) for _, name, kind, *_ in listing}
    target.execute("BEGIN")
    tables = list(_created(target, kinds))
    rng = random.Random(0)

    def chosen(share: float) -> bool:
        return rng.random() < share

    target.create_function(_CHOSEN, 1, chosen)
    for table in tables:
        share = _share(table.rows, amount)
        _copy(target, table, "" if share == 1 else f"WHERE {_CHOSEN}({share!r})")
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
    return held, sum(table.rows for table in tables)


def _share(rows: int, amount: float) -> float:
    """How much of a table is chosen: all of a small one."""
    if rows <= SMALL:
        return 1.0
    return amount if amount < 1 else min(amount / rows, 1.0)


def _created(connection: sqlite3.Connection, kinds: dict[str, str]) -> Iterator[Table]:
    query = "SELECT name, sql FROM whole.sqlite_schema WHERE type = 'table' AND sql IS NOT NULL"
    for name, sql in connection.execute(query).fetchall():
        if kinds.get(name) != "table" or name.startswith("sqlite_"):
            continue
        with confined(connection):
            connection.execute(sql)
        columns = connection.execute(f"PRAGMA whole.table_xinfo({quoted(name)})")
        stored = [str(column) for _, column, _, _, _, _, hidden in columns if hidden == 0]
        yield Table(name, _count(connection, "whole", name), stored)


def _count(connection: sqlite3.Connection, schema: str, name: str) -> int:
    query = f"SELECT count(*) FROM {schema}.{quoted(name)}"
    return int(connection.execute(query).fetchone()[0])


def _copy(connection: sqlite3.Connection, table: Table, where: str) -> None:
    name = quoted(table.name)
    connection.execute(
        f"INSERT INTO main.{name}({table.names}) SELECT {table.names} FROM whole.{name} {where}"
    )


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
            _copy(connection, tables[parent], f"WHERE ({referred}) IN ({missing})")


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
