"""A fixture's copy after a writer: how it differs, and that it becomes the fixture again."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sqlitmus.catalog import fixture
from sqlitmus.run.processes.copies import BLOCK, Copies
from sqlitmus.vocabulary.errors import NotFit


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    file = tmp_path / "fixture.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(n, "x" * 900) for n in range(4000)])
        connection.commit()
    return file


@pytest.fixture
def copy(tmp_path: Path, origin: Path) -> Path:
    file = tmp_path / "copy.db"
    Copies().supply(origin, file)
    return file


def write(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for sql in statements:
            connection.execute(sql)


def never(*_: object) -> None:
    raise AssertionError


@pytest.mark.parametrize("seen", [False, True], ids=["unseen", "seen"])
@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE t SET text = 'y' WHERE id IN (7, 3900)",
        "INSERT INTO t SELECT NULL, hex(zeroblob(3000)) FROM t LIMIT 800",
        "DELETE FROM t",
        "PRAGMA journal_mode = WAL",
    ],
    ids=["changed", "longer", "emptied", "header"],
)
def test_only_what_a_writer_changed_is_written_again(
    origin: Path, copy: Path, monkeypatch: pytest.MonkeyPatch, sql: str, *, seen: bool
) -> None:
    copies = Copies()
    write(copy, sql)
    assert copy.read_bytes() != origin.read_bytes()
    if seen:
        copies.difference(copy, origin)
    copy.with_name("copy.db-wal").write_bytes(b"left behind")
    monkeypatch.setattr(fixture, "fresh_copy", never)
    copies.supply(origin, copy)
    assert copy.read_bytes() == origin.read_bytes()
    assert not copy.with_name("copy.db-wal").exists()


def test_a_block_that_changed_is_told_and_no_other(origin: Path, copy: Path) -> None:
    assert Copies().difference(copy, origin).blocks == []
    content = bytearray(copy.read_bytes())
    for number in (3, 400):
        content[number * BLOCK + 17] ^= 1
    copy.write_bytes(content + b"more")
    assert Copies().difference(copy, origin).blocks == [3, 400, len(content) // BLOCK]
    whole = [*range(len(content) // BLOCK + 1)]
    assert Copies().difference(copy, None).blocks == whole


def test_a_shorter_file_is_copied_as_a_whole(origin: Path, copy: Path) -> None:
    write(copy, "DELETE FROM t", "VACUUM")
    Copies().supply(origin, copy)
    assert copy.read_bytes() == origin.read_bytes()


@pytest.mark.parametrize("kind", ["symlink_to", "hardlink_to"])
def test_nothing_is_written_through_a_link(
    tmp_path: Path, origin: Path, copy: Path, kind: str
) -> None:
    other = tmp_path / "other.db"
    copy.rename(other)
    write(other, "DELETE FROM t")
    before = other.read_bytes()
    getattr(copy, kind)(other)
    Copies().supply(origin, copy)
    assert copy.read_bytes() == origin.read_bytes()
    assert other.read_bytes() == before


def test_files_that_hold_the_same_have_one_image(origin: Path, copy: Path) -> None:
    images: list[bytes] = []
    for more in ((), ("UPDATE t SET text = 'z' WHERE id = 9",) * 2, ("DELETE FROM t",)):
        Copies().supply(origin, copy)
        # the change counter moves with each transaction
        write(copy, *more, "UPDATE t SET text = 'y' WHERE id = 9")
        images.append(Copies().difference(copy, origin).image)
    assert images[0] == images[1] != images[2]


def test_what_cannot_be_made_whole_is_told(tmp_path: Path, origin: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(NotFit, match="folder: cannot be made the fixture again: "):
        Copies().supply(origin, tmp_path / "folder")
