"""What a user of sqlite3 would write by hand for three workloads.

It has no code of the runner's but the barrier, which stands off the clock.
"""

import json
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

from barrier import await_release

GET = "SELECT id, created, email, score, active FROM users WHERE id = ?"
LIST = "SELECT id, created, email, score, active FROM users WHERE id >= ? ORDER BY id LIMIT 100"
INSERT = "INSERT INTO sink(a, b, c, d) VALUES (?, ?, ?, ?)"
INSERT_BY_NAME = "INSERT INTO sink(a, b, c, d) VALUES (@a, @b, @c, @d)"

Iteration = Callable[[int, int], tuple[int, int, int]]


def get_pk(db: sqlite3.Connection, pool: list[tuple[int]]) -> Iteration:
    """Point reads; each returns (rows, affected, checksum)."""
    execute, mask = db.execute, len(pool) - 1

    def iteration(first: int, operations: int) -> tuple[int, int, int]:
        rows = checksum = 0
        for i in range(first, first + operations):
            h = 0
            row = execute(GET, pool[i & mask]).fetchone()
            if row is not None:
                rows += 1
                h = (h * 31 + (row["id"] & 4294967295)) & 4294967295
                h = (h * 31 + (row["created"] & 4294967295)) & 4294967295
                email = row["email"]
                h = (h * 31 + (31 * ord(email[0]) + ord(email[-1]) if email else 0)) & 4294967295
                h = (h * 31 + (int(row["score"]) & 4294967295)) & 4294967295
                h = (h * 31 + (row["active"] & 4294967295)) & 4294967295
            checksum += h
        return rows, 0, checksum

    return iteration


def all_rows(db: sqlite3.Connection, pool: list[tuple[int]]) -> Iteration:
    """Lists of 100 rows."""
    execute, mask = db.execute, len(pool) - 1

    def iteration(first: int, operations: int) -> tuple[int, int, int]:
        rows = checksum = 0
        for i in range(first, first + operations):
            h = 0
            found = execute(LIST, pool[i & mask]).fetchall()
            rows += len(found)
            for row in found:
                h = (h * 31 + (row["id"] & 4294967295)) & 4294967295
                h = (h * 31 + (row["created"] & 4294967295)) & 4294967295
                email = row["email"]
                h = (h * 31 + (31 * ord(email[0]) + ord(email[-1]) if email else 0)) & 4294967295
                h = (h * 31 + (int(row["score"]) & 4294967295)) & 4294967295
                h = (h * 31 + (row["active"] & 4294967295)) & 4294967295
            checksum += h
        return rows, 0, checksum

    return iteration


def insert_transaction(
    db: sqlite3.Connection, pool: list[tuple[int, str, float, bytes]]
) -> Iteration:
    """Transactions of 100 inserts."""
    execute, mask = db.execute, len(pool) - 1

    def iteration(first: int, operations: int) -> tuple[int, int, int]:
        affected = checksum = 0
        n = first * 100
        for _ in range(operations):
            h = 0
            execute("BEGIN IMMEDIATE")
            for _ in range(100):
                changed = execute(INSERT, pool[n & mask]).rowcount
                affected += changed
                h = (h * 31 + changed) & 4294967295
                n += 1
            execute("COMMIT")
            checksum += h
        return 0, affected, checksum

    return iteration


def insert_by_name(db: sqlite3.Connection, pool: list[tuple[int, str, float, bytes]]) -> Iteration:
    """The same from a dict for each row."""
    execute, mask = db.execute, len(pool) - 1

    def iteration(first: int, operations: int) -> tuple[int, int, int]:
        affected = checksum = 0
        n = first * 100
        for _ in range(operations):
            h = 0
            execute("BEGIN IMMEDIATE")
            for _ in range(100):
                a, b, c, d = pool[n & mask]
                changed = execute(INSERT_BY_NAME, {"a": a, "b": b, "c": c, "d": d}).rowcount
                affected += changed
                h = (h * 31 + changed) & 4294967295
                n += 1
            execute("COMMIT")
            checksum += h
        return 0, affected, checksum

    return iteration


def main(file: str) -> None:
    """Do the job in `file`; of it count only measure, pragmas, parameters and paths."""
    job = json.loads(Path(file).read_text(encoding="utf-8"))
    db = sqlite3.connect(job["database"]["path"], isolation_level=None)
    db.row_factory = sqlite3.Row
    for name, value in job["connection"].get("pragmas", ()):
        db.execute(f"PRAGMA {name}={value}").fetchall()
    rows = job["steps"][0]["parameters"]["rows"]
    match job["cell"].replace("@", "/").partition("/")[0]:
        case "get-pk":
            iteration = get_pk(db, [(row[0],) for row in rows])
        case "all":
            iteration = all_rows(db, [(row[0],) for row in rows])
        case _:
            pool = [(a, b, c, bytes.fromhex(d)) for a, b, c, d in rows]
            named = "names" in job["steps"][0]
            iteration = (insert_by_name if named else insert_transaction)(db, pool)
    measure, reads = job["measure"], job.get("transaction") == "read"
    least, least_ns = measure.get("warmup_iterations", 0), measure.get("warmup_ns", 0)
    warmup: list[int] = []
    measured: list[int] = []
    answers: list[tuple[int, int, int]] = []
    count = measure["operations_per_iteration"]
    while len(measured) < measure.get("iterations", 1):
        first = count * len(answers)
        if job.get("reset") and first % job["reset_every"] == 0:
            for sql in job["reset"]:
                db.execute(sql)
        if reads:
            db.execute("BEGIN")
            db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        if "share" in measure:
            await_release()
        begin = time.perf_counter_ns()
        rows_of, affected, checksum = iteration(first, count)
        elapsed = time.perf_counter_ns() - begin
        if reads:
            db.execute("COMMIT")
        answers.append((rows_of, affected, checksum & 4294967295))
        warm = len(warmup) >= least and sum(warmup) >= least_ns
        (measured if warm else warmup).append(elapsed)
    version = {"name": "handwritten", "version": "0"}
    result = {
        "contract": 2,
        "cell": job["cell"],
        "status": "ok",
        "identity": {
            "runner": "handwritten-python",
            "runtime": version,
            "driver": version,
            "architecture": "unknown",
        },
        "operations": count * len(answers),
        "rows": sum(answer[0] for answer in answers),
        "affected": sum(answer[1] for answer in answers),
        "checksum": sum(answer[2] for answer in answers) & 4294967295,
        "answers": answers,
        "warmup_ns": warmup,
        "iterations_ns": measured,
    }
    Path(job["output"]).write_bytes(json.dumps(result).encode())


if __name__ == "__main__":
    main(sys.argv[-1])
