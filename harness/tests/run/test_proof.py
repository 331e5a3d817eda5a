"""What a database file holds after its writer ended."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.run.verify import proof
from sqlitmus.run.verify.proof import Files, Held, Unproven, checksum, digest
from sqlitmus.vocabulary.contract import Job, Readback, Step
from tests.known import RUNNERS
from tests.run.made import held

ROWS = [(1, "ab", 2.0, b"\x01\x02\x03"), (2, "", -1.0, b""), (-1, "z", 0.5, None)]
QUERY = Readback.model_validate(
    {
        "sql": "SELECT i, t, r, b FROM kept ORDER BY rowid",
        "columns": [
            {"name": "i", "type": "integer"},
            {"name": "t", "type": "text"},
            {"name": "r", "type": "real"},
            {"name": "b", "type": "blob", "nullable": True},
        ],
    }
)
INSERT = "INSERT INTO kept VALUES (?, ?, ?, ?)"


def opened(file: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(file, isolation_level=None))


def database(file: Path, rows: list[tuple[Any, ...]] = ROWS, mode: str = "DELETE") -> Path:
    with opened(file) as connection:
        connection.execute(f"PRAGMA journal_mode={mode}")
        connection.execute("CREATE TABLE kept(i, t, r, b)")
        connection.execute("BEGIN")
        connection.executemany(INSERT, rows)
        connection.execute("COMMIT")
    return file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database with `ROWS`."""
    return database(tmp_path / "a.db")


@pytest.fixture
def writer(file: Path) -> Iterator[sqlite3.Connection]:
    """A connection to it."""
    with opened(file) as connection:
        yield connection


def by_hand(rows: list[tuple[Any, ...]]) -> object:
    """The contract's table, word for word."""
    h = 0
    for i, t, r, b in rows:
        terms = [
            i % 2**32,
            31 * ord(t[0]) + ord(t[-1]) if t else 0,
            int(r) % 2**32,
            0x9E3779B9 if b is None else len(b) + 31 * b[0] + b[-1] if b else 0,
        ]
        for x in terms:
            h = (h * 31 + x) % 2**32
    return held(len(rows), h).proof


def found(file: Path, files: Files | None = None, queries: int = 1) -> Held:
    return (files or Files()).held(file, [QUERY] * queries)


def unproven(file: Path, files: Files | None = None) -> str:
    with pytest.raises(Unproven) as caught:
        found(file, files)
    return f"{caught.value.outcome}: {caught.value}"


def test_rows_and_checksum_are_those_of_the_contract_query_after_query(tmp_path: Path) -> None:
    file = database(tmp_path / "a.db", [*ROWS, (1, "ab", float("inf"), None)])
    finite = [*ROWS, (1, "ab", 0.0, None)]
    assert found(file).proof == by_hand(finite)
    assert found(file, queries=2).proof == by_hand(finite * 2)


@pytest.mark.parametrize(
    ("column", "value", "misfit"),
    [
        # the checksum cannot tell them apart, and the digest does
        ("t", "axb", None),
        ("r", 2.5, None),
        ("b", b"\x01\xff\x03", None),
        # they are equal but for their type
        ("i", 1.0, "a real, which is declared integer"),
        ("i", "1", "a text, which is declared integer"),
        ("t", b"ab", "a blob, which is declared text"),
        ("r", 2, "an integer, which is declared real"),
        ("b", "\x01\x02\x03", "a text, which is declared blob"),
        ("t", None, "NULL, which is declared text"),
    ],
)
def test_another_value_is_told_from_that_of_another_file(
    file: Path, writer: sqlite3.Connection, column: str, value: object, misfit: str | None
) -> None:
    files = Files()
    before = found(file, files)
    writer.execute(f"UPDATE kept SET {column} = ? WHERE rowid = 1", [value])
    if misfit:
        words = f"wrong: after the process ended, column {column} of its database holds {misfit}"
        assert unproven(file, files) == unproven(file) == words
    else:
        assert (after := found(file, files)).proof == before.proof
        assert after.digest != before.digest


def test_checks_tell_how_many_rows_they_find_and_the_first(file: Path) -> None:
    checks = {
        "none": "SELECT 1 WHERE 0",
        "keys": "SELECT i AS n, t FROM kept ORDER BY i",
        "whole": "SELECT * FROM pragma_integrity_check(9) WHERE integrity_check <> 'ok'",
    }
    files = Files()
    assert files.held(file, [QUERY], checks=checks).failing == {"keys": (len(ROWS), "n -1, t 'z'")}
    assert found(file, files).failing == {}, "another question of the same file"


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_what_is_committed_is_there_even_in_a_log_and_nothing_else(
    tmp_path: Path, mode: str
) -> None:
    file, files = database(tmp_path / "a.db", [], mode), Files()
    with opened(file) as writer:
        writer.execute("BEGIN")
        writer.execute(INSERT, ROWS[0])
        assert found(file, files).proof.rows == 0
        writer.execute("COMMIT")
        assert found(file, files).proof.rows == 1


def test_a_transaction_cut_off_in_the_middle_is_rolled_back(
    file: Path, writer: sqlite3.Connection, tmp_path: Path
) -> None:
    (tmp_path / "cut").mkdir()
    for sql in ("PRAGMA cache_size=1", "PRAGMA cache_spill=1", "BEGIN IMMEDIATE"):
        writer.execute(sql)
    writer.executemany(INSERT, [(n, "x", 1.0, b"x" * 3000) for n in range(50)])
    for suffix in ("", "-journal"):
        shutil.copy(f"{file}{suffix}", tmp_path / "cut" / f"a.db{suffix}")
    writer.execute("ROLLBACK")
    cut = tmp_path / "cut/a.db"
    assert cut.stat().st_size > file.stat().st_size
    assert found(cut).proof == by_hand(ROWS)


def test_a_file_like_one_before_but_for_its_change_counter_is_not_opened_again(
    file: Path, writer: sqlite3.Connection
) -> None:
    files, before = Files(), file.read_bytes()
    first = found(file, files)
    for text in ("xy", "ab"):
        writer.execute("UPDATE kept SET t = ? WHERE i = 1", [text])
    assert file.read_bytes() != before
    assert (found(file, files), files.opened) == (first, 1)
    one_row = QUERY.model_copy(update={"sql": f"{QUERY.sql} LIMIT 1"})
    assert files.held(file, [one_row]).proof == by_hand(ROWS[:1])
    writer.execute("UPDATE kept SET t = 'xy' WHERE i = 1")
    assert found(file, files) != first
    assert files.opened == 3


def test_rows_like_those_of_another_file_are_not_folded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, files = ROWS * 1500, Files()  # more than are read at once
    file = database(tmp_path / "a.db", rows)
    first = found(file, files)
    with opened(file) as writer, monkeypatch.context() as patch:
        patch.setattr(proof, "fold", None)
        writer.execute("CREATE TABLE other(x)")
        assert (found(file, files).digest, files.opened) == (first.digest, 2)
    with opened(file) as writer:
        writer.execute("UPDATE kept SET t = 'axb' WHERE rowid = 1")
    assert found(file, files).digest != first.digest
    changed = [(1, "axb", *ROWS[0][2:]), *rows[1:]]
    assert found(file, files, queries=2).proof == by_hand(changed * 2)


def test_what_cannot_be_read_is_wrong_but_a_lock_is_a_failure(
    tmp_path: Path, file: Path, writer: sqlite3.Connection
) -> None:
    words = "its database cannot be read after the process ended: "
    writer.execute("BEGIN EXCLUSIVE")
    assert unproven(file) == f"failed: {words}database is locked"
    writer.execute("DROP TABLE kept")
    writer.execute("COMMIT")
    assert unproven(file) == f"wrong: {words}no such table: kept"
    file.write_bytes(b"none at all, but long enough for a header" * 20)
    assert unproven(file) == f"wrong: {words}file is not a database"
    damaged = database(tmp_path / "damaged.db")
    damaged.write_bytes(damaged.read_bytes()[:4096] + b"\xff" * 4096)
    damage = "wrong: its database is damaged after the process ended: "
    assert unproven(damaged).startswith(damage)
    file.unlink()
    for _ in range(2):  # it stays away
        assert unproven(file) == "wrong: its database is gone after the process ended"
    file.symlink_to(database(tmp_path / "b.db"))
    gone = "wrong: after the process ended, its database is no file any more"
    assert unproven(file) == gone


def test_a_key_of_a_table_without_rowid_is_no_damage(
    file: Path, writer: sqlite3.Connection
) -> None:
    """SQLite 3.40's quick_check says so where the key has another order than the columns."""
    columns = "a INT NOT NULL, b INT NOT NULL, PRIMARY KEY(b, a)"
    writer.execute(f"CREATE TABLE k({columns}) WITHOUT ROWID")
    writer.execute("INSERT INTO k VALUES (1, 2)")
    assert found(file).proof == by_hand(ROWS)


def bound(step: Step, number: int) -> list[object]:
    """What an execution binds."""
    if step.parameters is None:
        return []
    types, rows = step.parameters.types, step.parameters.rows
    return [
        bytes.fromhex(str(value)) if kind == "blob" and value is not None else value
        for kind, value in zip(types, rows[number % len(rows)], strict=True)
    ]


@pytest.mark.parametrize("vector", ["bigint-verify", "nul-text-verify", "empty-blob-verify"])
def test_a_vector_has_the_checksum_and_digest_of_its_rows(vector: str) -> None:
    folder = RUNNERS / "contract/vectors" / vector
    job = Job.model_validate_json((folder / "job.json").read_bytes())
    want = json.loads((folder / "expected.json").read_text("utf-8"))
    (step,) = job.steps
    with opened(Path(":memory:")) as connection:
        connection.executescript((folder / "database.sql").read_text("utf-8"))
        executions = [
            rows[:1] if step.operation == "get" else rows
            for number in range(job.measure.operations_per_iteration)
            for rows in [connection.execute(step.sql, bound(step, number)).fetchall()]
        ]
    assert sum(checksum([rows]) for rows in executions) % 2**32 == want["checksum"]
    assert digest(executions) == want["digest"]
