"""A runner of the contract's core level, written from that part of CONTRACT.md alone.

It is no fair measure of anything: it asks at each step what to do. Begin a runner with it.
"""

import hashlib
import json
import sqlite3
import struct
import sys
import time
from math import isfinite
from pathlib import Path
from typing import Any

PYTHON = {"name": "Python", "version": sys.version.split()[0]}
IDENTITY = {"runner": "core", "runtime": PYTHON, "driver": PYTHON, "architecture": "none"}
KNOWN = """contract mode cell database connection steps transaction reset reset_every readback
inspect measure output operation sql parameters columns repeat operations_per_iteration iterations
warmup_iterations warmup_ns share digest"""
READ_BACK = """journal_mode synchronous cache_size mmap_size temp_store foreign_keys busy_timeout
page_size locking_mode wal_autocheckpoint encoding query_only"""
FOLDED: dict[type, Any] = {  # the digest's tag, the checksum's x, the digest's bytes
    int: (b"i", int, lambda v: str(v).encode()),
    float: (b"r", lambda v: int(v) if isfinite(v) else 0, lambda v: struct.pack("<d", v)),
    str: (b"t", lambda v: 31 * ord(v[0]) + ord(v[-1]) if v else 0, str.encode),
    bytes: (b"b", lambda v: len(v) + 31 * v[0] + v[-1] if v else 0, bytes),
    type(None): (b"n", lambda _: 0x9E3779B9, lambda _: b""),
}


def main(words: list[str]) -> int:
    if words == ["describe"]:
        db = sqlite3.connect(":memory:")
        ((version, source),) = db.execute("SELECT sqlite_version(), sqlite_source_id()")
        options = [row[0] for row in db.execute("PRAGMA compile_options")]
        sqlite = {"version": version, "source_id": source, "compile_options": options}
        print(json.dumps({"contract": 2, "identity": IDENTITY, "sqlite": sqlite}))
        return 0
    files = [words[1]] if words[0] == "--job" else sorted(map(str, Path(words[1]).glob("*.json")))
    return max(perform(file) for file in files)


def perform(file: str) -> int:
    job = json.loads(Path(file).read_text("utf-8"))
    for part in (job, job["measure"], *job.get("steps", [])):
        if unknown := part.keys() - KNOWN.split():
            print(f"{file}: unknown keys {sorted(unknown)}", file=sys.stderr)
            return 2
    result = {"contract": 2, "cell": job["cell"], "identity": IDENTITY, "status": "ok"}
    try:
        result |= Work(job).done() if job.get("database") else {}
    except (sqlite3.Error, ValueError) as error:
        code = getattr(error, "sqlite_errorcode", None)
        result |= {"status": "failed", "error": {"message": str(error), "sqlite_code": code}}
    partial = Path(job["output"] + ".part")
    partial.write_text(json.dumps(result), "utf-8")
    partial.replace(job["output"])
    return int(result["status"] == "failed")


def bound(kind: str, value: Any) -> Any:
    convert = {"integer": int, "real": float, "blob": bytes.fromhex, "text": str}[kind]
    return None if value is None else convert(value)


class Work:
    def __init__(self, job: dict[str, Any]) -> None:
        self.job, self.plan, self.sha = job, job["measure"], hashlib.sha256()
        self.around = job.get("transaction", "none")
        mode = "ro" if job["database"].get("mode") == "readonly" else "rw"
        name = f"{Path(job['database']['path']).as_uri()}?mode={mode}"
        self.db = sqlite3.connect(name, uri=True, isolation_level=None)
        for pragma, value in job.get("connection", {}).get("pragmas", []):
            self.execute(f"PRAGMA {pragma}={value}")
        self.pools: list[Any] = []
        for step in job.get("steps", []):
            given = step.get("parameters") or {"types": [], "rows": [[]]}
            rows = [tuple(map(bound, given["types"], row)) for row in given["rows"]]
            self.pools.append((step, rows, step.get("columns", [])))

    def execute(self, sql: str, row: Any = ()) -> list[Any]:
        return self.db.execute(sql, row).fetchall()

    def done(self) -> dict[str, Any]:
        measured, size = self.job["mode"] == "measure", self.plan["operations_per_iteration"]
        warmup, timed, answers, told = [], [], [], {}
        while measured and len(timed) < self.plan.get("iterations", 1):
            few = len(warmup) < self.plan.get("warmup_iterations", 0)
            warming = few or sum(warmup) < self.plan.get("warmup_ns", 0)
            answer, elapsed = self.iteration(len(answers) * size, size, "share" in self.plan)
            answers.append(answer)
            (warmup if warming else timed).append(elapsed)
        again = self.plan.get("digest", 0) if measured else size
        self.sha = hashlib.sha256()  # what was folded in so far is not asked for
        verified = [self.iteration(number, 1)[0] for number in range(again)]
        answers = answers if measured else verified
        rows = checksum = 0
        for query in self.job.get("readback", []):
            got, checksum = self.read(self.execute(query["sql"]), query["columns"], checksum)
            told["readback"] = {"rows": (rows := rows + got), "checksum": checksum}
        told["digest"] = self.sha.hexdigest() if again or not measured else None
        if self.job.get("inspect", True):
            self.execute("SELECT count(*) FROM sqlite_schema")
            first = {n: next(self.db.execute(f"PRAGMA {n}"), [None]) for n in READ_BACK.split()}
            told["effective"] = {"pragmas": {name: row[0] for name, row in first.items()}}
            told["plans"] = [self.compiled(step["sql"]) for step, _, _ in self.pools]
        sums = [sum(each) for each in zip(*answers, strict=True)] or [0, 0, 0]
        told |= {"rows": sums[0], "affected": sums[1], "checksum": sums[2] % 2**32}
        told |= {"operations": len(answers) * (size if measured else 1), "answers": answers}
        return {**told, "warmup_ns": warmup, "iterations_ns": timed}

    def iteration(self, first: int, count: int, waits: bool = False) -> tuple[Any, int]:
        due = self.job.get("reset") and first % self.job["reset_every"] == 0
        begin = ["BEGIN", "SELECT count(*) FROM sqlite_schema"] if self.around == "read" else []
        for sql in [*(self.job["reset"] if due else []), *begin]:
            self.execute(sql)
        if waits:
            print("ready", flush=True)
            if not sys.stdin.readline():
                raise ValueError("stdin ended")
        start = time.perf_counter_ns()
        each = [self.operation(number) for number in range(first, first + count)]
        elapsed = time.perf_counter_ns() - start
        if begin:
            self.execute("COMMIT")
        rows, affected, checksum = (sum(counts) for counts in zip(*each, strict=True))
        return (rows, affected, checksum % 2**32), elapsed

    def operation(self, number: int) -> tuple[int, int, int]:
        rows = affected = h = 0
        if self.around in ("deferred", "immediate"):
            self.execute(f"BEGIN {self.around}")
        for step, pool, columns in self.pools:
            repeat, name, sql = step.get("repeat", 1), step["operation"], step["sql"]
            for n in range(number * repeat, (number + 1) * repeat):
                row = pool[n & (len(pool) - 1)]
                if name == "run":
                    changed = self.db.execute(sql, row).rowcount
                    affected, h = affected + changed, (h * 31 + changed) % 2**32
                    self.sha.update(b"E" + struct.pack("<I", changed))
                elif name == "prepare":
                    self.compiled(sql)
                    self.sha.update(b"E" + bytes(4))
                else:
                    found = self.execute(sql, row)
                    got, h = self.read(found[:1] if name == "get" else found, columns, h)
                    rows += got
        if self.around in ("deferred", "immediate"):
            self.execute("COMMIT")
        return rows, affected, h

    def read(self, rows: list[Any], columns: list[Any], h: int) -> tuple[int, int]:
        for column, value in ((c, v) for row in rows for c, v in zip(columns, row, strict=True)):
            if value is None and not column.get("nullable"):
                raise ValueError(f"column {column['name']} is NULL")
            tag, x, data = FOLDED[type(value)]
            h = (h * 31 + x(value)) % 2**32
            self.sha.update(tag + struct.pack("<I", len(data(value))) + data(value))
        self.sha.update(b"E" + struct.pack("<I", len(rows)))
        return len(rows), h

    def compiled(self, sql: str) -> list[str]:
        rows = self.execute("EXPLAIN QUERY PLAN " + sql, [None] * sql.count("?"))
        return [row[3] for row in rows]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
