"""The parts of a workload: each query with its values, as steps."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlitmus.catalog.authorizer import Compiled, Origin, Refused
from sqlitmus.catalog.steps import ColumnType, ScenarioStep
from sqlitmus.vocabulary.contract.step import Operation, Parameters
from sqlitmus.workload import answers, latencies, pools, statements, writes
from sqlitmus.workload.file import Query, Source, Statement
from sqlitmus.workload.pools import NoPool

MIX = "mix"
START = "start"


@dataclass(frozen=True, slots=True)
class Part:
    """A query that SQLite compiled: its steps, the tables that it writes, and how often at least it
    can be done in an iteration, which its instructions and distinct parameters bound."""

    name: str
    query: Query
    steps: list[ScenarioStep]
    written: dict[str, set[str]]
    reset: list[str]
    instructions: float
    most: int | None
    ascii_ends: bool


def parts_of(source: Source, file: Path) -> list[Part]:
    """The workload's queries on the database in `file`, in the order of the TOML file.

    Raises UsageError that names all that cannot be measured, each with its file and line.
    """
    problems: list[str] = []
    parts: list[Part] = []
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
        for name, query in source.workload.query.items():
            if name in (MIX, START, *latencies.paced(source.workload)):
                words = f"{name} is the name of a case that is made by itself; choose another"
                problems.append(str(source.wrong(("query", name), words)))
                continue
            part = _part(source, name, query, connection, problems.append)
            if part:
                parts.append(part)
    if problems:
        raise source.errors(problems)
    return parts


def _part(
    source: Source,
    name: str,
    query: Query,
    connection: sqlite3.Connection,
    problem: Callable[[str], None],
) -> Part | None:
    """The query as a part; what is wrong with it goes to `problem`."""
    steps: list[ScenarioStep] = []
    written: dict[str, set[str]] = {}
    instructions, ascii_ends = 0.0, True
    most: list[int] = []
    for number, statement in enumerate(query.parts()):
        seed = f"{source.workload.seed}/{name}/{number}"
        at = "sql"
        try:
            looked = statements.look(connection, statement.sql)
            operation = _operation(statement, looked)
            at = "parameters"
            rows = pools.rows_of(statement.parameters, connection, seed)
            given = pools.pool(rows, looked.parameters, distinct=not looked.reads)
            at = "sql"
            columns: dict[str, ColumnType] = {}
            if looked.reads:
                answered = answers.answer(
                    connection, statement.sql, _bound(given), first=operation == "get"
                )
                columns, ascii_ends = answered.columns, ascii_ends and answered.ascii_ends
                instructions += answered.instructions * statement.repeat
            elif given:
                most.append(max(len(given.rows) // statement.repeat, 1))
        except (Refused, NoPool) as error:
            problem(str(source.wrong(source.of(name, number, at), str(error))))
            continue
        for table, actions in looked.writes.items():
            written.setdefault(table, set()).update(actions)
        steps.append(
            ScenarioStep(
                operation=operation,
                sql=statement.sql.strip().rstrip(";").replace("{", "{{").replace("}", "}}"),
                columns=columns,
                given=given,
                repeat=statement.repeat,
            )
        )
    whole = len(steps) == len(query.parts())
    wrong = _wrong_resets(query.reset, connection)
    if whole and query.reset and not written:
        wrong[0] = "the query writes to no table, so that nothing has to be undone; take reset out"
    for number, words in wrong.items():
        problem(str(source.wrong(("query", name, "reset", number), words)))
    try:
        undone = query.reset or writes.reset(connection, written)
    except Refused as error:
        problem(str(source.wrong(("query", name), str(error))))
        return None
    if wrong or not whole:
        return None
    escaped = [sql.replace("{", "{{").replace("}", "}}") for sql in undone]
    bound = min(most, default=None)
    return Part(name, query, steps, written, escaped, instructions, bound, ascii_ends)


def _wrong_resets(resets: Sequence[str], connection: sqlite3.Connection) -> dict[int, str]:
    """Why statements may not undo anything, by their numbers."""
    wrong: dict[int, str] = {}
    for number, sql in enumerate(resets):
        try:
            statements.judged(connection, sql, Origin.RESET)
        except Refused as error:
            wrong[number] = str(error)
    return wrong


def _operation(statement: Statement, looked: Compiled) -> Operation:
    operation = statement.operation
    if not looked.reads:
        if operation not in (None, "run"):
            tables = ", ".join(sorted(looked.writes))
            raise Refused(
                f"operation is {operation}, but the statement writes to {tables}; use run"
            )
        return "run"
    if operation == "run":
        raise Refused("operation is run, but the statement gives rows; use get, all or iterate")
    if not looked.rows:
        raise Refused("it neither gives rows nor writes to a table of the database")
    return operation or "all"


def _bound(given: Parameters | None) -> list[list[pools.Value]]:
    """The rows of a pool as SQLite takes them."""
    if given is None:
        return []
    return [
        [_decoded(value, kind) for value, kind in zip(row, given.types, strict=True)]
        for row in given.rows
    ]


def _decoded(value: float | str | None, kind: str) -> pools.Value:
    if isinstance(value, str) and kind == "blob":
        return bytes.fromhex(value)
    return int(value) if isinstance(value, str) and kind == "integer" else value
