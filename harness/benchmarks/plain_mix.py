"""The mix of a workload for the plain programs: what its TOML file says, as plain data.

A program gets the SQL, the rows of parameters and the round in which the queries follow each other;
scenarios, jobs and their pools have no part in it, but for the statements that undo what a process
would write twice. What a program says of its work is held against Python's sqlite3, which does the
same rounds.
"""

import sqlite3
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from math import gcd
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from sqlitmus.catalog import fixture
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit
from sqlitmus.vocabulary.text import quoted
from sqlitmus.workload import file as workloads, parts, scenarios, statements

LONGEST = 200  # queries of a round that has each as often as the file says
PARTS = 100  # of a round, to which other weights are rounded
WIDE = 2**53
KINDS: Mapping[type, str] = {int: "integer", float: "real", str: "text", bytes: "blob"}
Value = int | float | str | bytes | None
Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with `?` for each value, its rows of parameters, how it is executed and how often
    in a row, and by column what kinds of values its answers have had so far."""

    sql: str
    operation: str
    repeat: int
    rows: list[Row]
    kinds: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    @classmethod
    def of(cls, written: workloads.Statement, seed: str, connection: sqlite3.Connection) -> Self:
        """A statement of the file, with rows from its database."""
        sql, order = statements.positional(written.sql)
        drawn = statements.rows_of(written.parameters, connection, seed)
        rows: list[Row] = [*statements.arranged(drawn, order)] or [[]]
        reads = sql.lstrip().upper().startswith(("SELECT", "WITH"))
        operation = written.operation or ("all" if reads else "run")
        return cls(sql.strip().rstrip(";"), operation, written.repeat, rows)

    def answer(self, connection: sqlite3.Connection, place: int) -> tuple[int, int]:
        """With the row of parameters at `place`, the rows that it reads or changes, and the values
        that are not NULL."""
        cursor = connection.execute(self.sql, self.rows[place])
        if self.operation == "run":
            return cursor.rowcount, 0
        rows = cursor.fetchmany(1) if self.operation == "get" else cursor.fetchall()
        for number, column in enumerate(cursor.description):
            kinds = self.kinds.setdefault(str(column[0]), set())
            kinds.update(_kind(row[number]) for row in rows)
        cursor.close()
        return len(rows), sum(value is not None for row in rows for value in row)

    def asked(self) -> dict[str, Any]:
        """As a program reads it."""
        rows = [[_encoded(value) for value in row] for row in self.rows]
        return {
            "sql": self.sql,
            "operation": self.operation,
            "repeat": self.repeat,
            "columns": {name: _type(kinds) for name, kinds in self.kinds.items()},
            "rows": rows,
        }


@dataclass(frozen=True, slots=True)
class Query:
    """Statements that a service does at once, in a `transaction` or in `none`."""

    transaction: str
    statements: list[Statement]


@dataclass(frozen=True, slots=True)
class Mix:
    """A workload's mix: in a `round` the queries of these numbers, one after the other; a program
    has done all of it in `undo_every` rounds, and undoes that."""

    pragmas: list[str]
    queries: list[Query]
    round: list[int]
    fixture: Path
    undo: list[str]
    undo_every: int
    units: int
    work = "mix"
    _seen: dict[int, tuple[int, int, Mapping[str, int]]] = field(
        default_factory=dict[int, tuple[int, int, Mapping[str, int]]]
    )

    @classmethod
    def of(cls, catalog: Catalog, file: Path) -> Self:
        """That of the workload's `file`. Raises NotFit for a trace, and UsageError."""
        source = workloads.read(file, catalog)
        workload = source.workload
        if workload.trace:
            raise NotFit(f"{file}: plain programs play no trace; write its queries into the file")
        spec = scenarios.read(file, catalog).catalog.scenarios[parts.MIX]
        fixture.forget_snapshots()
        most = (spec.warmup_operations or 0) + (spec.timed_operations or 0)
        with closing(sqlite3.connect(f"{source.database.as_uri()}?mode=ro", uri=True)) as database:
            queries = [
                Query(
                    query.transaction,
                    [
                        Statement.of(each, f"{workload.seed}/{name}/{number}", database)
                        for number, each in enumerate(query.parts())
                    ],
                )
                for name, query in workload.query.items()
            ]
        times = _times([query.weight for query in workload.query.values()])
        order = [number for number, count in enumerate(times) for _ in range(count)]
        pragmas = [f"PRAGMA {name} = {value}" for name, value in source.profile(catalog)[1].pragmas]
        every = spec.reset_every or 0
        mix = cls(pragmas, queries, order, source.database, spec.reset, every, len(order))
        mix.look(min(most, every) if every else most)
        return mix

    @property
    def writes(self) -> bool:
        """Whether its program changes the database."""
        return any(each.operation == "run" for each in self._round())

    @property
    def walk(self) -> int:
        """Rounds that reach all rows of parameters."""
        times = Counter(map(id, self._round()))
        return max(-(-len(each.rows) // times[id(each)]) for each in self._round())

    def asked(self) -> dict[str, Any]:
        """As a program reads it, but for the database."""
        return {
            "pragmas": self.pragmas,
            "undo": self.undo,
            "round": self.round,
            "queries": [
                {
                    "transaction": query.transaction,
                    "statements": [each.asked() for each in query.statements],
                }
                for query in self.queries
            ],
        }

    def skipping(self) -> Self:
        """The same by a program that leaves the first query out: a fault."""
        return replace(self, round=[number for number in self.round if number], _seen={})

    def problem(self, told: Mapping[str, Any], rounds: int, database: Path) -> str | None:
        """In what `told` is not what so many rounds come to, or None."""
        if rounds not in self._seen:
            self._seen[rounds] = self.done(rounds)
        *due, held = self._seen[rounds]
        seen = [told["rows"], told["sum"]]
        if seen != due:
            return f"rows and values are {seen}, not {due}"
        with closing(sqlite3.connect(database)) as connection:
            left = _held(connection)
        differ = sorted(name for name in held if held[name] != left.get(name))
        return f"after {rounds} rounds other rows are in {', '.join(differ)}" if differ else None

    def look(self, rounds: int) -> None:
        """See what the answers hold: to all rows of parameters, and in so many rounds."""
        with self._copy() as connection:
            for statement in self._round():
                if statement.operation != "run" and not statement.kinds:
                    for place in range(len(statement.rows)):
                        statement.answer(connection, place)
        self.done(rounds)

    @contextmanager
    def _copy(self) -> Generator[sqlite3.Connection]:
        """A connection to a copy of the database."""
        with TemporaryDirectory(dir=paths.cache("work")) as folder:
            copy = Path(folder) / "copy.db"
            fixture.fresh_copy(self.fixture, copy)
            with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
                for pragma in self.pragmas:
                    connection.execute(pragma)
                yield connection

    def done(self, rounds: int) -> tuple[int, int, Mapping[str, int]]:
        """Rows read or changed, values that are not NULL, and rows by table at the end."""
        rows, values, writes = 0, 0, self.writes
        executed = Counter[int]()
        answers: dict[tuple[int, int], tuple[int, int]] = {}  # as long as nothing writes
        with self._copy() as connection:
            for number in range(rounds):
                if self.undo_every and number and number % self.undo_every == 0:
                    for sql in self.undo:
                        connection.execute(sql)
                for statement in self._round():
                    at = id(statement), executed[id(statement)] % len(statement.rows)
                    executed[id(statement)] += 1
                    if writes or at not in answers:
                        answers[at] = statement.answer(connection, at[1])
                    rows, values = rows + answers[at][0], values + answers[at][1]
            return rows, values, _held(connection)

    def _round(self) -> Iterator[Statement]:
        for number in self.round:
            for statement in self.queries[number].statements:
                for _ in range(statement.repeat):
                    yield statement


def _times(weights: Sequence[float]) -> list[int]:
    """How often a round has each query, at least once."""
    if all(weight == int(weight) for weight in weights):
        divisor = reduce(gcd, map(int, weights))
        exact = [int(weight) // divisor for weight in weights]
        if sum(exact) <= LONGEST:
            return exact
    return [max(round(PARTS * weight / sum(weights)), 1) for weight in weights]


def _kind(value: Value) -> str:
    """Of a value that is not NULL the name of its type."""
    if isinstance(value, int) and abs(value) > WIDE:
        return "wide"
    return KINDS.get(type(value), "?")


def _type(kinds: set[str]) -> str:
    """The type of a column with values of these."""
    named = kinds - {"?"}
    kind = next((each for each in ("wide", "real") if each in named), min(named, default="text"))
    return kind + "?" * ("?" in kinds or not named)


def _encoded(value: Value) -> object:
    """As JSON: a blob and a wide integer as objects."""
    if isinstance(value, bytes):
        return {"blob": value.hex()}
    return {"wide": str(value)} if _kind(value) == "wide" else value


def _held(connection: sqlite3.Connection) -> dict[str, int]:
    """How many rows each table has."""
    tables = [name for (name,) in connection.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")]  # fmt: skip
    count = "SELECT count(*) FROM {}"
    return {name: connection.execute(count.format(quoted(name))).fetchone()[0] for name in tables}
