"""What a runner answers to a job; the source of `runners/contract/result.schema.json`."""

from typing import Literal, Self

from pydantic import model_validator

from sqlitmus.vocabulary.contract.description import Identity
from sqlitmus.vocabulary.contract.model import Model, Natural, Positive, Uint32


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
