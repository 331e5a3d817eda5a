"""The file that `./just workload init` writes: the tables found, and a skeleton to fill in."""

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlitmus.catalog.authorizer import confined
from sqlitmus.workload.statements import quoted

_HEAD = """\
# What a service asks of its database, measured on every runner: ./just workload {file}
# The database is copied before anything else; nothing ever writes to it.
database = "{database}"
profile = "normalised"   # pragmas that all get; ./just list profiles shows the others
workers = 4              # connections at once, one thread each

[limits]                 # who exceeds one is not recommended; take out what does not matter
# memory_mib = 200        # of the process
# start_ms = 500         # from its start to the first answer
# p99_ms = 20            # of a round of the mix: all queries, each as often as its weight says
# durability = "full"    # commits outlive a power cut; needs a profile such as durable

# A query: its SQL with ? for each value, and how often it comes (weight, relative to the others).
# operation is get (first row), all (a list), iterate (row by row) or run (writes).
# parameters are a query on the database, whose random() is seeded, a list of rows, or generators.
"""
_TABLES = "# The tables of {name}, with their number of rows and columns:\n"
_READ = """
[query.by-key]
weight = 80
operation = "get"
sql = "SELECT * FROM {table} WHERE {key} = ?"
parameters = "SELECT {key} FROM {table} ORDER BY random() LIMIT 4096"

[query.list]
weight = 20
sql = "SELECT * FROM {table} ORDER BY {key} DESC LIMIT 50"
"""
_WRITE = """
# Inserted rows are deleted again between two iterations; other writes need `reset`.
# [query.add]
# weight = 5
# transaction = "immediate"
# sql = "INSERT INTO {table}({columns}) VALUES ({marks})"
# parameters = "SELECT {columns} FROM {table} ORDER BY random() LIMIT 1024"
"""


def template(copy: Path, database: str, file: str, title: str) -> str:
    """The text of a workload's file `file` on `database`, of which `copy` is a copy."""
    with closing(sqlite3.connect(copy)) as connection, confined(connection):
        query = (
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' "
            "ESCAPE '\\' ORDER BY name"
        )
        names = [str(name) for (name,) in connection.execute(query)]
        tables = {name: _columns(connection, name) for name in names}
        rows = {name: _rows(connection, name) for name in names}
    lines = [
        _HEAD.format(file=file, database=database),
        _TABLES.format(name=title),
    ]
    for name, columns in tables.items():
        written = ", ".join(f"{column} {kind}".strip() for column, kind, _ in columns)
        lines.append(f"#   {name} ({rows[name]} rows): {written}\n")
    if not tables:
        return "".join([*lines, "#   none: it has no table yet\n"])
    largest = max(tables, key=lambda name: rows[name])
    keys = [column for column, _, is_key in tables[largest] if is_key] or ["rowid"]
    others = [quoted_if_needed(column) for column, _, is_key in tables[largest] if not is_key]
    facts = {
        "table": quoted_if_needed(largest),
        "key": quoted_if_needed(keys[0]),
        "columns": ", ".join(others),
        "marks": ", ".join("?" * len(others)),
    }
    return "".join([*lines, _READ.format(**facts), _WRITE.format(**facts) if others else ""])


def _columns(connection: sqlite3.Connection, table: str) -> list[tuple[str, str, bool]]:
    """Name, declared type and whether it is the first column of the primary key, of each column."""
    rows = connection.execute(f"PRAGMA table_info({quoted(table)})")
    return [(str(name), str(kind), key == 1) for _, name, kind, _, _, key in rows]


def _rows(connection: sqlite3.Connection, table: str) -> int:
    try:
        (count,) = connection.execute(f"SELECT count(*) FROM {quoted(table)}").fetchone()
    except sqlite3.Error:  # of a module that this SQLite lacks
        return 0
    return int(count)


def quoted_if_needed(name: str) -> str:
    """`name` as it is where SQL and TOML take it so."""
    return name if name.isidentifier() and name.isascii() else quoted(name).replace('"', '\\"')
