"""What SQLite says of a user's statements, and which of them are refused."""

import signal
import sqlite3
import time
from collections.abc import Generator
from contextlib import closing
from itertools import count
from math import inf
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.catalog.authorizer import Compiled, Refused
from sqlitmus.workload.statements import (
    BEARABLE,
    Answered,
    NoPool,
    answer,
    arranged,
    bearable,
    check_repeatable,
    compared_reals,
    limited,
    look,
    names,
    pool,
    positional,
    rows_of,
    share,
)


@pytest.fixture
def connection(database: Path) -> Generator[sqlite3.Connection]:
    with closing(sqlite3.connect(database)) as open_:
        yield open_


def test_what_statements_are_is_known_and_nothing_is_written(
    connection: sqlite3.Connection,
) -> None:
    sql = "SELECT id, size, title AS name FROM document WHERE owner = ? AND id > ?;"
    assert look(connection, sql) == Compiled(2, rows=True)
    for sql, table, verb in (
        ("INSERT INTO event(document) VALUES (?)", "event", "insert"),
        ("UPDATE document SET title = 'x' WHERE id = ?", "document", "update"),
        ("DELETE FROM event WHERE id = ?", "event", "delete"),
    ):
        writes = {table: {verb}}
        assert look(connection, sql) == Compiled(1, rows=False, changes=True, writes=writes)
    assert connection.total_changes == 0


OTHERWISE = "it calls {}, which answers otherwise"
SEVERAL = "column v holds values of several types"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELEC 1", 'line 1, column 1: SQLite .* says: near "SELEC": syntax error'),
        ("SELECT id\nFROM documnet", "line 2, column 6: .*no such table: documnet"),
        ("SELECT frobnicate(1)", "no such function: frobnicate"),
        ("SELECT 1; SELECT 2", "several statements"),
        ("BEGIN", "begins or ends a transaction; use the key transaction"),
        ("PRAGMA cache_size = 1", "sets a pragma; choose a profile"),
        ("ATTACH 'x' AS y", "attaches another database"),
        ("DROP TABLE event", "drops a table; leave the schema as it is"),
        ("CREATE TEMP TABLE kept AS SELECT * FROM event", "creates a table"),
        ("CREATE VIEW v AS SELECT 1", "creates a view"),
        ("-- nothing", "no statement"),
        ("SELECT random() AS n", OTHERWISE.format("random")),
        ("SELECT id FROM document ORDER BY random() LIMIT 3", OTHERWISE.format("random")),
        ("SELECT hex(randomblob(4)) AS n", OTHERWISE.format("randomblob")),
        ("SELECT id FROM event WHERE at < CURRENT_TIMESTAMP", OTHERWISE.format("current_timest.*")),
        ("SELECT id FROM event WHERE at < julianday('now')", OTHERWISE.format("julianday")),
        ("SELECT datetime() AS t", OTHERWISE.format("datetime")),
        ("SELECT strftime('%s') AS t", OTHERWISE.format("strftime")),
        (
            "SELECT changes() AS a, last_insert_rowid() AS b",
            OTHERWISE.format("changes and last_insert_rowid"),
        ),
        ("SELECT sqlite_version() AS v", OTHERWISE.format("sqlite_version")),
        ("SELECT id FROM recent", OTHERWISE.format("unixepoch")),
        ("SELECT id, id FROM document", "two columns are called id"),
        ("SELECT 1 AS v UNION ALL SELECT 'a'", f"{SEVERAL} \\(integer, text\\)"),
        (
            "SELECT CAST(x'61ff' AS TEXT) AS v",
            r"^column v holds a text that is no UTF-8, .* BLOB\)$",
        ),
    ],
)
def test_what_cannot_be_measured_or_compared_is_refused(
    connection: sqlite3.Connection, sql: str, message: str
) -> None:
    connection.execute("CREATE VIEW recent AS SELECT id FROM event WHERE at < unixepoch()")
    with pytest.raises(Refused, match=message):
        asked(connection, sql)


@pytest.mark.parametrize(
    ("sql", "written"),
    [
        ("SELECT date(at, 'unixepoch') AS day FROM event", False),
        ("SELECT strftime('%Y', at) AS y FROM event", False),
        ("SELECT last_insert_rowid() AS id", True),
    ],
)
def test_times_that_are_given_and_the_last_insert_of_the_same_query_are_answered(
    connection: sqlite3.Connection, sql: str, written: bool
) -> None:
    asked(connection, sql, written=written)


def asked(connection: sqlite3.Connection, sql: str, *, written: bool = False) -> Answered:
    """What a statement answers that may be measured."""
    check_repeatable(connection, sql, look(connection, sql), written=written)
    return answer(connection, sql, [], first=False)


def test_columns_have_the_types_of_their_values(connection: sqlite3.Connection) -> None:
    sql = "SELECT id, title, size, body FROM document WHERE id = ?"
    seen = answer(connection, sql, [[1], [10]], first=False)
    assert seen.columns == {"id": "integer", "title": "text", "size": "real?", "body": "blob"}
    assert seen.ascii_ends


@pytest.mark.parametrize(
    ("columns", "ascii_ends", "wide", "cut"),
    [
        (f"{2**53 - 1} AS n, 'ab' AS t", True, False, set[str]()),
        (f"{-(2**53)} AS n, 'a' || char(0) AS t", True, True, {"t"}),
        ("1 AS n, 'é' AS t", False, False, set[str]()),
        ("1 AS n, 'aéa' AS t", True, False, set[str]()),
    ],
)
def test_what_languages_read_differently_is_noticed(
    connection: sqlite3.Connection, columns: str, ascii_ends: bool, wide: bool, cut: set[str]
) -> None:
    seen = asked(connection, f"SELECT {columns}")
    assert (seen.ascii_ends, seen.wide, seen.cut) == (ascii_ends, wide, cut)


@pytest.mark.parametrize(
    ("columns", "reals"),
    [
        ("size", "exact"),
        ("max(size) AS size, count(*) AS n", "exact"),
        ("count(*) AS n, sum(id) AS ids", "exact"),
        ("avg(size) AS size", "digits"),
        ("round(sum(size), 1) AS size", "types"),
    ],
)
def test_reals_of_functions_are_compared_as_far_as_sqlites_agree(
    connection: sqlite3.Connection, columns: str, reals: str
) -> None:
    sql = f"SELECT {columns} FROM document"
    assert compared_reals(asked(connection, sql).columns, look(connection, sql)) == reals


@pytest.mark.parametrize(
    ("sql", "written", "order", "bound_by"),
    [
        ("SELECT ?, ?", "SELECT ?, ?", [0, 1], []),
        ("SELECT :a, ?, @b, :a, ?7, ?", "SELECT ?, ?, ?, ?, ?, ?", [0, 1, 2, 0, 6, 7], []),
        (
            "SELECT 'a:b', a ->> '$.b', [c:d], $f",
            "SELECT 'a:b', a ->> '$.b', [c:d], ?",
            [0],
            ["$f"],
        ),
        ("SELECT :a -- :e", "SELECT ? -- :e", [0], [":a"]),
        ("SELECT :a, @b, :a, ':c'", "SELECT ?, ?, ?, ':c'", [0, 1, 0], [":a", "@b", ":a"]),
        ("SELECT :a, ?1", "SELECT ?, ?", [0, 0], []),
        ("SELECT :a, @a", "SELECT ?, ?", [0, 1], []),
        ("SELECT :_a", "SELECT ?", [0], []),
        ("SELECT 1", "SELECT 1", [], []),
    ],
)
def test_each_placeholder_gets_a_value_by_its_place_or_by_a_name_that_every_driver_takes(
    sql: str, written: str, order: list[int], bound_by: list[str]
) -> None:
    assert positional(sql) == (written, order)
    assert names(sql) == bound_by


def test_a_value_goes_to_each_place_of_its_name() -> None:
    assert arranged([[1, "a"], [2, "b"]], [1, 0, 1]) == [["a", 1, "a"], ["b", 2, "b"]]
    with pytest.raises(NoPool, match="the SQL has 2 parameters, a row of parameters 1 values"):
        arranged([[1]], [1, 0, 1])


def test_what_never_ends_is_ended(connection: sqlite3.Connection) -> None:
    endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t"
    with pytest.raises(Refused, match="takes longer than"), limited(connection, 0.01):
        connection.execute(f"SELECT max(n) FROM ({endless})").fetchall()


@pytest.mark.parametrize("within", ["function", "handler"])
def test_a_ctrl_c_within_a_query_ends_it_as_one(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, within: str
) -> None:
    clock = count()

    def pressed() -> float:
        if next(clock) == 9:
            signal.raise_signal(signal.SIGINT)
        return 0.0

    if within == "function":
        connection.create_function("pressed", 0, pressed)
    else:
        connection.create_function("pressed", 0, lambda: 0)
        monkeypatch.setattr(time, "monotonic", pressed)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    endless = "WITH RECURSIVE n(i) AS (SELECT pressed() UNION ALL SELECT pressed() + i FROM n)"
    try:
        with pytest.raises(KeyboardInterrupt), limited(connection):
            connection.execute(f"{endless} SELECT max(i) FROM n").fetchall()
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_query_at_random_gives_the_same_rows_for_the_same_seed(
    connection: sqlite3.Connection,
) -> None:
    sql = "SELECT id FROM document ORDER BY random() LIMIT 16"
    first, again, other = (rows_of(sql, connection, seed) for seed in ("1", "1", "2"))
    assert first == again
    assert sorted(map(tuple, first)) != [*map(tuple, first)]
    assert first != other


def test_rows_fill_a_power_of_two_again_unless_they_are_written() -> None:
    """Numbers of both kinds are reals, and blobs are hexadecimal."""
    made = [pool([[1], [2], [3]], 1, distinct=distinct) for distinct in (False, True)]
    assert [each and each.rows for each in made] == [[[1], [2], [3], [1]], [[1], [2]]]
    mixed = pool([[1, b"\xff", 2**60], [0.5, None, 1]], 3, distinct=False)
    assert mixed
    assert mixed.types == ["real", "blob", "integer"]
    assert mixed.rows == [[1.0, "ff", str(2**60)], [0.5, None, 1]]
    whole = pool([[n] for n in range(64)], 1, distinct=False)
    assert whole
    assert bearable(whole, 1.0, 8) == whole
    few = bearable(whole, BEARABLE / 9, 8)
    assert few
    assert few.rows == whole.rows[:8], "no more than time allows"
    parts = [share(whole, number, 3) for number in range(3)]
    seen = [row[0] for part in parts if part for row in part.rows]
    assert len(seen) == len({*seen}) == 48, "steps that share a pool bind no row twice"
    assert share(whole, 0, 80) == whole, "too short to be shared"


@pytest.mark.parametrize(
    ("rows", "count", "message"),
    [
        ([[1]], 0, "the SQL has no placeholder"),
        ([], 1, "the SQL has 1 placeholders; say what parameters they get"),
        ([[1, 2]], 1, "the SQL has 1 placeholders, a row of parameters 2 values"),
        ([[1], ["a"]], 1, r"parameter 1 has values of several types \(integer, text\)"),
        ([[1.5], [-inf]], 1, "a parameter is Infinity"),
    ],
)
def test_what_gives_no_pool_is_told(rows: list[list[Any]], count: int, message: str) -> None:
    with pytest.raises(NoPool, match=message):
        pool(rows, count, distinct=False)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT id FROM document WHERE id < 0", "finds no row"),
        ("SELECT absent FROM document", "SQLite says: no such column: absent"),
        ("DELETE FROM event", "write a SELECT"),
        ("SELECT CAST(x'ff' AS TEXT) AS v", "column v holds a text that is no UTF-8"),
    ],
)
def test_a_query_for_parameters_must_give_rows(
    connection: sqlite3.Connection, sql: str, message: str
) -> None:
    with pytest.raises(NoPool, match=message):
        rows_of(sql, connection, "1")
    finite = "SELECT 9e999 AS v UNION ALL SELECT 1.5"
    assert rows_of(finite, connection, "1") == [(1.5,)], "an infinity is left out"
