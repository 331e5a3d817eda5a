"""Which types a wrong answer holds in place of the oracle's."""

import hashlib
import sqlite3

import pytest

from sqlitmus.run.verify.judge import Ask, of_types
from sqlitmus.vocabulary.contract import Column, Job, Measure, Operation, Parameters, Result, Step

SQL = 'SELECT id, total AS "the total" FROM t WHERE id > ? ORDER BY id'
IDENTITY = {
    "runner": "x",
    "runtime": {"name": "x", "version": "1"},
    "driver": {"name": "x", "version": "1"},
    "architecture": "x86_64",
}


def engine(*totals: object) -> Ask:
    """A runner whose SQLite gives these totals to the rows 1, 2 and so on."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, total)")
    connection.executemany("INSERT INTO t(total) VALUES (?)", [(total,) for total in totals])

    def ask(job: Job) -> Result | None:
        (step,) = job.steps
        assert step.parameters
        rows = [
            row for bound in step.parameters.rows for row in connection.execute(step.sql, bound)
        ]
        result = {"contract": 2, "cell": "c", "status": "ok", "identity": IDENTITY}
        digest = hashlib.sha256(repr(rows).encode()).hexdigest()
        return Result.model_validate({**result, "rows": len(rows), "digest": digest})

    return ask


def job(operation: Operation = "all", steps: int = 1) -> Job:
    step = Step(
        operation=operation,
        sql=SQL,
        parameters=Parameters(types=["integer"], rows=[[0], [1]]),
        columns=[Column(name="id", type="integer"), Column(name="the total", type="real")],
    )
    measure = Measure(operations_per_iteration=1)
    database = {"path": "x.db"}
    return Job.model_validate(
        {"mode": "verify", "cell": "c", "database": database, "steps": [step] * steps,
         "measure": measure, "output": "o"}
    )  # fmt: skip


def test_a_column_of_another_type_is_told_with_both_types() -> None:
    assert of_types(job(), engine(1, 2.5, "a"), engine(1.0, 2.5, "a")) == (
        "column the total has 1 of type integer, 2 of type real and 2 of type text; the oracle has "
        "3 of type real and 2 of type text"
    )


def test_of_what_gets_the_first_row_only_that_is_told() -> None:
    assert of_types(job("get"), engine(None, 2.5, "a"), engine(1.0, 2.5, 3)) == (
        "column the total has 1 of type real and 1 of type null; the oracle has 2 of type real"
    )


def test_other_values_of_the_same_types_are_told_as_that() -> None:
    words = of_types(job(), engine(1, 2, 3), engine(4, 5, 6))
    assert words == "all columns have values of the oracle's types"


@pytest.mark.parametrize("asked_job", [job("run"), job(steps=2)], ids=["writes", "several"])
def test_what_has_no_rows_of_its_own_is_not_asked_for_types(asked_job: Job) -> None:
    assert of_types(asked_job, engine(1), engine(2.0)) is None


def test_who_does_not_answer_is_not_told_of() -> None:
    assert of_types(job(), lambda _: None, engine(1)) is None
