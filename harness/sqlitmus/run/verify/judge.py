"""Judges invocations by a list of checks, `CHECKS`: equal work before any time is kept."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Literal

from sqlitmus.catalog import runners
from sqlitmus.catalog.runners import Installed
from sqlitmus.machine.system import Limits
from sqlitmus.run.processes.process import Invocation, output
from sqlitmus.run.verify import bounds
from sqlitmus.run.verify.bounds import Arrangement
from sqlitmus.run.verify.proof import Files, Held, Unproven
from sqlitmus.vocabulary import contract
from sqlitmus.vocabulary.contract import Column, Counts, Job, Model, Proof, Result, Step
from sqlitmus.vocabulary.text import counted, listed, normal_pragma, quoted, shortened
from sqlitmus.vocabulary.verdicts import Outcome

FIELDS = ("runner", "runtime", "driver", "architecture")
"""Of an identity; the flags show settings that only measured processes get."""


def identity(result: Result, cell: str, description: contract.Description | None) -> str | None:
    """How `result` differs from what was asked of the runner of `description`, or None."""
    if result.cell != cell:
        return f"its result is of {brief(result.cell, 60, 57)}; it was asked for {cell}"
    if description is None:
        return None
    facts = {
        name: (getattr(result.identity, name), getattr(description.identity, name))
        for name in FIELDS
    }
    if result.sqlite_version is not None:
        facts["SQLite version"] = (result.sqlite_version, description.sqlite.version)
    for name, (got, right) in facts.items():
        if got != right:
            return (
                f"its result is of the {name} {brief(got, 60, 57)}; its `describe` says "
                f"{brief(right, 60, 57)}, and is asked anew by the next run"
            )
    return None


TYPES = ("integer", "real", "text", "blob", "null")
Ask = Callable[[Job], Result | None]
"""Performs a job in verify mode; None if it has no answer."""


def of_types(job: Job, mine: Ask, oracle: Ask) -> str | None:
    """How a wrong answer differs from the oracle's: which column of the only step of `job` has
    values of other types, and of which, in words.

    None where there are several steps, or one that returns no rows, or where nothing is known.
    """
    if len(job.steps) != 1 or job.steps[0].operation not in ("get", "all", "iterate"):
        return None
    (step,) = job.steps
    for column in step.columns:
        typed = {t: f"typeof({quoted(column.name)}) WHEN '{t}'" for t in TYPES}
        counts = {kind: f"count(CASE {when} THEN 1 END)" for kind, when in typed.items()}
        question = _job(job, step, counts, "")
        digests = [answer and answer.digest for answer in (mine(question), oracle(question))]
        if None in digests:
            return None
        if digests[0] != digests[1]:
            its, the_oracles = (_of_each_type(job, step, column, ask) for ask in (mine, oracle))
            return f"column {column.name} has {its}; the oracle has {the_oracles}"
    return "all columns have values of the oracle's types"


def _of_each_type(job: Job, step: Step, column: Column, ask: Ask) -> str:
    words: list[str] = []
    for kind in TYPES:
        only = _job(job, step, {"n": "1"}, f"WHERE typeof({quoted(column.name)}) = '{kind}'")
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
    failing: dict[str, int] = {}  # rows that checks find in that


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

    def until(number: int) -> list[int] | None:
        if number > covered and not again:
            return None
        times, rest = divmod(number, covered) if again else (0, number)
        return [times * whole + part for whole, part in zip(sums[-1], sums[rest], strict=True)]

    cuts = [until(length * number) for number in range(count + 1)]
    return [
        (end[0] - begin[0], end[1] - begin[1], (end[2] - begin[2]) % 2**32)
        if begin and end
        else None
        for begin, end in pairwise(cuts)
    ]


COMPARED = ("operations", "rows", "affected", "checksum", "readback", "digest")


@dataclass(frozen=True, slots=True)
class PreparedJob:
    """The files of a cell's job, how it is done, and the requirements on its result.

    Jobs stay in files, because those of a large run have hundreds of megabytes of parameters.
    """

    cell: str
    file: Path
    output: Path
    required: Requirements
    how: Arrangement
    source: Path | None  # the fixture
    target: Path | None  # its fresh copy, for a case that writes to a file
    readback: list[contract.Readback]
    levels: frozenset[contract.Level]  # of the contract, which it needs
    question: str  # of the oracle's: the same for jobs that have the same answer
    checks: dict[str, str] = field(default_factory=dict[str, str])  # that find nothing in the copy


@dataclass(frozen=True)
class Evidence:
    """What is known of an invocation that has ended. `answer` is None for a job without steps.

    `log` has its messages, `left` says what it left running, "" for nothing, and `harm` what became
    of a fixture meanwhile. `limits` are those of the machine.
    """

    runner: Installed
    ready: PreparedJob
    invocation: Invocation
    answer: OracleAnswer | None
    log: Path
    files: Files
    limits: Limits
    left: str = ""
    harm: str | None = None
    shows_values: bool = False

    @property
    def measured(self) -> bool:
        """Whether it was started to be timed."""
        return self.ready.required.mode == "measure"

    @property
    def given(self) -> Result | None:
        """Its result, if that has an answer."""
        result = self.invocation.result
        return result if result and result.status == "ok" else None

    @property
    def failure(self) -> contract.Failure | None:
        """The error of its result, if that failed."""
        result = self.invocation.result
        return result.error if result and result.status == "failed" else None

    @cached_property
    def short(self) -> bool:
        """Whether operations are missing from its answer because SQLITE_BUSY was met and tolerated.

        They are counted beside the times. Workers count them in timed iterations; of the warm-up,
        only fewer changes than the oracle's tell.
        """
        result, required, answer = self.given, self.ready.required, self.answer
        if not required.tolerate_busy or answer is None or result is None:
            return False
        warmup = result.answers[: len(result.warmup_ns)]
        expected = windows(answer, required.operations, len(warmup), required.walk)
        missing = (right and got[1] < right[1] for got, right in zip(warmup, expected, strict=True))
        return any(worker.busy for worker in result.workers) or any(missing)

    @cached_property
    def held(self) -> Held | Unproven | None:
        """What the database that it wrote holds, or why that is not known; None without one."""
        ready = self.ready
        if ready.target is None:
            return None
        try:
            return self.files.held(ready.target, ready.readback, ready.source, ready.checks)
        except Unproven as error:
            return error


@dataclass(frozen=True, slots=True)
class Check:
    """What gives an invocation its outcome: `find` says why it has it, None where it does not."""

    name: str
    outcome: Outcome
    find: Callable[[Evidence], str | None]


def judge(evidence: Evidence) -> tuple[Outcome, str | None]:
    """The outcome of an invocation by the first of `CHECKS` that finds something, and its reason;
    ok and None if none does."""
    for check in CHECKS:
        if (reason := check.find(evidence)) is not None:
            return check.outcome, shortened(reason)
    return "ok", None


CANNOT_READ = 2  # the contract's exit code of a job that a runner cannot read


def _job_not_read(of: Evidence) -> str | None:
    """A runner that is verified says that it cannot read the job, in the form of the contract: some
    crashes end with the same code."""
    timing, ready = of.invocation.timing, of.ready
    ended = timing and timing.exit_code == CANNOT_READ and not ready.output.exists()
    if not ended or of.left or of.measured or not ready.file.exists():
        return None
    begin = f"{ready.file}:"
    lines = output(of.log).splitlines()
    reasons = [line.removeprefix(begin).strip() for line in lines if line.startswith(begin)]
    return f"it cannot read the job: {reasons[0]}" if reasons else None


def _no_result(of: Evidence) -> str | None:
    if of.invocation.result is not None:
        return None
    reason = of.invocation.problem
    if not of.ready.file.parent.exists():
        reason = "its process removed the folder of the harness's jobs and databases"
    return "; ".join(filter(None, [reason, of.left]))


# What the oracle's SQLite has, or it would not have answered: modules, extensions, what it is built
# with, and syntax of its version.
_LACKS = re.compile(
    r"no such (function|module|collation sequence): (\w+)|near \"(.+)\": syntax error"
)


def _error(of: Evidence) -> str | None:
    error = of.failure
    if error is None or _lack(of):
        return None
    code_text = f" (SQLite code {error.sqlite_code})" if error.sqlite_code is not None else ""
    sql = f" in: {error.sql}" if error.sql else ""
    return f"{error.message}{code_text}{sql}"


def _lack(of: Evidence) -> str | None:
    """What its SQLite has not, where its error says so."""
    result, described = of.invocation.result, of.runner.description
    lacks = _LACKS.search(of.failure.message if of.failure else "")
    if result is None or lacks is None:
        return None
    version = result.sqlite_version or (described and described.sqlite.version) or "of this runner"
    if lacks[3]:
        return f"its SQLite {version} does not know the syntax near {lacks[3]}"
    return f"its SQLite {version} has no {lacks[1]} {lacks[2]}"


def _parts(of: Evidence) -> tuple[str, int, int] | None:
    """What of an answer is compared part by part: how many operations each has, and how many parts
    there must be; None where it is not."""
    result, required = of.given, of.ready.required
    if result is None or of.answer is None or of.short:
        return None
    if not of.measured:
        return "operations", 1, required.operations
    if len(result.iterations_ns) != required.iterations:
        return None  # of which more is said elsewhere
    return "iterations", required.operations, len(result.warmup_ns) + len(result.iterations_ns)


def _miscounted(of: Evidence) -> str | None:
    result, parts = of.given, _parts(of)
    if result is None or parts is None:
        return None
    what, length, count = parts
    got = result.answers
    if len(got) != count:
        return f"its result has {len(got)} answers to {count} {what}"
    total = result.operations, result.rows, result.affected, result.checksum
    summed = [sum(each) for each in zip(*got, strict=True)] or [0, 0, 0]
    if total != (count * length, summed[0], summed[1], summed[2] % 2**32):
        return "its counts are not the sums of its answers"
    return None


def _other_answer(of: Evidence) -> str | None:
    """Which iteration, or operation of a verification, or what else is not as the oracle has it."""
    result, answer, required = of.given, of.answer, of.ready.required
    if result is None or answer is None:
        return None
    _, length, count = _parts(of) or ("", 0, 0)
    expected = windows(answer, length, count, required.walk)
    for number, (have, right) in enumerate(zip(result.answers, expected, strict=False)):
        if right is None or have == right:
            continue
        for name, mine, theirs in zip(("rows", "affected", "checksum"), have, right, strict=True):
            if name in required.left_open or mine == theirs:
                continue
            first = number * length
            which = f"operation {first}"
            if of.measured:
                which = f"iteration {number} (operations {first} to {first + length - 1})"
            again = number and have == expected[0]
            hint = "; that is the answer to the first iteration" if again else ""
            return f"{which}: {name} {mine}; the oracle has {theirs}{hint}"
    # of measured iterations each is compared by itself, and what is read back only of all writes
    names = ("readback", "digest") if of.measured else COMPARED
    for name in ("digest",) if of.short else names:
        got, right = getattr(result, name), getattr(answer, name)
        compared = name not in required.left_open and not (name == "digest" and got is None)
        if compared and got != right:
            return f"{name}: {brief(got)}; the oracle has {brief(right)}"
    return None


def _unproven(of: Evidence) -> str | None:
    """The first proof of the contract that the result lacks or fails."""
    return next(_lacking(of.given, of.ready.required), None) if of.given and of.answer else None


def _lacking(result: Result, required: Requirements) -> Iterator[str]:
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
        if required.inspect and name in contract.PRAGMAS_READ_BACK and name not in read:
            yield f"PRAGMA {name} was set but not read back"
    in_effect = result.effective.engine
    for name, value in required.engine.items():
        if name in in_effect and str(in_effect[name]) != str(value):
            yield f"engine {name}={value} did not take: it reads back {in_effect[name]}"
        if required.inspect and name not in in_effect:
            yield f"engine {name} was set but not read back"


def _left_running(of: Evidence) -> str | None:
    ends = "A runner ends what it starts: its times and memory lack what others do for it"
    return f"{of.left}. {ends}" if of.left else None


def _other_cell(of: Evidence) -> str | None:
    if of.invocation.timing is None or of.invocation.result is None:
        return None
    problem = identity(of.invocation.result, of.ready.cell, of.runner.description)
    if problem:
        runners.forget(of.runner)
    return problem


def _refused(of: Evidence) -> str | None:
    result = of.invocation.result
    return result and (result.reason if result.status == "unsupported" else _lack(of))


def _refused_late(of: Evidence) -> str | None:
    """The oracle may: it answers questions that it cannot time."""
    result = of.invocation.result
    if not of.measured or not of.invocation.timing or of.runner.spec.role == "oracle":
        return None
    if result is None or result.status != "unsupported":
        return None
    return f"it was verified, and says unsupported only now: {result.reason}"


def _impossible_figures(of: Evidence) -> str | None:
    timing, result = of.invocation.timing, of.given
    if timing is None or result is None or not of.measured:
        return None
    return bounds.contradiction(timing, result, of.ready.how, of.limits)


def _unread(of: Evidence, outcome: Outcome) -> str | None:
    held = of.held
    return str(held) if isinstance(held, Unproven) and held.outcome == outcome else None


def _nothing_to_compare(of: Evidence) -> str | None:
    """Nothing that the file could be held against: neither a read-back nor the oracle's file."""
    if of.held is None or of.given is None:
        return None
    if "readback" not in of.ready.required.left_open:
        return None if of.given.readback else "its result has no read-back of what it wrote"
    if of.answer and of.answer.written:
        return None
    return "what the oracle's file holds is not known, so nothing proves what it wrote"


def _other_content(of: Evidence) -> str | None:
    """How the file differs from what was read back, where that was asked, or the oracle's file."""
    held, result, answer = of.held, of.given, of.answer
    if not isinstance(held, Held) or result is None:
        return None
    if "readback" not in of.ready.required.left_open and held.proof != result.readback:
        return (
            f"the database holds {brief(held.proof)} after the process ended; the runner read back "
            f"{brief(result.readback)}: its writes were not committed, or went elsewhere"
        )
    if of.short or not answer or not answer.written or held.digest == answer.written:
        return None
    if answer.readback and held.proof != answer.readback:
        return (
            f"the database holds {brief(held.proof)} after the process ended, and the oracle's "
            f"{brief(answer.readback)}: its writes were not committed, went elsewhere, or are "
            "others"
        )
    return (
        "the database holds other values than the oracle's after the process ended, in as many "
        "rows and with the same checksum"
    )


def _failing_check(of: Evidence) -> str | None:
    if not isinstance(of.held, Held) or of.answer is None:
        return None
    for name, (rows, first) in of.held.failing.items():
        usual = of.answer.failing.get(name, 0)
        if rows > usual:
            what = f"; the first is {first}" if of.shows_values else ""
            return (
                f"check {name} finds {counted(rows, 'row')} in the database after the process "
                f"ended, and {usual} in the oracle's{what}"
            )
    return None


def brief(value: object, most: int = 20, shown: int = 12) -> str:
    """A value of a result, for a sentence: of more than `most` characters the first `shown`."""
    if isinstance(value, Proof):
        return f"{value.rows} rows with checksum {value.checksum}"
    text = f"{value.name} {value.version}" if isinstance(value, contract.Versioned) else str(value)
    return text if len(text) <= most else text[:shown] + "…"


CHECKS = (
    # whoever changes it spoils the answers of all
    Check("a fixture changed", "wrong", lambda of: of.harm),
    Check("job not read", "unsupported", _job_not_read),
    Check("no result", "failed", _no_result),
    Check("an error", "failed", _error),
    Check("answers that do not add up", "failed", _miscounted),
    Check("another answer than the oracle's", "wrong", _other_answer),
    Check("a proof is lacking", "failed", _unproven),
    Check("something left running", "failed", _left_running),
    Check("a result of another cell or runner", "failed", _other_cell),
    Check("unsupported, though it was verified", "failed", _refused_late),
    Check("figures that cannot be", "failed", _impossible_figures),
    Check("unsupported", "unsupported", _refused),
    # the last, since they open the file
    Check("a file that cannot be read", "failed", lambda of: _unread(of, "failed")),
    Check("a file that is damaged or gone", "wrong", lambda of: _unread(of, "wrong")),
    Check("a file that nothing proves", "failed", _nothing_to_compare),
    Check("a check that finds a row", "wrong", _failing_check),
    Check("another content than said, or than the oracle's", "wrong", _other_content),
)
