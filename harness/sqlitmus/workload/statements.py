"""What SQLite says of a statement: its parameters, its columns, the tables that it writes."""

import re
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

PATIENCE_S = 20.0
STEP = 1000  # instructions of SQLite's virtual machine between two looks at the clock
_QUOTED = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/", re.DOTALL
)
_NAMED = re.compile(r"[:@$][A-Za-z_]\w*|\?\d+")
_USES = re.compile(r"uses (\d+),")
_ACTIONS: dict[int, Literal["insert", "update", "delete"]] = {
    sqlite3.SQLITE_INSERT: "insert",
    sqlite3.SQLITE_UPDATE: "update",
    sqlite3.SQLITE_DELETE: "delete",
}
# what a workload may not do: it would leave the copy that it was given, or change its schema
_FORBIDDEN = {
    sqlite3.SQLITE_ATTACH: "attaches another database",
    sqlite3.SQLITE_DETACH: "detaches a database",
    sqlite3.SQLITE_PRAGMA: "sets a pragma; choose a profile",
    sqlite3.SQLITE_TRANSACTION: "begins or ends a transaction; use the key transaction",
    sqlite3.SQLITE_SAVEPOINT: "uses a savepoint; use the key transaction",
    sqlite3.SQLITE_CREATE_TABLE: "creates a table",
    sqlite3.SQLITE_CREATE_INDEX: "creates an index",
    sqlite3.SQLITE_DROP_TABLE: "drops a table",
    sqlite3.SQLITE_DROP_INDEX: "drops an index",
    sqlite3.SQLITE_ALTER_TABLE: "alters a table",
}


class Refused(Exception):
    """A statement that cannot be measured; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What a statement is: how many parameters, which columns, what it does to which tables."""

    parameters: int
    names: list[str]
    writes: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    @property
    def reads(self) -> bool:
        """Whether it only reads."""
        return not self.writes


def look(connection: sqlite3.Connection, sql: str) -> Looked:
    """Compile `sql`, and run nothing. Raises Refused, with SQLite's words and the column."""
    bare = _QUOTED.sub(lambda match: " " * len(match[0]), sql)
    if named := _NAMED.search(bare):
        raise Refused(
            f"{_where(sql, named.start())}: {named[0]} has a name; write ? for each value"
        )
    if not bare.strip(" \t\r\n;"):
        raise Refused("there is no statement in it")
    writes: dict[str, set[str]] = {}
    forbidden: list[str] = []

    def note(action: int, first: str | None, *_: str | None) -> int:
        if action in _ACTIONS and first and not first.startswith("sqlite_"):
            writes.setdefault(first, set()).add(_ACTIONS[action])
        if action in _FORBIDDEN:
            forbidden.append(_FORBIDDEN[action])
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    connection.set_authorizer(note)
    try:
        count = _count(connection, sql)
        cursor = connection.execute(f"EXPLAIN {sql}", [None] * count)
        cursor.close()
    except (sqlite3.Error, sqlite3.Warning) as error:
        if "one statement at a time" in str(error):
            raise Refused("there are several statements in it; list them as statements") from error
        if forbidden:
            raise Refused(f"it {forbidden[0]}") from error
        raise Refused(_words(sql, error)) from error
    finally:
        connection.set_authorizer(None)
    return Looked(count, [] if writes else _names(connection, sql, count), writes)


def _count(connection: sqlite3.Connection, sql: str) -> int:
    try:
        connection.execute(f"EXPLAIN {sql}").close()
    except sqlite3.ProgrammingError as error:
        if uses := _USES.search(str(error)):
            return int(uses[1])
        raise
    return 0


def _names(connection: sqlite3.Connection, sql: str, count: int) -> list[str]:
    """The names of its columns, from a query around it that gives no row."""
    bare = sql.strip().rstrip(";")
    with limited(connection):
        cursor = connection.execute(bare, [None] * count)
        return [column[0] for column in cursor.description or ()]


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
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
            raise Refused(f"it takes longer than {patience_s:g} s; is an index missing?") from error
        raise Refused(f"SQLite says: {error}") from error
    except sqlite3.Error as error:
        raise Refused(f"SQLite says: {error}") from error
    finally:
        connection.set_progress_handler(None, 0)


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
