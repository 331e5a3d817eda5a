"""What SQL of each origin may do, and that SQLite's own requests are not taken for it."""

import sqlite3
from collections.abc import Generator
from contextlib import closing

import pytest

from sqlitmus.catalog.authorizer import Compiled, Origin, Refused, compiled, confined, unseen

SCHEMA = """
CREATE TABLE post(id INTEGER PRIMARY KEY, title TEXT, meta TEXT,
    n INTEGER GENERATED ALWAYS AS (json_extract(meta, '$.n')) STORED);
CREATE VIRTUAL TABLE found USING fts5(title, content='post', content_rowid='id');
CREATE TRIGGER added AFTER INSERT ON post BEGIN
    INSERT INTO found(rowid, title) VALUES (new.id, new.title); END;
CREATE VIRTUAL TABLE former USING fts4(title);
CREATE VIRTUAL TABLE box USING rtree(id, x0, x1);
CREATE VIEW titles AS SELECT id, title FROM post;
CREATE TRIGGER titled INSTEAD OF INSERT ON titles BEGIN
    INSERT INTO post(title) VALUES (new.title); END;
INSERT INTO post(title, meta) VALUES ('a fish', '{"n": 7}');
"""


@pytest.fixture
def connection() -> Generator[sqlite3.Connection]:
    """Another connection than the one that made the tables, so that modules begin anew."""
    with closing(sqlite3.connect("file:authorized?mode=memory&cache=shared", uri=True)) as made:
        made.executescript(SCHEMA)
        uri = "file:authorized?mode=memory&cache=shared"
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as opened:
            yield opened


@pytest.mark.parametrize(
    ("sql", "most"),
    [
        ("SELECT title FROM post", Origin.QUERY),
        ("SELECT 'a;b' AS v; -- and; nothing", Origin.QUERY),
        ("PRAGMA user_version", Origin.QUERY),
        ("PRAGMA data_version", Origin.QUERY),
        ("PRAGMA table_info(post)", Origin.QUERY),
        ("SELECT name FROM pragma_table_info('post')", Origin.QUERY),
        ("PRAGMA wal_checkpoint", Origin.RESET),
        ("PRAGMA wal_checkpoint(TRUNCATE)", Origin.RESET),
        ("PRAGMA foreign_keys = OFF", Origin.RESET),
        ("PRAGMA optimize", Origin.RESET),
        ("VACUUM", Origin.QUERY),
        ("ANALYZE", Origin.QUERY),
        ("REINDEX", Origin.QUERY),
        ("BEGIN IMMEDIATE", Origin.RESET),
        ("SAVEPOINT s", Origin.RESET),
        ("INSERT INTO found(found) VALUES ('optimize')", Origin.QUERY),
        ("PRAGMA journal_mode = WAL", Origin.CATALOGUE),
        ("PRAGMA cache_size(100)", Origin.CATALOGUE),
        ("CREATE TEMP TABLE kept AS SELECT * FROM post", Origin.CATALOGUE),
        ("CREATE VIRTUAL TABLE more USING fts5(a)", Origin.CATALOGUE),
        ("DROP TRIGGER added", Origin.CATALOGUE),
        ("ALTER TABLE post ADD COLUMN c", Origin.CATALOGUE),
        ("ATTACH '' AS e", None),
        ("ATTACH ? AS e", None),
        ("VACUUM INTO ?", None),
        ("PRAGMA soft_heap_limit = 1", None),
        ("PRAGMA temp_store_directory = ''", None),
        ("SELECT fts3_tokenizer('simple')", None),
        ("SELECT 1 AS v\0; ATTACH '' AS e", None),
        ("SELECT '\ud800' AS v", None),
    ],
)
def test_each_origin_may_do_what_those_below_it_may_and_more(
    connection: sqlite3.Connection, sql: str, most: Origin | None
) -> None:
    for origin in Origin:
        if most is not None and origin <= most:
            compiled(connection, sql, origin)
        else:
            with pytest.raises((Refused, sqlite3.OperationalError)):
                compiled(connection, sql, origin)
    assert connection.total_changes == 0


@pytest.mark.parametrize(
    ("sql", "parameters", "writes"),
    [
        ("SELECT rowid, rank FROM found WHERE found MATCH ?", 1, {}),
        ("SELECT title FROM former WHERE former MATCH ?", 1, {}),
        ("SELECT id FROM box WHERE x0 > ?", 1, {}),
        ("SELECT n, e.value FROM post, json_each(post.meta) e WHERE post.id = ?", 1, {}),
        ("SELECT title FROM titles", 0, {}),
        ("INSERT INTO post(title) VALUES (?)", 1, {"post": {"insert"}, "found": {"insert"}}),
        ("INSERT INTO former VALUES (?)", 1, {"former": {"insert"}}),
        ("INSERT INTO box VALUES (?, ?, ?)", 3, {"box": {"insert"}}),
        (
            "INSERT INTO titles(title) VALUES (?)",
            1,
            {"titles": {"insert"}, "post": {"insert"}, "found": {"insert"}},
        ),
    ],
)
def test_what_sqlites_modules_ask_for_is_not_the_statements(
    connection: sqlite3.Connection, sql: str, parameters: int, writes: dict[str, set[str]]
) -> None:
    for _ in range(2):  # a module's own statements come when its table is first used
        assert compiled(connection, sql, Origin.QUERY) == Compiled(
            parameters, rows=not writes, changes=bool(writes), writes=writes
        )


def test_what_runs_is_confined_too_and_modules_do_their_work(
    connection: sqlite3.Connection,
) -> None:
    with confined(connection):
        connection.execute("INSERT INTO titles(title) VALUES ('two fishes')")
        rows = connection.execute("SELECT rowid FROM found WHERE found MATCH 'fish OR fishes'")
        assert rows.fetchall() == [(1,), (2,)]
        assert connection.execute("SELECT name FROM pragma_table_info('box')").fetchone()
    with pytest.raises(Refused, match="it attaches another database"), confined(connection):
        connection.execute("VACUUM INTO 'elsewhere.db'")
    connection.execute("ATTACH '' AS e")  # what the harness does itself


def test_of_what_does_not_compile_here_the_words_tell() -> None:
    assert unseen("SELECT nosuch(1), a FROM edit") == ""
    for sql in ("-- a\n/* b */ vacuum newly", "SELECT nosuch(1), [writefile] ('a', 1)"):
        assert "does not compile" in unseen(sql)
