"""Proves writes from outside: what a database file holds after the process that wrote it ended.

The harness's own sqlite3 reads, as a stranger: it sees what was committed, in the file that the
harness made. It shares no code with the oracle.
"""

import hashlib
import marshal
import os
import sqlite3
import stat
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlitmus.catalog.authorizer import Refused, confined
from sqlitmus.run.checksum import TERMS
from sqlitmus.run.copies import Copies
from sqlitmus.run.judge import OracleAnswer, brief
from sqlitmus.vocabulary.contract.job import Readback
from sqlitmus.vocabulary.contract.result import Proof, Result
from sqlitmus.vocabulary.contract.step import Column, Type
from sqlitmus.vocabulary.terms import Outcome

_TYPES: dict[Type, type] = {"integer": int, "real": float, "text": str, "blob": bytes}
_WORDS: dict[type, str] = {
    int: "an integer",
    float: "a real",
    str: "a text",
    bytes: "a blob",
    type(None): "NULL",
}
_BESIDE = ("-wal", "-journal")
_ROWS_AT_ONCE = 1000
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


@dataclass(frozen=True, slots=True)
class Held:
    """What read-back queries find in a file; `digest` is a SHA-256 of every value of every row."""

    proof: Proof
    digest: str


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

    def held(self, file: Path, queries: Sequence[Readback], origin: Path | None = None) -> Held:
        """What `queries` find in `file`, which was a copy of the fixture `origin`.

        Raises Unproven, also when the file is damaged.
        """
        image, asks = self._image(file, origin), repr(queries)
        if image and (same := self._of_images.get((asks, image))):
            return same
        self.opened += 1
        with _opened(file) as connection:
            at = (asks, _content(connection, queries))
            if at not in self._of_rows:
                self._of_rows[at] = fold((q.columns, connection.execute(q.sql)) for q in queries)
        if image:
            self._of_images[asks, image] = self._of_rows[at]
        return self._of_rows[at]

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


def problem(
    held: Held, result: Result, answer: OracleAnswer | None, *, short: bool
) -> tuple[Outcome, str] | None:
    """How what the file holds differs from the read-back of `result`, or from the oracle's file.

    None when it does not. A result that is `short` of operations is not compared with the oracle.
    """
    if result.readback is None:
        return "failed", "its result has no read-back of what it wrote"
    if held.proof != result.readback:
        return "wrong", (
            f"the database holds {brief(held.proof)} after the process ended; the runner read back "
            f"{brief(result.readback)}: its writes were not committed, or went elsewhere"
        )
    if not short and answer and answer.written and held.digest != answer.written:
        return "wrong", (
            "the database holds other values than the oracle's after the process ended, in as many "
            "rows and with the same checksum"
        )
    return None


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
                    raise Unproven("wrong", _misfit(columns[number], kind))
                h = (h * 31 + TERMS[kind](value)) & 0xFFFFFFFF
        sha.update(b"\n")
    return Held(Proof(rows=total, checksum=h), sha.hexdigest())


@contextmanager
def _opened(file: Path) -> Generator[sqlite3.Connection]:
    """A transaction on `file`, which is recovered as for any reader, and checked.

    Raises Unproven, also for what SQLite says inside the block.
    """
    try:
        # no waiting: who would hold a lock after the process ended is no part of it
        with closing(
            sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True, timeout=0)
        ) as connection:
            connection.execute("BEGIN")
            (finding,) = connection.execute("PRAGMA quick_check(1)").fetchone()
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


def _content(connection: sqlite3.Connection, queries: Sequence[Readback]) -> bytes:
    """A hash of every value that `queries` find, with its type; ten times as fast as `fold`."""
    sha = hashlib.sha256()
    for query in queries:
        cursor = connection.execute(query.sql)
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            sha.update(marshal.dumps(rows, _PLAIN))
        sha.update(marshal.dumps(None, _PLAIN))
    return sha.digest()


def _misfit(column: Column, kind: type) -> str:
    return (
        f"after the process ended, column {column.name} of its database holds {_WORDS[kind]}, "
        f"which is declared {column.type}"
    )
