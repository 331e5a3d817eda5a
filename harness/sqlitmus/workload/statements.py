"""What SQLite says of a statement: its parameters and their pool, its columns, its answers, and
how its writes are undone and proven.
"""

import random
import re
import sqlite3
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Literal, NamedTuple, cast

from sqlitmus.catalog import generate
from sqlitmus.catalog.authorizer import Compiled, Origin, Refused, compiled, confined
from sqlitmus.catalog.fixture import fresh_copy
from sqlitmus.catalog.generate import Value
from sqlitmus.catalog.scenario import QUOTED, ColumnType, Parameter, ScenarioStep
from sqlitmus.machine.process_tree import look_at_log
from sqlitmus.vocabulary.contract import NAME, Operation, Parameters, Type
from sqlitmus.vocabulary.text import listed, quoted
from sqlitmus.workload.file import Drawn, Statement

PATIENCE_S = 20.0
STEP = 1000  # instructions of SQLite's virtual machine between two looks at the clock
_PLACE = re.compile(r"(?<![\w$])(?:[:@$][A-Za-z_]\w*|\?\d*)")


def look(connection: sqlite3.Connection, sql: str) -> Compiled:
    """Compile `sql`, and run nothing; a view is not written, what its triggers write is.

    Raises Refused, with SQLite's words and the column.
    """
    if not _bare(sql).strip(" \t\r\n;"):
        raise Refused("there is no statement in it")
    seen = judged(connection, sql, Origin.QUERY)
    for (view,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'view'"):
        seen.writes.pop(view, None)
    return seen


# Functions that answer otherwise each time, or on each connection; and those of time, where they
# are asked for the present.
_CHANGING = {"random", "randomblob", "current_date", "current_time", "current_timestamp"}
_OF_BUILD = {"sqlite_version", "sqlite_source_id", "sqlite_compileoption_get", "sqlite_offset"}
_OF_WRITES = {"changes", "total_changes", "last_insert_rowid"}
_OF_TIME = {"date", "time", "datetime", "julianday", "strftime", "unixepoch"}
_NOW = re.compile(r"'now'|\b(?:date|time|datetime|julianday|unixepoch)\s*\(\s*\)", re.IGNORECASE)
_FORMAT_ALONE = re.compile(r"\bstrftime\s*\(\s*'[^']*'\s*\)", re.IGNORECASE)
# Functions that give the same real in every SQLite, or give none.
_EXACT = {
    *("abs", "coalesce", "count", "dense_rank", "first_value", "highlight", "ifnull", "iif", "lag"),
    *("last_value", "lead", "length", "like", "lower", "match", "max", "min", "nth_value", "ntile"),
    *("nullif", "rank", "row_number", "snippet", "substr", "typeof", "upper"),
}
_ROUNDING = {"format", "printf", "round"}  # halves up or down


def changing(connection: sqlite3.Connection, sql: str, looked: Compiled) -> frozenset[str]:
    """The functions that a statement, its views or triggers call, and that give something else each
    time or in each runner."""
    times = looked.calls & _OF_TIME
    if times:
        schema = connection.execute("SELECT type, name, sql FROM sqlite_schema")
        texts = [str(text) for kind, name, text in schema
                 if kind == "trigger" or (kind == "view" and name in looked.tables)]  # fmt: skip
        if not any(_NOW.search(text) or _FORMAT_ALONE.search(text) for text in [sql, *texts]):
            times = frozenset[str]()
    return looked.calls & (_CHANGING | _OF_BUILD) | times


def check_repeatable(
    connection: sqlite3.Connection, sql: str, looked: Compiled, *, written: bool
) -> None:
    """Raise Refused, with the function, for a reading statement with another answer each time;
    `written` if a statement before it in the same query writes."""
    of_writes = frozenset[str]() if written else looked.calls & _OF_WRITES
    called = changing(connection, sql, looked) | of_writes
    if called:
        raise Refused(
            f"it calls {listed(sorted(called))}, which answers otherwise each time or in each "
            "runner, so that answers cannot be compared; write ? and bind a value, or take it out"
        )


def compared_reals(
    columns: Mapping[str, str], looked: Compiled
) -> Literal["exact", "digits", "types"]:
    """What of a statement's reals is the same in each SQLite."""
    if not any(kind.startswith("real") for kind in columns.values()) or looked.calls <= _EXACT:
        return "exact"
    return "types" if looked.calls & _ROUNDING else "digits"


def judged(connection: sqlite3.Connection, sql: str, origin: Origin) -> Compiled:
    """Compile `sql`, and run nothing. Raises Refused, with SQLite's words and the column."""
    try:
        return compiled(connection, sql, origin)
    except sqlite3.Error as error:
        raise Refused(_words(sql, error)) from error


def _bare(sql: str) -> str:
    """`sql` with blanks in place of what is quoted or a comment."""
    return QUOTED.sub(lambda match: " " * len(match[0]), sql)


def positional(sql: str) -> tuple[str, list[int]]:
    """`sql` with `?` for each place of a parameter, and which value each gets, from 0.

    SQLite numbers them: a name by its first place, `?7` as it says, `?` after the largest so far.
    """
    text, end, order = "", 0, list[int]()
    numbers: dict[str, int] = {}
    for place in _PLACE.finditer(_bare(sql)):
        name = place[0]
        following = max(order, default=-1) + 1
        number = int(name[1:]) - 1 if name[1:].isdigit() else numbers.get(name, following)
        if name != "?":
            numbers[name] = number
        order.append(number)
        text, end = f"{text}{sql[end : place.start()]}?", place.end()
    return text + sql[end:], order


def names(sql: str) -> list[str]:
    """The name at each place of a parameter; none where not all are names that a driver can bind
    by, with or without the prefix."""
    places = [place[0] for place in _PLACE.finditer(_bare(sql))]
    bindable = all(re.fullmatch(NAME, place) for place in places)
    bare = {place[1:] for place in places}
    return places if bindable and len(bare) == len({*places}) else []


@contextmanager
def limited(
    connection: sqlite3.Connection, patience_s: float = PATIENCE_S
) -> Generator[Callable[[], int]]:
    """Raises Refused for what takes longer than `patience_s`; gives the number of looks so far."""
    end = time.monotonic() + patience_s
    ticks = 0

    def tick() -> bool:
        nonlocal ticks
        ticks += 1
        return time.monotonic() > end

    connection.set_progress_handler(tick, STEP)
    try:
        yield lambda: ticks
    except sqlite3.OperationalError as error:
        if str(error) == "user-defined function raised exception":  # ours raise nothing else
            raise KeyboardInterrupt from error
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
            if time.monotonic() <= end:  # sqlite3 turns a Ctrl-C in a handler into this
                raise KeyboardInterrupt from error
            raise Refused(f"it takes longer than {patience_s:g} s; is an index missing?") from error
        raise Refused(_said(error)) from error
    except sqlite3.Error as error:
        raise Refused(_said(error)) from error
    finally:
        connection.set_progress_handler(None, 0)


def _said(error: sqlite3.Error) -> str:
    """SQLite's words; of a text that is no UTF-8 only the column, since values are not shown."""
    if undecoded := re.search(r"Could not decode to UTF-8 column '(.*)' with text", str(error)):
        name = undecoded[1]
        return (
            f"column {name} holds a text that is no UTF-8, which languages read differently; read "
            f"it as CAST({name} AS BLOB)"
        )
    return f"SQLite says: {error}"


def _words(sql: str, error: Exception) -> str:
    """SQLite's words, with line and column of the place where they name one."""
    text = str(error)
    near = re.match(r'near "(.+)": syntax error', text, re.DOTALL)
    name = near or re.search(r"(?:no such \w+(?: \w+)*|ambiguous column name): (\S+)", text)
    at = sql.find(name[1].rpartition(".")[2]) if name else -1
    where = f"{_where(sql, at)}: " if at >= 0 else ""
    return f"{where}SQLite {sqlite3.sqlite_version} says: {text}"


def _where(sql: str, offset: int) -> str:
    before = sql[:offset]
    return f"line {before.count(chr(10)) + 1}, column {offset - (before.rfind(chr(10)) + 1) + 1}"


def never_null(connection: sqlite3.Connection, table: str) -> set[str]:
    """Columns of `table` that are declared so; its INTEGER PRIMARY KEY and its rowid, too."""
    rows = connection.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
    declared = (str(row[1]) for row in rows if row[3] or (row[5] and row[2] == "INTEGER"))
    return {"rowid", *declared}


LONGEST = 4096
BEARABLE = 200_000_000  # instructions of SQLite's virtual machine, about ten seconds
MOST_ANSWERED = 2**30  # bytes of all answers of a verification
Row = Sequence[Value]
_TYPES: dict[type, Type] = {int: "integer", float: "real", str: "text", bytes: "blob"}


class NoPool(Exception):
    """Parameters that give no pool; the message says why and what to do."""


def rows_of(drawn: Drawn, connection: sqlite3.Connection, seed: str) -> list[Row]:
    """The rows that `drawn` gives, of which there may be any number; raises NoPool.

    In a query `random()` is seeded, so that the same file gives the same rows.
    """
    if isinstance(drawn, str):
        return _asked(drawn, connection, seed)
    if drawn and isinstance(drawn[0], Parameter):
        generators = [each for each in drawn if isinstance(each, Parameter)]
        return [*generate.pool(generators, LONGEST, 0, seed)]
    return [
        row if isinstance(row, list) else [row] for row in drawn if not isinstance(row, Parameter)
    ]


def _asked(sql: str, connection: sqlite3.Connection, seed: str) -> list[Row]:
    rng = random.Random(seed)
    connection.create_function("random", 0, lambda: rng.getrandbits(64) - 2**63)
    try:
        seen = compiled(connection, sql, Origin.QUERY)
        if seen.changes or not seen.rows:
            what = "writes" if seen.changes else "gives no rows"
            raise NoPool(f"the query for parameters {what}; write a SELECT")
        with limited(connection), confined(connection):
            rows = generate.bindable(islice(connection.execute(sql), LONGEST))
    except (sqlite3.Error, Refused) as error:
        says = "" if isinstance(error, Refused) else "SQLite says: "
        raise NoPool(f"the query for parameters: {says}{error}") from error
    if not rows:
        raise NoPool("the query for parameters finds no row")
    return [row for row in rows if not _infinite(row)] or rows


def _infinite(row: Row) -> bool:
    """Whether it holds an infinity, for which JSON has no number."""
    return any(isinstance(value, float) and not isfinite(value) for value in row)


def arranged(rows: list[Row], order: list[int]) -> list[Row]:
    """`rows` with a value for each place of a statement, as `positional` numbers them."""
    count = max(order, default=-1) + 1
    widths = {len(row) for row in rows}
    if order == [*range(count)] or not widths:
        return rows
    if widths != {count}:
        raise NoPool(
            f"the SQL has {count} parameters, a row of parameters {min(widths - {count})} values"
        )
    return [[row[number] for number in order] for row in rows]


def pool(rows: Sequence[Row], count: int, *, distinct: bool) -> Parameters | None:
    """`rows` as the contract's pool for `count` placeholders; None without a placeholder.

    A pool's length is a power of two. Rows come again to fill it up; where they have to be
    `distinct`, because they are written, the last ones are left out instead. Raises NoPool.
    """
    if not count:
        if rows:
            raise NoPool("the SQL has no placeholder; take the parameters out")
        return None
    if not rows:
        raise NoPool(f"the SQL has {count} placeholders; say what parameters they get")
    widths = {len(row) for row in rows}
    if widths != {count}:
        raise NoPool(
            f"the SQL has {count} placeholders, a row of parameters {min(widths - {count})} values"
        )
    length = min(generate.power_of_two(len(rows)), LONGEST)
    if distinct and length > len(rows):
        length //= 2
    whole = [list(rows[n % len(rows)]) for n in range(length)]
    if any(map(_infinite, whole)):
        raise NoPool("a parameter is Infinity, which a job cannot hold; leave such rows out")
    generate.bindable(whole)
    types: list[Type] = [_type([row[place] for row in whole], place) for place in range(count)]
    for place, kind in enumerate(types):
        if kind == "real":
            for row in whole:
                value = row[place]
                row[place] = None if value is None else float(value)
    return Parameters(types=types, rows=[[generate.encoded(v) for v in row] for row in whole])


def _type(values: Sequence[Value], place: int) -> Type:
    kinds: set[Type] = {_TYPES[type(value)] for value in values if value is not None}
    if kinds == {"integer", "real"}:
        return "real"
    if len(kinds) > 1:
        raise NoPool(
            f"parameter {place + 1} has values of several types ({', '.join(sorted(kinds))})"
        )
    return cast("Type", min(kinds, default="text"))


def bearable(whole: Parameters | None, instructions: float, answer: float) -> Parameters | None:
    """So many rows of a pool as a runner can bind one after the other in a verification, where each
    costs so many `instructions` and gives an `answer` of so many bytes."""
    if whole is None:
        return None
    most = max(int(min(BEARABLE / max(instructions, 1), MOST_ANSWERED / max(answer, 1))), 1)
    length = min(len(whole.rows), 1 << (most.bit_length() - 1))
    return whole.model_copy(update={"rows": whole.rows[:length]})


def share(whole: Parameters | None, number: int, of: int) -> Parameters | None:
    """Part `number` of a pool of which `of` steps each get their own, as long as it is long enough;
    else the whole."""
    if whole is None:
        return None
    length = len(whole.rows) >> (of - 1).bit_length()
    if not length:
        return whole
    return whole.model_copy(update={"rows": whole.rows[number * length : (number + 1) * length]})


def reset(connection: sqlite3.Connection, written: Mapping[str, set[str]]) -> list[str]:
    """Statements that undo inserts into tables that nothing else happens to.

    New rows are those with a rowid beyond all that there were; which rows an update or a deletion
    changes is not known, so an update has to be one that can be done again. Raises Refused, with
    the reason, for what cannot be undone so.
    """
    statements: list[str] = []
    for table in _in_order(connection, written):
        actions = written[table]
        if "delete" in actions:
            raise Refused(f"it deletes from {table}")
        if "insert" in actions:
            statements.append(_without_new_rows(connection, table))
            statements += _numbering(connection, table)
    return statements


def _in_order(connection: sqlite3.Connection, written: Mapping[str, set[str]]) -> list[str]:
    """The tables, what was written last first; but those that a deletion from another writes to by
    its triggers after that. An FTS5 table is damaged by what is deleted from it twice."""
    following: set[str] = set()
    for table in written:
        deletion = judged(connection, f"DELETE FROM {quoted(table)}", Origin.QUERY)
        following |= deletion.writes.keys() - {table}
    last_first = [*written][::-1]
    return sorted(last_first, key=lambda table: table in following)


def _without_new_rows(connection: sqlite3.Connection, table: str) -> str:
    try:
        (most,) = connection.execute(f"SELECT max(rowid) FROM {quoted(table)}").fetchone()
    except sqlite3.Error as error:
        raise Refused(f"{table} has no rowid, by which new rows would be known") from error
    return f"DELETE FROM {quoted(table)} WHERE rowid > {most or 0}"


def _numbering(connection: sqlite3.Connection, table: str) -> list[str]:
    """What lets the rowids of an AUTOINCREMENT table begin where they did."""
    try:
        query = "SELECT seq FROM sqlite_sequence WHERE name = ?"
        row = connection.execute(query, [table]).fetchone()
    except sqlite3.Error:  # no table has such ids
        return []
    name = table.replace("'", "''")
    if row is None:
        return [f"DELETE FROM sqlite_sequence WHERE name = '{name}'"]
    return [f"UPDATE sqlite_sequence SET seq = {row[0]} WHERE name = '{name}'"]


MOST_ROWS, ENOUGH_S = 200_000, 5.0
WIDE = 2**53  # an integer that a double does not hold for sure


@dataclass(slots=True)
class Answered:
    """What a reading statement gave for all of its pool: types by column, and instructions of
    SQLite's virtual machine and bytes per execution, which do not depend on the machine's pace;
    whether all
    texts begin and end in ASCII, whether integers are `wide`, beyond 2^53, and which columns hold
    texts with the character U+0000."""

    columns: dict[str, ColumnType] = field(default_factory=dict[str, ColumnType])
    instructions: float = 0.0
    size: float = 0.0
    ascii_ends: bool = True
    wide: bool = False
    cut: set[str] = field(default_factory=set[str])
    types: dict[str, set[type]] = field(default_factory=dict[str, set[type]])

    def see(self, row: Iterable[object]) -> None:
        """One more row, of the columns that `types` names."""
        row = tuple(row)
        self.size += generate.size([row])
        for name, value in zip(self.types, row, strict=False):
            self.types[name].add(type(value))
            if isinstance(value, str) and value:
                self.ascii_ends &= (value[0] + value[-1]).isascii()
                self.cut |= {name} if "\0" in value else set()
            elif isinstance(value, int):
                self.wide |= abs(value) >= WIDE

    def typed(self) -> dict[str, ColumnType]:
        """The columns, of the types of their values; raises Refused for several of one."""
        return {name: _column(name, seen) for name, seen in self.types.items()}


def answer(
    connection: sqlite3.Connection,
    sql: str,
    pool: Sequence[Row],
    *,
    first: bool,
) -> Answered:
    """Run a reading statement, which was compiled, with each row of `pool`, or with none, and see
    what comes.

    `first` fetches the first row only; of a slow one's rows as many as `ENOUGH_S` allows are bound.
    Raises Refused for columns that have one name, or whose values have several types, which no
    typed getter reads, and for a statement that takes too long.
    """
    rows, times, answered = 0, 0, Answered()
    end = time.monotonic() + ENOUGH_S
    with limited(connection) as ticks, confined(connection):
        for bound in pool or [[]]:
            cursor = connection.execute(sql, bound)
            answered.types = answered.types or {name: set() for name in _names(cursor)}
            fetched = [cursor.fetchone() or ()] if first else cursor
            for row in cast("Iterable[tuple[object, ...]]", fetched):
                rows += bool(row)
                answered.see(row)
                if rows > MOST_ROWS:
                    break
            cursor.close()
            times += 1
            if rows > MOST_ROWS or time.monotonic() > end:
                break
    answered.columns = answered.typed()
    answered.instructions, answered.size = STEP * ticks() / times, answered.size / times
    return answered


def _column(name: str, seen: set[type]) -> ColumnType:
    """The column's type, of the types of its values; raises Refused for several."""
    kinds = sorted(_TYPES[kind] for kind in seen if kind in _TYPES)
    if len(kinds) > 1:
        raise Refused(
            f"column {name} holds values of several types ({', '.join(kinds)}); give it one "
            f"with CAST({name} AS …)"
        )
    nullable = "?" if type(None) in seen else ""
    return cast("ColumnType", f"{kinds[0] if kinds else 'text'}{nullable}")


def _names(cursor: sqlite3.Cursor) -> list[str]:
    names = [str(column[0]) for column in cursor.description or ()]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Refused(f"two columns are called {twice[0]}; give one another name with AS")
    return names


SAMPLED = 64  # times that a query is done to see how many pages it appends to the log


def wrong_resets(resets: Sequence[str], connection: sqlite3.Connection) -> dict[int, str]:
    """Why statements may not undo anything, by their numbers."""
    wrong: dict[int, str] = {}
    for number, sql in enumerate(resets):
        try:
            judged(connection, sql, Origin.RESET)
        except Refused as error:
            wrong[number] = str(error)
    return wrong


def operation_of(statement: Statement, looked: Compiled) -> Operation:
    """How it is executed: as it says, or as fits. Raises Refused for what does not fit."""
    operation = statement.operation
    if looked.rows:
        if operation == "run":
            raise Refused("operation is run, but the statement gives rows; use get, all or iterate")
        return operation or "all"
    if looked.reads:
        raise Refused("it neither gives rows nor writes to a table of the database")
    if operation not in (None, "run"):
        tables = ", ".join(sorted(looked.writes))
        raise Refused(f"operation is {operation}, but the statement writes to {tables}; use run")
    return "run"


def bound(given: Parameters | None) -> list[list[Value]]:
    """The rows of a pool as SQLite takes them."""
    if given is None:
        return []
    return [
        [_decoded(value, kind) for value, kind in zip(row, given.types, strict=True)]
        for row in given.rows
    ]


def _decoded(value: float | str | None, kind: str) -> Value:
    if isinstance(value, str) and kind == "blob":
        return bytes.fromhex(value)
    return int(value) if isinstance(value, str) and kind == "integer" else value


class Query(NamedTuple):
    """A query: in a `transaction`, each statement with its pool and how often it is executed;
    `most` times without a row that comes again."""

    transaction: str
    steps: list[tuple[str, list[list[Value]], int]]
    most: int | None

    @classmethod
    def of(
        cls, steps: Iterable[ScenarioStep], transaction: str = "none", most: int | None = None
    ) -> "Query":
        """The query that does these steps."""
        placed = {"binding": "positional"}
        done = [(step.text(placed), bound(step.given) or [[]], step.repeat) for step in steps]
        return cls(transaction, done, most)


def logged(file: Path, queries: Mapping[str, Query], *, keys: bool = False) -> dict[str, float]:
    """Pages that each query appends to a write-ahead log, by name; in a copy of `file` they are
    done one after the other. Those that fail are left out."""
    pages: dict[str, float] = {}
    with scratch(file, keys=keys) as (connection, copy):
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        for name, query in queries.items():
            times = min(SAMPLED, query.most or SAMPLED)
            _, before = look_at_log(copy)
            with suppress(Refused), limited(connection), confined(connection):
                for number in range(times):
                    do(connection, query, number)
                pages[name] = (look_at_log(copy)[1] - before) / times
            if connection.in_transaction:
                connection.execute("ROLLBACK")
    return pages


@contextmanager
def scratch(file: Path, *, keys: bool) -> Generator[tuple[sqlite3.Connection, Path]]:
    """A connection, which checks foreign `keys` or not, to a copy of `file`, and its path."""
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        copy = Path(folder) / "copy.db"
        fresh_copy(file, copy)
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA foreign_keys = {keys:d}")
            yield connection, copy


def do(connection: sqlite3.Connection, query: Query, number: int) -> list[int]:
    """Do the query once, with the rows of its pools that are due at the operation `number`; how
    many rows each of its steps changed."""
    changed = [0] * len(query.steps)
    if query.transaction != "none":
        connection.execute(f"BEGIN {query.transaction.upper()}")
    for step, (sql, rows, repeat) in enumerate(query.steps):
        for n in range(number * repeat, (number + 1) * repeat):
            cursor = connection.execute(sql, rows[n % len(rows)])
            cursor.fetchall()
            changed[step] += max(cursor.rowcount, 0)
    if query.transaction != "none":
        connection.execute("COMMIT")
    return changed
