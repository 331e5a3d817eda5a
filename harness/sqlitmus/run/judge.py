"""Judges results by the oracle's answers: equal work before any time is kept. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from sqlitmus.vocabulary.contract.job import PRAGMAS_READ_BACK
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.contract.result import Counts, Proof, Result
from sqlitmus.vocabulary.syncs import Syncs
from sqlitmus.vocabulary.terms import Outcome

Mode = Literal["verify", "measure"]


@dataclass(frozen=True, slots=True)
class Requirements:
    """The requirements of a job that its result must meet."""

    mode: Mode
    operations: int  # of an iteration
    iterations: int
    inspect: bool
    pragmas: list[tuple[str, str | int]]
    engine: dict[str, str | int]
    tolerate_busy: bool = False
    digest: bool = False
    walk: int = 0  # operations after which answers begin again; 0 for what writes
    left_open: frozenset[str] = frozenset()  # parts of the answer that are not the oracle's to know


class OracleAnswer(Model):
    """The oracle's answer to a case: of all its operations, and of each."""

    answers: list[Counts] = []
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
    operations: int = 0
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
        answers=result.answers,
        operations=result.operations,
        rows=result.rows,
        affected=result.affected,
        checksum=result.checksum,
        readback=result.readback,
        digest=result.digest,
    )


def windows(answer: OracleAnswer, length: int, count: int, walk: int) -> list[Counts | None]:
    """What `count` iterations of `length` operations must return, the first from operation 0 on.

    Answers that cover a whole `walk` begin again after it; without one, or of a part of it, what
    lies beyond them is None.
    """
    sums: list[Counts] = [(0, 0, 0)]
    for rows, affected, checksum in answer.answers:
        before = sums[-1]
        sums.append((before[0] + rows, before[1] + affected, before[2] + checksum))
    covered = len(answer.answers)
    again = covered == walk > 0

    def until(number: int) -> Counts:
        times, rest = divmod(number, covered) if again else (0, number)
        whole, part = sums[-1], sums[rest]
        return (
            times * whole[0] + part[0],
            times * whole[1] + part[1],
            times * whole[2] + part[2],
        )

    cuts = [length * number for number in range(count + 1)]
    return [
        _less(until(end), until(begin)) if again or end <= covered else None
        for begin, end in pairwise(cuts)
    ]


def _less(whole: Counts, part: Counts) -> Counts:
    return whole[0] - part[0], whole[1] - part[1], (whole[2] - part[2]) % 2**32


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
    if result.status != "ok":
        return _without_answer(result)
    if answer is None:
        return "ok", None
    if not is_short(result, required) and (amiss := _answers_amiss(result, answer, required)):
        return amiss
    for name in _compared(result, required):
        got, right = getattr(result, name), getattr(answer, name)
        if got != right and not (name == "digest" and got is None):
            return "wrong", f"{name}: {brief(got)}; the oracle has {brief(right)}"
    unproven = next(_unproven(result, required), None)
    return ("failed", unproven) if unproven else ("ok", None)


def _compared(result: Result, required: Requirements) -> Iterator[str]:
    """What of a result has to be as the oracle has it."""
    short = is_short(result, required)
    # of measured iterations each is compared by itself, and what is read back only of all writes
    names = COMPARED if required.mode == "verify" else ("readback", "digest")
    for name in ("digest",) if short else names:
        if name not in required.left_open:
            yield name


def _without_answer(result: Result) -> tuple[Outcome, str | None]:
    """The outcome of a result that is not `ok`, and the reason."""
    if result.status == "unsupported":
        return "unsupported", result.reason
    assert result.error is not None
    if lacks := _LACKS.search(result.error.message):
        version = result.sqlite_version or "of an unknown version"
        return "unsupported", f"its SQLite {version} has no {lacks[1]} {lacks[2]}"
    code = result.error.sqlite_code
    code_text = f" (SQLite code {code})" if code is not None else ""
    sql = f" in: {result.error.sql}" if result.error.sql else ""
    return "failed", f"{result.error.message}{code_text}{sql}"


def _answers_amiss(
    result: Result, answer: OracleAnswer, required: Requirements
) -> tuple[Outcome, str] | None:
    """Which iteration, or operation of a verification, returned other counts than the oracle's."""
    measured = required.mode == "measure"
    if measured and len(result.iterations_ns) != required.iterations:
        return None  # of which more is said elsewhere
    length = required.operations if measured else 1
    got = result.answers
    count = len(result.warmup_ns) + len(result.iterations_ns) if measured else required.operations
    if len(got) != count:
        what = "iterations" if measured else "operations"
        return "failed", f"its result has {len(got)} answers to {count} {what}"
    total = result.operations, result.rows, result.affected, result.checksum
    summed = [sum(each) for each in zip(*got, strict=True)] or [0, 0, 0]
    if total != (count * length, summed[0], summed[1], summed[2] % 2**32):
        return "failed", "its counts are not the sums of its answers"
    expected = windows(answer, length, count, required.walk)
    for number, (have, right) in enumerate(zip(got, expected, strict=True)):
        if right is None:
            continue
        for name, mine, theirs in zip(("rows", "affected", "checksum"), have, right, strict=True):
            if name in required.left_open or mine == theirs:
                continue
            first = number * length
            which = f"operation {first}"
            if measured:
                which = f"iteration {number} (operations {first} to {first + length - 1})"
            again = number and have == expected[0]
            hint = "; that is the answer to the first iteration" if again else ""
            return "wrong", f"{which}: {name} {mine}; the oracle has {theirs}{hint}"
    return None


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
