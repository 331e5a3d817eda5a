"""Pools of parameters: powers of two, of one type, seeded, never empty."""

import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.workload.statements import NoPool, pool, rows_of, share


@pytest.fixture
def connection(database: Path) -> Generator[sqlite3.Connection]:
    with closing(sqlite3.connect(database)) as open_:
        yield open_


def test_a_query_at_random_gives_the_same_rows_for_the_same_seed(
    connection: sqlite3.Connection,
) -> None:
    sql = "SELECT id FROM document ORDER BY random() LIMIT 16"
    first, again, other = (rows_of(sql, connection, seed) for seed in ("1", "1", "2"))
    assert first == again
    assert sorted(map(tuple, first)) != [*map(tuple, first)]
    assert first != other


def test_rows_fill_a_power_of_two_again_unless_they_are_written() -> None:
    rows = [[1], [2], [3]]
    read, written = (pool(rows, 1, distinct=distinct) for distinct in (False, True))
    assert read
    assert read.rows == [[1], [2], [3], [1]]
    assert written
    assert written.rows == [[1], [2]]


def test_numbers_of_both_kinds_are_reals_and_blobs_are_hexadecimal() -> None:
    mixed = pool([[1, b"\xff", 2**60], [0.5, None, 1]], 3, distinct=False)
    assert mixed
    assert mixed.types == ["real", "blob", "integer"]
    assert mixed.rows == [[1.0, "ff", str(2**60)], [0.5, None, 1]]


@pytest.mark.parametrize(
    ("rows", "count", "message"),
    [
        ([[1]], 0, "the SQL has no placeholder"),
        ([], 1, "the SQL has 1 placeholders; say what parameters they get"),
        ([[1, 2]], 1, "the SQL has 1 placeholders, a row of parameters 2 values"),
        ([[1], ["a"]], 1, r"parameter 1 has values of several types \(integer, text\)"),
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
    ],
)
def test_a_query_for_parameters_must_give_rows(
    connection: sqlite3.Connection, sql: str, message: str
) -> None:
    with pytest.raises(NoPool, match=message):
        rows_of(sql, connection, "1")


def test_steps_that_share_a_pool_bind_no_row_twice() -> None:
    whole = pool([[n] for n in range(16)], 1, distinct=True)
    parts = [share(whole, number, 3) for number in range(3)]
    seen = [row[0] for part in parts if part for row in part.rows]
    assert len(seen) == len(set(seen)) == 12
    assert share(whole, 0, 40) == whole, "too short to be shared"
