"""A part of a database: so many rows of each table, with those that they need."""

import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.workload.database import SMALL, Snapshot, parsed, snapshot

SCHEMA = """
PRAGMA encoding = 'UTF-16le';
PRAGMA page_size = 8192;
PRAGMA user_version = 5;
CREATE TABLE country(code TEXT PRIMARY KEY, name TEXT) WITHOUT ROWID;
CREATE TABLE owner(
    id INTEGER PRIMARY KEY AUTOINCREMENT, country TEXT REFERENCES country,
    boss INTEGER REFERENCES owner(id));
CREATE TABLE "a document"(
    n INTEGER, part INTEGER, owner INTEGER REFERENCES owner(id), text TEXT,
    length INTEGER GENERATED ALWAYS AS (length(text)), UNIQUE(n, part));
CREATE TABLE note(id INTEGER PRIMARY KEY, n INTEGER, part INTEGER,
    FOREIGN KEY (n, part) REFERENCES "a document"(n, part));
CREATE INDEX document_owner ON "a document"(owner);
CREATE VIEW long AS SELECT * FROM "a document" WHERE length > 3;
CREATE TRIGGER touched AFTER INSERT ON note BEGIN UPDATE owner SET boss = NULL; END;
CREATE VIRTUAL TABLE words USING fts5(text);
CREATE VIEW found AS SELECT * FROM words;
"""
ROWS = 5 * SMALL
COUNTS = {"country": 40, "owner": ROWS, "a document": ROWS, "note": ROWS}


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    file = tmp_path / "whole.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(SCHEMA)
        connection.execute("DROP TRIGGER touched")
        many = connection.executemany
        many("INSERT INTO country VALUES (?, 'x')", [(f"c{n}",) for n in range(40)])
        owners = [(n, f"c{n % 40}", n // 2 or None) for n in range(1, ROWS + 1)]
        many("INSERT INTO owner VALUES (?, ?, ?)", owners)
        documents = [(n, n % 3, ROWS - n, "text") for n in range(ROWS)]
        many('INSERT INTO "a document"(n, part, owner, text) VALUES (?, ?, ?, ?)', documents)
        many("INSERT INTO note VALUES (?, ?, ?)", [(n, n, n % 3) for n in range(ROWS)])
        connection.execute("INSERT INTO words VALUES ('one two')")
        connection.execute("ANALYZE")
        connection.executescript(SCHEMA[SCHEMA.index("CREATE TRIGGER") :].splitlines()[0])
        connection.commit()
    return file


@pytest.fixture
def heard() -> list[str]:
    return []


def taken(whole: Path, amount: str, heard: list[str]) -> Snapshot:
    folder = whole.parent / "copies"
    folder.mkdir(exist_ok=True)
    return snapshot(whole, folder, heard.append, parsed(amount))


@pytest.fixture
def part(whole: Path, heard: list[str]) -> Generator[sqlite3.Connection]:
    with closing(sqlite3.connect(taken(whole, "200", heard).file)) as connection:
        yield connection


def rows(connection: sqlite3.Connection, sql: str) -> list[tuple[object, ...]]:
    return connection.execute(sql).fetchall()


def test_a_small_table_is_whole_and_of_others_there_are_about_as_many(
    part: sqlite3.Connection,
) -> None:
    counts = {name: rows(part, f'SELECT count(*) FROM "{name}"')[0][0] for name in COUNTS}
    assert counts["country"] == 40
    assert 120 < int(str(counts["note"])) < 300
    for name in ("a document", "owner"):
        assert 200 < int(str(counts[name])) < ROWS / 2


def test_foreign_keys_lead_to_rows(part: sqlite3.Connection) -> None:
    assert rows(part, "PRAGMA foreign_key_check") == []
    joined = (
        'SELECT count(*) FROM note JOIN "a document" USING (n, part) JOIN owner ON owner = owner.id'
    )
    assert rows(part, joined) == rows(part, "SELECT count(*) FROM note")


def test_rows_are_those_of_the_whole_and_settings_too(
    part: sqlite3.Connection, whole: Path
) -> None:
    part.execute("ATTACH ? AS whole", [str(whole)])
    for name in COUNTS:
        more = f'SELECT * FROM main."{name}" EXCEPT SELECT * FROM whole."{name}"'
        assert rows(part, more) == []
    for name, value in (("page_size", 8192), ("user_version", 5), ("encoding", "UTF-16le")):
        assert rows(part, f"PRAGMA main.{name}") == [(value,)]
    for name in ("sqlite_sequence", "sqlite_stat1"):
        of_whole = f"SELECT * FROM whole.{name} WHERE name NOT LIKE 'words%'"
        of_whole = of_whole.replace("name NOT", "tbl NOT") if name.endswith("1") else of_whole
        assert set(rows(part, of_whole)) <= set(rows(part, f"SELECT * FROM main.{name}"))


def test_what_needs_a_virtual_table_is_told(part: sqlite3.Connection, heard: list[str]) -> None:
    names = {name for (name,) in rows(part, "SELECT name FROM sqlite_schema")}
    assert {"document_owner", "long", "touched"} < names
    assert "words" not in names
    assert heard == ["the sample lacks virtual tables and what needs them: words"]


def test_the_original_is_as_it_was_and_the_copy_says_what_it_is(
    whole: Path, heard: list[str]
) -> None:
    before = whole.read_bytes()
    about = taken(whole, "10%", heard).about
    assert whole.read_bytes() == before
    assert [file.name for file in whole.parent.glob("whole*")] == ["whole.db"]
    assert about.name.startswith("whole.db (a sample of ")
    assert about.name.endswith(f" of {3 * ROWS + 40:,} rows)")
    assert taken(whole, "10%", heard).about == about, "the same rows each time"


@pytest.mark.parametrize(
    ("text", "amount"), [("100000", 100_000), ("100,000", 100_000), ("1%", 0.01), ("0.25", 0.25)]
)
def test_an_amount_is_rows_or_a_share(text: str, amount: float) -> None:
    assert parsed(text) == amount


@pytest.mark.parametrize("text", ["", "0", "-1", "many", "1.5", "inf", "nan", "%"])
def test_what_is_no_amount_is_told(text: str) -> None:
    with pytest.raises(UsageError, match="expected rows of each table, such as 100000, or a share"):
        parsed(text)
