"""A user's folder with a database, a workload's file and a trace, and what commands make of it."""

import json
import sqlite3
import tomllib
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import Scenario, ScenarioStep
from sqlitmus.workload.database import snapshot
from sqlitmus.workload.file import Query, Source, read
from sqlitmus.workload.scenarios import catalogue
from sqlitmus.workload.trace import with_queries
from tests.fakes.clone import Clone, Done
from tests.known import KNOWN

DOCUMENTS = """
CREATE TABLE document(
    id INTEGER PRIMARY KEY, owner TEXT NOT NULL, title TEXT NOT NULL, size REAL, body BLOB);
CREATE INDEX document_owner ON document(owner);
CREATE TABLE event(id INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL, at INTEGER);
CREATE TABLE word(word TEXT PRIMARY KEY, hits INTEGER NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 7;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {rows})
INSERT INTO document SELECT i, 'owner-' || (i % 7), 'Title ' || i, iif(i % 10, i / 2.0, NULL), x'07'
FROM n;
INSERT INTO event(document, at) SELECT id, 1000 + id FROM document WHERE id <= 50;
INSERT INTO word VALUES ('a', 1);
"""
WORKLOADS = tomllib.loads(Path(__file__).with_name("workloads.toml").read_text("utf-8"))
Line = Mapping[str, object] | str


@dataclass(frozen=True, slots=True)
class Workload:
    """What was read, the copy of its database, and the catalogue with its scenarios."""

    source: Source
    copy: Path
    catalogue: Catalog

    @property
    def scenarios(self) -> dict[str, Scenario]:
        return self.catalogue.scenarios


@dataclass(frozen=True, slots=True)
class Service:
    """The folder; `heard` is what commands said."""

    folder: Path
    heard: list[str] = field(default_factory=list[str])

    def database(self, sql: str, name: str = "app.db") -> Path:
        """The database, of this script."""
        return make(self.folder, sql, name)

    def write(self, text: str, *lines: Line) -> Path:
        """The file of a workload that begins with its database's name; its trace has the lines."""
        if lines:
            text = f'trace = "app.jsonl"\n{text}'
            told = [line if isinstance(line, str) else json.dumps(line) for line in lines]
            (self.folder / "app.jsonl").write_text("\n".join(told), "utf-8")
        file = self.folder / "my.toml"
        file.write_text(f'database = "app.db"\n{text}', "utf-8")
        return file

    def queries(self, *lines: Line) -> dict[str, Query]:
        """What is read of a trace with these lines."""
        return with_queries(read(self.write("", *lines), KNOWN), self.heard.append).workload.query

    def made(self, text: str, *lines: Line, strict: bool = False) -> Workload:
        """The workload of such a file; what of the trace is left out is refused if `strict`."""
        return workload(self.write(text, *lines), None if strict else self.heard.append)


def at(sql: str, *parameters: object, **more: object) -> dict[str, object]:
    """A line of a trace."""
    return {"sql": sql, "parameters": [*parameters], **more}


def make(folder: Path, sql: str, name: str = "app.db") -> Path:
    """The workload's database."""
    file = folder / name
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.executescript(sql)
    return file


def workload(file: Path, leave: Callable[[str], None] | None = None) -> Workload:
    """The workload of a file; `leave` hears what of a trace is left out, else that is refused."""
    source = with_queries(read(file, KNOWN), leave or (lambda _: None))
    copies = file.parent / "copies"
    copies.mkdir(exist_ok=True)
    copy = snapshot(source.database, copies)
    return Workload(source, copy.file, catalogue(source, copy, KNOWN, leave))


def verified(clone: Clone, sql: str, text: str, *options: str, behaviour: str = "honest") -> Done:
    """Verify a workload of that text, on a database of that script, with a runner `a` that behaves
    so."""
    make(clone.root, sql)
    clone.runner("a", behaviour)
    clone.write("my.toml", f'database = "app.db"\n{text}')
    return clone.sqlitmus("workload", "verify", "my.toml", *options)


def rows_of(step: ScenarioStep) -> list[Any]:
    """What it binds: the value of each row, or a list of several."""
    assert step.given
    return [row[0] if len(row) == 1 else row for row in step.given.rows]
