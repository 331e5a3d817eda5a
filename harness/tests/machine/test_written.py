"""What a process writes, seen from outside: its bytes, and how often its log began anew."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sqlitmus.machine import proc

pytestmark = pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="no such counters here")


def test_bytes_and_checkpoints_of_a_log(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for pragma in ("journal_mode=WAL", "wal_autocheckpoint=20", "synchronous=NORMAL"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("CREATE TABLE t(a)")
        before = proc.look_at_writes(os.getpid(), file)
        for number in range(100):
            connection.execute("INSERT INTO t VALUES (?)", (number,))
        after = proc.look_at_writes(os.getpid(), file)
    found = proc.written_between(before, after, 100)
    assert found
    # a page and its head for each row, and what checkpoints write
    assert 4120 <= found.bytes_per_iteration < 5000
    assert 4 <= found.checkpoints <= 5
    assert 20 <= found.pages <= 24


def test_a_log_that_only_grows(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for pragma in ("journal_mode=WAL", "wal_autocheckpoint=0"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("CREATE TABLE t(a)")
        before = proc.look_at_writes(os.getpid(), file)
        for number in range(100):
            connection.execute("INSERT INTO t VALUES (?)", (number,))
        found = proc.written_between(before, proc.look_at_writes(os.getpid(), file), 100)
    assert found
    assert (found.checkpoints, found.grown) == (0, 100)


def test_a_database_without_a_log_has_no_checkpoints(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        before = proc.look_at_writes(os.getpid(), file)
        connection.execute("CREATE TABLE t(a)")
        found = proc.written_between(before, proc.look_at_writes(os.getpid(), file), 1)
    assert found
    assert (found.checkpoints, found.pages) == (0, 0)
    assert found.written_bytes > 4096


def test_what_ended_is_not_known(tmp_path: Path) -> None:
    assert proc.look_at_writes(2**22 + 1, tmp_path / "a.db") is None
    assert (
        proc.written_between(None, proc.look_at_writes(os.getpid(), tmp_path / "a.db"), 5) is None
    )
