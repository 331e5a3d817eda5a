"""What SQLite says of a statement: its parameters, its columns, the tables that it writes."""

import re
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from sqlitmus.catalog.authorizer import Compiled, Origin, Refused, compiled

PATIENCE_S = 20.0
STEP = 1000  # instructions of SQLite's virtual machine between two looks at the clock
_QUOTED = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/", re.DOTALL
)
_NAMED = re.compile(r"[:@$][A-Za-z_]\w*|\?\d+")


def look(connection: sqlite3.Connection, sql: str) -> Compiled:
    """Compile `sql`, and run nothing; a view is not written, what its triggers write is.

    Raises Refused, with SQLite's words and the column.
    """
    bare = _QUOTED.sub(lambda match: " " * len(match[0]), sql)
    if named := _NAMED.search(bare):
        raise Refused(
            f"{_where(sql, named.start())}: {named[0]} has a name; write ? for each value"
        )
    if not bare.strip(" \t\r\n;"):
        raise Refused("there is no statement in it")
    seen = judged(connection, sql, Origin.QUERY)
    for (view,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'view'"):
        seen.writes.pop(view, None)
    return seen


def judged(connection: sqlite3.Connection, sql: str, origin: Origin) -> Compiled:
    """Compile `sql`, and run nothing. Raises Refused, with SQLite's words and the column."""
    try:
        return compiled(connection, sql, origin)
    except sqlite3.Error as error:
        raise Refused(_words(sql, error)) from error


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
