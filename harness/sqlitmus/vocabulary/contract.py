"""The contract between harness and runners: jobs, steps, results, descriptions; the source of
the schemas in `runners/contract`.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from sqlitmus.vocabulary.text import nearest

VERSION = 2
Natural = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Uint32 = Annotated[int, Field(ge=0, lt=2**32)]


class Model(BaseModel):
    """Strict base: unknown keys are errors, instances are frozen."""

    # built when first used: a command needs few of all models
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


# The engine options that the contract names, and their values.

VALUES: dict[str, tuple[str | int, ...]] = {
    "threading": ("serialized", "multi-thread", "single-thread"),
    "memstatus": (0, 1),
}


def problem(option: str, value: str | int) -> str:
    """Why `option` cannot be `value`, with what it can be; empty if it can, or has no list."""
    values = VALUES.get(option, (value,))
    if value in values:
        return ""
    names = list(map(str, values))
    near = nearest(str(value), names)
    hint = f"; did you mean {near}?" if near else ""
    return f"{option} is {', '.join(names[:-1])} or {names[-1]}, not {value!r}{hint}"


def _checked(options: Mapping[str, str | int]) -> Mapping[str, str | int]:
    if text := "; ".join(filter(None, (problem(*item) for item in options.items()))):
        raise ValueError(text)
    return options


EngineOptions = Annotated[dict[str, str | int], AfterValidator(_checked)]


# A step of a job: one statement, the values that it binds, the columns that it returns.

Type = Literal["integer", "real", "text", "blob"]
Value = int | float | str | None
Operation = Literal[
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
FILES = ("open-file", "read-file")
NAMED = ("get", "all", "iterate", "run", "open")  # operations that may bind by name
NAME = r"^[:@$][A-Za-z][A-Za-z0-9_]*$"  # of a parameter, with its prefix
ParameterName = Annotated[str, Field(pattern=NAME)]


class Column(Model):
    """A result column: its name in the SQL, the declared type of its values, and whether a value
    can be NULL, which no runner asks where it cannot.
    """

    name: str
    type: Type
    nullable: bool = False


class Parameters(Model):
    """A pool of parameter rows; execution number *n* of a step binds row *n mod length*."""

    types: list[Type]
    rows: list[list[Value]]

    @model_validator(mode="after")
    def _shape(self) -> Self:
        length = len(self.rows)
        if not 1 <= length <= 16_384 or length & (length - 1):
            raise ValueError(f"a pool has a power of two of rows, at most 16384; this has {length}")
        for number, row in enumerate(self.rows):
            if len(row) != len(self.types):
                raise ValueError(f"row {number} has {len(row)} values for {len(self.types)} types")
        return self


class Step(Model):
    """One statement of an operation; rows whose values are `unread` are counted and no more.

    Where it has `names`, the values of a row are bound by these, each with its prefix. A `cached`
    one may have several `texts`, which differ in a comment: more than its cache holds.
    """

    operation: Operation
    sql: str = ""
    parameters: Parameters | None = None
    names: list[ParameterName] = []
    columns: list[Column] = []
    repeat: Positive = 1
    fails: Positive | None = None
    shape: Literal["object", "array", "typed"] = "object"
    integers: Literal["number", "bigint"] = "number"
    statement: Literal["prepared", "cached", "adhoc"] = "prepared"
    texts: Positive = 1
    values: Literal["read", "unread"] = "read"

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if (self.operation in ("in-transaction", "read-file")) != (not self.sql):
            raise ValueError("all but in-transaction and read-file need sql, and those have none")
        if self.fails is not None and self.operation != "run":
            raise ValueError("only run can be expected to fail")
        if self.operation == "execute" and (self.parameters or self.columns):
            raise ValueError("execute binds no parameters and returns no columns")
        if self.operation in FILES and (
            self.parameters is None or self.parameters.types != ["text"]
        ):
            raise ValueError(f"{self.operation} has one parameter, a text: the path")
        columns = [(column.type, column.nullable) for column in self.columns]
        if self.operation == "read-file" and columns != [("blob", False)]:
            raise ValueError("read-file has one column, a blob that cannot be NULL")
        if self.texts & (self.texts - 1):
            raise ValueError("texts is a power of two")
        if self.texts > 1 and self.statement != "cached":
            raise ValueError("only a cached statement has several texts")
        if self.values == "unread" and self.operation not in ("get", "all", "iterate"):
            raise ValueError("only get, all and iterate have values that can be left unread")
        return self

    @model_validator(mode="after")
    def _named(self) -> Self:
        width = len(self.parameters.types) if self.parameters else 0
        if self.names and not len(self.names) == len({name[1:] for name in self.names}) == width:
            raise ValueError(f"names differ without their prefix, one for each of {width} values")
        if self.names and self.operation not in NAMED:
            raise ValueError(f"{self.operation} binds no values by name")
        return self


# The levels of the contract: what is of no other one is of the core, which every runner has.

Level = Literal["core", "workers", "load", "extras"]
LEVELS: dict[Level, set[str]] = {
    "core": set(),
    "workers": {"measure.workers", "measure.thread", "share.of"},
    "load": {
        *("measure.rate", "measure.latencies", "measure.sequence", "measure.tolerate_busy"),
        "job.writer",
    },
    "extras": {
        *(f"operation {name}" for name in (*FILES, "open", "in-transaction", "execute")),
        *("step.fails", "step.shape", "step.integers", "step.statement", "step.texts"),
        *("step.names", "step.values", "database.uri", "database.flags", "measure.event_loop"),
        *("connection.engine", "connection.setup", "connection.per_operation"),
    },
}
"""What belongs to a level: operations, and fields of a job that differ from their defaults."""


# The answer to `RUNNER describe`; the source of `runners/contract/describe.schema.json`.


class Versioned(Model):
    """A named thing with a version."""

    name: str
    version: str


class Identity(Model):
    """Who ran: runner name, runtime, driver, processor architecture and flags."""

    runner: str
    runtime: Versioned
    driver: Versioned
    architecture: str
    flags: list[str] = []


class Sqlite(Model):
    """The SQLite inside the driver; `threadsafe` is the value of `sqlite3_threadsafe()`."""

    version: str
    source_id: str
    compile_options: list[str]
    threadsafe: int | None = None


class Features(Model):
    """What the runner can be asked for: nothing beyond its `levels`; and of these, anything that is
    not in the other lists is answered `unsupported`.

    `lacks` has what the other lists do not tell, in words of the contract; those of one entry are
    lacking together. `figures` of a result are told always, `digest_figures` beside a digest.
    """

    levels: list[Level] = ["core"]
    operations: list[str] = ["get", "all", "iterate", "run", "prepare"]
    shapes: list[str] = ["object"]
    integers: list[str] = ["number"]
    statements: list[str] = ["prepared"]
    bindings: list[str] = ["positional"]
    transactions: list[str] = ["none", "deferred", "immediate", "read"]
    engine: list[str] = []
    flags: list[str] = []
    event_loop: bool = False
    lacks: list[str] = []
    figures: list[str] = []
    digest_figures: list[str] = []


class Description(Model):
    """The answer to `RUNNER describe`."""

    contract: Literal[1, 2]  # plans of earlier versions keep the first
    identity: Identity
    sqlite: Sqlite
    features: Features = Features()
    limits: dict[str, int] = {}


# What the harness asks of a runner; the source of `runners/contract/job.schema.json`.

PRAGMAS_READ_BACK = (
    "journal_mode",
    "synchronous",
    "cache_size",
    "mmap_size",
    "temp_store",
    "foreign_keys",
    "busy_timeout",
    "page_size",
    "locking_mode",
    "wal_autocheckpoint",
    "encoding",
    "query_only",
)

Flag = Literal["no-mutex", "full-mutex", "private-cache", "shared-cache"]


def _no_transaction_around_execute(steps: list[Step], transaction: str) -> None:
    if transaction != "none" and any(step.operation == "execute" for step in steps):
        raise ValueError(f"transaction {transaction} and execute, which can begin one itself")


class Readback(Model):
    """A query run after the last iteration, off the clock, to prove what was written."""

    sql: str
    columns: list[Column]


class Database(Model):
    """The database file, or `:memory:` for one of each connection's own.

    `uri` holds URI parameters such as `immutable=1`, `flags` those of `sqlite3_open_v2`.
    """

    path: str
    mode: Literal["readwrite", "readonly"] = "readwrite"
    uri: dict[str, str] = {}
    flags: list[Flag] = []


class Connection(Model):
    """How each connection is set up: pragmas in order, engine options, and SQL that is run before
    statements are prepared.

    With `per_operation`, each operation takes a connection from the driver's pool and returns it.
    """

    pragmas: list[tuple[str, str | int]] = []
    engine: dict[str, str | int] = {}
    setup: list[str] = []
    per_operation: bool = False


class Share(Model):
    """Which of `of` workers in all processes are this process's: `first` and those after it.

    A process that has one, be it the whole, waits before each iteration until it is released.
    """

    first: Natural = 0
    of: Positive = 1


class EventLoop(Model):
    """A timer that is due every `timer_ms` on the main thread, beside operations that are tasks of
    the event loop of `thread`."""

    timer_ms: Positive
    thread: Literal["main", "worker"]


class Sequence(Model):
    """Which of the job's queries each operation performs: operation *i* the group of steps
    `order[i mod length]`, and no other step.

    `groups` is how many steps each group has, one after the other. `workers` says which worker
    performs the operation, `planned_us` when, from the first one of its iteration.
    """

    groups: Annotated[list[Positive], Field(min_length=1)]
    order: Annotated[list[Natural], Field(min_length=1)]
    workers: list[Natural] = []
    planned_us: list[Natural] = []

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if max(self.order) >= len(self.groups):
            raise ValueError(f"order names group {max(self.order)} of {len(self.groups)}")
        for name in ("workers", "planned_us"):
            if len(getattr(self, name)) not in (0, len(self.order)):
                raise ValueError(f"{name} is for {len(self.order)} operations, or for none")
        return self

    def performed(self, worker: int, begin: int, end: int) -> int:
        """How many of the operations `begin` … `end` - 1 a worker performs that is named."""
        return sum(self.workers[n % len(self.order)] == worker for n in range(begin, end))


class Measure(Model):
    """Counts: operations are per iteration, over all workers; warm-up meets both minima.

    With `thread` "worker" a lone worker has a thread of its own, as each of several has.
    `rate` is operations per second and worker at planned times; without one, each follows the last.
    `digest` asks for the first so many operations once more after them, in the manner of verify
    mode.
    """

    operations_per_iteration: Natural
    warmup_iterations: Natural = 0
    warmup_ns: Natural = 0
    iterations: Positive = 1
    workers: Positive = 1
    thread: Literal["main", "worker"] = "main"
    rate: Annotated[float, Field(gt=0)] | None = None
    latencies: bool = False
    tolerate_busy: bool = False
    share: Share | None = None
    digest: Natural = 0
    event_loop: EventLoop | None = None
    sequence: Sequence | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.event_loop and (self.workers > 1 or self.share or self.sequence):
            raise ValueError("event_loop is of one worker, without share or sequence")
        if self.sequence and max(self.sequence.workers, default=0) >= self.workers:
            raise ValueError(f"sequence has a worker beyond the {self.workers}")
        if self.share and self.share.first + self.workers > self.share.of:
            raise ValueError(f"workers {self.share.first} and following are not {self.share.of}")
        return self


class Writer(Model):
    """A writer beside the workers, with a connection of its own; `rate` in operations a second."""

    steps: Annotated[list[Step], Field(min_length=1)]
    transaction: Literal["none", "deferred", "immediate"] = "none"
    operations: Positive
    rate: Annotated[float, Field(gt=0)] | None = None

    @model_validator(mode="after")
    def _nested(self) -> Self:
        _no_transaction_around_execute(self.steps, self.transaction)
        return self


class Job(Model):
    """One invocation's work, self-contained."""

    contract: Literal[2] = VERSION
    mode: Literal["verify", "measure"]
    cell: str
    database: Database | None = None
    connection: Connection = Connection()
    steps: list[Step] = []
    transaction: Literal["none", "deferred", "immediate", "read"] = "none"
    writer: Writer | None = None
    reset: list[str] = []
    reset_every: Positive | None = None
    readback: list[Readback] = []
    inspect: bool = True
    measure: Measure
    output: str

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.steps and self.database is None:
            raise ValueError("steps need a database")
        _no_transaction_around_execute(self.steps, self.transaction)
        if self.reset and not self.reset_every:
            raise ValueError("reset needs reset_every")
        count = self.measure.operations_per_iteration
        if self.mode == "measure" and self.reset_every and self.reset_every % count:
            every = self.reset_every
            raise ValueError(f"a reset every {every} operations falls into iterations of {count}")
        sequence = self.measure.sequence
        if sequence and sum(sequence.groups) != len(self.steps):
            many = f"{sum(sequence.groups)} steps, the job {len(self.steps)}"
            raise ValueError(f"the groups of sequence have {many}")
        if self.measure.event_loop and self.writer:
            raise ValueError("there is no event_loop beside a writer")
        return self

    def text(self) -> str:
        """The job as a file holds it: what differs from the defaults."""
        fields = self.model_dump_json(exclude_defaults=True)
        return f'{{"contract":{self.contract},{fields[1:]}'


def levels(job: Job) -> list[Level]:
    """The levels that `job` needs, the core first."""
    stated = {*_stated(job)}
    return [level for level, parts in LEVELS.items() if level == "core" or parts & stated]


def _stated(part: Model) -> Iterator[str]:
    """Operations, and fields that differ from their defaults, as `LEVELS` names them."""
    if isinstance(part, Step):
        yield f"operation {part.operation}"
    for name, field in type(part).model_fields.items():
        value = getattr(part, name)
        if value == field.get_default(call_default_factory=True):
            continue
        yield f"{type(part).__name__.lower()}.{name}"
        for inner in cast("list[object]", value) if isinstance(value, list) else [value]:
            if isinstance(inner, Model):
                yield from _stated(inner)


# What a runner answers to a job; the source of `runners/contract/result.schema.json`.


class Failure(Model):
    """What went wrong, with SQLite's result code and the statement where there is one."""

    message: str
    sqlite_code: int | None = None
    sql: str | None = None


class Effective(Model):
    """Pragmas read back from the first connection, and engine options in effect."""

    pragmas: dict[str, str | int | None] = {}
    engine: dict[str, str | int] = {}


class Proof(Model):
    """Rows and checksum of the read-back queries."""

    rows: Natural
    checksum: Uint32


Counts = tuple[Natural, Natural, Uint32]
"""Rows, affected rows and checksum of an iteration or an operation, over all workers."""


class Phases(Model):
    """Nanoseconds outside the iterations; `load` is process start to runner ready."""

    load: Natural | None = None
    open: Natural | None = None
    prepare: Natural | None = None
    close: Natural | None = None


class Switches(Model):
    """Context switches of all threads during the measured iterations."""

    voluntary: Natural
    involuntary: Natural


class PageFaults(Model):
    """Page faults of the process during the measured iterations, all threads.

    A minor one is served from memory, a major one waits for a disk.
    """

    minor: Natural
    major: Natural


class PageCache(Model):
    """How often SQLite found a page in its cache during the measured iterations, and how often it
    read it from the file, all connections; what is mapped into memory counts as neither."""

    hits: Natural
    misses: Natural


class Histogram(Model):
    """How many of the measured operations took how long: pairs of a bucket and its count.

    Bucket b holds the nanoseconds v with e * 128 + (v >> e) = b, e = max(0, floor(log2 v) - 7):
    single ones below 256, above them 128 of each power of two, so that none is wider than 1/128.
    """

    buckets: list[tuple[Natural, Positive]]


class Worker(Model):
    """One worker's share: operations, rows and checksum of all its iterations; nanoseconds of each
    measured one.

    `spans_us` are start and end of each measured iteration in microseconds of Unix time. `pacing`
    is how late operations started for which the worker waited. `busy` counts operations that ended
    with SQLITE_BUSY.
    """

    operations: Natural
    rows: Natural
    checksum: Uint32
    iterations_ns: list[Natural]
    role: Literal["worker", "writer"] = "worker"
    spans_us: list[tuple[float, float]] = []
    latencies: Histogram | None = None
    pacing: Histogram | None = None
    busy: Natural = 0


class Result(Model):
    """The answer to one job. Counts and checksum are those of all iterations and workers.

    `answers` has those of each iteration, warm-up first, or of each operation in verify mode;
    `timer` has the delays of the timer beside an `event_loop`. `cpu_ns` is the CPU time of the
    measured iterations, user and system, all threads. `allocated_bytes` is what the runtime's own
    heap gave out meanwhile, `collections` how often it was collected; neither has SQLite's memory.
    """

    contract: Literal[2]
    cell: str
    status: Literal["ok", "unsupported", "failed"]
    reason: str | None = None
    error: Failure | None = None
    identity: Identity
    sqlite_version: str | None = None
    effective: Effective = Effective()
    plans: list[list[str]] = []
    operations: Natural = 0
    rows: Natural = 0
    affected: Natural = 0
    checksum: Uint32 = 0
    readback: Proof | None = None
    digest: str | None = None
    warmup_ns: list[Natural] = []
    iterations_ns: list[Natural] = []
    phases_ns: Phases = Phases()
    cpu_ns: Natural | None = None
    peak_rss_bytes: Natural | None = None
    workers: list[Worker] = []
    switches: Switches | None = None
    page_faults: PageFaults | None = None
    allocated_bytes: Natural | None = None
    collections: Natural | None = None
    page_cache: PageCache | None = None
    answers: list[Counts] = []
    timer: Histogram | None = None

    @property
    def operations_each(self) -> int:
        """Operations of an iteration, over all workers."""
        return self.operations // max(len(self.warmup_ns) + len(self.iterations_ns), 1)

    @model_validator(mode="after")
    def _explained(self) -> Self:
        if self.status == "unsupported" and not self.reason:
            raise ValueError("an unsupported result needs a reason")
        if self.status == "failed" and self.error is None:
            raise ValueError("a failed result needs an error")
        return self
