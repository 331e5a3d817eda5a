"""The plain programs do what their task or the mix of their workload says, and one that does not is
found out.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.plain_mix import Mix
from benchmarks.plain_programs import CASES, COMMANDS, Program, Programs, Task, answers_of, text
from tests.contract.jobs import database
from tests.contract.started import installed, need_tools, of_runners
from tests.known import KNOWN, tools
from tests.refusals import unfit

TABLES = """
CREATE TABLE users(id INTEGER PRIMARY KEY, created, email, score, active);
CREATE TABLE sink(id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c REAL, d BLOB);
CREATE TABLE accounts(id INTEGER PRIMARY KEY, owner, balance REAL, updated INTEGER);
WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 10)
    INSERT INTO users SELECT n, 10 * n, n || '@example.com', n / 2.0, n % 2 FROM n;
INSERT INTO accounts VALUES (1, 'x', 0.0, 0), (2, 'x', 0.0, 0), (3, 'x', 0.0, 0);
"""
COLUMNS = "id, created, email, score, active"
WORK: dict[str, tuple[str, list[list[Any]]]] = {
    "user": (f"SELECT {COLUMNS} FROM users WHERE id = ?", [[5], [1], [2]]),
    "users": (f"SELECT {COLUMNS} FROM users WHERE id >= ? ORDER BY id LIMIT 4", [[1], [7]]),
    "range": ("SELECT id, created, email FROM users WHERE id BETWEEN ? AND ?", [[1, 9], [4, 5]]),
    "insert": (
        "INSERT INTO sink(a, b, c, d) VALUES (?, ?, ?, ?)",
        [[1, "ä", 0.5, "00ff"], [2**31, "", 1.5, ""], [3, "c", 2.5, "01"]],
    ),
    "update-100": (
        "UPDATE accounts SET balance = balance + ?, updated = ? WHERE id = ?",
        [[0.5, 7, 1], [1.5, 8, 2], [2.5, 9, 3]],
    ),
}


def task(work: str, folder: Path) -> Task:
    """A small one."""
    fixture = database(folder / "fixture.db", TABLES)
    sql, pool = WORK["insert" if work == "insert-100" else work]
    units = 100 if work.endswith("100") else 1
    writes = work.startswith(("insert", "update"))
    pragmas = ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL"]
    answers = [] if writes else answers_of(fixture, sql, pool)
    return Task(work, sql, pragmas, pool, units, fixture, answers)


def start(name: str, asked: Task | Mix, folder: Path) -> Program:
    """A program under way."""
    need_tools(COMMANDS[name])
    return Programs(KNOWN, [name], tools(), folder).start(name, asked)


@pytest.mark.parametrize("work", [*WORK, "insert-100"])
@of_runners([*COMMANDS])
def test_a_program_does_the_work(name: str, work: str, tmp_path: Path) -> None:
    """It ends with the reason where what it says, or what it wrote, is not what it was told."""
    with start(name, task(work, tmp_path), tmp_path) as program:
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
    database(asked.fixture, f"INSERT INTO sink(a) VALUES (1), ({2**31}), (3), (1);")
    assert asked.problem({"rows": 4}, 4, asked.fixture) is None
    assert asked.problem({"rows": 3}, 4, asked.fixture) == "3 rows changed, not 4"
    (tmp_path / "other").mkdir()
    updated = task("update-100", tmp_path / "other")
    assert "not (17.0, 7)" in str(updated.problem({"rows": 100}, 1, updated.fixture))


def test_a_program_that_fails_ends_with_what_it_said(tmp_path: Path) -> None:
    asked = task("user", tmp_path)
    asked.pragmas.append("PRAGMA nonsense;; nonsense")
    failed = r'plain program node, user, exit code 1:(.|\n)*near "nonsense"'
    with start("node", asked, tmp_path) as program, unfit(failed):
        program.work(1)


def test_a_case_is_asked_with_its_pragmas_over_its_whole_pool(tmp_path: Path) -> None:
    """Each update changes its row: SQLite would write nothing, and the case would be about
    something else."""
    lengths = {"all": 256, "scan-pk-range": 64, "scan-index-range": 32}
    for number, case in enumerate(CASES):
        folder = tmp_path / str(number)
        folder.mkdir()
        asked = Task.of(KNOWN, case, installed("python"), folder)
        assert json.loads(text(asked, folder))["pool"] == asked.pool
        assert bool(asked.pragmas) == ("shipped" not in case)
        assert len(asked.pool) == lengths.get(case, 4096)
        assert asked.walk * asked.units >= len(asked.pool)
        assert asked.writes == case.startswith(("insert", "update"))
        for amount, *_ in asked.pool if case == "update-pk" else []:
            assert isinstance(amount, float)
            assert amount > 0


SCHEMA = """
CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER NOT NULL, x REAL, name TEXT, data BLOB);
CREATE TABLE log(at INTEGER NOT NULL);
INSERT INTO t VALUES (1, 9007199254740993, 0.5, 'é', x'00ff'), (2, 2, NULL, '?', x''),
    (3, 3, 1.5, NULL, NULL);
"""
WORKLOAD = """
database = "w.db"
[query.wide]
weight = 4
sql = "SELECT n, x, name, data FROM t WHERE id >= ?2 AND name IS NOT ?1"
parameters = [["?", 1], ["é", 3], ["z", 2]]
[query.first]
weight = 2
operation = "get"
sql = "SELECT name FROM t WHERE id > :from ORDER BY id"
parameters = [0, 2, 9007199254740995]
[query.each]
weight = 2
operation = "iterate"
sql = "SELECT id AS 'a ''b\\"', '?' AS mark FROM t"
[query.save]
weight = 2
transaction = "immediate"
[[query.save.statements]]
sql = "INSERT INTO t(n, x, name, data) SELECT n, 2, NULL, data FROM t WHERE id = ?"
parameters = [1, 2, 3]
[[query.save.statements]]
sql = "INSERT INTO log VALUES (?)"
repeat = 2
parameters = [7, 8, 9, 10]
"""


def mix_of(folder: Path, workload: str = WORKLOAD) -> Mix:
    """One with all kinds of values, NULLs that come and go, and a transaction."""
    file = folder / "w.toml"
    file.write_text(workload, "utf-8")
    return Mix.of(KNOWN, file)


@pytest.fixture
def mix(tmp_path: Path) -> Mix:
    database(tmp_path / "w.db", SCHEMA)
    return mix_of(tmp_path)


@of_runners([*COMMANDS])
def test_a_program_does_the_mix(name: str, mix: Mix, tmp_path: Path) -> None:
    """It ends with the reason where its rows, its values or the tables are not what they must be;
    what it wrote is undone in between."""
    with start(name, mix, tmp_path) as program:
        phases = [*program.work(1), *program.work(2 * mix.undo_every, 3)]
        assert program.end().startswith("3.")
    assert [phase.operations for phase in phases] == [1, 2 * mix.undo_every, 3]


def test_a_program_gets_what_the_file_says_and_nothing_of_jobs(mix: Mix, tmp_path: Path) -> None:
    asked: dict[str, Any] = json.loads(text(mix, tmp_path / "copy.db"))
    assert asked.keys() == {"database", "work", "pragmas", "undo", "round", "queries"}
    assert asked["round"] == [0, 0, 1, 2, 3]
    wide, first, each, save = asked["queries"]
    (wide,), (first,), (each,) = (query["statements"] for query in (wide, first, each))
    assert wide["sql"] == "SELECT n, x, name, data FROM t WHERE id >= ? AND name IS NOT ?"
    # as many as there are, each value where its place is
    assert wide["rows"] == [[1, "?"], [3, "é"], [2, "z"]]
    assert first["rows"] == [[0], [2], [{"wide": "9007199254740995"}]]
    # NULL comes with a row that the mix writes, and with those that are there
    assert wide["columns"] == {"n": "wide", "x": "real?", "name": "text?", "data": "blob?"}
    assert (first["operation"], first["columns"]) == ("get", {"name": "text?"})
    assert (each["operation"], each["rows"]) == ("iterate", [[]])
    assert save["transaction"] == "immediate"
    assert [each["repeat"] for each in save["statements"]] == [1, 2]
    assert all("DELETE" in sql for sql in asked["undo"])


def test_what_a_round_does_not_come_to_is_found_out(mix: Mix, tmp_path: Path) -> None:
    """Counts that are wrong, counts that are right of a database that was not written, and those of
    the rest, which is the fault that `--plant skips` plants."""
    with start("node", mix, tmp_path) as program:
        program.work(1)
        program.end()
    rows, values, _ = mix.done(1)
    wrong, unwritten = (
        mix.problem({"rows": n, "sum": total}, 1, mix.fixture)
        for n, total in ((0, 31), (rows, values))
    )
    assert wrong == f"rows and values are [0, 31], not [{rows}, {values}]"
    assert unwritten == "after 1 rounds other rows are in log, t"
    with start("node", mix.skipping(), tmp_path) as program:
        program._task = mix  # pyright: ignore[reportPrivateUsage]
        program.work(2)
        with unfit("plain program node, mix: rows and values are"):
            program.end()
    assert mix.skipping().units == mix.units


def test_weights_are_kept_or_rounded_to_hundredths_and_a_trace_is_not_played(
    mix: Mix, tmp_path: Path
) -> None:
    assert (len(mix.round), mix.walk) == (5, 3)
    rounded = mix_of(tmp_path, WORKLOAD.replace("weight = 4", "weight = 97.3"))
    assert len(rounded.round) == 94 + 3 * 2
    with unfit(r"w\.toml: plain programs play no trace"):
        mix_of(tmp_path, 'database = "w.db"\ntrace = "w.jsonl"\n')
