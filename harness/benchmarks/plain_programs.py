"""The plain programs in `runners/plain`: what each is told to do, and whether it did that.

A task shares with the scenario its SQL, pragmas, fixture and pool of rows, and nothing else. What a
program says of its work is held against Python's sqlite3.
"""

import json
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Timer
from typing import Any, Self

from benchmarks.plain_mix import Mix
from sqlitmus.catalog import cases, fixture, jobs, runners
from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.runners import Installed
from sqlitmus.run.processes.turns import LEAST
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Job, Value
from sqlitmus.vocabulary.errors import NotFit

JS = "{runners}/plain/plain.js"
DENO = (
    *("{deno}", "run", "--config={runners}/deno/deno.json", "--quiet"),
    *("--cached-only", "--no-prompt", "--allow-all", JS),
)
COMMANDS: Mapping[str, Sequence[str]] = {
    "node": ("{node}", JS, "node:sqlite"),
    "node-better-sqlite3": ("{node}", JS, "better-sqlite3"),
    "bun": ("{bun}", JS, "bun:sqlite"),
    "bun-better-sqlite3": ("{bun}", JS, "better-sqlite3"),
    "deno": (*DENO, "node:sqlite"),
    "deno-better-sqlite3": (*DENO, "better-sqlite3"),
    "rust": ("{plain-rust}",),
    "dotnet": ("{plain-dotnet}",),
}
# A case, and the work of its program.
CASES: Mapping[str, str] = {
    "get-pk": "user",
    "get-pk@profile=shipped": "user",
    "get-index": "user",
    "all": "users",
    "scan-pk-range": "range",
    "scan-index-range": "range",
    "insert-autocommit": "insert",
    "insert-transaction": "insert-100",
    "update-pk": "update-100",
}
BALANCE = "SELECT balance, updated FROM accounts WHERE id = ?"
TIMEOUT_S = 600.0


def job_of(known: Catalog, case: PlannedCase, installed: Installed, scratch: Path) -> Job:
    """`case` to be measured on a fixture of size m, with its result in `scratch`; one that writes
    has a fresh database."""
    spec = known.scenarios[case.scenario]
    assert spec.fixture
    definition, cache = known.fixtures[spec.fixture], paths.cache("fixtures")
    database = fixture.ensure(spec.fixture, definition, "m", case.journal_mode, cache)
    if spec.writes:
        kept, database = database, scratch / "copy.db"
        fixture.fresh_copy(kept, database)
    return jobs.make_job(
        case,
        known,
        mode="measure",
        cell=f"{case.id}/{installed.spec.name}",
        database=database,
        size=fixture.rows(definition, "m"),
        output=scratch / "result.json",
    )


@dataclass(frozen=True, slots=True)
class Task:
    """A case as every plain program is asked it; `units` of an operation, `fixture` a copy, and of
    reads the `answers` to each row of the pool."""

    work: str
    sql: str
    pragmas: list[str]
    pool: list[list[Value]]
    units: int
    fixture: Path
    answers: list[tuple[int, int]]
    undo_every = 0  # never

    @property
    def writes(self) -> bool:
        """Whether its program changes the database."""
        return not self.answers

    @classmethod
    def of(cls, known: Catalog, case_id: str, installed: Installed, folder: Path) -> Self:
        """A case of CASES with all of its files in `folder`."""
        name, axes = cases.parse_case(case_id, known)
        case = cases.make_case(name, axes, known, known.modes["quick"])
        job = job_of(known, case, installed, folder)
        step = job.steps[0]
        assert job.database
        assert step.parameters
        copy = folder / "fixture.db"
        fixture.fresh_copy(Path(job.database.path), copy)
        work = CASES[case_id]
        pool = step.parameters.rows
        pragmas = [f"PRAGMA {pragma} = {value}" for pragma, value in job.connection.pragmas]
        writes = work.startswith(("insert", "update"))
        answers = [] if writes else answers_of(copy, step.sql, pool)
        return cls(work, step.sql, pragmas, pool, case.per_operation, copy, answers)

    def asked(self) -> dict[str, Any]:
        """As a program reads it, but for the database."""
        return {"pragmas": self.pragmas, "sql": self.sql, "pool": self.pool}

    @property
    def walk(self) -> int:
        """Operations that reach all of the pool."""
        return -(-len(self.pool) // self.units)

    def _balance(self, executed: int, key: Value) -> float:
        """That of a row to which so many executions have added in turn."""
        with closing(sqlite3.connect(self.fixture)) as connection:
            balance, _ = connection.execute(BALANCE, [key]).fetchone()
        for execution in range(executed):
            amount, _, changed = self.pool[execution % len(self.pool)]
            if changed == key and isinstance(amount, float):
                balance += amount
        return balance

    def restarting(self, rows: int) -> Self:
        """The same by a program that begins its pool again after so many rows: a fault."""
        return replace(self, pool=self.pool[:rows], answers=self.answers[:rows])

    def problem(self, told: Mapping[str, Any], operations: int, database: Path) -> str | None:
        """In what `told` is not what so many operations on the whole pool come to, or None."""
        if not self.writes:
            rounds, rest = divmod(operations, len(self.pool))
            due = tuple(
                rounds * sum(column) + sum(column[:rest])
                for column in zip(*self.answers, strict=True)
            )
            said = (told["rows"], told["sum"])
            return None if said == due else f"rows and sum are {said}, not {due}"
        executed = operations * self.units
        if told["rows"] != executed:
            return f"{told['rows']} rows changed, not {executed}"
        last = self.pool[(executed - 1) % len(self.pool)]
        with closing(sqlite3.connect(database)) as connection:
            if self.work == "update-100":
                found = connection.execute(BALANCE, last[2:]).fetchone()
                due = (self._balance(executed, last[2]), last[1])
                return None if found == due else f"the last row has {found}, not {due}"
            found = connection.execute(
                "SELECT count(*), max(id), (SELECT a FROM sink ORDER BY id DESC) FROM sink"
            ).fetchone()
        due = (executed, executed, last[0])
        return None if found == due else f"rows, last id and its value are {found}, not {due}"


def text(task: Task | Mix, database: Path) -> str:
    """What a program reads."""
    return json.dumps({"database": str(database), "work": task.work, **task.asked()})


def answers_of(file: Path, sql: str, pool: Sequence[list[Value]]) -> list[tuple[int, int]]:
    """How many rows each row of the pool finds, and the sum of their ids."""
    ids = "sum(id)" if "id" in sql.partition("FROM")[0] else "0"
    ask = f"SELECT count(*), {ids} FROM ({sql})"
    with closing(sqlite3.connect(file)) as connection:
        return [connection.execute(ask, row).fetchone() for row in pool]


@dataclass(frozen=True, slots=True)
class Phase:
    """What a plain program did: operations, their total time, and how long of it the program waited
    for a processor."""

    operations: int
    ns: int
    waited_ns: int

    @property
    def worked_ns(self) -> float:
        """Its time less that, a tenth at least: of a short one others may be said to have taken
        more than there was."""
        return max(self.ns - self.waited_ns, LEAST * self.ns)


class Program:
    """A plain program under way: it works when it is asked, and says at its end what it came to.

    A context manager: at the end of the block its process and pipes are gone, whatever it did.

    Raises NotFit wherever it fails, or did other work than it was told.
    """

    def __init__(
        self,
        name: str,
        command: list[str],
        environment: Mapping[str, str],
        task: Task | Mix,
        folder: Path,
    ) -> None:
        self._title = f"plain program {name}, {task.work}"
        self._task, self._database, self._log = task, task.fixture, folder / "log"
        if task.writes:
            self._database = folder / "copy.db"
            fixture.fresh_copy(task.fixture, self._database)
        file = folder / "task.json"
        file.write_text(text(task, self._database), "utf-8")
        self._operations, self._due = 0, 0
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command, str(file)],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self._deadline = Timer(TIMEOUT_S, self._process.kill)
        self._deadline.daemon = True
        self._deadline.start()

    @property
    def pid(self) -> int:
        """Its process, whose first thread does the work."""
        return self._process.pid

    def work(self, *operations: int, seconds: float = 0) -> list[Phase]:
        """Phases of so many operations, without a pause; each goes on for so many seconds."""
        assert self._process.stdin
        pieces = [[*self._pieces(number)] for number in operations]
        asked = (
            {"operations": number, "seconds": seconds, "afresh": afresh}
            for piece in pieces
            for number, afresh in piece
        )
        with suppress(BrokenPipeError):  # what it said of that is read below
            self._process.stdin.write("".join(f"{json.dumps(each)}\n" for each in asked))
            self._process.stdin.flush()
        phases = [self._phase(len(piece)) for piece in pieces]
        self._operations += sum(phase.operations for phase in phases)
        return phases

    def _pieces(self, operations: int) -> Iterator[tuple[int, bool]]:
        """So many operations in parts between which what was written is undone, and whether it is
        undone before each."""
        every = self._task.undo_every
        if not every:
            yield operations, False
            return
        while operations:
            at = self._due % every
            number = min(every - at, operations)
            yield number, at == 0 and self._due > 0
            self._due += number
            operations -= number

    def _phase(self, pieces: int) -> Phase:
        lines = [self._line() for _ in range(pieces)]
        return Phase(*(sum(line[key] for line in lines) for key in ("operations", "ns", "waited")))

    def end(self) -> str:
        """Its SQLite."""
        assert self._process.stdin
        self._process.stdin.close()
        told = self._line()
        self._process.wait()
        self._deadline.cancel()
        if problem := self._task.problem(told, self._operations, self._database):
            raise NotFit(f"{self._title}: {problem}")
        return told["sqlite"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._deadline.cancel()
        with self._process:  # closes its pipes
            self._process.kill()

    def _line(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            log = self._log.read_text("utf-8", "replace")
            raise NotFit(f"{self._title}, exit code {code}:\n{log}")
        return json.loads(line)


class Programs:
    """The plain programs on this machine, with their files in `folder`."""

    def __init__(
        self, known: Catalog, names: Sequence[str], tools: paths.Tools, folder: Path
    ) -> None:
        self._commands = {name: runners.expand([*COMMANDS[name]], tools) for name in names}
        # and at the last tier as soon as its runner: as in a process that has run for minutes
        self._environments = {
            name: {
                **runners.environment(known.runners[name], tools),
                **known.runners[name].steady_environment,
            }
            for name in names
        }
        self._folder = folder

    def __contains__(self, name: str) -> bool:
        return name in self._commands

    def command(self, name: str) -> tuple[list[str], dict[str, str]]:
        """What starts a program, before the file of its task, and the environment."""
        return self._commands[name], self._environments[name]

    def start(self, name: str, task: Task | Mix) -> Program:
        """One program, which waits to be asked."""
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        return Program(name, *self.command(name), task, folder)
