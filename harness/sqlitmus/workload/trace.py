"""A trace, `.jsonl`: its statements as queries, grouped by SQL and transaction, weighted by
their counts.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, cast

from pydantic import BeforeValidator, Field, ValidationError

from sqlitmus.catalog.toml import place
from sqlitmus.machine import plainfiles
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import counted
from sqlitmus.workload.file import Query, Recording, Scalar, Source, Statement
from sqlitmus.workload.statements import LONGEST

TOLD = 20  # bad lines

Kind = Literal["none", "deferred", "immediate"]
Operation = Literal["get", "all", "iterate", "run"]
_TRANSACTION = r"(?:\s+TRANSACTION)?"
_BEGIN = re.compile(rf"BEGIN(?:\s+(DEFERRED|IMMEDIATE|EXCLUSIVE))?{_TRANSACTION}", re.IGNORECASE)
_END = re.compile(rf"(COMMIT|END|ROLLBACK){_TRANSACTION}", re.IGNORECASE)
_SAVEPOINT = re.compile(
    rf"(SAVEPOINT|RELEASE|ROLLBACK{_TRANSACTION}\s+TO)(?:(?<!SAVEPOINT)\s+SAVEPOINT)?\s+"
    r"""(\w+|(["'`]).+\3|\[.+\])""",
    re.IGNORECASE,
)
_WORDS = {
    "missing": "is missing; a line is an object with sql and parameters",
    "model_type": "a line is an object with sql and parameters",
    "extra_forbidden": "there is no such key; a line has sql, parameters, operation, connection, "
    "at",
}


def _bound(value: object) -> object:
    """What a line binds. JSON has no blobs: they are written as {"blob": "00ff"}."""
    if isinstance(value, dict):
        (key, text), *more = cast("dict[str, object]", value).items() or [("", "")]
        if key != "blob" or more:
            raise ValueError('an object is a blob, such as {"blob": "00ff"}')
        return bytes.fromhex(str(text))
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("an integer has 64 bits at most")
    return value


class Line(Model):
    """A statement as it was run; its `connection` tells transactions apart that overlap, and it
    began `at` so many seconds after some moment."""

    sql: Annotated[str, Field(min_length=1)]
    parameters: list[Annotated[Scalar, BeforeValidator(_bound)]] = []
    operation: Operation | None = None
    connection: int | str | None = None
    at: Annotated[float, Field(allow_inf_nan=False)] | None = None


# A trace that a driver writes has values in its SQL: those that differ become parameters.
_VALUE = "\ue000"  # stands for a value that was taken out
_LITERAL = re.compile(
    r"""("(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/)"""
    r"""|([xX]'[0-9a-fA-F]*'|'(?:[^']|'')*'|(?<![\w.$:@?])\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)(?!\w)""",
    re.DOTALL,
)


def taken_out(line: Line) -> Line:
    """`line` with the texts of its values as parameters, where it says no parameters itself."""
    if "parameters" in line.model_fields_set:
        return line
    texts: list[Scalar] = []

    def take(match: re.Match[str]) -> str:
        if match[1]:
            return match[1]
        texts.append(match[2])
        return _VALUE

    return line.model_copy(update={"sql": _LITERAL.sub(take, line.sql), "parameters": texts})


def _of_literal(text: str) -> Scalar:
    if text[0] in "xX":
        return bytes.fromhex(text[2:-1])
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    number = float(text)
    # JavaScript's drivers write all numbers as reals
    whole = int(text) if text.isdigit() else int(number) if number.is_integer() else None
    return number if whole is None or whole >= 2**63 else whole


def put_back(sql: str, rows: "Rows") -> tuple[str, "Rows"]:
    """`sql` with `?` for values that differ from row to row, which are left, and the others as they
    were written: half of 7 is 3.5 by 2.0, and 3 by 2."""
    if _VALUE not in sql:
        return sql, rows
    columns = [*zip(*rows, strict=True)]
    differ = [len({*column}) > 1 for column in columns]
    first, *others = sql.split(_VALUE)
    text = first
    for column, differs, rest in zip(columns, differ, others, strict=True):
        text += ("?" if differs else str(column[0])) + rest
    left = [
        [_of_literal(str(value)) for value, differs in zip(row, differ, strict=True) if differs]
        for row in rows
    ]
    return text, left if any(differ) else []


@dataclass(slots=True)
class Unit:
    """What one connection did at once: statements of a transaction, or one without; with the
    numbers of their lines. `first` is its BEGIN, the savepoint that began it, or its statement, and
    `begun` the line of that.
    `savepoints` are those that are open: the name of each, and how many statements precede it."""

    kind: Kind
    begun: int
    first: Line
    lines: list[tuple[int, Line]] = field(default_factory=list[tuple[int, Line]])
    savepoints: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    by_savepoint: bool = False

    def savepoint(self, name: str) -> int | None:
        """The number of the last open savepoint of that name."""
        names = [each for each, _ in self.savepoints]
        return len(names) - 1 - names[::-1].index(name) if name in names else None


@dataclass(slots=True)
class Trace:
    """A trace's file while it is read: bad lines, and how often a transaction, or what followed a
    savepoint in it, was rolled back; by connection, the transactions that are under way."""

    file: Path
    problems: list[str] = field(default_factory=list[str])
    undone: int = 0
    under_way: dict[int | str | None, Unit] = field(default_factory=dict[int | str | None, Unit])

    def units(self) -> Iterator[Unit]:
        """What is done at once, in order of its end. Raises UsageError, at last for bad lines."""
        for number, line in self._lines():
            if begin := _BEGIN.fullmatch(line.sql):
                self.under_way[line.connection] = self._begun(number, line, begin[1] or "deferred")
            elif end := _END.fullmatch(line.sql):
                whole = self._ended(number, line, undone=end[1].upper() == "ROLLBACK")
                yield from filter(None, [whole])
            elif point := _SAVEPOINT.fullmatch(line.sql):
                yield from filter(None, [self._at_savepoint(number, line, point)])
            elif line.connection in self.under_way:
                self.under_way[line.connection].lines.append((number, line))
            else:
                yield Unit("none", number, line, [(number, line)])
        for unit in self.under_way.values():
            self._wrong(unit.begun, "it begins a transaction that no line ends")
        if self.problems:
            more = len(self.problems) - TOLD
            rest = [f"{self.file}: and {more} more such lines"] if more > 0 else []
            raise UsageError("\n".join([*self.problems[:TOLD], *rest]))

    def _ended(self, number: int, line: Line, *, undone: bool) -> Unit | None:
        """The unit that a line ends, None for one without statements or that is `undone`."""
        unit = self.under_way.pop(line.connection, None)
        if unit is None:
            self._wrong(number, "it ends a transaction that no line began")
        elif undone:
            self.undone += 1
        elif unit.lines:
            return unit
        return None

    def _at_savepoint(self, number: int, line: Line, point: re.Match[str]) -> Unit | None:
        """Begin, release or roll back to a savepoint; the unit that this ends, where it ends one.
        What is released is a part of its transaction, what is rolled back was never done."""
        unit, verb = self.under_way.get(line.connection), point[1].upper()
        name = (point[2][1:-1] if point[2][0] in "\"'`[" else point[2]).lower()
        if verb == "SAVEPOINT":
            unit = unit or Unit("deferred", number, line, by_savepoint=True)
            unit.savepoints.append((name, len(unit.lines)))
            self.under_way[line.connection] = unit
            return None
        at = unit.savepoint(name) if unit else None
        if unit is None or at is None:
            self._wrong(number, "it names a savepoint that no line began, or that has ended")
            return None
        _, before = unit.savepoints[at]
        if verb != "RELEASE":
            self.undone += len(unit.lines) > before
            del unit.lines[before:], unit.savepoints[at + 1 :]
            return None
        del unit.savepoints[at:]
        over = unit.by_savepoint and not unit.savepoints
        return self._ended(number, line, undone=False) if over else None

    def _begun(self, number: int, line: Line, kind: str) -> Unit:
        if outer := self.under_way.get(line.connection):
            self._wrong(
                number,
                f"it begins a transaction within that of line {outer.begun}; name each "
                "connection with connection",
            )
        if kind.lower() == "exclusive":
            self._wrong(number, "EXCLUSIVE transactions are not measured; use IMMEDIATE")
        return Unit("immediate" if kind.lower() == "immediate" else "deferred", number, line)

    def _lines(self) -> Iterator[tuple[int, Line]]:
        with plainfiles.named(self.file) as stream:
            for number, text in enumerate(stream, 1):
                if text.strip() and (line := self._line(number, text)):
                    yield number, line

    def _line(self, number: int, text: bytes) -> Line | None:
        try:
            line = Line.model_validate(json.loads(text))
        except ValidationError as error:
            first = error.errors()[0]
            words = _WORDS.get(first["type"], first["msg"].removeprefix("Value error, "))
            self._wrong(number, f"{place('', first['loc'][:2])}: {words}")
        except ValueError:
            self._wrong(number, "it is no JSON in UTF-8")
        else:
            bare = line.model_copy(update={"sql": line.sql.strip().rstrip(";").rstrip()})
            control = any(each.fullmatch(bare.sql) for each in (_BEGIN, _END, _SAVEPOINT))
            return bare if control else taken_out(bare)
        return None

    def _wrong(self, number: int, problem: str) -> None:
        self.problems.append(f"{self.file}:{number}: {problem}")


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
    groups, recorded = _grouped(file, say)
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
    bound: dict[str, list[Rows]] = {}
    names: dict[Shape, str] = {}
    for name, (shape, group) in _named(often).items():
        mine = [request.rows for request in recorded if request.shape == shape]
        queries[name], bound[name] = _query(shape, group, mine)
        places[name] = [f"{file}:{line}" for line in group.lines]
        names[shape] = name
    left = [request for request in recorded if request.shape in names]
    connections = {connection: n for n, connection in enumerate({r.connection: 0 for r in left})}
    times = [request.at for request in left if request.at is not None]
    recording = Recording(
        order=[names[request.shape] for request in left],
        connections=[connections[request.connection] for request in left],
        times=times if len(times) == len(left) else [],
        rows=bound,
    )
    return source.with_queries(queries, places, recording)


class _Request(NamedTuple):
    """A unit as it was run."""

    shape: Shape
    rows: list[Rows]
    connection: int | str | None
    at: float | None


def _grouped(file: Path, say: Callable[[str], None]) -> tuple[dict[Shape, _Group], list[_Request]]:
    """The units of a trace by shape, and its first ones in their order."""
    groups: dict[Shape, _Group] = {}
    recorded: list[_Request] = []
    trace = Trace(file)
    for unit in trace.units():
        runs, rows, lines = _runs(unit)
        shape = (unit.kind, runs)
        groups.setdefault(shape, _Group(lines)).add(rows)
        if len(recorded) < LONGEST:
            recorded.append(_Request(shape, rows, unit.first.connection, unit.first.at))
    if not groups:
        raise UsageError(f"{file}: it holds no statement; write one a line, as JSON with sql")
    if trace.undone:
        undone = counted(trace.undone, "transaction or part of one", "transactions or parts of one")
        say(f"{file}: read without {undone} that it rolls back")
    return groups, recorded


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


def _query(shape: Shape, group: _Group, recorded: Sequence[list[Rows]]) -> tuple[Query, list[Rows]]:
    """The query of units of a shape, and what each statement binds in those that were `recorded`,
    a row for each execution."""
    kind, runs = shape
    statements: list[Statement] = []
    bound: list[Rows] = []
    for number, run in enumerate(runs):
        pool = group.pool(number) if run.values else []
        mine = [row for rows in recorded for row in rows[number]]
        sql, rows = put_back(run.sql, [*pool, *mine] if run.values else [])
        statements.append(
            Statement(
                sql=sql, operation=run.operation, parameters=rows[: len(pool)], repeat=run.repeat
            )
        )
        bound.append(rows[len(pool) :] or [[] for _ in mine])
    return Query(weight=group.count, transaction=kind, statements=statements), bound


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
