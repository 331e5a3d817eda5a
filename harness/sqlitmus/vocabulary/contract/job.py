"""What the harness asks of a runner; the source of `runners/contract/job.schema.json`."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sqlitmus.vocabulary.contract.model import VERSION, Model, Natural, Positive
from sqlitmus.vocabulary.contract.step import Column, Step

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
    `digest` asks for the first so many operations once more after them, in the manner of verify
    mode.
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
    digest: Natural = 0
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
        if self.measure.event_loop and self.writer:
            raise ValueError("there is no event_loop beside a writer")
        return self

    def text(self) -> str:
        """The job as a file holds it: what differs from the defaults."""
        fields = self.model_dump_json(exclude_defaults=True)
        return f'{{"contract":{self.contract},{fields[1:]}'
