"""What SQLite says of a user's statements, and which of them are refused."""

import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from sqlitmus.catalog.authorizer import Compiled, Refused
from sqlitmus.workload.statements import answer, limited, look


@pytest.fixture
def connection(database: Path) -> Generator[sqlite3.Connection]:
    with closing(sqlite3.connect(database)) as open_:
        yield open_


def test_reading_statements_have_parameters_and_columns(connection: sqlite3.Connection) -> None:
    sql = "SELECT id, size, title AS name FROM document WHERE owner = ? AND id > ?;"
    assert look(connection, sql) == Compiled(2, rows=True)
    assert [*answer(connection, sql, [["owner-1", 0]], first=True).columns] == [
        "id",
        "size",
        "name",
    ]


@pytest.mark.parametrize(
    ("sql", "writes"),
    [
        ("INSERT INTO event(document) VALUES (?)", {"event": {"insert"}}),
        ("UPDATE document SET title = 'x' WHERE id = ?", {"document": {"update"}}),
        ("DELETE FROM event WHERE id = ?", {"event": {"delete"}}),
    ],
)
def test_written_tables_are_known_and_nothing_is_written(
    connection: sqlite3.Connection, sql: str, writes: dict[str, set[str]]
) -> None:
    assert look(connection, sql) == Compiled(1, rows=False, changes=True, writes=writes)
    assert connection.total_changes == 0


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELEC 1", 'line 1, column 1: SQLite .* says: near "SELEC": syntax error'),
        ("SELECT id\nFROM documnet", "line 2, column 6: .*no such table: documnet"),
        ("SELECT frobnicate(1)", "no such function: frobnicate"),
        ("SELECT 1; SELECT 2", "several statements"),
        ("SELECT :a", "line 1, column 8: :a has a name; write \\? for each value"),
        ("BEGIN", "begins or ends a transaction; use the key transaction"),
        ("PRAGMA cache_size = 1", "sets a pragma; choose a profile"),
        ("ATTACH 'x' AS y", "attaches another database"),
        ("DROP TABLE event", "drops a table; leave the schema as it is"),
        ("CREATE TEMP TABLE kept AS SELECT * FROM event", "creates a table"),
        ("CREATE VIEW v AS SELECT 1", "creates a view"),
        ("-- nothing", "no statement"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    connection: sqlite3.Connection, sql: str, message: str
) -> None:
    with pytest.raises(Refused, match=message):
        look(connection, sql)


def test_columns_have_the_types_of_their_values(connection: sqlite3.Connection) -> None:
    sql = "SELECT id, title, size, body FROM document WHERE id = ?"
    seen = answer(connection, sql, [[1], [10]], first=False)
    assert seen.columns == {"id": "integer", "title": "text", "size": "real?", "body": "blob"}
    assert seen.rows == 2
    assert seen.ascii_ends


def test_texts_that_end_in_other_characters_are_noticed(connection: sqlite3.Connection) -> None:
    assert not answer(connection, "SELECT 'é' AS t", [], first=True).ascii_ends
    assert answer(connection, "SELECT 'aéa' AS t", [], first=True).ascii_ends


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT id, id FROM document", "two columns are called id"),
        (
            "SELECT 1 AS v UNION ALL SELECT 'a'",
            r"column v holds values of several types \(integer, text\)",
        ),
    ],
)
def test_columns_that_no_getter_reads_are_refused(
    connection: sqlite3.Connection, sql: str, message: str
) -> None:
    with pytest.raises(Refused, match=message):
        answer(connection, sql, [], first=False)


def test_what_never_ends_is_ended(connection: sqlite3.Connection) -> None:
    endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t"
    with pytest.raises(Refused, match="takes longer than"), limited(connection, 0.01):
        connection.execute(f"SELECT max(n) FROM ({endless})").fetchall()
