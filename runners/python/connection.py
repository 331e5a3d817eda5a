"""What Python's sqlite3 cannot do, and a connection as the job wants it."""

import sqlite3
from pathlib import Path
from urllib.parse import quote, urlencode

from job import Job, Step


class Unsupported(Exception):
    """The job asks for something that Python's sqlite3 does not have."""


def refuse(job: Job) -> None:
    """Raises Unsupported for a job that this runner cannot do."""
    if job.connection.engine:
        raise Unsupported("Python's sqlite3 cannot configure the SQLite library")
    if job.connection.per_operation:
        raise Unsupported("Python's sqlite3 has no pool of connections")
    if job.mode == "measure" and job.measure.event_loop:
        raise Unsupported("Python's sqlite3 is used here without an event loop")
    if job.database and job.database.flags:
        raise Unsupported("Python's sqlite3 passes no flags to sqlite3_open_v2")
    for step in [*job.steps, *(job.writer.steps if job.writer else [])]:
        if step.shape == "typed":
            raise Unsupported("Python's sqlite3 has no typed getters")
        if step.integers == "bigint":
            raise Unsupported("Python integers are never lossy; there is no other mode")
        if job.mode == "measure" and step.operation in ("prepare", "open", "open-file"):
            raise Unsupported(f"Python's sqlite3 cannot time `{step.operation}` by itself")


def connect(job: Job, steps: list[Step]) -> sqlite3.Connection:
    """A connection in autocommit mode for `steps`, with the job's pragmas and `setup` done."""
    assert job.database is not None
    path = job.database.path
    name = path if path == ":memory:" else quote(str(Path(path).resolve()))
    mode = {"readwrite": "rw", "readonly": "ro"}[job.database.mode]
    query = urlencode({"mode": mode, **job.database.uri})
    adhoc = any(step.statement == "adhoc" for step in steps)
    connection = sqlite3.connect(
        f"file:{name}?{query}",
        uri=True,
        isolation_level=None,
        cached_statements=0 if adhoc else 128,
    )
    if any(step.shape == "object" for step in steps):
        connection.row_factory = sqlite3.Row
    for pragma, value in job.connection.pragmas:
        connection.execute(f"PRAGMA {pragma}={value}").fetchall()
    for sql in job.connection.setup:
        connection.execute(sql).fetchall()
    return connection


def primary(error: sqlite3.Error) -> int | None:
    """The primary result code of SQLite; None where the error is the module's own."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 255


def begin_read(connection: sqlite3.Connection) -> None:
    """A read transaction with its snapshot taken."""
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
