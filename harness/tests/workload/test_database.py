"""The copy of a user's database: consistent, checked, and the original as it was."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.workload import database as own
from sqlitmus.workload.database import snapshot
from tests.workload.conftest import make


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


def test_what_lies_in_a_log_is_copied_too(database: Path, copies: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("INSERT INTO document(id, owner, title) VALUES (1000, 'x', 'y')")
        connection.commit()
        main = database.read_bytes()
        assert rows(snapshot(database, copies).file) == 101
        assert database.read_bytes() == main


@contextmanager
def held(file: Path, mode: str) -> Generator[None]:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute(f"BEGIN {mode}")
        connection.execute("UPDATE document SET title = title || '!'")
        yield


def test_a_lock_that_stays_is_told(
    database: Path, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "PATIENCE_S", 0.05)
    with held(database, "EXCLUSIVE"):
        with pytest.raises(UsageError) as told:
            snapshot(database, copies)
        assert "app.db: another process holds a lock on it for more than 0.05 s" in str(told.value)
    assert rows(snapshot(database, copies).file) == 100


def spoiled(file: Path, how: str) -> None:
    whole = file.read_bytes()
    contents = {
        "empty": b"",
        "other": os.urandom(8192),
        "scrambled": whole[:100] + os.urandom(4000),
        "holed": whole[:4096] + bytes(4096) + whole[8192:],
    }
    file.unlink()
    if how in contents:
        file.write_bytes(contents[how])


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("gone", "app.db: cannot be read: No such file or directory"),
        ("empty", "it is no SQLite database (it is empty)"),
        ("other", "it is no SQLite database (it begins with other bytes), or it is encrypted"),
        ("scrambled", "it is damaged"),
        ("holed", "it is damaged"),
    ],
)
def test_what_is_no_database_is_told(database: Path, copies: Path, how: str, message: str) -> None:
    spoiled(database, how)
    with pytest.raises(UsageError) as told:
        snapshot(database, copies)
    assert message in str(told.value)
    assert list(copies.iterdir()) == []


def test_a_copy_that_does_not_fit_is_not_begun(
    database: Path, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "ROOM", 2**40)
    with pytest.raises(
        NotFit, match=r"copies have to fit on the disk, .* take fewer rows with --sample"
    ):
        snapshot(database, copies)


def test_a_network_file_system_is_told(
    database: Path, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    snapshot(database, copies, heard.append)
    assert heard == []
    kinds = {database.parent: "nfs4 on box:/home"}
    monkeypatch.setattr(own, "network", kinds.get)
    snapshot(database, copies, heard.append)
    (words,) = heard
    assert words.startswith(f"{database}: it lies on a network file system (nfs4 on box:/home)")
    kinds[copies] = kinds.pop(database.parent).replace("nfs4", "cifs")
    snapshot(database, copies, heard.append)
    assert heard[-1].startswith(f"{copies}: it lies on a network file system (cifs on box:/home)")
    assert len(heard) == 2


def test_a_large_one_is_told_before(
    tmp_path: Path, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "_LARGE", 1)
    heard: list[str] = []
    snapshot(make(tmp_path / "large.db"), copies, heard.append)
    assert heard
    assert heard[0].endswith(
        "GB are copied and checked, which takes minutes; --sample 100000 takes so many rows of "
        "each table"
    )
