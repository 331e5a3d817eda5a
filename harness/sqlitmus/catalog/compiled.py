"""Finds SQL that SQLite does not compile, before anything runs: with file and line."""

import re
import sqlite3
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from sqlitmus.catalog import fixture
from sqlitmus.catalog.cases import steps_of
from sqlitmus.catalog.declared import Fixture
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError

# What the SQL itself is to blame for. Functions and modules may be in a runner's SQLite only.
_MISTAKES = re.compile(
    "no such column|no such table|no such index|has no column named|syntax error|incomplete input"
    "|unrecognized token|ambiguous column name|has [0-9]+ columns but|values for [0-9]+ columns"
)
_DEFINES = re.compile(r"\s*(create|drop|alter)\b", re.IGNORECASE)
# Names that come from elsewhere cannot be looked up here.
_ELSEWHERE = re.compile(r"\s*(attach|detach|vacuum)\b", re.IGNORECASE)


class Statement(NamedTuple):
    """SQL of a case, the text in the file that it is made of, and its place in the scenario."""

    sql: str
    written: str
    at: str


def check(
    catalog: Catalog,
    cases: Iterable[PlannedCase],
    size: str,
    scenarios: Path | None = None,
    fixtures: Path | None = None,
) -> None:
    """Raise UsageError, with a line for each mistake, if SQL of the cases does not compile.

    It is compiled against the tables of the fixture without rows. Where more than names and syntax
    is in question, the oracle decides. The folders hold the files of both, if not the catalogue's.
    """
    problems: dict[str, None] = {}
    for case in cases:
        if case.fixture and catalog.fixtures[case.fixture].content:
            continue  # of a user's database, whose statements were compiled when they were read
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            if case.fixture:
                definition = catalog.fixtures[case.fixture]
                if mistake := _mistake(connection, definition):
                    sql, words = mistake
                    file = (fixtures or paths.FIXTURES) / f"{case.fixture}.toml"
                    text = f"{file}:{_line(file, sql)}: SQLite says of its SQL: {words}"
                    problems[text] = None
                    continue
            for statement, words in _mistakes(connection, _statements(catalog, case, size)):
                where = place(scenarios or paths.SCENARIOS, case.scenario, statement.written)
                problems[
                    f"{where}: {case.scenario}.{statement.at}: {words} (SQLite "
                    f"{sqlite3.sqlite_version}); correct the SQL, or the fixture's tables"
                ] = None
    if problems:
        raise UsageError("\n".join(problems))


def _mistake(connection: sqlite3.Connection, definition: Fixture) -> tuple[str, str] | None:
    """Make a fixture's tables without rows; the SQL that SQLite refuses, with its words."""
    for sql in [*definition.tables, *definition.indexes]:
        try:
            connection.execute(sql)
        except sqlite3.Error as error:
            return sql, str(error)
    return None


def _statements(catalog: Catalog, case: PlannedCase, size: str) -> Iterator[Statement]:
    """All SQL of `case`, in the order in which it runs."""
    spec = catalog.scenarios[case.scenario]
    rows = fixture.rows(catalog.fixtures[case.fixture], size) if case.fixture else 0
    for number, sql in enumerate(spec.setup):
        yield Statement(sql.format(size=rows, **case.axes), sql, f"setup[{number}]")
    for number, sql in enumerate(spec.reset):
        yield Statement(sql.format(size=rows), sql, f"reset[{number}]")
    steps = [("steps", spec.steps, steps_of(spec, case.axes))]
    if spec.writer:
        steps.append(("writer.steps", spec.writer.steps, spec.writer.steps))
    for name, defined, used in steps:
        for step in used:
            if step.sql and step.fails is None:
                at = f"{name}[{defined.index(step)}].sql"
                yield Statement(step.text(case.axes), step.sql, at)
    for number, query in enumerate(spec.readback):
        yield Statement(query.sql, query.sql, f"readback[{number}].sql")


def _mistakes(
    connection: sqlite3.Connection, statements: Iterable[Statement]
) -> Iterator[tuple[Statement, str]]:
    """Statements that do not compile, with SQLite's words, up to where that cannot be said."""
    for statement in statements:
        if _ELSEWHERE.match(statement.sql):
            return
        defines = _DEFINES.match(statement.sql)
        try:
            # EXPLAIN compiles and runs nothing.
            connection.execute(statement.sql if defines else f"EXPLAIN {statement.sql}")
        except sqlite3.ProgrammingError:
            continue  # it was compiled, and has parameters
        except sqlite3.Error as error:
            if _MISTAKES.search(str(error)):
                yield statement, str(error)
            elif defines:
                return


_HEADER = re.compile(r"\[\[?\s*[\"']?([\w-]+)[^,]*\]\s*(#.*)?$")


def place(folder: Path, scenario: str, sql: str) -> str:
    """`file:line` of the SQL of a scenario; the line of the scenario where its SQL is not seen."""
    for file in sorted(folder.glob("*.toml")):
        with suppress(tomllib.TOMLDecodeError):
            if scenario in tomllib.loads(file.read_text("utf-8")):
                return f"{file}:{_line(file, sql, scenario)}"
    return str(folder)


def _line(file: Path, sql: str, table: str | None = None) -> int:
    """The line on which `sql` begins, below a header of `table`; else that of the first header."""
    headed, headers = None, list[int]()
    first = sql.strip().partition("\n")[0]
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if header := _HEADER.match(line):
            headed = header[1]
        if table in (None, headed):
            headers.append(number)
            if first in line.replace('\\"', '"'):
                return number
    return headers[0] if headers else 1
