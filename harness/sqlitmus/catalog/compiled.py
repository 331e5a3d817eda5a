"""Finds SQL that SQLite does not compile, or that may not run, before anything runs: with file and
line."""

import re
import sqlite3
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from sqlitmus.catalog import fixture, jobs
from sqlitmus.catalog.authorizer import Origin, Refused, compiled, confined, unseen, verb
from sqlitmus.catalog.cases import PlannedCase, as_answered, steps_of
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import Fixture
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import FILES
from sqlitmus.vocabulary.errors import UsageError

# What the SQL itself is to blame for. Functions and modules may be in a runner's SQLite only.
_MISTAKES = re.compile(
    "no such column|no such table|no such index|has no column named|syntax error|incomplete input"
    "|unrecognized token|ambiguous column name|has [0-9]+ columns but|values for [0-9]+ columns"
)
_DEFINES = {"create", "drop", "alter"}


class Statement(NamedTuple):
    """SQL of a case, the text in the file that it is made of, below which table there, and its
    place in that; `fails` if it is to fail."""

    sql: str
    written: str
    table: str
    at: str
    fails: bool = False


def check(
    catalog: Catalog,
    cases: Iterable[PlannedCase],
    size: str,
    scenarios: Path | None = None,
    fixtures: Path | None = None,
) -> None:
    """Raise UsageError, with a line for each, if SQL of the cases does not compile or may not run.

    It is compiled against the tables of the fixture without rows, or against a user's database.
    Where more than names and syntax is in question, the oracle decides. The folders hold the files
    of both, if not the catalogue's.
    """
    problems: dict[str, None] = {}
    for case in cases:
        with closing(_database(catalog, case)) as connection:
            wrong = dict.fromkeys(
                _of_fixture(connection, catalog, case, fixtures or paths.FIXTURES)
            )
            if not wrong:
                oracles = as_answered(case, catalog.scenarios[case.scenario])
                whole = (s for each in (case, oracles) for s in statements(catalog, each, size))
                of_sql = _problems(connection, dict.fromkeys(whole))
                for statement, words in (*of_sql, *_elsewhere(catalog, case, size)):
                    where = place(scenarios or paths.SCENARIOS, statement.table, statement.written)
                    wrong[f"{where}: {statement.table}.{statement.at}: {words}"] = None
            problems |= wrong
    if problems:
        raise UsageError("\n".join(problems))


def _database(catalog: Catalog, case: PlannedCase) -> sqlite3.Connection:
    """An empty database for the tables of a fixture, or a user's own, which nothing writes."""
    content = catalog.fixtures[case.fixture].content if case.fixture else None
    if content is None:
        return sqlite3.connect(":memory:", isolation_level=None)
    uri = f"{(fixture.snapshots() / f'{content}.db').as_uri()}?mode=ro"
    return sqlite3.connect(uri, uri=True, isolation_level=None)


def _of_fixture(
    connection: sqlite3.Connection, catalog: Catalog, case: PlannedCase, folder: Path
) -> Iterator[str]:
    """Make the tables of the case's fixture without rows, up to SQL that is refused, which is told
    with why."""
    if case.fixture is None or catalog.fixtures[case.fixture].content:
        return
    definition = catalog.fixtures[case.fixture]
    file = folder / f"{case.fixture}.toml"
    for sql, written in _made(definition):
        try:
            compiled(connection, sql, Origin.CATALOGUE)
            if sql in (*definition.tables, *definition.indexes):
                with confined(connection):
                    connection.execute(sql)
        except (sqlite3.Error, Refused) as error:
            words = error if isinstance(error, Refused) else f"SQLite says of its SQL: {error}"
            yield f"{file}:{_line(file, written)}: {words}"
            return


def _made(definition: Fixture) -> Iterator[tuple[str, str]]:
    """All SQL that makes a fixture, in the order in which it runs, each with the text in the file
    that it is made of."""
    for sql in definition.tables:
        yield sql, sql
    for table, spec in definition.fill.items():
        yield fixture.insertion(table, spec), f"[fill.{table}"
    for sql in (*definition.indexes, definition.files, definition.databases):
        if sql is not None:
            yield sql, sql


def statements(catalog: Catalog, case: PlannedCase, size: str) -> Iterator[Statement]:
    """All SQL that a runner gets of `case`: in the order in which it runs, and then pragmas, some
    of which are set as soon as they are compiled."""
    spec = catalog.scenarios[case.scenario]
    rows = fixture.rows(catalog.fixtures[case.fixture], size) if case.fixture else 0
    name = case.scenario
    for number, sql in enumerate(spec.setup):
        yield Statement(sql.format(size=rows, **case.axes), sql, name, f"setup[{number}]")
    for number, sql in enumerate(spec.reset):
        yield Statement(sql.format(size=rows), sql, name, f"reset[{number}]")
    steps = [("steps", spec.steps, steps_of(spec, case.axes))]
    if spec.writer:
        steps.append(("writer.steps", spec.writer.steps, spec.writer.steps))
    for within, defined, used in steps:
        for step in used:
            if step.sql:
                at = f"{within}[{defined.index(step)}].sql"
                fails = step.fails is not None
                yield Statement(step.text(case.axes), step.sql, name, at, fails)
    for number, query in enumerate(spec.readback):
        yield Statement(query.sql, query.sql, name, f"readback[{number}].sql")
    profile = catalog.profiles.get(case.axes.get("profile", ""))
    for pragma, value in case.pragmas:
        of_profile = profile and (pragma, value) in profile.pragmas
        table, at = (case.axes["profile"], "pragmas") if of_profile else (name, "variants")
        quoted = "'{}'".format(str(value).replace("'", "''"))
        # All runners but the oracle quote a text.
        for text in (str(value), *([quoted] if isinstance(value, str) else [])):
            yield Statement(f"PRAGMA {pragma}={text}", f'"{pragma}"', table, at)


def _problems(
    connection: sqlite3.Connection, whole: Iterable[Statement]
) -> Iterator[tuple[Statement, str]]:
    """Statements that may not run, or do not compile, with why."""
    lost = False  # what another SQLite can make, or what was told already
    for statement in whole:
        try:
            compiled(connection, statement.sql, Origin.CATALOGUE)
            if verb(statement.sql) in _DEFINES:
                with confined(connection):
                    connection.execute(statement.sql)
        except Refused as refused:
            yield statement, str(refused)
            lost = True
        except sqlite3.Error as error:
            if words := unseen(statement.sql):
                yield statement, words
                lost = True
            elif _MISTAKES.search(str(error)):
                if not (statement.fails or lost):
                    by = f"(SQLite {sqlite3.sqlite_version})"
                    yield statement, f"{error} {by}; correct the SQL, or the fixture's tables"
            elif verb(statement.sql) in _DEFINES:
                lost = True


def _elsewhere(catalog: Catalog, case: PlannedCase, size: str) -> Iterator[tuple[Statement, str]]:
    """The step of `case` that names files, if one does not lie beside its database, with why."""
    steps = steps_of(catalog.scenarios[case.scenario], case.axes)
    naming = [number for number, step in enumerate(steps) if step.operation in FILES]
    if naming and case.fixture:
        rows = fixture.rows(catalog.fixtures[case.fixture], size)
        try:
            jobs.bound(steps, case, rows, case.scenario, Path(case.fixture))
        except UsageError as error:
            at, operation = f"steps[{naming[0]}].parameters", steps[naming[0]].operation
            yield Statement("", f'"{operation}"', case.scenario, at), str(error)


_HEADER = re.compile(r"\[\[?\s*[\"']?([\w-]+)[^,]*\]\s*(#.*)?$")


def place(folder: Path, table: str, sql: str) -> str:
    """`file:line` of the SQL in a table, such as a scenario; the table's line where its SQL is not
    seen. Without such a table, as for what settings are tried on, any place of that SQL."""
    files = sorted(folder.glob("*.toml"))
    for file in files:
        with suppress(tomllib.TOMLDecodeError):
            if table in tomllib.loads(file.read_text("utf-8")):
                return f"{file}:{_line(file, sql, table)}"
    first = _first_line(sql)
    holding = (file for file in files if first in file.read_text("utf-8").replace('\\"', '"'))
    return next((f"{file}:{_line(file, sql)}" for file in holding), str(folder))


def _first_line(sql: str) -> str:
    return sql.strip().partition("\n")[0]


def _line(file: Path, sql: str, table: str | None = None) -> int:
    """The line on which `sql` begins, below a header of `table`; else that of the first header."""
    headed, headers = None, list[int]()
    first = _first_line(sql)
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if header := _HEADER.match(line):
            headed = header[1]
        if table in (None, headed):
            headers.append(number)
            if first in line.replace('\\"', '"'):
                return number
    return headers[0] if headers else 1
