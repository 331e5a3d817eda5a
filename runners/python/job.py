"""The job as dataclasses, read strictly: what does not fit is told with its JSON path."""

import dataclasses
import json
import re
import types
import typing
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

T = TypeVar("T")


WITHOUT_SQL = ("in-transaction", "read-file")
FILES = ("open-file", "read-file")
NAMED = ("get", "all", "iterate", "run", "open")


class BadJob(Exception):
    """The job cannot be read: where (JSON path), what is there, what was expected."""


@dataclasses.dataclass(frozen=True)
class Column:
    name: str
    type: Literal["integer", "real", "text", "blob"]
    nullable: bool = False


@dataclasses.dataclass(frozen=True)
class Parameters:
    types: list[Literal["integer", "real", "text", "blob"]]
    rows: list[list[int | float | str | None]]


@dataclasses.dataclass(frozen=True)
class Step:
    operation: Literal[
        "get",
        "all",
        "iterate",
        "run",
        "prepare",
        "open",
        "open-file",
        "in-transaction",
        "execute",
        "read-file",
    ]
    sql: str = ""
    parameters: Parameters | None = None
    names: list[str] = dataclasses.field(default_factory=list)
    columns: list[Column] = dataclasses.field(default_factory=list)
    repeat: int = 1
    fails: int | None = None
    shape: Literal["object", "array", "typed"] = "object"
    integers: Literal["number", "bigint"] = "number"
    statement: Literal["prepared", "cached", "adhoc"] = "prepared"
    texts: int = 1
    values: Literal["read", "unread"] = "read"


@dataclasses.dataclass(frozen=True)
class Readback:
    sql: str
    columns: list[Column]


@dataclasses.dataclass(frozen=True)
class Database:
    path: str
    mode: Literal["readwrite", "readonly"] = "readwrite"
    uri: dict[str, str] = dataclasses.field(default_factory=dict)
    flags: list[Literal["no-mutex", "full-mutex", "private-cache", "shared-cache"]] = (
        dataclasses.field(default_factory=list)
    )


@dataclasses.dataclass(frozen=True)
class Connection:
    pragmas: list[tuple[str, str | int]] = dataclasses.field(default_factory=list)
    engine: dict[str, str | int] = dataclasses.field(default_factory=dict)
    setup: list[str] = dataclasses.field(default_factory=list)
    per_operation: bool = False


@dataclasses.dataclass(frozen=True)
class Share:
    first: int = 0
    of: int = 1


@dataclasses.dataclass(frozen=True)
class EventLoop:
    timer_ms: int
    thread: Literal["main", "worker"]


@dataclasses.dataclass(frozen=True)
class Sequence:
    groups: list[int]
    order: list[int]
    workers: list[int] = dataclasses.field(default_factory=list)
    planned_us: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Measure:
    operations_per_iteration: int
    warmup_iterations: int = 0
    warmup_ns: int = 0
    iterations: int = 1
    workers: int = 1
    thread: Literal["main", "worker"] = "main"
    rate: float | None = None
    latencies: bool = False
    tolerate_busy: bool = False
    share: Share | None = None
    digest: int = 0
    event_loop: EventLoop | None = None
    sequence: Sequence | None = None


@dataclasses.dataclass(frozen=True)
class Writer:
    steps: list[Step]
    operations: int
    transaction: Literal["none", "deferred", "immediate"] = "none"
    rate: float | None = None


@dataclasses.dataclass(frozen=True)
class Job:
    contract: Literal[2]
    mode: Literal["verify", "measure"]
    cell: str
    measure: Measure
    output: str
    database: Database | None = None
    connection: Connection = Connection()
    steps: list[Step] = dataclasses.field(default_factory=list)
    transaction: Literal["none", "deferred", "immediate", "read"] = "none"
    writer: Writer | None = None
    reset: list[str] = dataclasses.field(default_factory=list)
    reset_every: int | None = None
    readback: list[Readback] = dataclasses.field(default_factory=list)
    inspect: bool = True


def due(job: Job, operation: int) -> bool:
    """Whether `reset` runs before that operation."""
    return bool(job.reset) and operation % (job.reset_every or 1) == 0


def load(path: Path) -> Job:
    """Read the job at `path`; raises BadJob."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadJob(f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BadJob(f"not JSON: {error}") from error
    job = typing.cast("Job", _read(Job, value, "$"))
    _check_steps(job.steps, job.transaction, "$")
    _check_rate(job.measure.rate, "$.measure.rate")
    if job.writer:
        if not job.writer.steps:
            raise BadJob("$.writer.steps: none; expected what the writer does")
        _check_steps(job.writer.steps, job.writer.transaction, "$.writer")
        _check_rate(job.writer.rate, "$.writer.rate")
    share, workers = job.measure.share, job.measure.workers
    if share and not 0 <= share.first <= share.of - workers:
        told = f"first {share.first} of {share.of}; expected room for {workers} workers"
        raise BadJob(f"$.measure.share: {told}")
    if job.steps and job.database is None:
        raise BadJob("$.database: missing; steps need a database")
    _check_reset(job)
    if job.measure.sequence:
        _check_sequence(job, job.measure.sequence)
    return job


def _check_steps(steps: list[Step], transaction: str, path: str) -> None:
    if transaction != "none" and any(step.operation == "execute" for step in steps):
        told = f"{transaction}; expected none, because execute can begin one itself"
        raise BadJob(f"{path}.transaction: {told}")
    for number, step in enumerate(steps):
        at = f"{path}.steps[{number}]"
        rows = step.parameters.rows if step.parameters else [[]]
        if not rows or len(rows) & (len(rows) - 1):
            raise BadJob(f"{at}.parameters.rows: {len(rows)} rows; expected a power of two")
        if not step.sql and step.operation not in WITHOUT_SQL:
            raise BadJob(f"{at}.sql: missing; only {' and '.join(WITHOUT_SQL)} have none")
        if step.sql and step.operation in WITHOUT_SQL:
            raise BadJob(f"{at}.sql: {step.operation} has none")
        if step.fails is not None and step.operation != "run":
            raise BadJob(f"{at}.fails: only run can be expected to fail")
        if step.texts < 1 or step.texts & (step.texts - 1):
            raise BadJob(f"{at}.texts: {step.texts}; expected a power of two")
        if step.texts > 1 and step.statement != "cached":
            raise BadJob(f"{at}.texts: {step.texts}; only a cached statement has several")
        _check_names(step, f"{at}.names")
        for key in ("parameters", "columns"):
            if step.operation == "execute" and getattr(step, key):
                raise BadJob(f"{at}.{key}: execute has none")
        if step.operation in FILES and (
            step.parameters is None or step.parameters.types != ["text"]
        ):
            raise BadJob(f"{at}.parameters: expected one text, the path of the file")
        content = [(column.type, column.nullable) for column in step.columns]
        if step.operation == "read-file" and content != [("blob", False)]:
            raise BadJob(f"{at}.columns: expected one blob that cannot be NULL, the file")


def _check_names(step: Step, path: str) -> None:
    if step.names and step.operation not in NAMED:
        raise BadJob(f"{path}: expected none, because {step.operation} binds no values by name")
    for number, name in enumerate(step.names):
        if not re.fullmatch(r"[:@$][A-Za-z][A-Za-z0-9_]*", name):
            raise BadJob(f"{path}[{number}]: {name}; expected letters after one of :, @ and $")
    width = len(step.parameters.types) if step.parameters else 0
    if step.names and not len(step.names) == len({n[1:] for n in step.names}) == width:
        told = f"expected {width}, which differ without their prefix"
        raise BadJob(f"{path}: {len(step.names)} names; {told}")


def _check_reset(job: Job) -> None:
    every, count = job.reset_every, job.measure.operations_per_iteration
    if job.reset and (every is None or every < 1):
        raise BadJob(f"$.reset_every: {json.dumps(every)}; expected how often reset runs")
    if job.mode == "measure" and every and every % count:
        raise BadJob(f"$.reset_every: {every}; expected whole iterations of {count} operations")


def _check_sequence(job: Job, sequence: Sequence) -> None:
    at, plan, length = "$.measure.sequence", job.measure, len(sequence.order)
    if min(sequence.groups, default=0) < 1 or sum(sequence.groups) != len(job.steps):
        raise BadJob(f"{at}.groups: expected numbers of steps, {len(job.steps)} together")
    if not length or not {*sequence.order} <= {*range(len(sequence.groups))}:
        raise BadJob(f"{at}.order: expected numbers of groups, below {len(sequence.groups)}")
    if sequence.workers:
        whole = not plan.share or plan.share.of == plan.workers
        if len(sequence.workers) != length or not {*sequence.workers} <= {*range(plan.workers)}:
            raise BadJob(f"{at}.workers: expected {length} numbers below {plan.workers}")
        if not whole:
            raise BadJob(f"{at}.workers: expected all of them in one process")
    if sequence.planned_us:
        if len(sequence.planned_us) != length or min(sequence.planned_us) < 0:
            raise BadJob(f"{at}.planned_us: expected {length} times")
        if plan.rate is not None or (
            job.mode == "measure" and length % max(plan.operations_per_iteration, 1)
        ):
            raise BadJob(f"{at}.planned_us: expected whole iterations, and no rate")
    if plan.event_loop:
        raise BadJob(f"{at}: expected none with an event loop")


def _check_rate(rate: float | None, path: str) -> None:
    if rate is not None and not rate > 0:
        raise BadJob(f"{path}: {rate}; expected operations per second, more than 0")


def _read(kind: Any, value: Any, path: str) -> Any:
    origin = get_origin(kind)
    if dataclasses.is_dataclass(kind):
        return _record(typing.cast("type", kind), value, path)
    if origin is Literal:
        if value in get_args(kind) and not isinstance(value, bool):
            return value
    elif origin is list and isinstance(value, list):
        return [_read(get_args(kind)[0], item, f"{path}[{i}]") for i, item in enumerate(value)]
    elif origin is tuple and isinstance(value, list) and len(value) == len(get_args(kind)):
        pairs = zip(get_args(kind), value, strict=True)
        return tuple(_read(k, item, f"{path}[{i}]") for i, (k, item) in enumerate(pairs))
    elif origin is dict and isinstance(value, dict):
        return {key: _read(get_args(kind)[1], item, f"{path}.{key}") for key, item in value.items()}
    elif origin is types.UnionType:
        for option in get_args(kind):
            if dataclasses.is_dataclass(option) and isinstance(value, dict):
                return _read(option, value, path)
            if type(value) is option or (option is float and type(value) is int):
                return value
    elif type(value) is kind:
        return value
    expected = " or ".join(map(str, get_args(kind))) if origin is Literal else _name(kind)
    raise BadJob(f"{path}: {json.dumps(value)[:60]}; expected {expected}")


def _record(kind: type, value: Any, path: str) -> Any:
    if not isinstance(value, dict):
        raise BadJob(f"{path}: {json.dumps(value)[:60]}; expected an object")
    hints = typing.get_type_hints(kind)
    for key in value:
        if key not in hints:
            raise BadJob(f"{path}.{key}: unknown key; expected one of {', '.join(hints)}")
    for field in dataclasses.fields(kind):
        required = field.default is dataclasses.MISSING
        if required and field.default_factory is dataclasses.MISSING and field.name not in value:
            raise BadJob(f"{path}.{field.name}: missing")
    return kind(**{key: _read(hints[key], item, f"{path}.{key}") for key, item in value.items()})


def _name(kind: Any) -> str:
    return getattr(kind, "__name__", str(kind)).replace("NoneType", "null")
