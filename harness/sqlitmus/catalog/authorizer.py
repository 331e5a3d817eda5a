"""What SQL that somebody wrote may do: SQLite's authorizer says, before anything runs.

Runners have no authorizer. What they are given is compiled here, letter for letter, and reaches the
database that it was written for and no other file.
"""

import re
import sqlite3
import tomllib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Literal

from sqlitmus.vocabulary.errors import UsageError


class Refused(UsageError):
    """SQL that may not run, or cannot be measured; the message says why and what to do."""


class Origin(IntEnum):
    """Whose SQL it is. What is refused of one is refused of all below it."""

    CATALOGUE = 0  # a scenario or a fixture
    RESET = 1  # of a workload
    QUERY = 2  # a workload's statement, or its query for parameters


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
# What is refused, since which origin, and in which words.
_ACTIONS: dict[int, tuple[Origin, str]] = {
    getattr(sqlite3, f"SQLITE_{action}"): (Origin[origin], words + _TABLE["advice"].get(origin, ""))
    for origin, actions in _TABLE["actions"].items()
    for names, words in actions.items()
    for action in names.split()
}
_VACUUM_INTO = "it writes another file by VACUUM INTO; VACUUM alone stays within the database"

_FUNCTIONS, _MODULES, _ACTING = (
    set(_TABLE[name].split()) for name in ("functions", "modules", "acting")
)
_PRAGMAS = {
    name: Origin[origin] for origin, names in _TABLE["pragmas"].items() for name in names.split()
}
_WRITES: dict[int, Literal["insert", "update", "delete"]] = {
    sqlite3.SQLITE_INSERT: "insert",
    sqlite3.SQLITE_UPDATE: "update",
    sqlite3.SQLITE_DELETE: "delete",
}

_COMMENT = r"--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z)"
_BLANK = re.compile(rf"(?:\s|\ufeff|{_COMMENT})*", re.DOTALL)
_CALLS = re.compile(rf"\b({'|'.join(sorted(_FUNCTIONS))})\b[\"'`\]]?\s*\(", re.IGNORECASE)
_USES = re.compile(r"uses (\d+),")


@dataclass(slots=True)
class Watch:
    """What SQLite asked whether it may do it: why not, what it does to which tables and views,
    and which functions it calls, in small letters; a column `rank` of FTS5 calls bm25."""

    origin: Origin
    refused: str = ""
    writes: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    reads: set[str] = field(default_factory=set[str])
    calls: set[str] = field(default_factory=set[str])

    def __call__(
        self, action: int, first: str | None, second: str | None, _: str | None, inner: str | None
    ) -> int:
        """The authorizer; `inner` is the trigger or view that asks."""
        internal = (first or "").startswith("sqlite_")  # such as what ANALYZE writes
        if action in _WRITES and first and not internal:
            self.writes.setdefault(first, set()).add(_WRITES[action])
        if action == sqlite3.SQLITE_READ and first:
            self.reads.add(first)
            self.calls |= {"bm25"} if second == "rank" else set()
        if action == sqlite3.SQLITE_FUNCTION and second:
            self.calls.add(second.lower())
        if action == sqlite3.SQLITE_CREATE_TABLE and internal:
            return sqlite3.SQLITE_OK
        words = _refusal(self.origin, action, first, second)
        if not words:
            return sqlite3.SQLITE_OK
        self.refused = f"in {inner}, it {words}" if inner else f"it {words}"
        return sqlite3.SQLITE_DENY


def _refusal(origin: Origin, action: int, first: str | None, second: str | None) -> str:
    """Why an action is refused; "" if it is not."""
    if action == sqlite3.SQLITE_PRAGMA:
        return _of_pragma(origin, (first or "").lower(), second)
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FUNCTIONS:
        return _calls(str(second))
    since, words = _ACTIONS.get(action, (None, ""))
    if since is not None and origin >= since:
        return words
    if action == sqlite3.SQLITE_CREATE_VTABLE and (second or "").lower() not in _MODULES:
        return (
            f"uses the module {second}, which is none of SQLite's own that keep to the database "
            f"({', '.join(sorted(_MODULES))}), and no runner loads others; use one of these"
        )
    return ""


def _calls(function: str) -> str:
    return f"calls {function}, which reaches beyond the database; take it out"


def names_a_reaching_function(sql: str) -> bool:
    """Whether a function that reaches beyond the database may be called anywhere in `sql`."""
    return any(name in sql.lower() for name in _FUNCTIONS)


def _of_pragma(origin: Origin, name: str, value: str | None) -> str:
    """Why a pragma is refused. SQLite asks for some without a value by itself, as for FTS5."""
    if value is None and name not in _ACTING:
        return ""
    most = _PRAGMAS.get(name)
    if most is None:
        return f"sets PRAGMA {name}, which may reach beyond the database's rows; take it out"
    if origin <= most:
        return ""
    if name in _ACTING:
        return f"runs PRAGMA {name}; that can stand in reset"
    return "sets a pragma; choose a profile, or write it under [pragmas]"


@contextmanager
def confined(connection: sqlite3.Connection, origin: Origin = Origin.CATALOGUE) -> Generator[Watch]:
    """Let `connection` compile in the block what is allowed, for whoever asks.

    Raises Refused in place of SQLite's error for what is not.
    """
    watch = Watch(origin)
    connection.set_authorizer(watch)
    try:
        yield watch
    except sqlite3.Error as error:
        if watch.refused:
            raise Refused(watch.refused) from error
        raise
    finally:
        connection.set_authorizer(None)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a statement is: how many parameters, whether it gives rows and changes the file, what
    it does to which tables, and which it reads and functions it calls, as of `Watch`."""

    parameters: int
    rows: bool
    changes: bool = False
    writes: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    tables: frozenset[str] = field(default=frozenset(), compare=False)
    calls: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def reads(self) -> bool:
        """Whether it only reads."""
        return not self.writes


def compiled(connection: sqlite3.Connection, sql: str, origin: Origin) -> Compiled:
    """Compile `sql`, and run nothing. Raises Refused for what its `origin` may not do, and
    sqlite3.Error for what is no SQL."""
    _one_statement(sql)
    # SQLite compiles what a trigger, a view or a default does when it is used.
    if verb(sql) == "create" and (call := _CALLS.search(sql)):
        raise Refused(f"it {_calls(call[1])}")
    # Virtual tables prepare statements of their own when they are first used: those of SQLite's
    # modules come here, and what comes below is the user's alone.
    with confined(connection):
        count = _parameters(connection, sql)
    texts = connection.text_factory
    connection.text_factory = bytes  # the program may hold a literal that is no UTF-8
    try:
        with confined(connection, origin) as watch:
            program = connection.execute(f"EXPLAIN {sql}", [None] * count).fetchall()
    finally:
        connection.text_factory = texts
    # P2 of Vacuum is where a file's name is, of which the authorizer hears too late; that of
    # Transaction says that it writes, that of ResultRow how many columns come.
    with_p2 = {opcode for _, opcode, _, p2, *_ in program if p2}
    if b"Vacuum" in with_p2:
        raise Refused(_VACUUM_INTO)
    return Compiled(
        *(count, b"ResultRow" in with_p2, b"Transaction" in with_p2, watch.writes),
        *(frozenset(watch.reads), frozenset(watch.calls)),
    )


def _one_statement(sql: str) -> None:
    """Raise Refused for SQL of which a driver may run more, or less, than was compiled."""
    if "\0" in sql:
        raise Refused("it holds the character U+0000, at which some drivers stop; take it out")
    if any("\ud800" <= character <= "\udfff" for character in sql):
        raise Refused("it is no valid Unicode: it holds half of a character; correct it")
    for at, character in enumerate(sql):
        if character == ";" and sqlite3.complete_statement(sql[: at + 1]):
            if not _BLANK.fullmatch(sql, at + 1):
                raise Refused("there are several statements in it; list each by itself")
            return


def _parameters(connection: sqlite3.Connection, sql: str) -> int:
    try:
        connection.execute(f"EXPLAIN {sql}").close()
    except sqlite3.ProgrammingError as error:
        if uses := _USES.search(str(error)):
            return int(uses[1])
        raise
    return 0


def verb(sql: str) -> str:
    """The first word of a statement, in small letters."""
    blank = _BLANK.match(sql)
    word = re.compile(r"\w*").match(sql, blank.end() if blank else 0)
    return word[0].lower() if word else ""


def unseen(sql: str) -> str:
    """Why SQL that does not compile here must not run elsewhere either; "" if it may.

    Another SQLite may have a function that this one lacks; what then reaches another file is told
    by the words alone.
    """
    suspect = _CALLS.search(sql)
    word = suspect[1] if suspect else verb(sql).upper()
    if suspect or word in ("ATTACH", "DETACH", "PRAGMA", "VACUUM"):
        return (
            f"it says {word} in what SQLite {sqlite3.sqlite_version} does not compile, so that "
            "what it reaches is unknown; correct it, or take it out"
        )
    return ""
