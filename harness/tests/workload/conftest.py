"""A small database as a user might have, and the catalogue's own profiles and runners."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import Profile

SCHEMA = """
CREATE TABLE document(
    id INTEGER PRIMARY KEY, owner TEXT NOT NULL, title TEXT NOT NULL, size REAL, body BLOB);
CREATE INDEX document_owner ON document(owner);
CREATE TABLE event(id INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL, at INTEGER);
CREATE TABLE word(word TEXT PRIMARY KEY, hits INTEGER NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 7;
"""


def make(file: Path, rows: int = 100) -> Path:
    """The database; every tenth size is NULL."""
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(SCHEMA)
        connection.executemany(
            "INSERT INTO document VALUES (?, ?, ?, ?, ?)",
            [
                (n, f"owner-{n % 7}", f"Title {n}", n / 2 if n % 10 else None, bytes([n % 256]))
                for n in range(1, rows + 1)
            ],
        )
        connection.executemany(
            "INSERT INTO event(document, at) VALUES (?, ?)", [(n, 1000 + n) for n in range(1, 51)]
        )
        connection.execute("INSERT INTO word VALUES ('a', 1)")
        connection.commit()
    return file


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return make(tmp_path / "app.db")


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """A workload's file with that text below its first line, which names the database."""

    def written(text: str) -> Path:
        file = tmp_path / "my.toml"
        file.write_text(f'database = "app.db"\n{text}', encoding="utf-8")
        return file

    return written


@pytest.fixture
def catalog() -> Catalog:
    weak, strong = (
        Profile(title="", summary="", pragmas=[("journal_mode", "WAL"), ("synchronous", level)])
        for level in ("NORMAL", "FULL")
    )
    names = ("scenarios", "suites", "modes", "fixtures", "runners", "folders")
    empty: dict[str, dict[str, Profile]] = {name: {} for name in names}
    profiles = {"normalised": weak, "durable": strong}
    return Catalog.model_validate({**empty, "profiles": profiles})


@pytest.fixture
def heard() -> list[str]:
    return []
