"""Turns a case and a database file into the contract's job. Pure."""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Literal

from sqlitmus.catalog import fixture, generate
from sqlitmus.catalog.cases import (
    PlannedCase,
    applying,
    make_case,
    override_of,
    parse_case,
    steps_of,
)
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import Fixture, Scenario, ScenarioStep, Variant
from sqlitmus.vocabulary import contract
from sqlitmus.vocabulary.contract import Database, Features, Job, Parameters, Step, Value
from sqlitmus.vocabulary.text import quoted

MANNER = ("shape", "integers", "statement", "texts")  # of steps, said by axes


def make_job(
    case: PlannedCase,
    catalog: Catalog,
    *,
    mode: Literal["verify", "measure"],
    cell: str,
    database: Path | None,
    size: int,
    output: Path,
    warmup_ms: int = 0,
    engine: dict[str, str | int] | None = None,
    digest: int = 0,
    features: Features | None = None,
) -> Job:
    """The job of `case`; `size` is the fixture's number of rows.

    `warmup_ms` (the least warm-up), `engine` (options of SQLite itself) and `features` are the
    runner's own;
    `digest` asks for so many operations with a digest after the measured iterations. In verify mode
    a writer beside does what it does in all iterations.
    """
    spec = catalog.scenarios[case.scenario]
    variant = case.variant
    transaction = "read" if case.axes.get("transaction") == "read" else spec.transaction
    cold = case.metric == "cold"
    steps = steps_of(spec, case.axes)
    if mode == "verify":
        steps = [_verifiable(step) for step in steps]
    return Job(
        mode=mode,
        cell=cell,
        database=_database(spec, variant, database),
        connection=contract.Connection(
            pragmas=case.pragmas,
            engine={**(engine or {}), **variant.engine},
            setup=[sql.format(size=size, **case.axes) for sql in spec.setup],
            per_operation=variant.per_operation,
        ),
        steps=bound(steps, case, size, case.scenario, database, features),
        transaction=variant.transaction or transaction,
        writer=_writer(spec, case, size, mode),
        reset=[sql.format(size=size) for sql in spec.reset],
        reset_every=case.reset_every if spec.reset else None,
        readback=[contract.Readback(sql=q.sql, columns=columns(q.columns)) for q in spec.readback],
        # A cold process shows its start, not the inspection after it.
        inspect=mode == "verify" or not cold,
        measure=contract.Measure(
            operations_per_iteration=case.operations,
            warmup_iterations=case.warmup_iterations if mode == "measure" else 0,
            warmup_ns=0
            if cold
            else max(case.warmup_ms, warmup_ms if case.warmup_ms else 0) * 10**6,
            iterations=case.iterations if mode == "measure" else 1,
            workers=case.threads,
            thread="main" if spec.timer_ms else _thread(case),
            latencies=spec.latencies,
            rate=override_of(spec, case.axes).rate,
            sequence=spec.sequence,
            tolerate_busy=spec.tolerate_busy,
            digest=digest,
            event_loop=_event_loop(spec, case),
        ),
        output=str(output),
    )


# What stands for a real in a verification: digits of an odd multiple, of which no sum of prices is
# half-way between two; and what the order of a sum alone tells from 0 is 0.
_INSTEAD = {
    "digits": (
        "CASE WHEN typeof({0}) <> 'real' THEN {0} WHEN abs({0}) < 1e-9 THEN '0' "
        "ELSE printf('%.7g', {0} * 1.2345678901234567) END AS {0}"
    ),
    "types": "nullif(typeof({0}), 'null') AS {0}",
}


def _verifiable(step: ScenarioStep) -> ScenarioStep:
    """The same rows, with texts of what is compared of their reals."""
    if step.reals == "exact":
        return step
    names = {name: quoted(name).replace("{", "{{").replace("}", "}}") for name in step.columns}
    chosen = [
        _INSTEAD[step.reals].format(names[name]) if kind.startswith("real") else names[name]
        for name, kind in step.columns.items()
    ]
    changes = {
        "sql": f"SELECT {', '.join(chosen)} FROM ({step.sql})",
        "columns": {name: kind.replace("real", "text") for name, kind in step.columns.items()},
    }
    return step.model_copy(update=changes)


def _database(spec: Scenario, variant: Variant, path: Path | None) -> Database | None:
    if spec.memory:
        return Database(path=":memory:")
    if path is None:
        return None
    mode = "readonly" if variant.readonly else "readwrite"
    return Database(path=str(path), mode=mode, uri=variant.uri, flags=variant.flags)


def _event_loop(spec: Scenario, case: PlannedCase) -> contract.EventLoop | None:
    if spec.timer_ms is None:
        return None
    return contract.EventLoop(timer_ms=spec.timer_ms, thread=_thread(case))


def _thread(case: PlannedCase) -> Literal["main", "worker"]:
    """Where a lone worker is."""
    return "worker" if case.axes.get("thread") == "worker" else "main"


def _writer(spec: Scenario, case: PlannedCase, size: int, mode: str) -> contract.Writer | None:
    if spec.writer is None:
        return None
    pace = override_of(spec, case.axes)
    operations = pace.writer_operations or spec.writer.operations
    if mode == "verify":
        operations *= case.warmup_iterations + case.iterations
    return contract.Writer(
        steps=bound(applying(spec.writer.steps, case.axes), case, size, f"{case.scenario}/writer"),
        transaction=spec.writer.transaction,
        operations=operations,
        rate=pace.writer_rate,
    )


def question(job: Job) -> Job:
    """The job that the oracle gets: the same question without the runner's own settings."""
    plain = {"shape": "object", "integers": "number", "statement": "prepared", "texts": 1}
    steps = [step.model_copy(update=plain) for step in job.steps]
    connection = job.connection.model_copy(update={"engine": {}, "per_operation": False})
    database = job.database and job.database.model_copy(update={"uri": {}, "flags": []})
    changes = {"steps": steps, "connection": connection, "database": database}
    return job.model_copy(update={"mode": "verify", "inspect": True, **changes})


# Pragmas that change how SQLite reads, and not what.
_HOW_IT_READS = frozenset(
    {
        *("busy_timeout", "cache_size", "foreign_keys", "journal_mode", "locking_mode"),
        *("mmap_size", "query_only", "synchronous", "temp_store", "threads", "wal_autocheckpoint"),
    }
)


def question_key(job: Job, content: str, *, writes: bool) -> str:
    """A hash of what decides the oracle's answer to `job`, whose database has this `content`.

    Of a job that only reads it is not the journal, the cache and the locks of its file, and how
    many workers do so at once.
    """
    connection, measure, database = job.connection, job.measure, job.database
    if not writes:
        pragmas = [(name, value) for name, value in connection.pragmas if name not in _HOW_IT_READS]
        connection = connection.model_copy(update={"pragmas": pragmas})
        measure = measure.model_copy(update={"workers": 1, "thread": "main"})
    if content and database:
        mode = database.mode if writes else "readwrite"
        database = database.model_copy(update={"path": "", "mode": mode})
    parts = {"connection": connection, "measure": measure, "database": database}
    text = job.model_copy(update={"cell": "", "output": "", **parts}).text()
    return hashlib.sha256(f"{content}\0{text}".encode()).hexdigest()[:24]


def bound(
    specs: list[ScenarioStep],
    case: PlannedCase,
    size: int,
    seed: str,
    database: Path | None = None,
    features: Features | None = None,
) -> list[Step]:
    """The steps with all that they bind, in the manner that a runner with these `features` has,
    where no axis asks for one. Raises UsageError for names of files that lie elsewhere than beside
    `database`."""
    steps: list[Step] = []
    manner = {name: case.axes[name] for name in MANNER if name in case.axes}
    features = features or Features()
    named = case.axes.get("binding", "named" if "named" in features.bindings else "") == "named"
    for number, step in enumerate(specs):
        pool = generate.pool_of(step, f"{seed}/{number}", size, steps)
        rows = step.operation in ("get", "all", "iterate")
        fields = {
            **manner,
            "operation": step.operation,
            "sql": step.text({**case.axes, "binding": "named" if named else "positional"}),
            "parameters": _named(step, pool, database),
            **(_by_name(step.names, pool) if pool and step.names and named else {}),
            "columns": columns(step.columns),
            "repeat": step.repeat,
            "fails": step.fails,
            **({"integers": "bigint"} if step.wide and "bigint" in features.integers else {}),
            "values": case.axes.get("values", "read") if rows else "read",
        }
        steps.append(Step.model_validate(fields))
    return steps


def _named(step: ScenarioStep, pool: Parameters | None, database: Path | None) -> Parameters | None:
    """The pool with paths in place of the names of files."""
    if step.operation not in contract.FILES or pool is None or database is None:
        return pool
    folder = fixture.folder_of(database)
    rows: list[list[Value]] = [[str(fixture.named(folder, str(name)))] for (name,) in pool.rows]
    return Parameters(types=["text"], rows=rows)


def _by_name(names: list[str], pool: Parameters) -> dict[str, object]:
    """What binds by `names` of each place; a name that stands twice has its first value."""
    places = [place for place, name in enumerate(names) if name not in names[:place]]
    rows = [[row[place] for place in places] for row in pool.rows]
    parameters = Parameters(types=[pool.types[place] for place in places], rows=rows)
    return {"names": [names[place] for place in places], "parameters": parameters}


def columns(types: Mapping[str, str]) -> list[contract.Column]:
    """Columns by name, those whose type ends with `?` nullable."""
    return [
        contract.Column.model_validate(
            {"name": n, "type": t.removesuffix("?"), "nullable": t.endswith("?")}
        )
        for n, t in types.items()
    ]


# What a case does, in words that a publication may use.

SAMPLE = 1000  # values of a column whose lengths are looked at


def work(case: str, catalog: Catalog) -> dict[str, int | str]:
    """What `case` does in its usual size, by names that a publication may state: of its processes,
    its transaction, each step, each pragma, and of each table the rows and the mean lengths of
    texts and blobs. Raises UsageError for what is no case."""
    planned = make_case(*parse_case(case, catalog), catalog, catalog.modes["quick"])
    file = catalog.fixtures[planned.fixture] if planned.fixture else None
    size = file.sizes["m"] if file else 0
    job = make_job(
        planned,
        catalog,
        mode="measure",
        cell=case,
        database=Path("fixture.db") if file else None,
        size=size,
        output=Path("result.json"),
    )
    stated: dict[str, int | str] = {
        "database": "memory" if job.database and job.database.path == ":memory:" else "file",
        "transaction": job.transaction,
        "processes": planned.processes or 1,
        "workers": planned.workers,
        "rows an operation": planned.per_operation,
    }
    stated |= {f"pragma {name}": value for name, value in job.connection.pragmas}
    stated |= {f"engine {name}": value for name, value in job.connection.engine.items()}
    for number, step in enumerate(job.steps, start=1):
        of_step: dict[str, int | str] = {
            "sql": step.sql,
            "operation": step.operation,
            "statement": step.statement,
            "values": step.values,
            "binding": "named" if step.names else "positional",
            "parameters": len(step.parameters.types) if step.parameters else 0,
            "columns": len(step.columns),
            "executions": step.repeat,
        }
        last = f" of step {number}" if len(job.steps) > 1 else ""
        stated |= {name + last: value for name, value in of_step.items()}
    return stated | (_tables(file.model_dump_json(), size) if file else {})


@lru_cache(maxsize=64)
def _tables(definition: str, size: int) -> dict[str, int | str]:
    """Rows and mean lengths of each table that a fixture draws, by its definition as JSON."""
    file = Fixture.model_validate_json(definition)
    stated: dict[str, int | str] = {}
    for table, columns in file.fill.items():
        if "rows" not in columns:
            continue
        stated[f"rows of {table}"] = count = fixture.rows_of(columns, size)
        for name, values in fixture.values_of(file, table, min(count, SAMPLE), size).items():
            lengths = [len(value) for value in values if isinstance(value, str | bytes)]
            if lengths:
                stated[f"length of {table}.{name}"] = round(fmean(lengths))
    return stated
