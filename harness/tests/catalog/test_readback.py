"""The read-back of a scenario that writes sees every column of every table that it writes."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from sqlitmus.catalog import definitions
from sqlitmus.catalog.scenario import Scenario

KNOWN = definitions.load()
WRITING = [name for name, spec in KNOWN.scenarios.items() if spec.writes]
CHANGES = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}


def tables(spec: Scenario) -> list[str]:
    """The SQL that makes the tables of a scenario."""
    if spec.fixture is None:
        return [sql for sql in spec.setup if sql.startswith("CREATE")]
    return KNOWN.fixtures[spec.fixture].tables


def touched(connection: sqlite3.Connection, sql: str) -> Iterator[tuple[int, str, str | None]]:
    """What a statement does: action, table, and the column where it is one's."""
    seen: list[tuple[int, str, str | None]] = []

    def note(action: int, table: str | None, column: str | None, *_where: str | None) -> int:
        if table is not None:
            seen.append((action, table, column))
        return sqlite3.SQLITE_OK

    connection.set_authorizer(note)
    connection.execute(f"EXPLAIN {sql}", (None,) * sql.count("?"))
    connection.set_authorizer(None)
    return iter(seen)


def unread(spec: Scenario) -> set[str]:
    """Columns of the tables that the scenario changes and its read-back does not read."""
    writer = spec.writer.steps if spec.writer else []
    first = {axis: values[0] for axis, values in spec.axes.items()}
    with closing(sqlite3.connect(":memory:")) as connection:
        for sql in tables(spec):
            connection.execute(sql)
        changed = {
            table
            for step in [*spec.steps, *writer]
            for action, table, _ in touched(connection, step.text(first))
            if action in CHANGES
        }
        columns = {
            f"{table}.{row[1]}"
            for table in changed
            for row in connection.execute(f"PRAGMA table_info({table})")
        }
        read = {
            f"{table}.{column}"
            for query in spec.readback
            for action, table, column in touched(connection, query.sql)
            if action == sqlite3.SQLITE_READ
        }
    assert columns, "it changes nothing"
    return columns - read


@pytest.mark.parametrize("name", WRITING)
def test_all_that_is_written_is_read_back(name: str) -> None:
    assert unread(KNOWN.scenarios[name]) == set()


@pytest.mark.parametrize("name", WRITING)
def test_all_rows_are_read_back(name: str) -> None:
    for query in KNOWN.scenarios[name].readback:
        assert not {"WHERE", "LIMIT", "JOIN", "GROUP"} & set(query.sql.upper().split())


def test_a_column_left_out_is_seen() -> None:
    spec = KNOWN.scenarios["update-pk"]
    count = spec.readback[0].model_copy(update={"sql": "SELECT id, owner, balance FROM accounts"})
    assert unread(spec.model_copy(update={"readback": [count]})) == {"accounts.updated"}
