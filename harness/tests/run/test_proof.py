"""What a database file holds after its writer ended, and how that differs from what was said."""

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.run.verify import proof
from sqlitmus.run.verify.proof import Files, Unproven, checksum, digest
from sqlitmus.vocabulary.contract import Column, Job, Proof, Readback, Step
from tests.known import RUNNERS
from tests.run.test_judge import EACH, MEASURE, WANT, judge, measured

ROWS = [(1, "ab", 2.75, b"\x01\x02\x03"), (2, "", -1.0, b""), (-1, "z", 0.5, None)]
QUERY = Readback(
    sql="SELECT i, t, r, b FROM kept ORDER BY rowid",
    columns=[
        Column(name="i", type="integer"),
        Column(name="t", type="text"),
        Column(name="r", type="real"),
        Column(name="b", type="blob", nullable=True),
    ],
)


def database(folder: Path, rows: list[tuple[Any, ...]] = ROWS, mode: str = "DELETE") -> Path:
    file = folder / "a.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode={mode}")
        connection.execute("CREATE TABLE kept(i, t, r, b)")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO kept VALUES (?, ?, ?, ?)", rows)
        connection.execute("COMMIT")
    return file


def by_hand(rows: list[tuple[Any, ...]]) -> Proof:
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
    return Proof(rows=len(rows), checksum=h)


def held(file: Path) -> proof.Held:
    return Files().held(file, [QUERY])


def unproven(file: Path, files: Files | None = None) -> tuple[str, str]:
    with pytest.raises(Unproven) as caught:
        (files or Files()).held(file, [QUERY])
    return caught.value.outcome, str(caught.value)


@pytest.mark.parametrize(
    "other",
    [
        (1, "axb", 2.75, b"\x01\x02\x03"),
        (1, "ab", 2.5, b"\x01\x02\x03"),
        (1, "ab", 2.75, b"\x01\xff\x03"),
    ],
    ids=["text", "real", "blob"],
)
def test_values_that_the_checksum_cannot_tell_apart_have_another_digest(
    tmp_path: Path, other: tuple[Any, ...]
) -> None:
    right = held(database(tmp_path))
    (tmp_path / "a.db").unlink()
    changed = held(database(tmp_path, [other, *ROWS[1:]]))
    assert changed.proof == right.proof
    assert changed.digest != right.digest


def test_rows_and_checksum_are_those_of_the_contract_query_after_query(tmp_path: Path) -> None:
    rows = [*ROWS, (1, "ab", float("inf"), None)]
    finite = [*ROWS, (1, "ab", 0.0, None)]
    file = database(tmp_path, rows)
    assert held(file).proof == by_hand(finite)
    assert Files().held(file, [QUERY, QUERY]).proof == by_hand(finite * 2)


def test_checks_tell_how_many_rows_they_find_and_the_first(tmp_path: Path) -> None:
    checks = {
        "none": "SELECT 1 WHERE 0",
        "keys": "SELECT i AS n, t FROM kept ORDER BY i",
        "whole": "SELECT * FROM pragma_integrity_check(9) WHERE integrity_check <> 'ok'",
    }
    file, files = database(tmp_path), Files()
    assert files.held(file, [QUERY], checks=checks).failing == {"keys": (len(ROWS), "n -1, t 'z'")}
    assert files.held(file, [QUERY]).failing == {}, "another question of the same file"


def test_what_is_not_committed_is_not_there(tmp_path: Path) -> None:
    for mode in ("DELETE", "WAL"):
        file = database(tmp_path, [], mode)
        with closing(sqlite3.connect(file, isolation_level=None)) as writer:
            writer.execute("BEGIN")
            writer.execute("INSERT INTO kept VALUES (1, 'ab', 2.0, NULL)")
            assert held(file).proof.rows == 0
        file.unlink()


def test_what_is_committed_in_a_log_beside_the_file_is_there(tmp_path: Path) -> None:
    files = Files()
    file = database(tmp_path, [], "WAL")
    assert files.held(file, [QUERY]).proof.rows == 0
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("INSERT INTO kept VALUES (1, 'ab', 2.0, NULL)")
        assert files.held(file, [QUERY]).proof.rows == 1


def test_a_transaction_cut_off_in_the_middle_is_rolled_back(tmp_path: Path) -> None:
    file = database(tmp_path)
    (tmp_path / "cut").mkdir()
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size=1")
        writer.execute("PRAGMA cache_spill=1")
        writer.execute("BEGIN IMMEDIATE")
        writer.executemany(
            "INSERT INTO kept VALUES (?, 'x', 1.0, ?)", [(n, b"x" * 3000) for n in range(50)]
        )
        for suffix in ("", "-journal"):
            shutil.copy(f"{file}{suffix}", tmp_path / "cut" / f"a.db{suffix}")
        writer.execute("ROLLBACK")
    cut = tmp_path / "cut/a.db"
    assert cut.stat().st_size > file.stat().st_size
    assert held(cut).proof == by_hand(ROWS)


def test_a_file_like_one_before_but_for_its_change_counter_is_not_opened_again(
    tmp_path: Path,
) -> None:
    files = Files()
    file = database(tmp_path)
    first = files.held(file, [QUERY])
    before = file.read_bytes()
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        for text in ("xy", "ab"):
            writer.execute("UPDATE kept SET t = ? WHERE i = 1", [text])
    assert file.read_bytes() != before
    assert files.held(file, [QUERY]) == first
    assert files.opened == 1
    one_row = QUERY.model_copy(update={"sql": f"{QUERY.sql} LIMIT 1"})
    assert files.held(file, [one_row]).proof == by_hand(ROWS[:1])
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("UPDATE kept SET t = 'xy' WHERE i = 1")
    assert files.held(file, [QUERY]) != first
    assert files.opened == 3


def test_rows_like_those_of_another_file_are_not_folded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Files()
    rows = ROWS * 1500  # more than are read at once
    file = database(tmp_path, rows)
    first = files.held(file, [QUERY])
    monkeypatch.setattr(proof, "fold", None)
    with closing(sqlite3.connect(file)) as writer:
        writer.execute("CREATE TABLE other(x)")
    assert files.held(file, [QUERY]).digest == first.digest
    assert files.opened == 2
    monkeypatch.undo()
    with closing(sqlite3.connect(file)) as writer, writer:
        writer.execute("UPDATE kept SET t = 'axb' WHERE rowid = 1")
    changed = files.held(file, [QUERY])
    assert changed.proof == first.proof
    assert changed.digest != first.digest
    assert files.held(file, [QUERY, QUERY]).proof == by_hand(
        [(1, "axb", *ROWS[0][2:]), *rows[1:]] * 2
    )


@pytest.mark.parametrize(
    ("column", "value", "misfit"),
    [
        ("i", 1.0, "a real, which is declared integer"),
        ("i", "1", "a text, which is declared integer"),
        ("t", b"ab", "a blob, which is declared text"),
        ("t", None, "NULL, which is declared text"),
        ("r", 2, "an integer, which is declared real"),
        ("b", "x", "a text, which is declared blob"),
    ],
)
def test_a_value_of_another_type_is_wrong_and_not_that_of_another_file(
    tmp_path: Path, column: str, value: object, misfit: str
) -> None:
    """They are equal but for their type."""
    files = Files()
    file = database(tmp_path, [(1, "ab", 2.0, b"x")])
    files.held(file, [QUERY])
    with closing(sqlite3.connect(file)) as writer, writer:
        writer.execute(f"UPDATE kept SET {column} = ?", [value])
    reason = f"after the process ended, column {column} of its database holds {misfit}"
    assert unproven(file, files) == unproven(file) == ("wrong", reason)


def test_a_damaged_file_is_wrong(tmp_path: Path) -> None:
    file = database(tmp_path)
    with file.open("r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xff" * 4096)
    outcome, reason = unproven(file)
    assert outcome == "wrong"
    assert reason.startswith("its database is damaged after the process ended: ")


def test_a_key_of_a_table_without_rowid_is_no_damage(tmp_path: Path) -> None:
    """SQLite 3.40's quick_check says so where the key has another order than the columns."""
    file = database(tmp_path)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(
            "CREATE TABLE k(a INT NOT NULL, b INT NOT NULL, PRIMARY KEY(b, a)) WITHOUT ROWID"
        )
        connection.execute("INSERT INTO k VALUES (1, 2)")
        connection.commit()
    assert held(file).proof == by_hand(ROWS)


def test_what_sqlite_cannot_read_is_wrong_but_a_lock_is_a_failure(tmp_path: Path) -> None:
    file = database(tmp_path)
    words = "its database cannot be read after the process ended: "
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        assert unproven(file) == ("failed", f"{words}database is locked")
        writer.execute("DROP TABLE kept")
        writer.execute("COMMIT")
    assert unproven(file) == ("wrong", f"{words}no such table: kept")
    file.write_bytes(b"none at all, but long enough for a header" * 20)
    assert unproven(file) == ("wrong", f"{words}file is not a database")


def test_a_file_that_is_gone_is_wrong_and_stays_so_and_a_link_is_none(tmp_path: Path) -> None:
    file, link = tmp_path / "a.db", tmp_path / "link.db"
    for _ in range(2):
        assert unproven(file) == ("wrong", "its database is gone after the process ended")
    assert not file.exists()
    link.symlink_to(database(tmp_path))
    gone = "after the process ended, its database is no file any more"
    assert unproven(link) == ("wrong", gone)


def judged(
    held: proof.Held, readback: Proof | None, written: str | None, **required: Any
) -> tuple[str, str | None]:
    """What is made of a file that holds such; the oracle's has the digest `written`."""
    refused = [EACH[0], (0, 0, 0)] if "tolerate_busy" in required else []
    given = measured(*refused, *EACH, EACH[0], warmup=len(refused), readback=readback)
    answer = WANT.model_copy(update={"written": written})
    return judge(given, answer, replace(MEASURE, **required), held)


RIGHT = Proof(rows=3, checksum=9)
HELD = proof.Held(RIGHT, "d")
HELD_OTHERS = (
    "the database holds 1 rows with checksum 7 after the process ended, and the oracle's 3 rows "
    "with checksum 9: its writes were not committed, went elsewhere, or are others"
)


def test_a_file_that_holds_something_else_than_was_read_back_is_wrong() -> None:
    assert judged(HELD, RIGHT, "d") == judged(HELD, RIGHT, None) == ("ok", None)
    more = proof.Held(Proof(rows=4, checksum=9), "d")
    reason = (
        "the database holds 4 rows with checksum 9 after the process ended; the runner read "
        "back 3 rows with checksum 9: its writes were not committed, or went elsewhere"
    )
    assert judged(more, RIGHT, "d") == ("wrong", reason)
    assert judged(more, RIGHT, "d", tolerate_busy=True) == ("wrong", reason)


def test_values_other_than_the_oracles_are_wrong_unless_operations_are_missing() -> None:
    reason = (
        "the database holds other values than the oracle's after the process ended, in as many "
        "rows and with the same checksum"
    )
    assert judged(HELD, RIGHT, "e") == ("wrong", reason)
    assert judged(HELD, RIGHT, "e", tolerate_busy=True) == ("ok", None)


def test_a_file_is_held_against_the_oracles_where_nothing_was_asked_back() -> None:
    reason = "its result has no read-back of what it wrote"
    assert judged(HELD, None, "d", tolerate_busy=True) == ("failed", reason)
    unasked = {"left_open": frozenset({"readback"})}
    assert judged(HELD, None, "d", **unasked) == ("ok", None)
    reason = "what the oracle's file holds is not known, so nothing proves what it wrote"
    assert judged(HELD, None, None, **unasked) == ("failed", reason)
    fewer = proof.Held(Proof(rows=1, checksum=7), "e")
    assert judged(fewer, None, "d", **unasked) == ("wrong", HELD_OTHERS)


VECTORS = RUNNERS / "contract" / "vectors"


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
    folder = VECTORS / vector
    job = Job.model_validate_json((folder / "job.json").read_bytes())
    want = json.loads((folder / "expected.json").read_text("utf-8"))
    (step,) = job.steps
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript((folder / "database.sql").read_text("utf-8"))
        executions = [
            rows[:1] if step.operation == "get" else rows
            for number in range(job.measure.operations_per_iteration)
            for rows in [connection.execute(step.sql, bound(step, number)).fetchall()]
        ]
    assert sum(checksum([rows]) for rows in executions) % 2**32 == want["checksum"]
    assert digest(executions) == want["digest"]
