"""A workload's queries, each as the steps that a runner does, or why it cannot be measured."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from sqlitmus.catalog.authorizer import Refused
from sqlitmus.catalog.scenario import ColumnType, ScenarioStep
from sqlitmus.vocabulary.contract import Parameters
from sqlitmus.workload import statements
from sqlitmus.workload.file import Query, Source, Workload
from sqlitmus.workload.statements import NoPool

LEAST_INSTRUCTIONS = 500.0  # of a statement: fewer than can be told
MIX = "mix"
START = "start"
CLOSED = "latency"


def paced(workload: Workload) -> dict[str, float | None]:
    """The scenarios that time rounds, with their queries a second, None without a schedule."""
    if workload.rates:
        return {f"at-{rate:g}".replace(".", "-"): rate for rate in workload.rates}
    return {CLOSED: None} if workload.limits.p99_ms else {}


@dataclass(frozen=True, slots=True)
class Part:
    """A query that SQLite compiled: its steps, the tables that it writes and that each step reads,
    and how often at least it can be done in an iteration, which its instructions and distinct
    parameters bound; `notes` are for the report."""

    name: str
    query: Query
    steps: list[ScenarioStep]
    written: dict[str, set[str]]
    reset: list[str]
    instructions: float
    most: int | None
    ascii_ends: bool
    tables: list[frozenset[str]]
    notes: list[str]


def parts_of(source: Source, file: Path, leave: Callable[[str], None] | None = None) -> list[Part]:
    """The workload's queries on the database in `file`, in the order of the TOML file.

    Raises UsageError that names all that cannot be measured, each with its file and line; those of
    a trace are left out where `leave` is told why, unless they are all.
    """
    wrong: dict[str, list[str]] = {}
    parts: list[Part] = []
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
        for name, query in source.workload.query.items():
            problems: list[str] = []
            if name in (MIX, START, *paced(source.workload)):
                words = f"{name} is the name of a case that is made by itself; choose another"
                problems.append(str(source.wrong(("query", name), words)))
                part = None
            else:
                part = _part(source, name, query, connection, problems.append)
            parts += [part] if part else []
            wrong |= {name: problems} if problems else {}
        if wrong and (leave is None or not source.is_traced or not parts):
            raise source.errors([words for problems in wrong.values() for words in problems])
        if wrong and leave:
            for words in _left_out(source, wrong):
                leave(words)
        written = {table for part in parts for table in part.written}
        return [_beside_writes(part, written, connection) for part in parts]


def _left_out(source: Source, wrong: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Which queries of a trace are not measured, by reason, without advice that is no trace's."""
    weights = {name: query.weight for name, query in source.workload.query.items()}
    total, left = sum(weights.values()), sum(weights[name] for name in wrong)
    reasons: dict[str, list[str]] = {}
    for name, (first, *_) in wrong.items():
        place, _, reason = first.partition(": ")
        reasons.setdefault(reason.partition("; ")[0], [place]).append(name)
    head = f"read without {left:,.0f} of {total:,.0f} queries ({left / total:.1%})"
    yield f"{source.workload.trace}: {head}, which cannot be measured"
    for reason, (place, *names) in reasons.items():
        times = sum(weights[name] for name in names)
        yield f"{place}: left out {times:,.0f} times: {reason}"


def _beside_writes(part: Part, written: set[str], connection: sqlite3.Connection) -> Part:
    """`part` where columns may be NULL of what rows the workload writes to the tables it reads."""
    steps: list[ScenarioStep] = []
    for step, tables in zip(part.steps, part.tables, strict=True):
        never = {name for table in tables for name in statements.never_null(connection, table)}
        changes = {
            name: kind if name in never or kind.endswith("?") else f"{kind}?"
            for name, kind in step.columns.items()
        }
        steps.append(step.model_copy(update={"columns": changes} if tables & written else {}))
    return replace(part, steps=steps)


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
    tables: list[frozenset[str]] = []
    notes: dict[str, None] = {}
    for number, statement in enumerate(query.parts()):
        seed = f"{source.workload.seed}/{name}/{number}"
        at = "sql"
        try:
            sql, order = statements.positional(statement.sql)
            looked = statements.look(connection, sql)
            operation = statements.operation_of(statement, looked)
            at = "parameters"
            rows = statements.rows_of(statement.parameters, connection, seed)
            rows = statements.arranged(rows, order)
            given = statements.pool(rows, looked.parameters, distinct=not looked.reads)
            at = "sql"
            columns: dict[str, ColumnType] = {}
            cost, wide, nul, reals = LEAST_INSTRUCTIONS, False, False, "exact"
            if looked.reads:
                statements.check_repeatable(connection, sql, looked, written=bool(written))
                answered = statements.answer(
                    connection, sql, statements.bound(given), first=operation == "get"
                )
                columns, ascii_ends = answered.columns, ascii_ends and answered.ascii_ends
                cost = max(cost, answered.instructions)
                whole_pool, given = given, statements.bearable(given, cost)
                wide, nul = answered.wide, bool(answered.cut)
                reals = statements.compared_reals(columns, looked)
                notes |= dict.fromkeys(_notes(answered, whole_pool, given, reals))
            elif given:
                most.append(max(len(given.rows) // statement.repeat, 1))
        except (Refused, NoPool) as error:
            problem(str(source.wrong(source.of(name, number, at), str(error))))
            continue
        instructions += cost * statement.repeat
        for table, actions in looked.writes.items():
            written.setdefault(table, set()).update(actions)
        steps.append(
            ScenarioStep(
                operation=operation,
                sql=sql.strip().rstrip(";").replace("{", "{{").replace("}", "}}"),
                columns=columns,
                given=given,
                repeat=statement.repeat,
                wide=wide,
                nul=nul,
                reals=reals,
            )
        )
        tables.append(looked.tables)
    whole = len(steps) == len(query.parts())
    wrong = statements.wrong_resets(query.reset, connection)
    if whole and query.reset and not written:
        wrong[0] = "the query writes to no table, so that nothing has to be undone; take reset out"
    for number, words in wrong.items():
        problem(str(source.wrong(("query", name, "reset", number), words)))
    try:
        undone = query.reset or statements.reset(connection, written)
    except Refused as error:
        problem(str(source.wrong(("query", name), str(error))))
        return None
    if wrong or not whole:
        return None
    escaped = [sql.replace("{", "{{").replace("}", "}}") for sql in undone]
    bound = min(most, default=None)
    return Part(
        *(name, query, steps, written, escaped, instructions, bound, ascii_ends, tables),
        notes=[*notes],
    )


_OF_REALS = {
    "digits": "Functions give reals whose last digits differ from one SQLite to another: seven are "
    "compared, and of answers that are timed the number of rows.",
    "types": "One SQLite rounds halves up and another down: of reals only the types are "
    "compared, and of answers that are timed the number of rows.",
}


def _notes(
    answered: statements.Answered, pool: Parameters | None, used: Parameters | None, reals: str
) -> Iterator[str]:
    """What the report says of how a query's answers are read and compared."""
    if answered.wide:
        yield "Integers are beyond 2^53: JavaScript reads those of this query as BigInt."
    if reals in _OF_REALS:
        yield _OF_REALS[reals]
    for name in sorted(answered.cut):
        yield f"Column {name} holds texts with the character U+0000, at which some drivers stop."
    if pool and used and len(used.rows) < len(pool.rows):
        yield (
            f"It is so slow that {len(used.rows):,} of {len(pool.rows):,} rows of parameters are "
            "bound."
        )
