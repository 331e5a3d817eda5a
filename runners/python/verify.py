"""Operations with a digest, on one connection, written for clarity."""

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import values
from connection import begin_read, connect, primary
from job import Job, Step, due
from loops import unmet
from parts import Order, shares


def verify(job: Job, connection: sqlite3.Connection, count: int | None = None) -> dict[str, Any]:
    """Counts, checksum and digest of the first `count` operations of `job`, an iteration's for
    None; then the writer's operations, once."""
    tally = values.Tally()
    cuts = shares(job.measure)
    numbers = range(cuts[0][0], cuts[-1][1]) if count is None else range(count)
    if job.transaction == "read":
        begin_read(connection)
    answers: list[tuple[int, int, int]] = []
    order = Order(job.measure.sequence, None) if job.measure.sequence else None
    perform = _operation(connection, job.steps, job.transaction, tally, order)
    for number in numbers:
        if due(job, number):
            for sql in job.reset:
                connection.execute(sql)
        answers.append(perform(number))
    if job.transaction == "read":
        connection.execute("COMMIT")
    figures = {"rows": tally.rows, "affected": tally.affected, "checksum": tally.checksum}
    if writer := job.writer:
        with contextlib.closing(connect(job, writer.steps)) as own:
            write = _operation(own, writer.steps, writer.transaction, values.Tally())
            for number in range(writer.operations):
                write(number)
    for query in job.readback:
        tally.result(query.columns, connection.execute(query.sql).fetchall())
    return {**figures, "operations": len(numbers), "answers": answers, "digest": tally.digest()}


def _operation(
    connection: sqlite3.Connection,
    steps: list[Step],
    transaction: str,
    tally: values.Tally,
    order: Order | None = None,
) -> Callable[[int], tuple[int, int, int]]:
    """What performs the operation of a number, adds it to `tally` and gives its counts."""
    pools = [values.pool(step.parameters) for step in steps]
    around = transaction in ("deferred", "immediate")

    def perform(operation: int) -> tuple[int, int, int]:
        if around:
            connection.execute(f"BEGIN {transaction}")
        numbers, before = order.at(operation) if order else (range(len(steps)), operation)
        for number in numbers:
            step, rows = steps[number], pools[number]
            for n in range(before * step.repeat, (before + 1) * step.repeat):
                _execute(connection, step, rows[n & (len(rows) - 1)], tally)
        if around:
            connection.execute("COMMIT")
        return tally.operation()

    return perform


def _execute(
    connection: sqlite3.Connection, step: Step, row: tuple[values.Value, ...], tally: values.Tally
) -> None:
    given = values.given(step.names, row)
    if step.operation == "in-transaction":
        tally.answer(int(connection.in_transaction))
    elif step.operation == "prepare":
        # sqlite3 has no prepare; EXPLAIN compiles the statement and runs nothing of it.
        connection.execute(f"EXPLAIN {step.sql}", (None,) * step.sql.count("?")).close()
        tally.nothing()
    elif step.operation == "read-file":
        tally.result(step.columns, [(Path(str(row[0])).read_bytes(),)])
    elif step.operation == "open-file":
        # read-only, because a missing file is an error and no new database
        name = f"file:{quote(str(row[0]))}?mode=ro"
        with contextlib.closing(sqlite3.connect(name, uri=True)) as opened:
            first = opened.execute(step.sql).fetchone()
        tally.result(step.columns, [] if first is None else [first], step.values)
    elif step.operation == "execute":
        connection.execute(step.sql)
        tally.nothing()
    elif step.fails is not None:
        tally.answer(_failure(connection, step, given))
    elif step.operation == "run":
        tally.run(connection.execute(step.sql, given).rowcount)
    elif step.operation in ("get", "open"):
        first = connection.execute(step.sql, given).fetchone()
        tally.result(step.columns, [] if first is None else [first], step.values)
    else:
        tally.result(step.columns, connection.execute(step.sql, given).fetchall(), step.values)


def _failure(connection: sqlite3.Connection, step: Step, given: values.Given) -> int:
    assert step.fails is not None
    try:
        connection.execute(step.sql, given)
    except sqlite3.Error as error:
        if primary(error) != step.fails:
            raise
        return step.fails
    raise ValueError(unmet(step))
