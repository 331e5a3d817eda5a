"""Proves writes from outside: what a database file holds after its process ended, and how often
it was synced.
"""

import hashlib
import marshal
import os
import re
import sqlite3
import stat
import struct
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from sqlitmus.catalog.authorizer import Refused, confined
from sqlitmus.catalog.cases import PlannedCase, steps_of
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.fixture import Copies
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Column, Proof, Readback, Type
from sqlitmus.vocabulary.figures import Syncs
from sqlitmus.vocabulary.verdicts import Outcome

Value = int | str | bytes | None

NULL = 0x9E3779B9
TERMS: dict[type, Callable[[Any], int]] = {
    int: lambda value: value,
    float: lambda value: int(value) if isfinite(value) else 0,
    str: lambda value: 31 * ord(value[0]) + ord(value[-1]) if value else 0,
    bytes: lambda value: len(value) + 31 * value[0] + value[-1] if value else 0,
    type(None): lambda _value: NULL,
}
"""What a value of each type adds to a checksum."""
_MODULUS = 2**32


def checksum(executions: Iterable[Sequence[Sequence[Value]]]) -> int:
    """The checksum of the rows of these executions, one after the other."""
    h = 0
    for rows in executions:
        for row in rows:
            for value in row:
                h = (h * 31 + TERMS[type(value)](value)) % _MODULUS
    return h


def digest(executions: Iterable[Sequence[Sequence[Value]]]) -> str:
    """Their SHA-256 in lower-case hexadecimal, as in verify mode."""
    sha = hashlib.sha256()
    for rows in executions:
        for row in rows:
            for value in row:
                tag, payload = _canonical(value)
                sha.update(tag + struct.pack("<I", len(payload)) + payload)
        sha.update(b"E" + struct.pack("<I", len(rows)))
    return sha.hexdigest()


def _canonical(value: Value) -> tuple[bytes, bytes]:
    match value:
        case None:
            return b"n", b""
        case int():
            return b"i", str(value).encode()
        case str():
            return b"t", value.encode()
        case bytes():
            return b"b", value


# as `struct counts` of harness/counter/syncs.c has them
_COUNTED = ("fsync", "fdatasync", "bytes", "logged", "begun")
_COUNTS = struct.Struct(f"{len(_COUNTED)}Q")
Counts = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Counter:
    """The library that counts the work of a write cell's transactions, in processes whose times
    nobody uses, or why there is none, and the file that it counts in."""

    library: str | None
    missing: str
    file: Path

    @classmethod
    def among(cls, tools: paths.Tools, scratch: Path) -> "Counter":
        """The counter that set-up built; `scratch` is to hold its file."""
        library = tools.paths.get("sync-counter")
        missing = tools.missing.get("sync-counter", "sync-counter is not set up; run ./just setup")
        if library and re.search("[ :]", library):
            missing = (
                f"{library} cannot be preloaded, since a blank or a colon in its path ends it; "
                "choose another SQLITMUS_TOOLCHAIN"
            )
            library = None
        return cls(library, missing, scratch / "syncs")

    def preloaded(self, database: Path) -> dict[str, str]:
        """The environment in which a process that writes to `database` is counted, from 0."""
        self.file.unlink(missing_ok=True)  # what an earlier process left may still count in it
        self.file.write_bytes(bytes(_COUNTS.size))
        return {
            "LD_PRELOAD": self.library or "",
            "SQLITMUS_COUNTS": str(self.file),
            "SQLITMUS_COUNTED": str(database.resolve()),
        }

    def counts(self) -> Counts:
        return _COUNTS.unpack(self.file.read_bytes())


def writes_files(case: PlannedCase, catalog: Catalog) -> bool:
    """Whether `case` writes to a database that is a file."""
    scenario = catalog.scenarios[case.scenario]
    return scenario.writes and not scenario.memory


def transactions(case: PlannedCase, catalog: Catalog) -> int:
    """Commits of one iteration of `case`; 0 where they do not follow from its operations."""
    scenario = catalog.scenarios[case.scenario]
    if scenario.writer or scenario.tolerate_busy or scenario.sequence:
        return 0
    if (case.variant.transaction or scenario.transaction) != "none":
        return case.operations
    steps = steps_of(scenario, case.axes)
    if any(step.operation == "execute" or step.returning for step in steps):
        return 0  # it may begin and commit, or write though it gives rows
    runs = [step for step in steps if step.operation == "run"]
    return case.operations * sum(step.repeat for step in runs if step.fails is None)


def counted_cases(case: PlannedCase) -> tuple[PlannedCase, PlannedCase]:
    """One iteration of `case` without warm-up, and the same with twice the operations; a reset
    comes before both alone."""
    only = {"iterations": 1, "warmup_iterations": 0, "warmup_ms": 0}
    if case.reset_every:
        only["reset_every"] = 2 * case.operations
    first = case.model_copy(update=only)
    return first, first.model_copy(update={"operations": 2 * case.operations})


def marks(case: PlannedCase, *, changes: bool) -> set[str]:
    """What is counted of each of the `transactions` of `case`: that it is logged, and has begun;
    `changes` says whether each of them changes a row."""
    keeps_locks = dict(case.pragmas).get("locking_mode") == "EXCLUSIVE" or case.variant.uri
    logged = {"logged"} if changes and case.journal_mode == "wal" else set[str]()
    return logged if keeps_locks else {"begun", *logged}


def difference(
    first: Counts, second: Counts, transactions: int, marks: Collection[str] = ()
) -> Syncs | str:
    """What `transactions` more did in the second process than in the first, or why that is not
    known; each commit has `marks`."""
    more = [b - a for a, b in zip(first, second, strict=True)]
    marked = [more[at] for at, name in enumerate(_COUNTED) if name in marks and first[at]]
    if not first[2]:
        return (
            "not one of its writes to the database was seen: it is linked statically, calls the "
            "system without the C library, or writes elsewhere"
        )
    try:
        return Syncs(
            transactions=transactions,
            commits=min(marked, default=None),
            **dict(zip(_COUNTED[:3], more[:3], strict=True)),
        )
    except ValidationError:
        return "with twice the transactions it synced or wrote less"


_TYPES: dict[Type, type] = {"integer": int, "real": float, "text": str, "blob": bytes}
_WORDS = dict(zip(TERMS, ("an integer", "a real", "a text", "a blob", "NULL"), strict=True))
_BESIDE = ("-wal", "-journal")
_ROWS_AT_ONCE = 1000
_CLOSING_S = 10.0  # to wait for other checks: one that closes locks the file for a moment
_PLAIN = 2  # marshal's version in which equal values have equal bytes, however they came about
# primary codes of what befalls a reader, whatever the file holds
_READERS = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}


class Failing(NamedTuple):
    """What a check finds that should find nothing: how many rows, and the first."""

    rows: int
    first: str


@dataclass(frozen=True, slots=True)
class Held:
    """What read-back queries find in a file; `digest` is a SHA-256 of every value of every row, and
    `bytes` is how long the file is. `failing` are the checks that find a row, by name."""

    proof: Proof
    digest: str
    bytes: int = 0
    failing: dict[str, Failing] = field(default_factory=dict[str, Failing])


class Unproven(Exception):
    """A file whose content cannot be proven; the message says why, `outcome` what that makes it."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome: Outcome = outcome


class Files:
    """What database files hold.

    A file is opened unless it is, byte for byte, like one that was: then it holds the same. Most
    invocations of a cell leave one of two or three files. Rows are folded unless they are, value
    for value, like those of another file: most files of a case differ only in their pages.
    """

    def __init__(self, copies: Copies | None = None) -> None:
        self._copies = copies or Copies()
        self._of_images: dict[tuple[str, bytes], Held] = {}
        self._of_rows: dict[tuple[str, bytes], Held] = {}
        self.opened = 0

    def held(
        self,
        file: Path,
        queries: Sequence[Readback],
        origin: Path | None = None,
        checks: Mapping[str, str] | None = None,
    ) -> Held:
        """What `queries` and `checks`, by name, find in `file`, which was a copy of the fixture
        `origin`.

        Raises Unproven, also when the file is damaged.
        """
        image, asks = self._image(file, origin), repr((queries, checks))
        if image and (same := self._of_images.get((asks, image))):
            return same
        self.opened += 1
        with _opened(file) as connection, ThreadPoolExecutor() as pool:
            checked = {
                name: pool.submit(_failing, file, sql) for name, sql in (checks or {}).items()
            }
            at = (asks, _content(connection, queries))
            if at not in self._of_rows:
                self._of_rows[at] = fold((q.columns, connection.execute(q.sql)) for q in queries)
            failing = {name: first for name, of in checked.items() if (first := of.result())}
        held = replace(self._of_rows[at], bytes=file.stat().st_size, failing=failing)
        if image:
            self._of_images[asks, image] = held
        return held

    def _image(self, file: Path, origin: Path | None) -> bytes | None:
        """A hash of all that `file` holds; None when a log or a journal beside it holds more.

        Raises Unproven when it is not there, or no file: what it leads to may be in memory.
        """
        try:
            if not stat.S_ISREG(file.lstat().st_mode):
                raise Unproven("wrong", "after the process ended, its database is no file any more")
            if any(os.path.lexists(f"{file}{suffix}") for suffix in _BESIDE):
                return None
            return self._copies.difference(file, origin).image
        except FileNotFoundError as error:
            raise Unproven("wrong", "its database is gone after the process ended") from error
        except OSError as error:
            raise Unproven(
                "failed", f"its database cannot be read after the process ended: {error.strerror}"
            ) from error


def fold(queries: Iterable[tuple[Sequence[Column], Iterable[Sequence[object]]]]) -> Held:
    """Rows and checksum as the contract has them, and the digest, of columns and rows by query.

    Raises Unproven for a value that is not of its column's declared type.
    """
    total = h = 0
    sha = hashlib.sha256()
    for columns, rows in queries:
        allowed = [{_TYPES[c.type], *([type(None)] if c.nullable else [])} for c in columns]
        for row in rows:
            total += 1
            sha.update(ascii(row).encode())
            for number, value in enumerate(row):
                kind = type(value)
                if kind not in allowed[number]:
                    raise Unproven(
                        "wrong",
                        f"after the process ended, column {columns[number].name} of its database "
                        f"holds {_WORDS[kind]}, which is declared {columns[number].type}",
                    )
                h = (h * 31 + TERMS[kind](value)) & 0xFFFFFFFF
        sha.update(b"\n")
    return Held(Proof(rows=total, checksum=h), sha.hexdigest())


def _connection(file: Path, timeout: float = 0) -> sqlite3.Connection:
    # no waiting: who would hold a lock after the process ended is no part of it
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True, timeout=timeout)


@contextmanager
def _opened(file: Path) -> Generator[sqlite3.Connection]:
    """A transaction on `file`, which is recovered as for any reader, and checked.

    Raises Unproven, also for what SQLite says inside the block.
    """
    try:
        with closing(_connection(file)) as connection:
            connection.execute("BEGIN")
            (finding,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if finding != "ok":  # SQLite 3.40 takes keys of tables without rowid for NULL there
                (finding,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if finding != "ok":
                raise Unproven(
                    "wrong", f"its database is damaged after the process ended: {finding}"
                )
            with confined(connection):
                yield connection
    except (sqlite3.Error, Refused) as error:
        failed = getattr(error, "sqlite_errorcode", 0) & 0xFF in _READERS
        raise Unproven(
            "failed" if failed else "wrong",
            f"its database cannot be read after the process ended: {error}",
        ) from error


def _failing(file: Path, sql: str) -> Failing | None:
    """How many rows a check finds in `file`, and the first; None for none."""
    with closing(_connection(file, timeout=_CLOSING_S)) as connection, confined(connection):
        cursor = connection.execute(sql)
        columns = [str(column[0]) for column in cursor.description]
        if first := cursor.fetchone():
            values = ", ".join(f"{c} {v!r}" for c, v in zip(columns, first, strict=True))
            return Failing(1 + sum(1 for _ in cursor), values)
    return None


def _content(connection: sqlite3.Connection, queries: Sequence[Readback]) -> bytes:
    """A hash of every value that `queries` find, with its type; ten times as fast as `fold`."""
    sha = hashlib.sha256()
    for query in queries:
        cursor = connection.execute(query.sql)
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            sha.update(marshal.dumps(rows, _PLAIN))
        sha.update(marshal.dumps(None, _PLAIN))
    return sha.digest()
