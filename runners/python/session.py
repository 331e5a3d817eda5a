"""One job on one or more connections: open, verify or measure, inspect."""

import resource
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import values
from job import Job, Step
from loops import compile_loop

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
]


class Unsupported(Exception):
    """The job asks for something that Python's sqlite3 does not have."""


def perform(job: Job) -> dict[str, Any]:
    """The result's figures for `job`; raises Unsupported, sqlite3.Error, ValueError."""
    _refuse(job)
    if job.database is None:
        return {}
    started = time.monotonic_ns()
    connection = open_connection(job)
    opened = time.monotonic_ns()
    figures = _verify(job, connection) if job.mode == "verify" else _measure(job, connection)
    if job.readback:
        figures["readback"] = _prove(job, connection)
    if job.inspect:
        figures |= _inspect(job, connection)
    figures["sqlite_version"] = sqlite3.sqlite_version
    figures["phases_ns"] = {"load": None, "open": opened - started, "prepare": None, "close": None}
    connection.close()
    return figures


def _refuse(job: Job) -> None:
    if job.connection.engine:
        raise Unsupported("Python's sqlite3 cannot configure the SQLite library")
    if job.measure.rate is not None:
        raise Unsupported("this runner has no open loop")
    for step in job.steps:
        if step.shape == "typed":
            raise Unsupported("Python's sqlite3 has no typed getters")
        if step.integers == "bigint":
            raise Unsupported("Python integers are never lossy; there is no other mode")
        if job.mode == "measure" and step.operation in ("prepare", "open"):
            raise Unsupported(f"Python's sqlite3 cannot time `{step.operation}` by itself")


def open_connection(job: Job, *, worker: bool = False) -> sqlite3.Connection:
    """A connection in autocommit mode with the job's pragmas set."""
    assert job.database is not None
    mode = {"readwrite": "rw", "readonly": "ro"}[job.database.mode]
    query = urlencode({"mode": mode, **job.database.uri})
    adhoc = any(step.statement == "adhoc" for step in job.steps)
    connection = sqlite3.connect(
        f"file:{quote(str(Path(job.database.path).resolve()))}?{query}",
        uri=True,
        isolation_level=None,
        cached_statements=0 if adhoc else 128,
    )
    if any(step.shape == "object" for step in job.steps):
        connection.row_factory = sqlite3.Row
    own = job.connection.worker_pragmas if worker else []
    for name, value in [*job.connection.pragmas, *own]:
        connection.execute(f"PRAGMA {name}={value}").fetchall()
    return connection


def shares(job: Job) -> list[tuple[int, int]]:
    """Operation numbers [begin, end) of each worker."""
    total, workers = job.measure.operations_per_iteration, job.measure.workers
    return [(total * w // workers, total * (w + 1) // workers) for w in range(workers)]


def _verify(job: Job, connection: sqlite3.Connection) -> dict[str, Any]:
    tally = values.Tally()
    pools = [values.pool(step.parameters) for step in job.steps]
    _prepare_iteration(job, connection)
    for begin, end in shares(job):
        for operation in range(begin, end):
            if job.transaction in ("deferred", "immediate"):
                connection.execute(f"BEGIN {job.transaction}")
            for step, rows in zip(job.steps, pools, strict=True):
                for n in range(operation * step.repeat, (operation + 1) * step.repeat):
                    _execute(connection, step, rows[n & (len(rows) - 1)], tally)
            if connection.in_transaction and job.transaction != "read":
                connection.execute("COMMIT")
        tally.share()
    if job.transaction == "read":
        connection.execute("COMMIT")
    figures = {"rows": tally.rows, "affected": tally.affected, "checksum": tally.checksum}
    for query in job.readback:
        tally.result(query.columns, connection.execute(query.sql).fetchall())
    return {
        **figures,
        "operations": job.measure.operations_per_iteration,
        "digest": tally.digest(),
    }


def _execute(
    connection: sqlite3.Connection, step: Step, row: tuple[values.Value, ...], tally: values.Tally
) -> None:
    if step.operation == "prepare":
        # sqlite3 has no prepare; EXPLAIN compiles the statement and runs nothing of it.
        connection.execute(f"EXPLAIN {step.sql}", (None,) * step.sql.count("?")).close()
        tally.nothing()
        return
    cursor = connection.execute(step.sql, row)
    if step.operation == "run":
        tally.run(cursor.rowcount)
    elif step.operation in ("get", "open"):
        first = cursor.fetchone()
        tally.result(step.columns, [] if first is None else [first])
    else:
        tally.result(step.columns, cursor.fetchall())


def _prepare_iteration(job: Job, connection: sqlite3.Connection) -> None:
    for sql in job.reset:
        connection.execute(sql)
    if job.transaction == "read":
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()


def _measure(job: Job, connection: sqlite3.Connection) -> dict[str, Any]:
    team = _Team(job, connection)
    warmup: list[int] = []
    measured: list[int] = []
    counts = None
    plan = job.measure
    cpu = resource.getrusage(resource.RUSAGE_SELF)
    while len(measured) < plan.iterations:
        warm = len(warmup) >= plan.warmup_iterations and sum(warmup) >= plan.warmup_ns
        if warm and not measured:
            cpu = resource.getrusage(resource.RUSAGE_SELF)
        elapsed, got = team.iteration()
        (measured if warm else warmup).append(elapsed)
        counts = counts or got
        if got != counts:
            number = len(warmup) + len(measured)
            raise ValueError(f"iteration {number} returned {got}, iteration 1 returned {counts}")
    after = resource.getrusage(resource.RUSAGE_SELF)
    team.close()
    assert counts is not None
    return {
        "operations": plan.operations_per_iteration,
        "rows": counts[0],
        "affected": counts[1],
        "checksum": counts[2],
        "warmup_ns": warmup,
        "iterations_ns": measured,
        "cpu_ns": {
            "user": round((after.ru_utime - cpu.ru_utime) * 1e9),
            "system": round((after.ru_stime - cpu.ru_stime) * 1e9),
        },
        "workers": team.workers(len(measured)),
    }


class _Team:
    """The main thread alone, or k threads with one connection each behind a barrier."""

    def __init__(self, job: Job, connection: sqlite3.Connection) -> None:
        self._job = job
        self._connection = connection
        self._shares = shares(job)
        self._size = len(self._shares)
        self._stop = False
        self._failure: BaseException | None = None
        self._laps: list[list[tuple[int, int, tuple[int, int, int]]]] = [[] for _ in self._shares]
        if self._size == 1:
            self._loop = compile_loop(job, connection)
            return
        self._start = threading.Barrier(self._size + 1)
        self._end = threading.Barrier(self._size + 1)
        self._threads = [
            threading.Thread(target=self._work, args=(w,), daemon=True) for w in range(self._size)
        ]
        for thread in self._threads:
            thread.start()

    def iteration(self) -> tuple[int, tuple[int, int, int]]:
        """Nanoseconds of one iteration and its rows, affected rows and checksum."""
        if self._size == 1:
            _prepare_iteration(self._job, self._connection)
            begin = time.perf_counter_ns()
            counts = self._loop(*self._shares[0])
            end = time.perf_counter_ns()
            if self._job.transaction == "read":
                self._connection.execute("COMMIT")
            return end - begin, counts
        for sql in self._job.reset:
            self._connection.execute(sql)
        try:
            self._start.wait()
            self._end.wait()
        except threading.BrokenBarrierError:
            raise self._failure or ValueError("a worker stopped early") from None
        last = [laps[-1] for laps in self._laps]
        rows, affected, checksum = (sum(lap[2][k] for lap in last) for k in range(3))
        elapsed = max(lap[1] for lap in last) - min(lap[0] for lap in last)
        return elapsed, (rows, affected, checksum & values.MASK)

    def _work(self, number: int) -> None:
        try:
            connection = open_connection(self._job, worker=True)
            loop = compile_loop(self._job, connection)
            while True:
                if self._job.transaction == "read":
                    connection.execute("BEGIN")
                    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
                self._start.wait()
                if self._stop:
                    break
                begin = time.perf_counter_ns()
                counts = loop(*self._shares[number])
                end = time.perf_counter_ns()
                self._laps[number].append((begin, end, counts))
                if self._job.transaction == "read":
                    connection.execute("COMMIT")
                self._end.wait()
            connection.close()
        except threading.BrokenBarrierError:
            pass
        except Exception as error:  # noqa: BLE001 — told by the main thread
            self._failure = error
            self._start.abort()
            self._end.abort()

    def workers(self, iterations: int) -> list[dict[str, Any]]:
        """Per-worker figures of the last `iterations` iterations; empty for one thread."""
        if self._size == 1:
            return []
        return [
            {
                "operations": end - begin,
                "rows": laps[-1][2][0],
                "checksum": laps[-1][2][2],
                "iterations_ns": [lap[1] - lap[0] for lap in laps[-iterations:]],
            }
            for (begin, end), laps in zip(self._shares, self._laps, strict=True)
        ]

    def close(self) -> None:
        """Let the threads end and close their connections."""
        if self._size > 1:
            self._stop = True
            self._start.wait()
            for thread in self._threads:
                thread.join()


def _prove(job: Job, connection: sqlite3.Connection) -> dict[str, int]:
    tally = values.Tally()
    for query in job.readback:
        tally.result(query.columns, connection.execute(query.sql).fetchall())
    tally.share()
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
    if step.operation == "open":
        return []
    unbound = (None,) * step.sql.count("?")
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {step.sql}", unbound)]
