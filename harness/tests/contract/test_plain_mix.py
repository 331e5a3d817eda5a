"""The mix of a workload as plain programs get it: what the file says, done and proven."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.plain_mix import Mix
from benchmarks.plain_programs import COMMANDS, Program, Programs, text
from sqlitmus.vocabulary import paths
from tests import left_out
from tests.contract.started import need_tools, of_runners
from tests.known import KNOWN
from tests.refusals import unfit

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


@pytest.fixture
def mix(tmp_path: Path) -> Mix:
    """One with all kinds of values, NULLs that come and go, and a transaction."""
    with closing(sqlite3.connect(tmp_path / "w.db")) as connection:
        connection.executescript(SCHEMA)
    (tmp_path / "w.toml").write_text(WORKLOAD, "utf-8")
    return Mix.of(KNOWN, tmp_path / "w.toml")


@pytest.fixture
def program(mix: Mix, tmp_path: Path) -> Iterator[Program]:
    """node's, under way."""
    left_out.tool("node")
    with Programs(KNOWN, ["node"], paths.tools(), tmp_path).start("node", mix) as program:
        yield program


@of_runners([*COMMANDS])
def test_a_program_does_the_mix(name: str, mix: Mix, tmp_path: Path) -> None:
    """It ends with the reason where its rows, its values or the tables are not what they must be;
    what it wrote is undone in between."""
    need_tools(COMMANDS[name])
    with Programs(KNOWN, [name], paths.tools(), tmp_path).start(name, mix) as program:
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


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ({"rows": 0, "sum": 31}, r"rows and values are \[0, 31\], not \[\d+, \d+\]"),
        (None, "after 1 rounds other rows are in log, t"),
    ],
)
def test_what_a_round_does_not_come_to_is_found_out(
    told: dict[str, int] | None, problem: str, mix: Mix, program: Program
) -> None:
    """Counts that are wrong, and counts that are right of a database that was not written."""
    program.work(1)
    program.end()
    if told is None:
        rows, values, _ = mix.done(1)
        told = {"rows": rows, "sum": values}
    with pytest.raises(AssertionError, match=problem):
        assert (words := mix.problem(told, 1, mix.fixture)) is None, words


def test_a_program_that_leaves_a_query_out_is_found_out(mix: Mix, tmp_path: Path) -> None:
    """Its counts are those of the rest, which is the fault that `--plant skips` plants."""
    left_out.tool("node")
    programs = Programs(KNOWN, ["node"], paths.tools(), tmp_path)
    with programs.start("node", mix.skipping()) as program:
        program._task = mix  # pyright: ignore[reportPrivateUsage]
        program.work(2)
        with unfit("plain program node, mix: rows and values are"):
            program.end()
    assert mix.skipping().units == mix.units


def test_weights_are_kept_or_rounded_to_hundredths(mix: Mix, tmp_path: Path) -> None:
    file = tmp_path / "w.toml"
    file.write_text(WORKLOAD.replace("weight = 4", "weight = 97.3"), "utf-8")
    assert len(Mix.of(KNOWN, file).round) == 94 + 3 * 2
    assert len(mix.round) == 5


def test_a_trace_is_not_played(mix: Mix, tmp_path: Path) -> None:
    assert mix.walk == 3
    file = tmp_path / "traced.toml"
    file.write_text('database = "w.db"\ntrace = "w.jsonl"\n', "utf-8")
    with unfit(r"traced\.toml: plain programs play no trace"):
        Mix.of(KNOWN, file)
