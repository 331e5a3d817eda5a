"""The oracle: Python's sqlite3 behind the runner contract."""

import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

import invocation
import system
from connection import Unsupported, refuse
from job import BadJob, Job, load
from loops import loop_source
from parts import parts

USAGE = "usage: main.py describe | --job FILE | --jobs FOLDER | --print-loop FILE"
VERSION = sys.version.split()[0]
IDENTITY = {
    "runner": "python",
    "runtime": {"name": "Python", "version": VERSION},
    "driver": {"name": "sqlite3", "version": VERSION},
    "architecture": system.architecture(),
    "flags": [],
}


def describe() -> dict[str, Any]:
    """Identity, SQLite and features, as the contract's description."""
    connection = sqlite3.connect(":memory:")
    options = [row[0] for row in connection.execute("PRAGMA compile_options")]
    source = connection.execute("SELECT sqlite_source_id()").fetchone()[0]
    threadsafe = [int(o.partition("=")[2]) for o in options if o.startswith("THREADSAFE=")]
    return {
        "contract": 2,
        "identity": IDENTITY,
        "sqlite": {
            "version": sqlite3.sqlite_version,
            "source_id": source,
            "compile_options": options,
            "threadsafe": threadsafe[0] if threadsafe else None,
        },
        "features": {
            "levels": ["core", "workers", "load", "extras"],
            "operations": [
                "get",
                "all",
                "iterate",
                "run",
                "in-transaction",
                "execute",
                "read-file",
            ],
            "shapes": ["object", "array"],
            "integers": ["number"],
            "statements": ["prepared", "cached", "adhoc"],
            "bindings": ["positional", "named"],
            "transactions": ["none", "deferred", "immediate", "read"],
            "engine": [],
            "flags": [],
            "lacks": ["prepare", "open", "open-file", "per_operation"],
            "figures": ["collections"],
        },
    }


def run(job: Job) -> tuple[dict[str, Any], int]:
    """The result of `job` and the exit code."""
    head = {"contract": 2, "cell": job.cell, "identity": IDENTITY}
    try:
        figures = invocation.perform(job)
    except Unsupported as reason:
        return {**head, "status": "unsupported", "reason": str(reason)}, 0
    except (sqlite3.Error, OSError, TypeError, ValueError) as error:
        code = getattr(error, "sqlite_errorcode", None)
        failure = {"message": str(error), "sqlite_code": code, "sql": None}
        return {**head, "status": "failed", "error": failure}, 1
    return {**head, "status": "ok", "peak_rss_bytes": system.peak_rss(), **figures}, 0


def write(result: dict[str, Any], output: Path) -> None:
    """Write `result` whole or not at all."""
    partial = output.with_name(f"{output.name}.{os.getpid()}.part")
    partial.write_bytes(json.dumps(result).encode())
    partial.replace(output)


def perform(path: Path, *, alone: bool) -> int:
    """Perform the job at `path`, which has the process to itself or not; the exit code."""
    try:
        job = load(path)
    except BadJob as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 2
    waits = job.mode == "measure" and job.measure.share
    if not alone and (job.connection.engine or waits):
        print(f"{path}: connection.engine and measure.share need --job", file=sys.stderr)
        return 2
    result, code = run(job)
    write(result, Path(job.output))
    return code


def print_loops(path: Path) -> int:
    """Print the source of the loops that the job at `path` is timed with; the exit code."""
    try:
        job = load(path)
        refuse(job)
    except BadJob as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 2
    except Unsupported as reason:
        print(f"unsupported: {reason}", file=sys.stderr)
        return 0
    if job.mode == "verify":
        print("verify mode times no loop: verify.py performs it step by step", file=sys.stderr)
        return 0
    threads: dict[str, list[str]] = {}
    for number, part in enumerate(parts(job) if job.steps else []):
        name = "writer" if part.role == "writer" else f"worker {number}"
        sql = [f"# sql{i} = {json.dumps(step.sql)}\n" for i, step in enumerate(part.steps)]
        threads.setdefault("".join(sql) + loop_source(part), []).append(name)
    for source, names in threads.items():
        print(f"# {', '.join(names)}\n{source}")
    return 0


def main(arguments: list[str]) -> int:
    """Entry point; the exit code."""
    match arguments:
        case ["describe"]:
            print(json.dumps(describe()))
            return 0
        case ["--job", path]:
            return perform(Path(path), alone=True)
        case ["--jobs", folder] if Path(folder).is_dir():
            files = sorted(Path(folder).glob("*.json"))
            return max((perform(file, alone=False) for file in files), default=0)
        case ["--print-loop", path]:
            return print_loops(Path(path))
        case _:
            print(USAGE, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
