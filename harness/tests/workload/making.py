"""A workload as commands make it of its file: its database copied, its scenarios in a catalogue."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import Scenario, ScenarioStep
from sqlitmus.workload.database import snapshot
from sqlitmus.workload.file import Source, read
from sqlitmus.workload.scenarios import catalogue
from sqlitmus.workload.trace import with_queries
from tests.fakes.clone import Clone, Done

Leave = Callable[[str], None] | None


@dataclass(frozen=True, slots=True)
class Workload:
    """What was read, the copy of its database, and the catalogue with its scenarios."""

    source: Source
    copy: Path
    catalogue: Catalog

    @property
    def scenarios(self) -> dict[str, Scenario]:
        return self.catalogue.scenarios


def make(folder: Path, sql: str) -> Path:
    """The workload's database."""
    file = folder / "app.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.executescript(sql)
    return file


def verified(clone: Clone, text: str, *options: str, behaviour: str = "honest") -> Done:
    """Verify a workload of that text with a runner `a` that behaves so; the database is there."""
    clone.runner("a", behaviour)
    clone.write("my.toml", f'database = "app.db"\n{text}')
    return clone.sqlitmus("workload", "verify", "my.toml", *options)


def rows_of(step: ScenarioStep) -> list[Any]:
    """What it binds: the value of each row, or a list of several."""
    assert step.given
    return [row[0] if len(row) == 1 else row for row in step.given.rows]


def workload(file: Path, known: Catalog, leave: Leave = None) -> Workload:
    """The workload of a file; `leave` hears what of a trace is left out, else that is refused."""
    source = with_queries(read(file, known), leave or (lambda _: None))
    copies = file.parent / "copies"
    copies.mkdir(exist_ok=True)
    copy = snapshot(source.database, copies)
    return Workload(source, copy.file, catalogue(source, copy, known, leave))
