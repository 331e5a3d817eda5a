"""Whether runners answer from the database each time: rows change beside them."""

import sqlite3
import subprocess
import threading
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
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
from sqlitmus.vocabulary import contract
from sqlitmus.vocabulary.contract import Features, Job, Measure, Result, Step

TABLE = (
    "CREATE TABLE changing(id INTEGER PRIMARY KEY, step INTEGER NOT NULL, number INTEGER NOT NULL, "
    "word TEXT NOT NULL, empty BLOB, absent BLOB, wide INTEGER NOT NULL)"
)
REPLACE = "REPLACE INTO changing VALUES (?, ?, ?, ?, ?, ?, ?)"

_READING = ("get", "all", "iterate", "open")
_ROWS = 3
OPERATIONS = 2  # of an iteration: what the first puts into a cache, the second may take from it
DOORS = ("entrance", "gate")
SIGN = "CREATE TABLE sign(id INTEGER); INSERT INTO sign VALUES ({})"
WIDE = 2**53 + 1  # odd, as all of these are: no double holds one
_LOOK_S = 0.001
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

    `wide` says whether integers have 64 bits there, `nul` whether a text can hold U+0000. Where it
    is `gated`, each operation ends with a statement that waits while the gate is shut.
    """

    manners: tuple[Manner, ...]
    wide: bool
    nul: bool
    engine: dict[str, str | int]
    gated: bool = True
    name = "freshness"
    asks = "whether it answers from the database"

    def job(self, database: str, output: str) -> Job:
        path = database.replace("'", "''")
        return Job(
            mode="measure",
            cell=self.name,
            database=contract.Database(path=database),
            connection=contract.Connection(
                pragmas=[("busy_timeout", 60_000)] if self.gated else [],
                engine=self.engine,
                setup=[f"ATTACH '{path}.{name}' AS {name}" for name in DOORS if self.gated],
            ),
            steps=[
                *(_step(self, number) for number in range(len(self.manners))),
                *([_through_the_gate(self.manners[0])] if self.gated else []),
                *map(_at_the_sign, self.anew),
            ],
            inspect=False,
            measure=Measure(
                operations_per_iteration=OPERATIONS,
                iterations=self.iterations,
                share=contract.Share(),
                digest=1,
            ),
            output=output,
        )

    @property
    def iterations(self) -> int:
        """One, one after each step's rows have changed, and one in which all change."""
        return 1 + len(self.manners) + self.gated

    @property
    def anew(self) -> list[Manner]:
        """The manners whose statements are looked at for being compiled at each execution."""
        adhoc = [manner for manner in self.manners if manner.statement == "adhoc"]
        return [m for m in adhoc if m.operation != "open"] if self.gated else []

    def stored(self, step: int, changed: int) -> list[tuple[Value, ...]]:
        """A step's rows, as `REPLACE` takes them, after another process changed them so often."""
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
        return repr([self.stored(step, 1) for step in range(len(self.manners))])

    @contextmanager
    def beside(self, database: Path) -> Generator[Act]:
        """Make the file of rows, and change a step's before each iteration but the first, in the
        last one all in the middle of it."""
        steps = range(len(self.manners))
        rows = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
        with closing(rows) as connection, closing(Gate(database)) as gate:
            # With a write-ahead log, a reader that keeps its statement open blocks no change.
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(TABLE)

            def change(step: int, times: int) -> None:
                connection.executemany(REPLACE, self.stored(step, times))

            for step in steps:
                change(step, 0)

            def act(process: subprocess.Popen[bytes], messages: BinaryIO) -> list[Stop]:
                assert process.stdin
                assert process.stdout
                iteration = -1
                for line in process.stdout:
                    if line.strip() != b"ready":
                        messages.write(line)
                        continue
                    iteration += 1
                    if iteration - 1 in steps:
                        change(iteration - 1, 1)
                    if iteration == len(steps):
                        connection.executescript(SIGN.format(2))
                    if iteration == len(steps) + 1:
                        gate.shut(lambda: [change(step, 2) for step in steps])
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


def questions(manners: Iterable[Manner], features: Features, spec: RunnerSpec) -> list[Question]:
    """The questions to a runner, a connection for each shape and kind of integers, since some
    drivers have one for all statements of a connection.

    Without `bigint` in its `features`, plain integers have 64 bits; the core has no gate.
    """
    groups: dict[tuple[str, str], list[Manner]] = {}
    for manner in sorted(manners):
        groups.setdefault((manner.shape, manner.integers), []).append(manner)
    return [
        Question(
            tuple(group),
            kind == "bigint" or "bigint" not in features.integers,
            spec.nul_in_text,
            spec.engine,
            "extras" in features.levels,
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
    parameters = {
        "types": [*(kind for kind, _ in bound.values()), "integer"],
        "rows": [[*(value for _, value in bound.values()), number]],
    }
    sql = f"SELECT {', '.join(names)} FROM changing WHERE step = ? ORDER BY id"
    return _reading(question.manners[number], sql, columns, parameters=parameters)


def _reading(manner: Manner, sql: str, columns: dict[str, str], **more: object) -> Step:
    given = {**manner._asdict(), "sql": sql, "columns": jobs.columns(columns), **more}
    return Step.model_validate(given)


def _through_the_gate(manner: Manner) -> Step:
    """Lock the entrance, then the gate: who waits for the second holds the first."""
    sql = "SELECT entrance.door.id AS id FROM entrance.door, gate.door"
    return _reading(manner._replace(operation="get", statement="prepared"), sql, {"id": "integer"})


def _at_the_sign(manner: Manner) -> Step:
    """Read a table of the gate's until the main database has one of that name: a statement that was
    compiled before still reads the first."""
    return _reading(manner, "SELECT id FROM sign", {"id": "integer"})


def _verdict(question: Question, result: Result) -> Verdict:
    answers, many = result.answers, question.iterations
    if len(answers) != many:
        return "failed", f"its result has {len(answers)} answers to {many} iterations"
    for changed, answer in enumerate(answers):
        if error := _error(question, changed, (answer[0], answer[2])):
            return "wrong", error
    if result.digest is None:
        return "failed", "its result has no digest, which was asked for"
    if result.digest != right_digest(question):
        names = _names(question.manners)
        return "wrong", f"its values are not those of the database, read by {names}"
    return "ok", None


def _error(question: Question, changed: int, got: tuple[int, int]) -> str | None:
    """What is wrong with the rows and checksum of an iteration after so many changes."""
    if got == right(question, changed):
        return None
    manners = question.manners
    if not changed:
        return f"its rows are not those of the database, read by {_names(manners)}"
    within = changed > len(manners)
    if question.anew and got == right(question, changed, compiled_once=True):
        return f"not compiled at each execution: the statement of {_names(question.anew)}"
    where = " within an iteration" if within else ""
    each = [[step] for step in range(len(manners)) if within or step == changed - 1]
    together = [step for [step] in each]
    for stale in (*each, together):
        if got == right(question, changed, stale):
            names = _names([manners[step] for step in stale])
            return f"stale: another process changed rows{where}, and {names} returned the old ones"
    names = _names([manners[step] for step in together])
    return f"another process changed rows{where}, and {names} returned neither old nor new ones"


def _names(manners: Sequence[Manner]) -> str:
    return ", ".join(map(str, manners))


def right(
    question: Question, changed: int, stale: Collection[int] = (), *, compiled_once: bool = False
) -> tuple[int, int]:
    """Rows and checksum of an iteration after so many changes: one to each step's rows, then one to
    all of them between two operations. What they would be if steps were `stale` in the last of
    these, and if statements were never compiled again."""
    steps = range(len(question.manners))
    rows = total = 0
    for operation in range(OPERATIONS):
        within = changed > len(steps) and operation > 0
        recent = within or changed <= len(steps)
        versions = [(s < changed) + within - (recent and s in stale) for s in steps]
        sign = 1 + (question.gated and changed >= len(steps) and not compiled_once)
        executions = _executions(question, versions, sign)
        rows += sum(map(len, executions))
        total += checksum(executions)
    return rows, total % 2**32


def right_digest(question: Question) -> str:
    versions = [1 + question.gated] * len(question.manners)
    return digest(_executions(question, versions, 1 + question.gated))


def _executions(
    question: Question, versions: Sequence[int], sign: int
) -> list[list[tuple[Value, ...]]]:
    """What an operation returns where the rows of each step have changed so often."""
    text = question.text(BOUND)
    columns, bound = (7, (text, WIDE)) if question.wide else (6, (text,))
    executions: list[list[tuple[Value, ...]]] = []
    for step, manner in enumerate(question.manners):
        rows = question.stored(step, versions[step])
        rows = rows if manner.operation in ("all", "iterate") else rows[:1]
        executions.append([(*row[2:columns], *bound) for row in rows])
    numbers = [*[1] * question.gated, *[sign] * len(question.anew)]
    executions.extend([(number,)] for number in numbers)
    return executions


class Gate:
    """Holds a runner up in the middle of an iteration.

    A statement that goes through it locks the entrance, which shows that it stands there, and then
    waits for the gate as for any lock.
    """

    def __init__(self, database: Path) -> None:
        self._entrance, self._gate = (
            sqlite3.connect(
                f"{database}.{name}", isolation_level=None, timeout=0, check_same_thread=False
            )
            for name in DOORS
        )
        for door in (self._entrance, self._gate):
            door.executescript("CREATE TABLE door(id INTEGER); INSERT INTO door VALUES (1)")
        self._gate.executescript(SIGN.format(1))
        self._over = threading.Event()
        self._keeper: threading.Thread | None = None

    def shut(self, change: Callable[[], object]) -> None:
        """Let nobody through before `change`, which is done once somebody stands there; whoever
        left a statement open there holds a read transaction, and cannot be held up."""
        try:
            self._gate.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            return
        self._over.clear()
        self._keeper = threading.Thread(target=self._keep, args=[change])
        self._keeper.start()

    def open(self) -> None:
        """Let all through, though nobody came."""
        self._over.set()
        if self._keeper:
            self._keeper.join()
            self._keeper = None

    def close(self) -> None:
        self.open()
        self._entrance.close()
        self._gate.close()

    def _keep(self, change: Callable[[], object]) -> None:
        try:
            while not self._over.wait(_LOOK_S):
                try:
                    self._entrance.execute("BEGIN EXCLUSIVE")
                except sqlite3.OperationalError:  # somebody has a lock
                    change()
                    return
                self._entrance.rollback()
        finally:
            self._gate.rollback()
