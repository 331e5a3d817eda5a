"""What the harness asks of a runner; the source of `runners/contract/job.schema.json`."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sqlitmus.vocabulary.contract.model import VERSION, Model, Natural, Positive

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
Flag = Literal["no-mutex", "full-mutex", "private-cache", "shared-cache"]


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

    A `cached` one may have several `texts`, which differ in a comment: more than its cache holds.
    """

    operation: Operation
    sql: str = ""
    parameters: Parameters | None = None
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
    """How each connection is set up: pragmas in order, engine options, pragmas of workers, and
    SQL that is run before statements are prepared.

    With `per_operation`, each operation takes a connection from the driver's pool and returns it.
    """

    pragmas: list[tuple[str, str | int]] = []
    engine: dict[str, str | int] = {}
    worker_pragmas: list[tuple[str, str | int]] = []
    setup: list[str] = []
    per_operation: bool = False


class Share(Model):
    """Which of `of` workers in all processes are this process's: `first` and those after it."""

    first: Natural
    of: Positive


class EventLoop(Model):
    """A timer that is due every `timer_ms` on the main thread, beside operations that are tasks of
    the event loop of `thread`."""

    timer_ms: Positive
    thread: Literal["main", "worker"]


class Measure(Model):
    """Counts: operations are per iteration, over all workers; warm-up meets both minima.

    `rate` is operations per second and worker at planned times; without one, each follows the last.
    `changing` says that another process changes between iterations what they read, and asks for the
    counts of each; `mixed` says that workers write what others read, so that rows and checksum
    depend on who came first. `digest` asks for one more iteration after them, in the manner of
    verify mode.
    """

    operations_per_iteration: Natural
    warmup_iterations: Natural = 0
    warmup_ns: Natural = 0
    iterations: Positive = 1
    workers: Positive = 1
    rate: Annotated[float, Field(gt=0)] | None = None
    latencies: bool = False
    tolerate_busy: bool = False
    barrier: bool = False
    share: Share | None = None
    changing: bool = False
    mixed: bool = False
    digest: bool = False
    event_loop: EventLoop | None = None

    @model_validator(mode="after")
    def _single(self) -> Self:
        if self.event_loop and (self.workers > 1 or self.share or self.barrier):
            raise ValueError("event_loop is of one worker, without share and barrier")
        return self

    @model_validator(mode="after")
    def _shared(self) -> Self:
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

    contract: Literal[1] = VERSION
    mode: Literal["verify", "measure"]
    cell: str
    database: Database | None = None
    connection: Connection = Connection()
    steps: list[Step] = []
    transaction: Literal["none", "deferred", "immediate", "read"] = "none"
    writer: Writer | None = None
    reset: list[str] = []
    readback: list[Readback] = []
    inspect: bool = True
    measure: Measure
    output: str

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.steps and self.database is None:
            raise ValueError("steps need a database")
        _no_transaction_around_execute(self.steps, self.transaction)
        if self.measure.event_loop and self.writer:
            raise ValueError("there is no event_loop beside a writer")
        return self

    def text(self) -> str:
        """The job as a file holds it: what differs from the defaults."""
        fields = self.model_dump_json(exclude_defaults=True)
        return f'{{"contract":{self.contract},{fields[1:]}'
