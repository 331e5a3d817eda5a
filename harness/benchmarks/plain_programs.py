"""The plain programs in `runners/plain`: what each is told to do, and whether it did that.

A task shares with the scenario its SQL, pragmas, fixture and pool of rows, and nothing else. What a
program says of its work is held against Python's sqlite3.
"""

import json
import sqlite3
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from benchmarks.asked import job_of
from sqlitmus.catalog import cases, fixture, runners
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.fixture import fresh_copy
from sqlitmus.catalog.runners import Installed
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Value
from sqlitmus.vocabulary.errors import NotFit
from sqlitmus.workload import scenarios

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
# A case, the work of its program, and for writes how many operations stand for a second: they are
# counted, not timed, so that all programs leave the same table.
CASES: Mapping[str, tuple[str, int]] = {
    "get-pk": ("user", 0),
    "get-pk@profile=shipped": ("user", 0),
    "get-index": ("user", 0),
    "all": ("users", 0),
    "scan-pk-range": ("range", 0),
    "scan-index-range": ("range", 0),
    "insert-autocommit": ("insert", 16_000),
    "insert-transaction": ("insert-100", 3_200),
    "update-pk": ("update-100", 3_200),
}
ROUND = {"document": 16, "recent": 2, "words": 1, "visit": 1}  # of docs/workload/app.toml
BALANCE = "SELECT balance, updated FROM accounts WHERE id = ?"
CHUNK = 16  # operations from one look at the clock to the next
WARMUP_S = 1
TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True)
class Task:
    """A case as every plain program is asked it; `units` of an operation, `fixture` a copy, and of
    reads the `answers` to each row of the pool."""

    work: str
    per_second: int
    sql: str
    pragmas: list[str]
    pool: list[list[Value]]
    units: int
    fixture: Path
    answers: list[tuple[int, int]]

    @classmethod
    def of(cls, known: Catalog, case_id: str, installed: Installed, folder: Path) -> Self:
        """A case of CASES with all of its files in `folder`."""
        name, axes = cases.parse_case(case_id, known)
        case = cases.make_case(name, axes, known, known.modes["quick"])
        job = job_of(known, case, installed, folder)
        step = job.steps[0]
        assert job.database
        assert step.parameters
        fixture = folder / "fixture.db"
        fresh_copy(Path(job.database.path), fixture)
        work, per_second = CASES[case_id]
        pool = step.parameters.rows
        pragmas = [f"PRAGMA {pragma} = {value}" for pragma, value in job.connection.pragmas]
        answers = [] if per_second else answers_of(fixture, step.sql, pool)
        return cls(work, per_second, step.sql, pragmas, pool, case.per_operation, fixture, answers)

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

    def text(self, database: Path, seconds: float) -> str:
        """What a program reads."""
        whole, warmup_s = _chunks(len(self.pool) / self.units), min(WARMUP_S, seconds)
        if self.per_second:
            warmup = {"operations": max(whole, _chunks(self.per_second * warmup_s)), "seconds": 0}
            timed = {"operations": _chunks(self.per_second * seconds), "seconds": 0}
        else:
            warmup = {"operations": whole, "seconds": warmup_s}
            timed = {"operations": 0, "seconds": seconds}
        return json.dumps(
            {
                "database": str(database),
                "pragmas": self.pragmas,
                "sql": self.sql,
                "pool": self.pool,
                "work": self.work,
                "warmup": warmup,
                "timed": timed,
            }
        )

    def problem(self, told: Mapping[str, Any], database: Path) -> str | None:
        """In what `told` is not what so many operations on the whole pool come to, or None."""
        operations = int(told["warmup"]["operations"]) + int(told["timed"]["operations"])
        if not self.per_second:
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


@dataclass(frozen=True, slots=True)
class Service:
    """The mix of `docs/workload/app.toml`, round by round, as a plain program is asked it; of each
    statement the `answers` to each row of its pool."""

    pragmas: list[str]
    sql: dict[str, str]
    pools: dict[str, list[list[Value]]]
    answers: dict[str, list[tuple[int, int]]]
    fixture: Path
    work = "service"
    per_second = 1  # what writes has a copy of its own

    @classmethod
    def of(cls, known: Catalog, file: Path) -> Self:
        """That of the workload's `file`. Raises NotFit for another than the programs' own."""
        ready = scenarios.read(file, known)
        spec = ready.catalog.scenarios[scenarios.MIX]
        steps = cases.steps_of(spec, {axis: values[0] for axis, values in spec.axes.items()})
        fixture.forget_snapshots()
        each = dict(zip(ready.planned.shares, steps, strict=False))
        repeats = {name: step.repeat for name, step in each.items()}
        if len(steps) != len(each) or repeats != ROUND:
            raise NotFit(f"{file}: a round has {repeats}, and the plain programs do {ROUND}")
        sql = {name: step.text({}) for name, step in each.items()}
        pools = {name: step.given.rows for name, step in each.items() if step.given}
        database = file.parent / ready.planned.database
        answers = {
            name: [(1, 0)] if name == "visit" else answers_of(database, sql[name], pools[name])
            for name in ROUND
        }
        pragmas = [f"PRAGMA {pragma} = {value}" for pragma, value in ready.pragmas]
        return cls(pragmas, sql, pools, answers, database)

    @property
    def units(self) -> int:
        """Queries of a round."""
        return sum(ROUND.values())

    def text(self, database: Path, seconds: float) -> str:
        """What a program reads."""
        phases = {"warmup": min(WARMUP_S, seconds), "timed": seconds}
        return json.dumps(
            {
                "database": str(database),
                "pragmas": self.pragmas,
                "sql": self.sql,
                "pool": self.pools,
                "work": self.work,
                **{name: {"operations": 0, "seconds": each} for name, each in phases.items()},
            }
        )

    def problem(self, told: Mapping[str, Any], database: Path) -> str | None:
        """In what `told` is not what so many rounds come to, or None."""
        rounds = int(told["warmup"]["operations"]) + int(told["timed"]["operations"])
        due = [0, 0]
        for name, answers in self.answers.items():
            walks, rest = divmod(rounds * ROUND[name], len(answers))
            for place, column in enumerate(zip(*answers, strict=True)):
                due[place] += walks * sum(column) + sum(column[:rest])
        with closing(sqlite3.connect(database)) as connection:
            (visits,) = connection.execute("SELECT count(*) FROM visit").fetchone()
        seen = [told["rows"], told["sum"], visits]
        return (
            None if seen == [*due, rounds] else f"rows, sum, visits are {seen}, not {due}, {rounds}"
        )


def answers_of(fixture: Path, sql: str, pool: Sequence[list[Value]]) -> list[tuple[int, int]]:
    """How many rows each row of the pool finds, and the sum of their ids."""
    ids = "sum(id)" if "id" in sql.partition("FROM")[0] else "0"
    ask = f"SELECT count(*), {ids} FROM ({sql})"
    with closing(sqlite3.connect(fixture)) as connection:
        return [connection.execute(ask, row).fetchone() for row in pool]


@dataclass(frozen=True, slots=True)
class Played:
    """What a plain program came to: its total time over units of work, and the share of that time
    in which it waited for a processor; its SQLite."""

    ns: float
    waited: float
    sqlite: str


class Programs:
    """The plain programs on this machine, with their files in `folder`."""

    def __init__(
        self, known: Catalog, names: Sequence[str], tools: paths.Tools, folder: Path
    ) -> None:
        self._commands = {name: runners.expand([*COMMANDS[name]], tools) for name in names}
        self._environments = {
            name: runners.environment(known.runners[name], tools) for name in names
        }
        self._folder = folder

    def play(self, name: str, task: Task | Service, seconds: float) -> Played:
        """Run one program. Raises NotFit when it fails, or did other work than it was told."""
        database, file = task.fixture, self._folder / "task.json"
        if task.per_second:
            database = self._folder / "copy.db"
            fresh_copy(task.fixture, database)
        file.write_text(task.text(database, seconds), "utf-8")
        try:
            done = subprocess.run(
                [*self._commands[name], str(file)],
                env=self._environments[name],
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise NotFit(f"plain program {name}, {task.work}: {error}") from error
        if done.returncode:
            raise NotFit(f"plain program {name}, exit code {done.returncode}:\n{done.stderr}")
        told = json.loads(done.stdout)
        if problem := task.problem(told, database):
            raise NotFit(f"plain program {name}, {task.work}: {problem}")
        timed = told["timed"]
        each = timed["ns"] / timed["operations"] / task.units
        return Played(each, timed["waited"] / timed["ns"], told["sqlite"])


def _chunks(operations: float) -> int:
    return -int(-operations // CHUNK) * CHUNK
