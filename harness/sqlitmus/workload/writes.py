"""How what a workload writes is proven, and what of that the order of its writers decides."""

import random
import sqlite3
import tempfile
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from sqlitmus.catalog.authorizer import Refused, confined
from sqlitmus.catalog.fixture import fresh_copy
from sqlitmus.catalog.scenario import Query, Scenario
from sqlitmus.vocabulary.text import listed, quoted
from sqlitmus.workload.statements import bound, limited

MOST_ROWS = 200_000  # of a table whose values are summed, which takes less than a second then
WHOLE = "rows as a whole"
# A value as an integer below 2^31 or so, the same in every SQLite.
_TERM = (
    "CASE typeof({0}) WHEN 'integer' THEN {0} % 2147483647 "
    "WHEN 'real' THEN CAST({0} AS INTEGER) % 2147483647 "
    "WHEN 'text' THEN length({0}) + ifnull(unicode({0}) * 31 + unicode(substr({0}, -1)) * 961, 0) "
    "WHEN 'blob' THEN length({0}) + 2 ELSE 1 END"
)


class Proof(NamedTuple):
    """What shows the content of `table`: its number of rows, and sums of its columns' values and of
    `WHOLE`, by name, in whatever order the rows lie."""

    table: str
    sums: dict[str, str]

    def query(self, without: Collection[str] = ()) -> Query:
        """As a query, `without` the sums of these names."""
        sums = [sql for name, sql in self.sums.items() if name not in without]
        chosen = {"held": "count(*)", **{f"sum_{n}": sql for n, sql in enumerate(sums, 1)}}
        columns = ", ".join(f"{sql} AS {name}" for name, sql in chosen.items())
        return Query(
            sql=f"SELECT {columns} FROM {quoted(self.table)}",
            columns=dict.fromkeys(chosen, "integer"),
        )


def proof(connection: sqlite3.Connection, table: str) -> Proof:
    """The proof of a table of the database; of a virtual table, what lies behind one, and a large
    one the number of rows alone."""
    kinds = "SELECT type FROM pragma_table_list(?) WHERE schema = 'main'"
    kind = next(connection.execute(kinds, [table]), ("virtual",))[0]
    if kind != "table":
        return Proof(table, {})
    (many,) = connection.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM {quoted(table)} LIMIT {MOST_ROWS + 1})"
    ).fetchone()
    if many > MOST_ROWS:
        return Proof(table, {})
    names = [str(row[1]) for row in connection.execute(f"PRAGMA table_info({quoted(table)})")]
    terms = {name: _TERM.format(quoted(name)) for name in names}
    whole = "1"
    for number, term in enumerate(terms.values()):
        whole = f"({whole} + {number}) * ({term} + 1000003) % 2147483647"  # no sum: rows may swap
    sums = {name: f"ifnull(sum({term}), 0)" for name, term in {**terms, WHOLE: whole}.items()}
    return Proof(table, sums)


class Decided(NamedTuple):
    """What the order of the workers decides: sums by table, and how many rows are `affected`."""

    sums: dict[str, set[str]]
    affected: bool

    def __str__(self) -> str:
        """As a sentence, "" for nothing."""
        parts = [
            f"{listed(sorted(names - {WHOLE})) or 'which row is which'} of {table}"
            for table, names in self.sums.items()
        ]
        parts += ["how many rows are changed"] * self.affected
        if not parts:
            return ""
        return (
            f"With several workers their order decides {listed(parts)}: that is not compared, all "
            "else that was written is."
        )


def decided_by_order(file: Path, mix: Scenario, proofs: Mapping[str, Proof]) -> Decided:
    """What of `proofs` differs with the order in which the operations of `mix` come: they are done
    forwards, backwards and shuffled, each time in a transaction that is rolled back, in a copy of
    the database in `file`. What takes too long, or fails, is all decided by the order.
    """
    numbers = [*range((mix.warmup_operations or 0) + (mix.timed_operations or mix.operations))]
    shuffled = random.Random(1).sample(numbers, len(numbers))
    seen: list[tuple[dict[str, list[int]], int]] = []
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        copy = Path(folder) / "copy.db"
        fresh_copy(file, copy)
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            for order in (numbers, numbers[::-1], shuffled):
                connection.execute("BEGIN")
                try:
                    with limited(connection), confined(connection):
                        affected = _perform(connection, mix, order)
                except Refused:
                    everything = {table: {*of.sums} for table, of in proofs.items()}
                    return Decided(everything, affected=True)
                held = {
                    table: [*connection.execute(of.query().sql).fetchone()][1:]
                    for table, of in proofs.items()
                }
                seen.append((held, affected))
                connection.execute("ROLLBACK")
    sums = {
        table: {
            name
            for name, *values in zip(of.sums, *(held[table] for held, _ in seen), strict=True)
            if len({*values}) > 1
        }
        for table, of in proofs.items()
    }
    return Decided(
        {table: names for table, names in sums.items() if names},
        affected=len({affected for _, affected in seen}) > 1,
    )


def _perform(connection: sqlite3.Connection, mix: Scenario, order: Iterable[int]) -> int:
    """Do the operations of `mix` in this order, all in one transaction; how many rows its
    statements changed."""
    steps = [
        (step.text({}), bound(step.given) or [[]], step.repeat)
        for step in mix.steps
        if step.operation == "run"
    ]
    affected = 0
    for number in order:
        for sql, rows, repeat in steps:
            for n in range(number * repeat, (number + 1) * repeat):
                affected += max(connection.execute(sql, rows[n % len(rows)]).rowcount, 0)
    return affected
