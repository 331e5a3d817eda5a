"""The copy of a user's database: consistent, checked, and the original as it was."""

import os
import re
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sqlitmus.workload import database as own
from sqlitmus.workload.database import SMALL, Snapshot, parsed, snapshot
from tests.refusals import refused, unfit
from tests.workload.making import Service


def beside(file: Path) -> dict[str, bytes]:
    """All files of the folder, with their content."""
    return {each.name: each.read_bytes() for each in file.parent.iterdir() if each.is_file()}


def rows(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute("SELECT count(*) FROM document").fetchone()[0]


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    folder = tmp_path / "copies"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_copy_leaves_the_original_and_its_folder_as_they_were(
    database: Path, copies: Path, mode: str
) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"PRAGMA journal_mode={mode}")
    before = beside(database)
    copy = snapshot(database, copies)
    assert beside(database) == before
    assert rows(copy.file) == 100
    about = copy.about
    assert (about.name, about.user_version, about.encoding) == ("app.db", 7, "UTF-8")
    assert (about.journal_mode, about.page_size, about.tables) == (mode, 4096, 3)
    assert snapshot(database, copies) == copy, "the same content has the same name"
    assert [file.name for file in copies.iterdir()] == [copy.file.name]


def test_what_lies_in_a_log_is_copied_too_and_a_lock_that_stays_is_told(
    database: Path, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "PATIENCE_S", 0.05)
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("UPDATE document SET title = title || '!'")
        with refused("app.db: another process holds a lock on it for more than 0.05 s"):
            snapshot(database, copies)
        connection.execute("ROLLBACK")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("INSERT INTO document(id, owner, title) VALUES (1000, 'x', 'y')")
        main = database.read_bytes()
        assert rows(snapshot(database, copies).file) == 101
        assert database.read_bytes() == main


@pytest.mark.parametrize(
    ("pages", "message"),
    [
        (None, "app.db: cannot be read: No such file or directory"),
        ([], "it is no SQLite database (it is empty)"),
        (["random"], "it is no SQLite database (it begins with other bytes), or it is encrypted"),
        (["head", "random"], "it is damaged"),
        (["first", "empty", "others"], "it is damaged"),
    ],
)
def test_what_is_no_database_is_told(
    database: Path, copies: Path, pages: list[str] | None, message: str
) -> None:
    whole = database.read_bytes()
    contents = {"head": whole[:100], "first": whole[:4096], "others": whole[8192:]}
    contents |= {"random": os.urandom(4096), "empty": bytes(4096)}
    database.unlink()
    if pages is not None:
        database.write_bytes(b"".join(contents[page] for page in pages))
    with refused(re.escape(message)):
        snapshot(database, copies)
    assert list(copies.iterdir()) == []


def test_what_hinders_a_copy_is_told_before(
    database: Path, copies: Path, heard: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot(database, copies, heard.append)
    assert heard == []
    kinds = {database.parent: "nfs4 on box:/home", copies: "cifs on box:/home"}
    monkeypatch.setattr(own, "network", kinds.get)
    snapshot(database, copies, heard.append)
    assert [words.partition(")")[0] for words in heard] == [
        f"{folder}: it lies on a network file system ({kind}"
        for folder, kind in ((database, "nfs4 on box:/home"), (copies, "cifs on box:/home"))
    ]
    kinds.clear()
    monkeypatch.setattr(own, "_LARGE", 1)
    snapshot(database, copies, heard.append)
    how = "all of it is copied and checked, which takes minutes"
    assert heard[2].endswith(f"GB: {how}; --sample 100000 takes so many rows of each table")
    monkeypatch.setattr(own, "ROOM", 2**40)
    with unfit(r"copies have to fit on the disk, .* take fewer rows with --sample"):
        snapshot(database, copies)


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


def taken(whole: Path, amount: str, heard: list[str]) -> Snapshot:
    folder = whole.parent / "copies"
    folder.mkdir(exist_ok=True)
    return snapshot(whole, folder, heard.append, parsed(amount))


def test_a_sample_has_whole_small_tables_and_what_keys_lead_to(
    whole: Path, heard: list[str]
) -> None:
    with closing(sqlite3.connect(taken(whole, "200", heard).file)) as part:
        part.execute("ATTACH ? AS whole", [str(whole)])

        def picked(sql: str) -> list[tuple[Any, ...]]:
            return part.execute(sql).fetchall()

        ((country, owner, document, note),) = picked(
            "SELECT " + ", ".join(f'(SELECT count(*) FROM main."{name}")' for name in COUNTS)
        )
        assert (country, 120 < note < 300) == (40, True)
        assert 200 < owner < ROWS / 2
        assert 200 < document < ROWS / 2
        assert picked("PRAGMA foreign_key_check") == []
        joined = 'note JOIN "a document" USING (n, part) JOIN owner ON owner = owner.id'
        assert picked(f"SELECT count(*) FROM {joined}") == [(note,)]
        for name in COUNTS:
            more = f'SELECT * FROM main."{name}" EXCEPT SELECT * FROM whole."{name}"'
            assert picked(more) == []
        for name, value in (("page_size", 8192), ("user_version", 5), ("encoding", "UTF-16le")):
            assert picked(f"PRAGMA main.{name}") == [(value,)]
        for name, key in (("sqlite_sequence", "name"), ("sqlite_stat1", "tbl")):
            of_whole = f"SELECT * FROM whole.{name} WHERE {key} NOT LIKE 'words%'"
            assert {*picked(of_whole)} <= {*picked(f"SELECT * FROM main.{name}")}
        names = {name for (name,) in picked("SELECT name FROM main.sqlite_schema")}
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


LARGE = 200_000
READ = "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s LIMIT ?)"


@pytest.mark.parametrize(
    ("amount", "schema", "number", "whole"),
    [
        ("1000", "n INTEGER, id INTEGER PRIMARY KEY)", "3 * n + 7", "about "),
        ("0.5%", "n INTEGER, rowid INTEGER, id INTEGER PRIMARY KEY)", "n, n", "about "),
        ("1000", "n INTEGER, id INTEGER PRIMARY KEY)", "n * 1000003", ""),
        ("0.5%", "n INTEGER, id TEXT PRIMARY KEY) WITHOUT ROWID", "n", ""),
    ],
)
def test_of_a_large_table_with_dense_numbers_only_drawn_rows_are_read(
    tmp_path: Path,
    heard: list[str],
    monkeypatch: pytest.MonkeyPatch,
    amount: str,
    schema: str,
    number: str,
    whole: str,
) -> None:
    file, steps = tmp_path / "large.db", list[int]()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"CREATE TABLE t({schema}")
        connection.execute(f"INSERT INTO t {READ} SELECT n, {number} FROM s", [LARGE])
        connection.commit()

    def step() -> None:
        steps.append(1000)

    def watched(folder: str, **options: Any) -> sqlite3.Connection:
        connection = sqlite3.connect(folder, **options)
        connection.set_progress_handler(step, 1000)
        return connection

    monkeypatch.setattr(own, "sqlite3", SimpleNamespace(**vars(sqlite3) | {"connect": watched}))
    copy = taken(file, amount, heard)
    part = re.fullmatch(
        r"large\.db \(a sample of ([0-9,]+) of (about )?([0-9,]+) rows\)", copy.about.name
    )
    assert part
    held, told, total = part.groups()
    assert ((told or ""), sum(steps) < LARGE) == (whole, bool(whole))
    assert 850 < int(held.replace(",", "")) < 1150
    assert abs(int(total.replace(",", "")) / LARGE - 1) < (0.15 if whole else 1e-9)
    with closing(sqlite3.connect(copy.file)) as connection:
        quarters = Counter(4 * (n - 1) // LARGE for (n,) in connection.execute("SELECT n FROM t"))
    shares = [quarters[number] / quarters.total() for number in range(4)]
    assert shares == pytest.approx([0.25] * 4, abs=0.06)


def test_an_amount_is_rows_or_a_share() -> None:
    amounts = {"100000": 100_000, "100,000": 100_000, "1%": 0.01, "0.25": 0.25}
    assert {text: parsed(text) for text in amounts} == amounts
    for text in ("", "0", "-1", "many", "1.5", "inf", "nan", "%"):
        with refused("expected rows of each table, such as 100000, or a share"):
            parsed(text)


def test_a_schema_may_call_functions_of_json(service: Service, copies: Path) -> None:
    columns = "a TEXT CHECK(json_valid(a)), b AS (json_extract(a, '$.b'))"
    index = "CREATE INDEX i ON t(json_extract(a, '$.c')); INSERT INTO t VALUES ('{}')"
    file = service.database(f"CREATE TABLE t({columns}); {index}", "json.db")
    assert snapshot(file, copies).about.tables == 1
    assert snapshot(file, copies, amount=10.0).about.name == "json.db (a sample of 1 of 1 rows)"


def test_a_copy_that_needs_an_absent_collation_is_not_checked(
    service: Service, copies: Path
) -> None:
    with closing(sqlite3.connect(service.folder / "app.db")) as connection:
        connection.create_collation("icu", lambda a, b: (a > b) - (a < b))
        connection.executescript("CREATE TABLE t(a TEXT COLLATE icu); CREATE INDEX i ON t(a)")
    assert snapshot(service.folder / "app.db", copies, service.heard.append).about.tables == 1
    (words,) = service.heard
    assert words.startswith("the copy is not checked for damage: no such collation sequence: icu;")
