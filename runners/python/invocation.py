"""From a job to its result: open, verify or measure, read back, inspect."""

import sqlite3
import time
from typing import Any

import values
from connection import connect, refuse
from iterations import measure
from job import Job, Step
from verify import verify

PRAGMAS = [
    "journal_mode",
    "synchronous",
    "cache_size",
    "mmap_size",
    "temp_store",
    "foreign_keys",
    "busy_timeout",
    "page_size",
    "locking_mode",
    "wal_autocheckpoint",
    "encoding",
    "query_only",
]


def perform(job: Job) -> dict[str, Any]:
    """The result's figures for `job`; raises Unsupported, sqlite3.Error, ValueError."""
    refuse(job)
    if job.database is None:
        return {}
    started = time.monotonic_ns()
    connection = connect(job, job.steps)
    opened = time.monotonic_ns()
    figures = (verify if job.mode == "verify" else measure)(job, connection)
    if job.readback:
        figures["readback"] = _prove(job, connection)
    if job.inspect:
        figures |= _inspect(job, connection)
    figures["sqlite_version"] = sqlite3.sqlite_version
    figures["phases_ns"] = {"load": None, "open": opened - started, "prepare": None, "close": None}
    connection.close()
    return figures


def _prove(job: Job, connection: sqlite3.Connection) -> dict[str, int]:
    tally = values.Tally()
    for query in job.readback:
        tally.result(query.columns, connection.execute(query.sql).fetchall())
    tally.operation()
    return {"rows": tally.rows, "checksum": tally.checksum}


def _inspect(job: Job, connection: sqlite3.Connection) -> dict[str, Any]:
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    pragmas = {name: _first(connection, f"PRAGMA {name}") for name in PRAGMAS}
    plans = [_plan(connection, step) for step in job.steps]
    return {"effective": {"pragmas": pragmas, "engine": {}}, "plans": plans}


def _first(connection: sqlite3.Connection, sql: str) -> Any:
    row = connection.execute(sql).fetchone()
    return None if row is None else row[0]


def _plan(connection: sqlite3.Connection, step: Step) -> list[str]:
    if step.operation in ("open", "open-file", "in-transaction", "execute", "read-file"):
        return []
    unbound = values.given(step.names, (None,) * (len(step.names) or step.sql.count("?")))
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {step.sql}", unbound)]
