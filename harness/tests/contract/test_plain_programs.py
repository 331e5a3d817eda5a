"""The plain programs do what their task says, and a program that does not is found out."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.plain_programs import CASES, COMMANDS, Programs, Task, answers_of, text
from sqlitmus.catalog import runners
from sqlitmus.vocabulary import paths
from tests import left_out
from tests.contract.started import need_tools, of_runners
from tests.known import KNOWN
from tests.refusals import unfit

USERS = "CREATE TABLE users(id INTEGER PRIMARY KEY, created, email, score, active)"
SINK = "CREATE TABLE sink(id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c REAL, d BLOB)"
ACCOUNTS = "CREATE TABLE accounts(id INTEGER PRIMARY KEY, owner, balance REAL, updated INTEGER)"
COLUMNS = "id, created, email, score, active"
POOLS: dict[str, list[list[Any]]] = {
    "user": [[5], [1], [2]],
    "users": [[1], [7]],
    "range": [[1, 9], [4, 5]],
    "insert": [[1, "ä", 0.5, "00ff"], [2**31, "", 1.5, ""], [3, "c", 2.5, "01"]],
    "update-100": [[0.5, 7, 1], [1.5, 8, 2], [2.5, 9, 3]],
}
SQL = {
    "user": f"SELECT {COLUMNS} FROM users WHERE id = ?",
    "users": f"SELECT {COLUMNS} FROM users WHERE id >= ? ORDER BY id LIMIT 4",
    "range": "SELECT id, created, email FROM users WHERE id BETWEEN ? AND ?",
    "insert": "INSERT INTO sink(a, b, c, d) VALUES (?, ?, ?, ?)",
    "update-100": "UPDATE accounts SET balance = balance + ?, updated = ? WHERE id = ?",
}


def task(work: str, folder: Path) -> Task:
    """A small one."""
    fixture = folder / "fixture.db"
    with closing(sqlite3.connect(fixture)) as connection:
        for table in (USERS, SINK, ACCOUNTS):
            connection.execute(table)
        rows = [(n, 10 * n, f"{n}@example.com", n / 2, n % 2) for n in range(1, 11)]
        connection.executemany("INSERT INTO users VALUES (?, ?, ?, ?, ?)", rows)
        accounts = [(n, "x", 0.0, 0) for n in range(1, 4)]
        connection.executemany("INSERT INTO accounts VALUES (?, ?, ?, ?)", accounts)
        connection.commit()
    kind = "insert" if work == "insert-100" else work
    units = 100 if work.endswith("100") else 1
    writes = work.startswith(("insert", "update"))
    pragmas = ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL"]
    answers = [] if writes else answers_of(fixture, SQL[kind], POOLS[kind])
    return Task(work, SQL[kind], pragmas, POOLS[kind], units, fixture, answers)


@pytest.mark.parametrize("work", [*POOLS, "insert-100"])
@of_runners([*COMMANDS])
def test_a_program_does_the_work(name: str, work: str, tmp_path: Path) -> None:
    """It ends with the reason where what it says, or what it wrote, is not what it was told."""
    need_tools(COMMANDS[name])
    programs = Programs(KNOWN, [name], paths.tools(), tmp_path)
    with programs.start(name, task(work, tmp_path)) as program:
        alone, *together = program.work(16), program.work(3, 5)
        (by_the_clock,) = program.work(0, seconds=0.01)
        assert program.end().startswith("3.")
    assert [phase.operations for phase in (*alone, *together[0])] == [16, 3, 5]
    assert by_the_clock.operations % 16 == 0
    assert by_the_clock.ns >= 10_000_000
    assert by_the_clock.waited_ns >= 0


def test_reads_that_begin_the_pool_again_too_early_are_found_out(tmp_path: Path) -> None:
    asked = task("user", tmp_path)
    assert asked.problem({"rows": 8, "sum": 8 + 8 + 6}, 8, asked.fixture) is None
    again = asked.problem({"rows": 8, "sum": 6 + 6 + 6 + 6}, 8, asked.fixture)
    assert again == "rows and sum are (8, 24), not (8, 22)"
    assert asked.problem({"rows": 7, "sum": 22}, 8, asked.fixture)


def test_writes_that_are_not_in_the_file_are_found_out(tmp_path: Path) -> None:
    asked = task("insert", tmp_path)
    assert "not (4, 4, 1)" in str(asked.problem({"rows": 4}, 4, asked.fixture))
    with closing(sqlite3.connect(asked.fixture)) as connection:
        connection.executemany("INSERT INTO sink(a) VALUES (?)", [(1,), (2**31,), (3,), (1,)])
        connection.commit()
    assert asked.problem({"rows": 4}, 4, asked.fixture) is None
    assert asked.problem({"rows": 3}, 4, asked.fixture) == "3 rows changed, not 4"
    (tmp_path / "other").mkdir()
    updated = task("update-100", tmp_path / "other")
    assert "not (17.0, 7)" in str(updated.problem({"rows": 100}, 1, updated.fixture))


def test_a_program_that_fails_ends_with_what_it_said(tmp_path: Path) -> None:
    left_out.tool("node")
    programs = Programs(KNOWN, ["node"], paths.tools(), tmp_path)
    asked = task("user", tmp_path)
    asked.pragmas.append("PRAGMA nonsense;; nonsense")
    failed = r'plain program node, user, exit code 1:(.|\n)*near "nonsense"'
    with programs.start("node", asked) as program, unfit(failed):
        program.work(1)


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Task]:
    """Every case of the benchmark."""
    folder = tmp_path_factory.mktemp("tasks")
    (oracle,) = runners.discover(KNOWN, ["python"], paths.tools())
    made: dict[str, Task] = {}
    for number, case in enumerate(CASES):
        (folder / str(number)).mkdir()
        made[case] = Task.of(KNOWN, case, oracle, folder / str(number))
    return made


@pytest.mark.parametrize("case", CASES)
def test_a_case_is_asked_with_its_pragmas_over_its_whole_pool(
    case: str, tasks: dict[str, Task], tmp_path: Path
) -> None:
    asked = tasks[case]
    assert json.loads(text(asked, tmp_path))["pool"] == asked.pool
    assert bool(asked.pragmas) == ("shipped" not in case)
    lengths = {"all": 256, "scan-pk-range": 64, "scan-index-range": 32}
    assert len(asked.pool) == lengths.get(case, 4096)
    assert asked.walk * asked.units >= len(asked.pool)
    assert asked.writes == case.startswith(("insert", "update"))


def test_each_update_changes_its_row(tasks: dict[str, Task]) -> None:
    """SQLite would write nothing, and the case would be about something else."""
    amounts = [row[0] for row in tasks["update-pk"].pool]
    assert all(isinstance(amount, float) and amount > 0 for amount in amounts)
