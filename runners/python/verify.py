"""One iteration with a digest, on one connection, written for clarity."""

import contextlib
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import quote

import values
from connection import begin_read, connect, primary
from job import Job, Step
from loops import unmet
from parts import shares


def verify(job: Job, connection: sqlite3.Connection) -> dict[str, Any]:
    """Counts, checksum and digest of `job`; then the writer's operations, once."""
    tally = values.Tally()
    for sql in job.reset:
        connection.execute(sql)
    if job.transaction == "read":
        begin_read(connection)
    cuts = shares(job.measure)
    for begin, end in cuts:
        _operations(connection, job.steps, job.transaction, range(begin, end), tally)
        tally.share()
    if job.transaction == "read":
        connection.execute("COMMIT")
    figures = {"rows": tally.rows, "affected": tally.affected, "checksum": tally.checksum}
    if job.writer:
        with contextlib.closing(connect(job, job.writer.steps)) as own:
            numbers = range(job.writer.operations)
            _operations(own, job.writer.steps, job.writer.transaction, numbers, values.Tally())
    for query in job.readback:
        tally.result(query.columns, connection.execute(query.sql).fetchall())
    operations = sum(end - begin for begin, end in cuts)
    return {**figures, "operations": operations, "digest": tally.digest()}


def _operations(
    connection: sqlite3.Connection,
    steps: list[Step],
    transaction: str,
    numbers: range,
    tally: values.Tally,
) -> None:
    pools = [values.pool(step.parameters) for step in steps]
    around = transaction in ("deferred", "immediate")
    for operation in numbers:
        if around:
            connection.execute(f"BEGIN {transaction}")
        for step, rows in zip(steps, pools, strict=True):
            for n in range(operation * step.repeat, (operation + 1) * step.repeat):
                _execute(connection, step, rows[n & (len(rows) - 1)], tally)
        if around:
            connection.execute("COMMIT")


def _execute(
    connection: sqlite3.Connection, step: Step, row: tuple[values.Value, ...], tally: values.Tally
) -> None:
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
        tally.answer(_failure(connection, step, row))
    elif step.operation == "run":
        tally.run(connection.execute(step.sql, row).rowcount)
    elif step.operation in ("get", "open"):
        first = connection.execute(step.sql, row).fetchone()
        tally.result(step.columns, [] if first is None else [first], step.values)
    else:
        tally.result(step.columns, connection.execute(step.sql, row).fetchall(), step.values)


def _failure(connection: sqlite3.Connection, step: Step, row: tuple[values.Value, ...]) -> int:
    assert step.fails is not None
    try:
        connection.execute(step.sql, row)
    except sqlite3.Error as error:
        if primary(error) != step.fails:
            raise
        return step.fails
    raise ValueError(unmet(step))
