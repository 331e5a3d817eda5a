"""Judges results by the oracle's answers: equal work before any time is kept. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sqlitmus.vocabulary.contract.job import PRAGMAS_READ_BACK
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.contract.result import Proof, Result
from sqlitmus.vocabulary.syncs import Syncs
from sqlitmus.vocabulary.terms import Outcome

Mode = Literal["verify", "measure"]


@dataclass(frozen=True, slots=True)
class Requirements:
    """The requirements of a job that its result must meet."""

    mode: Mode
    iterations: int
    inspect: bool
    pragmas: list[tuple[str, str | int]]
    engine: dict[str, str | int]
    tolerate_busy: bool = False
    digest: bool = False
    left_open: frozenset[str] = frozenset()  # parts of the answer that are not the oracle's to know


class OracleAnswer(Model):
    """The oracle's answer to a case."""

    operations: int
    rows: int
    affected: int
    checksum: int
    readback: Proof | None
    digest: str
    written: str | None = None  # digest of what its database held after it ended


class Verified(Model):
    """The verification of one cell, with as much of the runner's answer as it gave.

    `syncs` is what a write cell's transactions made durable, `uncounted` why that is not known.
    """

    case: str
    runner: str
    outcome: Outcome
    reason: str | None = None
    rows: int = 0
    affected: int = 0
    checksum: int = 0
    readback: Proof | None = None
    digest: str | None = None
    plans: list[list[str]] = []
    pragmas: dict[str, str | int | None] = {}
    engine: dict[str, str | int] = {}
    syncs: Syncs | None = None
    uncounted: str | None = None
    log: str | None = None
    command: str = ""
    against_oracle: bool = False  # all runners agree with each other on another answer


def answer_of(result: Result) -> OracleAnswer:
    """The oracle's result as the answer that runners must give."""
    assert result.digest is not None
    return OracleAnswer(
        operations=result.operations,
        rows=result.rows,
        affected=result.affected,
        checksum=result.checksum,
        readback=result.readback,
        digest=result.digest,
    )


# What the oracle's SQLite has, or it would not have answered: modules, extensions, what it is built
# with.
_LACKS = re.compile(r"no such (function|module|collation sequence): (\w+)")
COMPARED = ("operations", "rows", "affected", "checksum", "readback", "digest")


def judge(
    result: Result, answer: OracleAnswer | None, required: Requirements
) -> tuple[Outcome, str | None]:
    """The outcome of a result, and the reason unless it is ok.

    `answer` is None for a job without steps. When the job tolerates SQLITE_BUSY and a worker met
    it, the digest alone is compared, since operations are missing; they are counted beside the
    times.
    """
    if result.status == "unsupported":
        return "unsupported", result.reason
    if result.status == "failed":
        assert result.error is not None
        if lacks := _LACKS.search(result.error.message):
            version = result.sqlite_version or "of an unknown version"
            return "unsupported", f"its SQLite {version} has no {lacks[1]} {lacks[2]}"
        code = result.error.sqlite_code
        code_text = f" (SQLite code {code})" if code is not None else ""
        sql = f" in: {result.error.sql}" if result.error.sql else ""
        return "failed", f"{result.error.message}{code_text}{sql}"
    if answer is None:
        return "ok", None
    for name in _compared(result, required):
        got, right = getattr(result, name), getattr(answer, name)
        if got != right and not (name == "digest" and got is None):
            return "wrong", f"{name}: {brief(got)}; the oracle has {brief(right)}"
    unproven = next(_unproven(result, required), None)
    return ("failed", unproven) if unproven else ("ok", None)


def _compared(result: Result, required: Requirements) -> Iterator[str]:
    """What of a result has to be as the oracle has it."""
    short = is_short(result, required)
    for name in ("digest",) if short else COMPARED:
        if name not in required.left_open:
            yield name


def is_short(result: Result, required: Requirements) -> bool:
    """Whether operations are missing from a result because SQLITE_BUSY was met and tolerated."""
    return required.tolerate_busy and any(worker.busy for worker in result.workers)


def _unproven(result: Result, required: Requirements) -> Iterator[str]:
    """Each proof of the contract that the result lacks or fails."""
    if result.digest is None and (required.digest or required.mode == "verify"):
        yield "its result has no digest, which verification needs"
    times = len(result.iterations_ns)
    if required.mode == "measure" and times != required.iterations:
        yield f"its result has {times} timed iterations; {required.iterations} were asked for"
    if 0 in result.iterations_ns:
        yield "its result has an iteration of 0 ns: its clock stood still"
    read = result.effective.pragmas
    for name, value in required.pragmas:
        if name in read and normal(name, read[name]) != normal(name, value):
            yield f"PRAGMA {name}={value} did not take: it reads back {read[name]}"
        if required.inspect and name in PRAGMAS_READ_BACK and name not in read:
            yield f"PRAGMA {name} was set but not read back"
    in_effect = result.effective.engine
    for name, value in required.engine.items():
        if name in in_effect and str(in_effect[name]) != str(value):
            yield f"engine {name}={value} did not take: it reads back {in_effect[name]}"
        if required.inspect and name not in in_effect:
            yield f"engine {name} was set but not read back"


_WORDS = {
    "synchronous": {"off": "0", "normal": "1", "full": "2", "extra": "3"},
    "temp_store": {"default": "0", "file": "1", "memory": "2"},
    "query_only": {"off": "0", "on": "1", "false": "0", "true": "1"},
    "foreign_keys": {"off": "0", "on": "1", "false": "0", "true": "1"},
}


def normal(name: str, value: str | int | None) -> str:
    """A pragma's value in the form in which SQLite reads it back."""
    text = str(value).lower()
    return _WORDS.get(name, {}).get(text, text)


def brief(value: object) -> str:
    """A value of a result, for a sentence."""
    if isinstance(value, Proof):
        return f"{value.rows} rows with checksum {value.checksum}"
    text = str(value)
    return text if len(text) <= 20 else text[:12] + "…"
