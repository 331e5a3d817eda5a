"""Small runs as files, and merged ones."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlitmus.machines import merge as merging
from sqlitmus.machines.merge import Merged
from sqlitmus.results.machines import render
from sqlitmus.store.file import FILE, LOGS, create_file, opened
from tests.analysis import runs

FACTS = {
    "cpu": "EPYC",
    "cores": "4",
    "architecture": "x86_64",
    "memory": "16 GiB",
    "os": "Debian",
    "kernel": "6.1",
}
NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
NAMES = ("node", "bun")


def write(
    folder: Path,
    *,
    cases: Sequence[str] = ("get-pk",),
    facts: dict[str, str] | None = None,
    complete: bool = True,
    **changes: Any,
) -> Path:
    """A run of two runners and two blocks, whose name is the folder's."""
    of = plan(folder.name, cases, **changes)
    lines = runs.samples(of, runs.noisy(), complete=complete)
    blocks = [block(number) for number in range(of["blocks"])]
    runs.write(folder, of, lines=lines, machine={**FACTS, **(facts or {})}, blocks=blocks)
    (folder / LOGS / "secret.log").write_text("stays here\n")
    return folder


def plan(name: str, cases: Sequence[str], **changes: Any) -> dict[str, Any]:
    planned = [runs.case(case) for case in cases]
    given = {
        "run": name,
        "created": "2026-01-01T00:00:00+00:00",
        "size": "m",
        "blocks": 2,
        "machine": "linux-x64",
        "cases": planned,
        "definitions": {f"scenario {case['scenario']}": "1" * 16 for case in planned},
    }
    return runs.plan(NAMES, **{**given, **changes})


def block(number: int) -> dict[str, Any]:
    look = {"monotonic_ns": 10**9 * number, "probe_ns": 41_000_000, "load_average": 0.5}
    return {
        "block": number,
        "before": look,
        "after": {**look, "monotonic_ns": 10**9 * (number + 1)},
    }


def change(folder: Path, statement: str, *values: object) -> None:
    """Change a run's file as somebody else could: by any statement, with no check in the way."""
    db = sqlite3.connect(folder / FILE, isolation_level=None)
    try:
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.execute("PRAGMA writable_schema = ON")
        db.execute(statement, values)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        db.close()


def replan(folder: Path, **changes: object) -> None:
    """Give the plan of a run other values."""
    db = sqlite3.connect(folder / FILE)
    (text,) = db.execute("SELECT plan FROM run").fetchone()
    db.close()
    change(folder, "UPDATE run SET plan = ?", json.dumps({**json.loads(text), **changes}))


def merged(
    *given: Path | tuple[Path, str], out: Path, partial: bool = False, expect: Sequence[str] = ()
) -> merging.Done:
    """Merge folders, of which a machine's name may stand beside each."""
    folders = [merging.Given(of) if isinstance(of, Path) else merging.Given(*of) for of in given]
    return merging.merge(folders, out, "", list(expect), NOW, partial=partial)


def create(folder: Path) -> sqlite3.Connection:
    """A file without runs."""
    (folder / LOGS).mkdir(parents=True)
    return create_file(folder / FILE)


def read(folder: Path) -> Merged:
    """A merged file."""
    found = merging.merged(folder / FILE)
    assert found is not None
    return found


def report(folder: Path, number: int = 1) -> Any:
    """What analysis makes of a run of a file, as JSON has it."""
    with opened(folder / FILE) as db:
        return json.loads(render(runs.analyse(runs.read(db, number, {}))))


def ask(folder: Path, question: str) -> list[tuple[Any, ...]]:
    """The rows that a file answers with."""
    with opened(folder / FILE) as db:
        return db.execute(question).fetchall()
