"""The plan of a run: its cases, the counts of each cell, and what else is frozen. Pure.

A case is a scenario with every axis fixed; a cell is a case × a runner.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import Field

from sqlitmus.catalog.claims import Claim
from sqlitmus.catalog.definitions import Variant
from sqlitmus.catalog.settings import Settings
from sqlitmus.vocabulary.contract import Description, Model
from sqlitmus.vocabulary.terms import Correction, RunKind, Scheme, Steadiness

Cells = dict[str, list[str]]  # case id → names of runners
Durability = Literal["full", "normal"]


SCHEMA = 2
MINIMUM_BLOCKS = 10  # fewer never yield a verdict


class Case(Model):
    """A scenario with every axis fixed, and how often it is done.

    `processes` is None when the runner is started alone, otherwise the number that the launcher
    starts; `workers` counts the threads of each process.
    """

    id: str
    scenario: str
    title: str
    question: str
    group: str
    bound_by: str
    axes: dict[str, str]
    metric: str
    unit: str
    per_operation: int
    operations: int
    most_operations: int | None = None
    iterations: int
    warmup_iterations: int
    warmup_ms: int
    fixed: bool = False
    fixture: str | None = None
    database_bytes: int | None = None
    workers: int
    processes: int | None = None
    sql: list[str]
    pragmas: list[tuple[str, str | int]]
    variant: Variant = Variant()
    notes: list[str]

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
    """

    operations: int
    iterations: int
    warmup_iterations: int
    warmup_ms: int
    rounds: int = 0
    lead_in: int = 0
    seconds: float
    steadiness: Steadiness | None = None
    steady_from_ms: float | None = None
    deviation: float | None = None
    operation_ns: float | None = None

    def of(self, case: Case) -> Case:
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
    role: str
    missing: str | None = None
    description: Description | None = None


def canaries(cells: Cells, canary: str | None, others: Mapping[str, str]) -> dict[str, str]:
    """The canary of each case: `others` overrides `canary`; only runners of the case count."""
    named = {case: others.get(case, canary) for case in cells}
    return {case: name for case, name in named.items() if name in cells[case] and name}


class Shard(Model):
    """The part of a run that one machine does; shards of the same `whole` belong together."""

    number: int = Field(ge=1)
    of: int = Field(ge=1)
    whole: str


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


class Trial(Model):
    """A setting tried on one group of queries and one database: cases `base` and `new`.

    Where it is not tried, both are "" and `reason` says why.
    """

    setting: str
    group: str
    database: str
    base: str = ""
    new: str = ""
    reason: str = ""


class PlannedAdvice(Model):
    """What the settings advisor tries, on which runner; `workload` is the user's file, if any."""

    settings: Settings
    runner: str
    trials: list[Trial]

    def compared(self) -> list[tuple[tuple[str, str], tuple[str, str]]]:
        """Base and new of each trial, as (case id, runner)."""
        return [((t.base, self.runner), (t.new, self.runner)) for t in self.trials if t.base]

    def canaries(self) -> dict[str, str]:
        """The runner for the case of each set that most others are held against, else ""."""
        cases = {case for (base, _), (new, _) in self.compared() for case in (base, new)}
        bases: dict[str, Counter[str]] = {}
        for trial in self.trials:
            if trial.base:
                bases.setdefault(f"{trial.group}-{trial.database}", Counter())[trial.base] += 1
        repeated = {many.most_common(1)[0][0] for many in bases.values()}
        return {case: self.runner if case in repeated else "" for case in sorted(cases)}


def compared(
    published: Iterable[Claim], advice: PlannedAdvice | None
) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Cells (case id, runner) that are compared although they belong to different cases."""
    pairs = [pair for claim in published for pair in claim.compared()]
    return pairs + (advice.compared() if advice else [])


class Plan(Model):
    """What a run will do, frozen before it starts. `cells` holds the names of runners per case id.

    `blocks` counts those of all `sessions` together, which are `pause_s` seconds apart. `subjects`
    are the texts that a comparison was given, precise enough to resolve again. `gate` is the
    slowdown, as a share of the time, that fails a comparison, and `strict` says whether a case too
    noisy to tell does so, too; a confirmation names the run that it `confirms`. `canary` is the
    runner that runs twice in each case; `canaries` overrides it for some, "" for none. `machine` is
    the machine's name in merged reports; `definitions` has a hash of each scenario, profile and
    fixture, by kind and name. In the scheme `relay` the processes of a case take turns where their
    counts have rounds.
    """

    schema_version: int = SCHEMA
    run: str
    label: str
    kind: RunKind = "suite"
    suite: str
    mode: str
    scheme: Scheme = "process"
    size: str
    created: str
    sqlitmus: str
    seed: int
    blocks: int
    sessions: int = 1
    pause_s: float = 0
    looks: int = 1
    correction: Correction
    reference: str
    canary: str | None
    canaries: dict[str, str] = {}
    floor: str | None
    margin: float
    runners: list[PlannedRunner]
    cases: list[Case]
    cells: Cells
    counts: PlannedCounts
    fingerprint: str
    machine: str = ""
    shard: Shard | None = None
    definitions: dict[str, str] = {}
    rerun: str = ""
    subjects: list[str] = []
    gate: float | None = None
    strict: bool = False
    confirms: str | None = None
    claims: list[Claim] = []
    workload: PlannedWorkload | None = None
    advice: PlannedAdvice | None = None
    pins: list[int] = []
    forced: bool = False

    def compared(self) -> list[tuple[tuple[str, str], tuple[str, str]]]:
        """Cells (case id, runner) that claims or settings compare across cases; else none."""
        return compared(self.claims, self.advice)

    def twice(self) -> dict[str, str]:
        """The runner that runs twice in each case, as its canary."""
        return canaries(self.cells, self.canary, self.canaries)

    def counted(self, case: Case, runner: str) -> Case:
        """`case` with the counts of this runner's cell."""
        counts = self.counts.get(case.id, {}).get(runner)
        return case if counts is None else counts.of(case)
