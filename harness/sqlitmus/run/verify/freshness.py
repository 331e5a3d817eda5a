"""Whether runners answer from the database each time: rows change beside them."""

import sqlite3
import subprocess
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sqlitmus.catalog import jobs
from sqlitmus.catalog.cases import PlannedCase, steps_of
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import RunnerSpec
from sqlitmus.run.processes.process import Invocation
from sqlitmus.run.verify.prober import Act, Life, Stop, Verdict, unanswered
from sqlitmus.run.verify.proof import Value, checksum, digest
from sqlitmus.vocabulary.contract import Connection, Database, Job, Measure, Result, Share, Step

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
    name = "freshness"
    asks = "whether it answers from the database"

    def job(self, database: str, output: str) -> Job:
        """The job for a file of rows."""
        return Job(
            mode="measure",
            cell=self.name,
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

    def facts(self) -> str:
        """The rows, which its job does not hold."""
        return repr([self.stored(step, changed=True) for step in range(len(self.manners))])

    @contextmanager
    def beside(self, database: Path) -> Generator[Act]:
        """Make the file of rows, and change a step's before each iteration but the first."""
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            # With a write-ahead log, a reader that keeps its statement open blocks no change.
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(TABLE)
            for step in range(len(self.manners)):
                connection.executemany(REPLACE, self.stored(step, changed=False))

            def act(process: subprocess.Popen[bytes], messages: BinaryIO) -> list[Stop]:
                assert process.stdin
                assert process.stdout
                changed = -1
                for line in process.stdout:
                    if line.strip() != b"ready":
                        messages.write(line)
                        continue
                    if changed >= 0:
                        connection.executemany(REPLACE, self.stored(changed, changed=True))
                    changed += 1
                    with suppress(BrokenPipeError):  # how it ends tells more
                        process.stdin.write(b"go\n")
                        process.stdin.flush()
                return []

            yield act

    def judged(self, invocation: Invocation, _: Life) -> Verdict:
        """The outcome of an invocation that answers it, and the reason unless it is ok."""
        result = unanswered(invocation, self.asks)
        return _verdict(self, result) if isinstance(result, Result) else result


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


def _verdict(question: Question, result: Result) -> Verdict:
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
