"""What a plan consists of: cases, counts, runners, and a workload."""

from typing import Literal, Self

from pydantic import Field, model_validator

from sqlitmus.catalog.scenario import Variant
from sqlitmus.vocabulary.contract.description import Description
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.terms import CaseMetric, Role, Steadiness

Cells = dict[str, list[str]]  # case id → names of runners
Durability = Literal["full", "normal"]
VERIFIED = 4096  # executions of statements in a verification
MINIMUM_BLOCKS = 10  # fewer never yield a verdict


class PlannedCase(Model):
    """A scenario with every axis fixed, and how often it is done.

    `processes` is None when the runner is started alone, otherwise the number that the launcher
    starts; `workers` counts the threads of each process. After `walk` operations all pools of
    parameters begin again; an operation is so many `executions`. What `writes` does the operations
    that its scenario states, `warmup_operations` and then `timed_operations`.
    """

    id: str
    scenario: str
    title: str
    question: str
    group: str
    bound_by: str
    axes: dict[str, str]
    metric: CaseMetric
    unit: str
    per_operation: int = Field(ge=1)
    operations: int = Field(ge=0)
    walk: int = Field(default=1, ge=1)
    executions: int = Field(default=1, ge=1)
    writes: bool = False
    warmup_operations: int | None = None
    timed_operations: int | None = None
    reset_every: int | None = None
    iterations: int
    warmup_iterations: int
    warmup_ms: int
    fixed: bool = False
    fixture: str | None = None
    database_bytes: int | None = None
    workers: int = Field(ge=1)
    processes: int | None = None
    sql: list[str]
    pragmas: list[tuple[str, str | int]]
    variant: Variant = Variant()
    notes: list[str]

    @model_validator(mode="after")
    def _divisible(self) -> Self:
        if self.metric != "cold" and self.operations < 1:
            raise ValueError("a steady case needs at least 1 operation per iteration")
        return self

    @property
    def stated(self) -> tuple[int, int] | None:
        """Warm-up and timed operations of a process, where its scenario states them."""
        if self.warmup_operations and self.timed_operations:
            return self.warmup_operations, self.timed_operations
        return None

    @property
    def total(self) -> int:
        """Operations of a process with these counts, if it does not warm up by time."""
        return self.operations * (self.warmup_iterations + self.iterations)

    def verified(self) -> "PlannedCase":
        """The case as verification asks it: once, the pools' rows as far as time allows."""
        most = max(VERIFIED // self.executions, 1)
        least = self.total if self.writes else self.walk
        counts = {"operations": min(least, most), "iterations": 1, "warmup_iterations": 0}
        return self.model_copy(update=counts) if self.operations else self

    def answered(self) -> "PlannedCase":
        """The case as the oracle is asked it for a process with these counts: all operations, or
        those of one walk through the pools."""
        if self.writes:
            return self.model_copy(update={"operations": self.total})
        verified = self.verified()
        if self.warmup_ms or verified.operations >= min(self.walk, self.total):
            return verified
        return verified.model_copy(update={"operations": min(self.walk, self.total)})

    @property
    def journal_mode(self) -> str:
        """The journal mode of the database file before the runner opens it."""
        return str(dict(self.pragmas).get("journal_mode", "delete")).lower()

    @property
    def page_size(self) -> int | None:
        """The page size that its database is made with; None for that of the fixture."""
        size = dict(self.pragmas).get("page_size")
        return None if size is None else int(size)


class Counts(Model):
    """How often a cell is done, and what the pilot measured of it.

    `seconds` is the predicted duration of an invocation, `deviation` the standard deviation of ln
    time between processes and `operation_ns` the time of an operation in the pilot; None when the
    pilot could not measure it.

    A process that takes turns has `rounds` of them, 0 for one that takes none. Its `iterations` are
    those of all its turns, of which each begins with `lead_in` that do not count.

    `warmed_ms` is how long the warm-up lasts at the pilot's pace, in turns or not. For
    `steady_from_ms` and `fastest_from_ms` see `run.observed`.
    """

    operations: int = Field(ge=0)
    iterations: int = Field(ge=1)
    warmup_iterations: int
    warmup_ms: int
    rounds: int = 0
    lead_in: int = 0
    seconds: float
    steadiness: Steadiness | None = None
    steady_from_ms: float | None = None
    fastest_from_ms: float | None = None
    warmed_ms: float | None = None
    deviation: float | None = None
    operation_ns: float | None = None

    def of(self, case: PlannedCase) -> PlannedCase:
        """`case` with these counts."""
        fields = ("operations", "iterations", "warmup_iterations", "warmup_ms")
        return case.model_copy(update={name: getattr(self, name) for name in fields})


PlannedCounts = dict[str, dict[str, Counts]]  # by case id, then runner


class PlannedRunner(Model):
    """A runner as it is installed, or the reason why it is missing."""

    name: str
    title: str
    runtime: str
    driver: str
    role: Role
    missing: str | None = None
    description: Description | None = None


class PlannedWorkload(Model):
    """A user's workload: its file, what its database is, each query's share of the mix, which of
    them write, and the limits that a recommended runner keeps to, None for none.

    `paced` are the scenarios whose rounds are timed one by one, with the queries a second at which
    they are planned, None for one after the other; `round` is the number of queries in a round.
    A `sample` is the number of rows of each table that were taken, or a share below 1.
    """

    file: str
    database: str
    bytes: int
    page_size: int
    encoding: str
    journal_mode: str
    user_version: int
    tables: int
    schema_hash: str
    shares: dict[str, float]
    writing: list[str]
    workers: int
    memory_mib: float | None = None
    start_ms: float | None = None
    p99_ms: float | None = None
    durability: Durability | None = None
    paced: dict[str, float | None] = {}
    round: int = 1
    sample: float | None = None
