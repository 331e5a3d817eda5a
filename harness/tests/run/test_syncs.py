"""Syncs as they are counted from outside, and what is made of two counts."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.run.verify.proof import (
    Counter,
    Counts,
    counted_cases,
    difference,
    marks,
    transactions,
    writes_files,
)
from sqlitmus.vocabulary.paths import Tools
from tests.fakes.clone import Clone
from tests.faults.stage import use_tool
from tests.known import KNOWN, case_of

# What the program does has to be counted although it leaves without a word to its libraries.
PROGRAM = """
import os, sys, threading
flags = os.O_RDWR | os.O_CREAT
def opened(name):
    return os.open(name, flags)
{}
os._exit(7)
"""

CHILD = """
fd = opened('db')
if os.fork() == 0:
    os.fsync(fd)
    os._exit(0)
os.wait()
os.fsync(fd)
"""
FAILS = """
try: os.fsync(99)
except OSError as error: assert error.errno == 9
else: os._exit(1)
os.fsync(opened('db'))
"""
FRAMES = """
fd, other = opened('db-wal'), opened('db')
last = bytes(7) + b'p' + bytes(16)
for header in bytes(24), last, bytes(32):
    os.pwrite(fd, header, 0)
    os.pwrite(other, header, 0)
"""
LOCKS = """
import fcntl
for name, *ranges in ('db-shm', 120, 121), ('db', 0x40000001, 0x40000002), ('other', 120):
    fd = opened(name)
    for kind in fcntl.LOCK_EX, fcntl.LOCK_SH, fcntl.LOCK_UN:
        for start in ranges:
            fcntl.lockf(fd, kind | fcntl.LOCK_NB * (kind != fcntl.LOCK_UN), 1, start)
assert fcntl.fcntl(fd, fcntl.F_GETFD) == fcntl.FD_CLOEXEC
"""
NOTHING = (0, 0, 0, 0, 0)
ONE_SYNC = (1, 0, 0, 0, 0)
THREADS = """
fd = opened('db')
def work():
    for _ in range(500):
        os.write(fd, b'x')
        os.fdatasync(fd)
threads = [threading.Thread(target=work) for _ in range(4)]
for each in threads: each.start()
for each in threads: each.join()
"""


def counts(sync_counter: str, folder: Path, program: str) -> Counts:
    """Counts of a Python program that may name `db`, in its folder."""
    counter = Counter(sync_counter, "", folder / "counts")
    environ = {**os.environ, **counter.preloaded(folder / "db")}
    words = [sys.executable, "-c", PROGRAM.format(program)]
    assert subprocess.run(words, env=environ, cwd=folder, check=False).returncode == 7
    return counter.counts()


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("", NOTHING),
        ("os.fsync(opened('db')); os.fdatasync(opened('db-journal'))", (1, 1, 0, 0, 0)),
        ("os.fsync(os.open('.', os.O_RDONLY))", ONE_SYNC),
        ("os.fsync(os.open('..', os.O_RDONLY)); os.fsync(opened('other'))", NOTHING),
        ("os.write(opened('db'), b'abc'); os.pwrite(opened('db-wal'), b'd', 4096)",
         (0, 0, 4, 0, 0)),
        ("os.writev(opened('db'), [b'a', b'b']); os.pwritev(opened('db'), [b'c'], 9)",
         (0, 0, 3, 0, 0)),
        (FRAMES, (0, 0, 160, 1, 0)),
        ("os.write(opened('other'), b'abc'); os.write(1, b'db')", NOTHING),
        ("os.dup2(opened('db'), 40); os.fsync(40); os.dup2(opened('x'), 40); os.fsync(40)",
         ONE_SYNC),
        ("one = opened('db-journal'); os.unlink('db-journal'); os.fsync(one)", ONE_SYNC),
        (LOCKS, (0, 0, 0, 0, 2)),
        (CHILD, (2, 0, 0, 0, 0)),
        (FAILS, ONE_SYNC),
        (THREADS, (0, 2000, 2000, 0, 0)),
    ],
)  # fmt: skip
def test_what_is_done_to_the_database_is_counted(
    sync_counter: str, tmp_path: Path, program: str, expected: Counts
) -> None:
    assert counts(sync_counter, tmp_path, program) == expected


def test_a_database_behind_a_link_is_counted_and_nothing_without_the_variables(
    sync_counter: str, tmp_path: Path
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    assert counts(sync_counter, tmp_path / "linked", "os.fsync(opened('db'))") == ONE_SYNC
    environ = {**os.environ, "LD_PRELOAD": sync_counter}
    words = [sys.executable, "-c", PROGRAM.format("os.fsync(opened('db'))")]
    done = subprocess.run(words, env=environ, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (7, b"")


@pytest.mark.parametrize(
    ("tools", "missing"),
    [
        (Tools({}, {"sync-counter": "Linux only"}), "Linux only"),
        (Tools({}, {}), "sync-counter is not set up; run ./just setup"),
        (Tools({"sync-counter": "/a b/syncs.so"}, {}), "/a b/syncs.so cannot be preloaded, since "),
        (Tools({"sync-counter": "/a:b/syncs.so"}, {}), "/a:b/syncs.so cannot be preloaded, since "),
    ],
)
def test_without_a_library_the_reason_is_told(tmp_path: Path, tools: Tools, missing: str) -> None:
    counter = Counter.among(tools, tmp_path)
    assert counter.library is None
    assert counter.missing.startswith(missing)


@pytest.mark.skipif(os.name == "nt", reason="there an open file cannot be removed")
def test_what_an_earlier_process_left_counts_no_more(tmp_path: Path) -> None:
    counter = Counter("library", "", tmp_path / "counts")
    counter.preloaded(tmp_path / "db")
    with counter.file.open("r+b") as left:
        counter.preloaded(tmp_path / "db")
        left.write(b"\1" * 40)
    assert counter.counts() == NOTHING


@pytest.mark.parametrize(
    ("case_id", "executed", "expected"),
    [
        ("insert-transaction@profile=durable", None, 5),
        ("insert-autocommit@profile=durable", None, 4),
        ("read-modify-write@profile=shipped", None, 4),
        ("writer-and-readers", None, 0),
        ("service-writers", None, 0),  # some may meet a lock
        # each execution without a transaction commits, but not what is executed
        ("insert-transaction@profile=durable", False, 5 * 100),
        ("insert-transaction@profile=durable", True, 0),
    ],
)
def test_transactions_of_an_iteration(case_id: str, executed: bool | None, expected: int) -> None:
    case, known = case_of(case_id, mode="standard"), KNOWN
    if executed is not None:
        batch = KNOWN.scenarios[case.scenario]
        one = batch.steps[0].model_copy(update={"operation": "execute"})
        steps = [one, *batch.steps, one] if executed else batch.steps
        alone = batch.model_copy(update={"transaction": "none", "steps": steps})
        known = KNOWN.model_copy(update={"scenarios": KNOWN.scenarios | {case.scenario: alone}})
    assert transactions(case, known) == expected


@pytest.mark.parametrize(
    ("name", "counted"), [("insert-transaction", True), ("get-pk", False), ("foo-insert", False)]
)
def test_only_files_that_are_written_are_counted(name: str, counted: bool) -> None:
    assert writes_files(case_of(name, mode="standard"), KNOWN) == counted


def test_the_second_process_does_twice_the_operations_and_neither_warms_up() -> None:
    first, second = counted_cases(case_of("insert-transaction@profile=durable", mode="standard"))
    assert (first.operations, second.operations) == (5, 10)
    for one in (first, second):
        assert (one.iterations, one.warmup_iterations, one.warmup_ms) == (1, 0, 0)


def test_the_difference_is_that_of_the_transactions() -> None:
    syncs: Any = difference((24, 1, 9_000, 9, 9), (44, 2, 14_000, 19, 39), 5)
    expected = {"transactions": 5, "fsync": 20, "fdatasync": 1, "bytes": 5_000}
    assert syncs.model_dump(exclude_none=True) == expected
    assert (syncs.per_transaction, syncs.words()) == (4.2, "4 fsync + 0.2 fdatasync, 1 kB")
    none: Any = difference((0, 0, 9, 0, 0), (0, 0, 3_513_009, 0, 0), 2)
    assert none.words() == "no sync, 1,756 kB"
    assert "not one of its writes" in str(difference(NOTHING, NOTHING, 5))
    assert "synced or wrote less" in str(difference((9, 0, 100, 1, 1), (8, 0, 200, 2, 2), 5))


@pytest.mark.parametrize(
    ("each", "commits"), [((), None), (["begun"], 8), (["logged"], 3), (["begun", "logged"], 3)]
)
def test_a_commit_has_every_mark(each: Sequence[str], commits: int | None) -> None:
    syncs: Any = difference((0, 0, 9, 1, 2), (0, 0, 99, 4, 10), 5, each)
    assert syncs.commits == commits


@pytest.mark.parametrize(
    ("pragmas", "changes", "expected"),
    [
        ([], True, {"begun"}),
        ([("journal_mode", "WAL")], True, {"begun", "logged"}),
        ([("journal_mode", "WAL")], False, {"begun"}),
        ([("journal_mode", "MEMORY")], True, {"begun"}),
        ([("journal_mode", "WAL"), ("locking_mode", "EXCLUSIVE")], True, {"logged"}),
    ],
)
def test_the_marks_of_a_commit(
    pragmas: list[tuple[str, str | int]], changes: bool, expected: set[str]
) -> None:
    case = case_of("insert-transaction@profile=durable").model_copy(update={"pragmas": pragmas})
    assert marks(case, changes=changes) == expected


def verified(clone: Clone, *cases: str) -> list[str]:
    given = [part for case in cases for part in ("--case", case)]
    return sorted(clone.sqlitmus("verify", "--size", "s", *given).out.splitlines())


def test_counts_are_printed_of_cells_that_write_and_remembered(
    clone: Clone, sync_counter: str
) -> None:
    use_tool(clone, "sync-counter", Path(sync_counter))
    clone.runner("honest")
    clone.runner("breaks", "fails-after=0")
    *read, broken, write = verified(clone, "get", "insert")
    assert read == ["ok           get/breaks", "ok           get/honest"]
    # a process that breaks while it is counted leaves the answer right
    assert broken == (
        "ok           insert/breaks: not counted: failed while it was counted: ended with exit "
        "code 7 and wrote no result"
    )
    assert write.startswith("ok           insert/honest: no sync, ")
    assert write.endswith(" kB per transaction")
    given = ("run", "--case", "insert", "-r", "honest", "--size", "s", "--blocks", "1", "--fresh")
    sizes = [clone.state("honest").stat().st_size]
    counted: list[Any] = []
    for arguments in (given, given[:-1]):
        clone.sqlitmus(*arguments)
        sizes.append(clone.state("honest").stat().st_size)
        (record,) = clone.latest().verified()
        counted.append(record.syncs)
    assert (counted[0].transactions, counted[0].commits) == (3, 3)
    assert counted[1] == counted[0]
    assert sizes[1] - sizes[0] == sizes[2] - sizes[1] + 2, "two processes were counted once"


def test_without_the_library_the_reason_is_told(clone: Clone) -> None:
    clone.runner("honest")
    text = (clone.root / "paths.json").read_text("utf-8")
    missing = "no C compiler found"
    clone.write("paths.json", f'{text[:-1]}, "sync-counter": {{"missing": "{missing}"}}}}')
    assert verified(clone, "insert") == [f"ok           insert/honest: not counted: {missing}"]
