"""What a run will do: its cases, how often each cell is done, and the frozen plan. Pure.

A case is a scenario with every axis fixed; a cell is a case × a runner.
"""

from collections.abc import Mapping

from pydantic import Field

from sqlitmus.catalog.claims import Claim
from sqlitmus.catalog.definitions import Variant
from sqlitmus.vocabulary.contract import Description, Model
from sqlitmus.vocabulary.terms import Correction, RunKind, Steadiness

Cells = dict[str, list[str]]  # case id → names of runners


SCHEMA = 2
MINIMUM_BLOCKS = 10  # fewer never yield a verdict


class Case(Model):
    """A scenario with every axis fixed, and how often it is done.

    `processes` is None where the runner is started alone, else by the launcher; `workers` are those
    of each process.
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
        """The journal mode that the database file is put into beforehand."""
        return str(dict(self.pragmas).get("journal_mode", "delete")).lower()


class Counts(Model):
    """How often a cell is done, and what the pilot saw of it.

    `seconds` is what an invocation is predicted to take, `deviation` that of ln time from one
    process to the next; None where the pilot could not tell.
    """

    operations: int
    iterations: int
    warmup_iterations: int
    warmup_ms: int
    seconds: float
    steadiness: Steadiness | None = None
    steady_from_ms: float | None = None
    deviation: float | None = None

    def of(self, case: Case) -> Case:
        """`case` done that often."""
        fields = ("operations", "iterations", "warmup_iterations", "warmup_ms")
        return case.model_copy(update={name: getattr(self, name) for name in fields})


PlannedCounts = dict[str, dict[str, Counts]]  # by case id, then runner


class PlannedRunner(Model):
    """A runner as it was found, or why it is missing."""

    name: str
    title: str
    runtime: str
    driver: str
    role: str
    missing: str | None = None
    description: Description | None = None


def canaries(cells: Cells, canary: str | None, others: Mapping[str, str]) -> dict[str, str]:
    """Per case the canary, or the other one that is named for it, where it is among the cells."""
    named = {case: others.get(case, canary) for case in cells}
    return {case: name for case, name in named.items() if name in cells[case] and name}


class Shard(Model):
    """Which part of a run this is: shards of the same `whole` belong together."""

    number: int = Field(ge=1)
    of: int = Field(ge=1)
    whole: str


class Plan(Model):
    """What a run will do, frozen before it starts. `cells` holds the runners wanted per case id.

    `blocks` are those of all `sessions` together, between which lie `pause_s` seconds; `subjects`
    what a comparison was asked for, exact enough to be found again. `gate` is the slowdown, as a
    share of the time, that fails a comparison; one that `confirms` another names that run.
    `canary` is the runner that runs a second time in each case; `canaries` names another for some.
    `machine` is the name of the machine in merged reports, `definitions` a hash by kind and name
    of each scenario, profile and fixture.
    """

    schema_version: int = SCHEMA
    run: str
    label: str
    kind: RunKind = "suite"
    suite: str
    mode: str
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
    confirms: str | None = None
    claims: list[Claim] = []
    pins: list[int] = []
    forced: bool = False

    def compared(self) -> list[tuple[tuple[str, str], tuple[str, str]]]:
        """Cells (case id, runner) that claims compare across cases; none in other runs."""
        return [pair for claim in self.claims for pair in claim.compared()]

    def twice(self) -> dict[str, str]:
        """Per case the runner that runs a second time, as its canary."""
        return canaries(self.cells, self.canary, self.canaries)

    def counted(self, case: Case, runner: str) -> Case:
        """`case` with the counts of this runner's cell."""
        counts = self.counts.get(case.id, {}).get(runner)
        return case if counts is None else counts.of(case)
