"""A trace's statements as queries: grouped by SQL and transaction, weighted by their counts."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.workload.file import Query, Scalar, Source, Statement
from sqlitmus.workload.pools import LONGEST
from sqlitmus.workload.tracefile import Kind, Line, Operation, Trace, Unit

LEAST = 1 / 200  # of all that comes: what is rarer would be rounded away in the mix, or up
MOST = 40  # different queries, each of which is measured alone, too

_TABLE = re.compile(r"\b(?:FROM|INTO|UPDATE|JOIN)\s+[\"`\[]?(\w+)", re.IGNORECASE)
Rows = list[list[Scalar]]


class Run(NamedTuple):
    """A statement of a query, how many values it binds, and how often it comes in a row."""

    sql: str
    operation: Operation | None
    values: int
    repeat: int


Shape = tuple[Kind, tuple[Run, ...]]


@dataclass(slots=True)
class _Group:
    """Units of one shape: how many, the lines of the first, and what some of them bound: fewer than
    twice `LONGEST`, evenly spread. `bound` is units x runs x rows."""

    lines: list[int]
    count: int = 0
    stride: int = 1
    bound: list[list[Rows]] = field(default_factory=list[list[Rows]])

    def add(self, rows: list[Rows]) -> None:
        """One more unit."""
        if self.count % self.stride == 0:
            self.bound.append(rows)
        self.count += 1
        if len(self.bound) == 2 * LONGEST:
            self.bound, self.stride = self.bound[::2], 2 * self.stride

    def pool(self, number: int) -> Rows:
        """What its run of that number binds."""
        length = min(len(self.bound), LONGEST)
        chosen = [self.bound[n * len(self.bound) // length][number] for n in range(length)]
        return [row for rows in chosen for row in rows]


def with_queries(source: Source, say: Callable[[str], None]) -> Source:
    """`source` with the queries of its trace, where it has one; `say` hears what is left out.

    Raises UsageError with file and line for what is no statement or no whole transaction.
    """
    if source.workload.trace is None:
        return source
    file = source.beside(source.workload.trace)
    groups = _grouped(file, say)
    total = sum(group.count for group in groups.values())
    often = {shape: group for shape, group in groups.items() if group.count >= LEAST * total}
    if rare := len(groups) - len(often):
        share = 1 - sum(group.count for group in often.values()) / total
        say(
            f"{file}: read without {counted(rare, 'query', 'queries')} that make up less than "
            f"{LEAST:.1%} each and {share:.1%} together"
        )
    if not 0 < len(often) <= MOST:
        raise UsageError(
            f"{file}: it has {len(groups)} different queries, and {MOST} at most can be measured; "
            "where the SQL holds values, write ? for each, and the values into parameters"
        )
    queries: dict[str, Query] = {}
    places: dict[str, list[str]] = {}
    for name, (shape, group) in _named(often).items():
        queries[name] = _query(shape, group)
        places[name] = [f"{file}:{line}" for line in group.lines]
    return source.with_queries(queries, places)


def _grouped(file: Path, say: Callable[[str], None]) -> dict[Shape, _Group]:
    groups: dict[Shape, _Group] = {}
    trace = Trace(file)
    for unit in trace.units():
        runs, rows, lines = _runs(unit)
        groups.setdefault((unit.kind, runs), _Group(lines)).add(rows)
    if not groups:
        raise UsageError(f"{file}: it holds no statement; write one a line, as JSON with sql")
    if trace.undone:
        say(f"{file}: read without {counted(trace.undone, 'transaction')} that it rolls back")
    return groups


def _runs(unit: Unit) -> tuple[tuple[Run, ...], list[Rows], list[int]]:
    """The statements of a unit, what each binds, and on which line each begins."""
    runs: list[Run] = []
    rows: list[Rows] = []
    lines: list[int] = []
    for alike, several in groupby(unit.lines, _alike):
        together = list(several)
        runs.append(Run(*alike, len(together)))
        rows.append([line.parameters for _, line in together])
        lines.append(together[0][0])
    return tuple(runs), rows, lines


def _alike(numbered: tuple[int, Line]) -> tuple[str, Operation | None, int]:
    _, line = numbered
    return line.sql, line.operation, len(line.parameters)


def _query(shape: Shape, group: _Group) -> Query:
    kind, runs = shape
    statements = [
        Statement(
            sql=run.sql,
            operation=run.operation,
            parameters=group.pool(number) if run.values else [],
            repeat=run.repeat,
        )
        for number, run in enumerate(runs)
    ]
    return Query(weight=group.count, transaction=kind, statements=statements)


def _named(groups: Mapping[Shape, _Group]) -> dict[str, tuple[Shape, _Group]]:
    """The groups by names that their SQL gives, the most frequent first."""
    names: Counter[str] = Counter()
    named: dict[str, tuple[Shape, _Group]] = {}
    for shape, group in sorted(groups.items(), key=lambda each: -each[1].count):
        name = _name(*shape)
        names[name] += 1
        named[f"{name}-{names[name]}" if names[name] > 1 else name] = (shape, group)
    return named


def _name(kind: Kind, runs: Sequence[Run]) -> str:
    """Such as `select-document`; of a transaction by its first statement that is no SELECT."""
    first = next((run.sql for run in runs if not run.sql.upper().startswith("SELECT")), runs[0].sql)
    verb, table = re.match(r"\w+", first), _TABLE.search(first)
    words = ["in-transaction"] * (kind != "none") + [match[0] for match in (verb,) if match]
    text = "-".join([*words, *([table[1]] if table else [])]).lower()
    return re.sub(r"[^a-z0-9]+", "-", text)[:34].strip("-") or "query"
