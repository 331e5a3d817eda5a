"""Whether runners answer from the database each time: rows change beside them."""

import hashlib
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from bootstrap.guarded import marked
from sqlitmus.catalog import jobs
from sqlitmus.catalog.cases import PlannedCase, steps_of
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.runners import Installed
from sqlitmus.catalog.scenario import RunnerSpec
from sqlitmus.machine import process_tree
from sqlitmus.run.processes.process import Invocation, Timing, collect
from sqlitmus.run.verify.proof import Value, checksum, digest
from sqlitmus.vocabulary.contract import Connection, Database, Job, Measure, Result, Share, Step
from sqlitmus.vocabulary.verdicts import Outcome

TABLE = (
    "CREATE TABLE changing(id INTEGER PRIMARY KEY, step INTEGER NOT NULL, number INTEGER NOT NULL, "
    "word TEXT NOT NULL, empty BLOB, absent BLOB, wide INTEGER NOT NULL)"
)
REPLACE = "REPLACE INTO changing VALUES (?, ?, ?, ?, ?, ?, ?)"

_READING = ("get", "all", "iterate", "open")
REPEAT = 2  # what a first execution puts into a cache, a second one may take from it
_ROWS = 3
WIDE = 2**53 + 1  # odd, as all of these are: no double holds one
BOUND = "B\0ound é🚀 text"


class Manner(NamedTuple):
    """How a step reads rows."""

    shape: str
    integers: str
    statement: str
    operation: str

    def __str__(self) -> str:
        """In words, such as `all` (prepared, object)."""
        more = [self.statement, self.shape, *["bigint"] * (self.integers == "bigint")]
        return f"`{self.operation}` ({', '.join(more)})"


@dataclass(frozen=True, slots=True)
class Question:
    """A job for one connection, and the manners of its steps, in order.

    `wide` says whether integers have 64 bits there, `nul` whether a text can hold U+0000.
    """

    manners: tuple[Manner, ...]
    wide: bool
    nul: bool
    engine: dict[str, str | int]

    def job(self, database: str, output: str) -> Job:
        """The job for a file of rows."""
        return Job(
            mode="measure",
            cell="freshness",
            database=Database(path=database),
            connection=Connection(engine=self.engine),
            steps=[_step(self, number) for number in range(len(self.manners))],
            inspect=False,
            measure=Measure(
                operations_per_iteration=1,
                iterations=len(self.manners) + 1,
                share=Share(),
                digest=1,
            ),
            output=output,
        )

    def stored(self, step: int, *, changed: bool) -> list[tuple[Value, ...]]:
        """A step's rows, as `REPLACE` takes them, before or after another process changed them."""
        return [
            (
                _ROWS * step + row,
                step,
                10 * step + row + 5 * changed,
                self.text(f"Step {step} \0 é🚀 {'changed' * changed} row {row}."),
                b"",
                None,
                WIDE + 2 * (10 * step + row + 5 * changed),
            )
            for row in range(_ROWS)
        ]

    def text(self, text: str) -> str:
        """`text`, without what a text cannot hold."""
        return text if self.nul else text.replace("\0", "")


def manners_of(cases: Iterable[PlannedCase], catalog: Catalog) -> set[Manner]:
    """The manners in which the operations of these cases read rows."""
    return {
        Manner(
            case.axes.get("shape", "object"),
            case.axes.get("integers", "number"),
            case.axes.get("statement", "prepared"),
            step.operation,
        )
        for case in cases
        for step in steps_of(catalog.scenarios[case.scenario], case.axes)
        if step.operation in _READING
    }


def questions(
    manners: Iterable[Manner], integers: Sequence[str], spec: RunnerSpec
) -> list[Question]:
    """The questions to a runner, a connection for each shape and kind of integers, since some
    drivers have one for all statements of a connection.

    `integers` are those of its features: without `bigint` among them, plain ones have 64 bits.
    """
    groups: dict[tuple[str, str], list[Manner]] = {}
    for manner in sorted(manners):
        groups.setdefault((manner.shape, manner.integers), []).append(manner)
    return [
        Question(
            tuple(group),
            kind == "bigint" or "bigint" not in integers,
            spec.nul_in_text,
            spec.engine,
        )
        for (_, kind), group in groups.items()
    ]


def _step(question: Question, number: int) -> Step:
    columns = {"number": "integer", "word": "text", "empty": "blob?", "absent": "blob?"}
    bound = {"bound_text": ("text", question.text(BOUND))}
    if question.wide:
        columns["wide"] = "integer"
        bound["bound_integer"] = ("integer", str(WIDE))
    names = [*columns, *(f"? AS {name}" for name in bound)]
    columns |= {name: kind for name, (kind, _) in bound.items()}
    return Step.model_validate(
        {
            **question.manners[number]._asdict(),
            "sql": f"SELECT {', '.join(names)} FROM changing WHERE step = ? ORDER BY id",
            "parameters": {
                "types": [*(kind for kind, _ in bound.values()), "integer"],
                "rows": [[*(value for _, value in bound.values()), number]],
            },
            "columns": jobs.columns(columns),
            "repeat": REPEAT,
        }
    )


# What is made of the answers of a runner whose rows changed: right, stale or neither.


def judged(question: Question, invocation: Invocation) -> tuple[Outcome, str | None]:
    """The outcome of an invocation that answers a question, and the reason unless it is ok."""
    result = invocation.result
    if result is None:
        return "failed", f"asked whether it answers from the database: {invocation.problem}"
    if result.status == "unsupported":
        return "unsupported", result.reason
    if result.status == "failed":
        return "failed", result.error.message if result.error else None
    return _verdict(question, result)


def _verdict(question: Question, result: Result) -> tuple[Outcome, str | None]:
    manners, answers = question.manners, result.answers
    if len(answers) != len(manners) + 1:
        return "failed", f"its result has {len(answers)} answers to {len(manners) + 1} iterations"
    for changed, answer in enumerate(answers):
        if error := _error(question, changed, (answer[0], answer[2])):
            return "wrong", error
    if result.digest is None:
        return "failed", "its result has no digest, which was asked for"
    if result.digest != right_digest(question):
        return "wrong", f"its values are not those of the database, read by {_names(manners)}"
    return "ok", None


def _error(question: Question, changed: int, got: tuple[int, int]) -> str | None:
    """What is wrong with the rows and checksum after the rows of so many steps were changed."""
    if got == right(question, changed):
        return None
    if not changed:
        return f"its rows are not those of the database, read by {_names(question.manners)}"
    manner = question.manners[changed - 1]
    if got == right(question, changed - 1):
        return f"stale: another process changed rows, and {manner} returned the old ones"
    return f"another process changed rows, and {manner} returned neither old nor new ones"


def _names(manners: Sequence[Manner]) -> str:
    return ", ".join(map(str, manners))


def right(question: Question, changed: int) -> tuple[int, int]:
    """Rows and checksum of an iteration after the rows of so many steps were changed."""
    executions = _executions(question, changed)
    return sum(map(len, executions)), checksum(executions)


def right_digest(question: Question) -> str:
    """The digest after the last iteration."""
    return digest(_executions(question, len(question.manners)))


def _executions(question: Question, changed: int) -> list[list[tuple[Value, ...]]]:
    text = question.text(BOUND)
    columns, bound = (7, (text, WIDE)) if question.wide else (6, (text,))
    executions: list[list[tuple[Value, ...]]] = []
    for step, manner in enumerate(question.manners):
        rows = question.stored(step, changed=step < changed)
        rows = rows if manner.operation in ("all", "iterate") else rows[:1]
        executions += [[(*row[2:columns], *bound) for row in rows]] * REPEAT
    return executions


# Asks each runner whether it answers from the database: the harness changes rows beside it.


class Prober:
    """Starts a runner whose rows change under it; nothing of it is timed, but it may not take
    longer than `timeout_s`."""

    def __init__(self, scratch: Path, timeout_s: float) -> None:
        self._folder = scratch / "freshness"
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: Question, runner: Installed, log: Path) -> tuple[Outcome, str | None]:
        """The outcome of `runner`, and the reason unless it is ok.

        Its messages go to `log`; job and result are put beside that unless it is ok.
        """
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        database, file, output = (self._folder / name for name in ("rows.db", "job", "result"))
        file.write_bytes(question.job(str(database), str(output)).text().encode())
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            # With a write-ahead log, a reader that keeps its statement open blocks no change.
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(TABLE)
            for step in range(len(question.manners)):
                connection.executemany(REPLACE, question.stored(step, changed=False))
            with log.open("wb", buffering=0) as messages:
                command = [*runner.command, "--job", str(file)]
                invocation = self._converse(question, command, runner, connection, messages)
        if invocation.problem is None and invocation.timing:
            invocation = collect(invocation.timing, output)
        outcome, reason = judged(question, invocation)
        if outcome != "ok":
            for evidence in (file, output):
                if evidence.exists():
                    shutil.copyfile(evidence, log.with_suffix(f".{evidence.name}.json"))
        return outcome, reason

    def kill(self) -> None:
        """Kill the process under way, if any, with all its children."""
        if process := self._process:
            process_tree.kill(process)

    def _converse(
        self,
        question: Question,
        command: list[str],
        runner: Installed,
        connection: sqlite3.Connection,
        messages: BinaryIO,
    ) -> Invocation:
        """Let the process iterate, and change a step's rows before each iteration but the first."""
        try:
            process = self._process = subprocess.Popen(
                command,
                env=marked({**runner.environment, **runner.spec.steady_environment}),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=messages,
                start_new_session=True,
                creationflags=process_tree.OWN_GROUP,
            )
        except OSError as error:
            return Invocation(None, None, f"{error.filename}: {error.strerror}")
        assert process.stdin
        assert process.stdout
        changed = -1
        with _ended_by(process, self._timeout_s) as late:
            for line in process.stdout:
                if line.strip() != b"ready":
                    messages.write(line)
                    continue
                if changed >= 0:
                    connection.executemany(REPLACE, question.stored(changed, changed=True))
                changed += 1
                with suppress(BrokenPipeError):  # how it ends tells more
                    process.stdin.write(b"go\n")
                    process.stdin.flush()
        self._process = None
        if late.is_set():
            return Invocation(None, None, f"no end within {self._timeout_s:g} s; killed")
        code = process.returncode
        return Invocation(Timing(0, 0, 0, code if code >= 0 else 128 - code), None, None)


@contextmanager
def _ended_by(process: subprocess.Popen[bytes], timeout_s: float) -> Generator[threading.Event]:
    """Kill `process` after `timeout_s`, which sets the event; when the block ends, it has ended."""
    late = threading.Event()

    def give_up() -> None:
        late.set()
        process_tree.kill(process)

    timer = threading.Timer(timeout_s, give_up)
    timer.start()
    try:
        yield late
        process.wait()
    finally:
        timer.cancel()
        process_tree.kill(process)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()


def key(question: Question, runner: Installed) -> str:
    """All that could change the answer."""
    rows = [question.stored(step, changed=True) for step in range(len(question.manners))]
    parts = [
        question.job("", "").text(),
        repr(rows),
        runner.spec.model_dump_json(),
        runner.fingerprint,
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
