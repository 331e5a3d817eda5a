"""What others took from a process, and what it wrote, seen from outside."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from sqlitmus.machine import proc, process_tree
from sqlitmus.machine.proc import Look, between

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux's counters")
AT_FIRST = Look({1: 10, 2: 500}, read_bytes=4096, away_ns=70)


def test_what_others_took_is_of_all_threads_and_of_their_processor() -> None:
    later = Look({1: 30, 2: 500, 3: 7}, read_bytes=4096, away_ns=100)
    assert between(AT_FIRST, later) == 20 + 7 + 30


def test_a_thread_that_has_ended_takes_nothing_back() -> None:
    assert between(AT_FIRST, Look({1: 30}, read_bytes=4096, away_ns=70)) == 20


def test_it_is_unknown_beside_a_disk_and_where_the_system_does_not_tell() -> None:
    assert between(AT_FIRST, Look({1: 30}, read_bytes=8192, away_ns=70)) is None
    assert between(AT_FIRST, None) is None
    assert between(None, AT_FIRST) is None
    assert proc.look(2**22 + 1, None) is None


@needs_linux
def test_this_process_and_what_it_started(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    stat = "cpu0 1 1 1 1 1 2 3 4 0 0\ncpu1 1 1 1 1 1 20 30 40 0 0\n"
    (tmp_path / "proc/stat").write_text(stat)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        before = proc.look(os.getpid(), 1, tmp_path)
        assert before is not None
        assert {os.getpid(), child.pid} <= before.waited_ns.keys()
        assert before.away_ns == 90 * 10**7
        everywhere = proc.look(os.getpid(), None, tmp_path)
        assert everywhere is not None
        assert everywhere.away_ns == 99 * 10**7
        assert process_tree.read_bytes(child.pid) is not None
        assert child.stdin
        child.stdin.close()


@needs_linux
def test_who_has_to_share_a_processor_waits_for_it() -> None:
    here = min(os.sched_getaffinity(0))
    spin = f"import os; os.sched_setaffinity(0, {{{here}}}); print(flush=True)\nwhile True: pass"
    command = [sys.executable, "-I", "-S", "-c", spin]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for child in children:
            assert child.stdout
            child.stdout.readline()
        before = proc.look(children[0].pid, here)
        while not (between(before, proc.look(children[0].pid, here)) or 0) > 1_000_000:
            os.sched_yield()
    finally:
        for child in children:
            child.kill()
            child.communicate()


counts_writes = pytest.mark.skipif(
    not Path("/proc/self/io").exists(), reason="no such counters here"
)


@counts_writes
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


@counts_writes
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


@counts_writes
def test_a_database_without_a_log_has_no_checkpoints(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        before = proc.look_at_writes(os.getpid(), file)
        connection.execute("CREATE TABLE t(a)")
        found = proc.written_between(before, proc.look_at_writes(os.getpid(), file), 1)
    assert found
    assert (found.checkpoints, found.pages) == (0, 0)
    assert found.written_bytes > 4096


@counts_writes
def test_what_ended_is_not_known(tmp_path: Path) -> None:
    assert proc.look_at_writes(2**22 + 1, tmp_path / "a.db") is None
    assert (
        proc.written_between(None, proc.look_at_writes(os.getpid(), tmp_path / "a.db"), 5) is None
    )
