"""The parts of a workload: each query with its values, as steps, and the mix at planned times."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import NamedTuple

from sqlitmus.catalog.authorizer import Compiled, Origin, Refused
from sqlitmus.catalog.scenario import ColumnType, Scenario, ScenarioStep
from sqlitmus.vocabulary.contract import Operation, Parameters
from sqlitmus.workload import statements
from sqlitmus.workload.file import Query, Source, Statement, Workload
from sqlitmus.workload.statements import NoPool

# Their times are no latencies: those at a rate are of the schedule, where it is kept.
KEEPING_UP = "keeping up"
TIMED = "timed rounds"
CLOSED = "latency"
LEAST = 100  # rounds that a process times: a p99 needs no fewer
LONGEST_S = 5.0
MEASURED_S, WARMUP_S, ITERATION_S = 0.5, 0.3, 0.1
MOST = 2048  # rounds of an iteration


class Counts(NamedTuple):
    """Rounds of an iteration, over all workers, and how many of these there are."""

    operations: int
    warmup_iterations: int
    iterations: int


def paced(workload: Workload) -> dict[str, float | None]:
    """The scenarios that time rounds, with their queries a second, None without a schedule."""
    if workload.rates:
        return {f"at-{rate:g}".replace(".", "-"): rate for rate in workload.rates}
    return {CLOSED: None} if workload.limits.p99_ms else {}


def scenarios(source: Source, mix: Scenario) -> dict[str, Scenario]:
    """`mix` with all workers as such scenarios, by name.

    Raises UsageError for a rate at which a p99 takes too long.
    """
    made: dict[str, Scenario] = {}
    workers = source.workload.workers
    for number, (name, rate) in enumerate(paced(source.workload).items()):
        rounds = rate and rate / mix.per_operation
        if rounds and rounds * LONGEST_S < LEAST:
            raise source.wrong(
                ("rates", number),
                f"{rate:g} queries a second are {rounds:.3g} rounds of the mix, which has "
                f"{mix.per_operation} queries, and {LEAST / LONGEST_S:g} are needed; give a higher "
                "rate, or weights that are smaller whole numbers",
            )
        counts = at_rate(rounds, workers, mix.reset_every) if rounds else closed(mix)
        at = f"at {rate:,g} queries a second" if rate else "one round after the other"
        made[name] = mix.model_copy(
            update={
                **counts._asdict(),
                "title": f"The mix {at}",
                "question": f"How long does a round of the mix take, {at}?",
                "group": KEEPING_UP if rate else TIMED,
                "latencies": True,
                "rate": rounds and rounds / workers,
                "fixed": True,
                "reset_every": None,
                "axes": {**mix.axes, "workers": [str(workers)]},
                "notes": [_OPEN_LOOP] if rate else [],
            }
        )
    return made


_OPEN_LOOP = (
    "An open loop: rounds start at planned times, and latency counts from those, so that a stall "
    "shows in all that had to wait. The time per query is that of the schedule where it is kept."
)


def at_rate(rounds: float, workers: int, most: int | None) -> Counts:
    """Counts for so many `rounds` a second; `most` bounds those of an iteration."""
    each = max(round(rounds * ITERATION_S / workers), 1) * workers
    operations = min(each, most or MOST, MOST)
    return Counts(
        operations,
        max(ceil(WARMUP_S * rounds / operations), 1),
        ceil(max(MEASURED_S * rounds, LEAST) / operations),
    )


def closed(mix: Scenario) -> Counts:
    """Counts where nothing is known of how long a round takes but its instructions."""
    return Counts(mix.operations, 2, max(ceil(LEAST / mix.operations), 4))


# The parts of a workload: each query with its values, as steps.


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
            if name in (MIX, START, *paced(source.workload)):
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
            rows = statements.rows_of(statement.parameters, connection, seed)
            given = statements.pool(rows, looked.parameters, distinct=not looked.reads)
            at = "sql"
            columns: dict[str, ColumnType] = {}
            if looked.reads:
                answered = statements.answer(
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
        undone = query.reset or statements.reset(connection, written)
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


def _bound(given: Parameters | None) -> list[list[statements.Value]]:
    """The rows of a pool as SQLite takes them."""
    if given is None:
        return []
    return [
        [_decoded(value, kind) for value, kind in zip(row, given.types, strict=True)]
        for row in given.rows
    ]


def _decoded(value: float | str | None, kind: str) -> statements.Value:
    if isinstance(value, str) and kind == "blob":
        return bytes.fromhex(value)
    return int(value) if isinstance(value, str) and kind == "integer" else value
