"""Judges results by the oracle's answers: equal work before any time is kept. Pure."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from sqlitmus.vocabulary.contract import (
    PRAGMAS_READ_BACK,
    Column,
    Counts,
    Description,
    Job,
    Model,
    Proof,
    Result,
    Step,
    normal_pragma,
)
from sqlitmus.vocabulary.text import listed
from sqlitmus.vocabulary.verdicts import Outcome

FIELDS = ("runner", "runtime", "driver", "architecture")
"""Of an identity; the flags show settings that only measured processes get."""


def identity(result: Result, cell: str, description: Description | None) -> str | None:
    """How `result` differs from what was asked of the runner of `description`, or None."""
    if result.cell != cell:
        return f"its result is of {_short(result.cell)}; it was asked for {cell}"
    if description is None:
        return None
    for name in FIELDS:
        got, right = getattr(result.identity, name), getattr(description.identity, name)
        if got != right:
            return _differs(name, got, right)
    version = result.sqlite_version
    if version is not None and version != description.sqlite.version:
        return _differs("SQLite version", version, description.sqlite.version)
    return None


def _differs(what: str, got: object, right: object) -> str:
    return (
        f"its result is of the {what} {_named(got)}; its `describe` says {_named(right)}, "
        "and is asked anew by the next run"
    )


def _named(value: object) -> str:
    name, version = getattr(value, "name", None), getattr(value, "version", None)
    return _short(f"{name} {version}" if name is not None else str(value))


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


# How a wrong answer differs from the oracle's: the types of its values, column by column.


TYPES = ("integer", "real", "text", "blob", "null")
Ask = Callable[[Job], Result | None]
"""Performs a job in verify mode; None if it has no answer."""


def of_types(job: Job, mine: Ask, oracle: Ask) -> str | None:
    """Which column of the only step of `job` has values of other types, and of which, in words.

    None where there are several steps, or one that returns no rows, or where nothing is known.
    """
    if len(job.steps) != 1 or job.steps[0].operation not in ("get", "all", "iterate"):
        return None
    (step,) = job.steps
    for column in step.columns:
        question = _job(job, step, _counts(column), "")
        answers = mine(question), oracle(question)
        digests = [answer and answer.digest for answer in answers]
        if None in digests:
            return None
        if digests[0] != digests[1]:
            its, the_oracles = (_of_each_type(job, step, column, ask) for ask in (mine, oracle))
            return f"column {column.name} has {its}; the oracle has {the_oracles}"
    return "all columns have values of the oracle's types"


def _counts(column: Column) -> dict[str, str]:
    """A number for each type: how many values of `column` have it."""
    return {
        kind: f"count(CASE typeof({_quoted(column)}) WHEN '{kind}' THEN 1 END)" for kind in TYPES
    }


def _of_each_type(job: Job, step: Step, column: Column, ask: Ask) -> str:
    """How many values of `column` have which type."""
    words: list[str] = []
    for kind in TYPES:
        only = _job(job, step, {"n": "1"}, f"WHERE typeof({_quoted(column)}) = '{kind}'")
        answer = ask(only)
        if answer and answer.rows:
            words.append(f"{answer.rows:,} of type {kind}")
    return listed(words) or "no values"


def _job(job: Job, step: Step, columns: dict[str, str], where: str) -> Job:
    """`job` with such `columns` of the rows of its step; of its first row, if it gets no more."""
    first = " LIMIT 1" if step.operation == "get" else ""
    chosen = ", ".join(f'{sql} AS "{name}"' for name, sql in columns.items())
    changes = {
        "operation": "all",
        "sql": f"SELECT {chosen} FROM (SELECT * FROM ({step.sql}){first}) {where}".rstrip(),
        "columns": [Column(name=name, type="integer") for name in columns],
    }
    return job.model_copy(update={"steps": [step.model_copy(update=changes)], "inspect": False})


def _quoted(column: Column) -> str:
    doubled = column.name.replace('"', '""')
    return f'"{doubled}"'


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


def answer_of(result: Result) -> OracleAnswer:
    """The oracle's result as the answer that runners must give."""
    assert result.digest is not None
    return OracleAnswer(answers=result.answers, **{n: getattr(result, n) for n in COMPARED})


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
    short = is_short(result, answer, required)
    if not short and (amiss := _answers_amiss(result, answer, required)):
        return amiss
    for name in _compared(required, short=short):
        got, right = getattr(result, name), getattr(answer, name)
        if got != right and not (name == "digest" and got is None):
            return "wrong", f"{name}: {brief(got)}; the oracle has {brief(right)}"
    unproven = next(_unproven(result, required), None)
    return ("failed", unproven) if unproven else ("ok", None)


def _compared(required: Requirements, *, short: bool) -> Iterator[str]:
    """What of a result has to be as the oracle has it."""
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


def is_short(result: Result, answer: OracleAnswer | None, required: Requirements) -> bool:
    """Whether operations are missing from a result because SQLITE_BUSY was met and tolerated.

    Workers count it in timed iterations; of the warm-up, only fewer changes than the oracle's tell.
    """
    if not required.tolerate_busy or answer is None:
        return False
    warmup = result.answers[: len(result.warmup_ns)]
    expected = windows(answer, required.operations, len(warmup), required.walk)
    missing = (right and got[1] < right[1] for got, right in zip(warmup, expected, strict=True))
    return any(worker.busy for worker in result.workers) or any(missing)


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
        if name in read and normal_pragma(name, read[name]) != normal_pragma(name, value):
            yield f"PRAGMA {name}={value} did not take: it reads back {read[name]}"
        if required.inspect and name in PRAGMAS_READ_BACK and name not in read:
            yield f"PRAGMA {name} was set but not read back"
    in_effect = result.effective.engine
    for name, value in required.engine.items():
        if name in in_effect and str(in_effect[name]) != str(value):
            yield f"engine {name}={value} did not take: it reads back {in_effect[name]}"
        if required.inspect and name not in in_effect:
            yield f"engine {name} was set but not read back"


def brief(value: object) -> str:
    """A value of a result, for a sentence."""
    if isinstance(value, Proof):
        return f"{value.rows} rows with checksum {value.checksum}"
    text = str(value)
    return text if len(text) <= 20 else text[:12] + "…"
