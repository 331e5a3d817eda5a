"""Scenarios and axis values become cases, with what a plan holds of each. Pure."""

import itertools
from collections.abc import Iterable, Iterator
from math import gcd
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, model_validator

from sqlitmus.catalog.scenario import Mode, Override, Scenario, ScenarioStep, Suite, Variant
from sqlitmus.vocabulary.contract import Description, Model, Sequence
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.figures import DatabaseFacts
from sqlitmus.vocabulary.text import unknown
from sqlitmus.vocabulary.verdicts import CaseMetric, Role, Steadiness

if TYPE_CHECKING:
    from sqlitmus.catalog.definitions import Catalog


Cells = dict[str, list[str]]  # case id → names of runners
Durability = Literal["full", "normal"]
VERIFIED = 4096  # executions of statements in a verification
WITNESSED = 256  # executions whose every value a measured process gives once more
MINIMUM_BLOCKS = 10  # fewer never yield a verdict
STAGGERS = 8  # lengths of a warm-up


class PlannedCase(Model):
    """A scenario with every axis fixed, and how often it is done.

    `processes` is None when the runner is started alone, otherwise the number that the launcher
    starts; `workers` counts the threads of each process. After `walk` operations all pools of
    parameters begin again, each after one of `walks`; an operation is so many `executions`. What
    `writes` does the operations that its scenario states, `warmup_operations` and then
    `timed_operations`.
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
    walks: list[int] = []
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
    def threads(self) -> int:
        """Threads of all of its processes together."""
        return self.workers * (self.processes or 1)

    @property
    def together(self) -> bool:
        """Whether several threads or processes do its work."""
        return self.workers > 1 or self.processes is not None

    @property
    def total(self) -> int:
        """Operations of a process with these counts, if it does not warm up by time."""
        return self.operations * (self.warmup_iterations + self.iterations)

    def verified(self) -> "PlannedCase":
        """The case as verification asks it: once, the pools' rows as far as time allows."""
        most = max(VERIFIED // self.executions, 1)
        most = most // self.walk * self.walk or most  # no transaction of a sequence ends midway
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
    def witnesses(self) -> bool:
        """Whether a measured process of it can do operations once more, for a digest."""
        return self.metric != "cold" and not self.processes and not self.writes

    def witnessed(self) -> "PlannedCase":
        """The case as the oracle is asked it for the digest of a measured process: few operations,
        since the verification had the values of all."""
        answered = self.answered()
        few = max(WITNESSED // self.executions, 1)
        return answered.model_copy(update={"operations": min(answered.operations, few)})

    @property
    def resets(self) -> bool:
        """Whether a reset comes while its work is timed, and not before that alone."""
        each = self.operations
        warmup, timed = self.stated or (each * self.warmup_iterations, each * self.iterations)
        return self.reset_every is not None and -warmup % self.reset_every < timed

    @property
    def journal_mode(self) -> str:
        """The journal mode of the database file before the runner opens it."""
        return str(dict(self.pragmas).get("journal_mode", "delete")).lower()

    @property
    def page_size(self) -> int | None:
        """The page size that its database is made with; None for that of the fixture."""
        size = dict(self.pragmas).get("page_size")
        return None if size is None else int(size)


def warm_from_ms(
    steadiness: Steadiness | None, steady_ms: float | None, fastest_ms: float | None
) -> float | None:
    """From when on a process is warm: as fast as it becomes, or slow for good; None for unknown.

    What goes up and down later is the machine, or the runtime at work, and no warm-up ends it.
    """
    return steady_ms if fastest_ms is None or steadiness == "slowdown" else fastest_ms


class Counts(Model):
    """How often a cell is done, and what the pilot measured of it.

    `seconds` is the predicted duration of an invocation, `deviation` the standard deviation of ln
    time between processes and `operation_ns` the time of an operation in the pilot; None when the
    pilot could not measure it.

    A process that takes turns has `rounds` of them, 0 for one that takes none. Its `iterations` are
    those of all its turns, of which each begins with `lead_in` that do not count. The warm-up is
    longer by a multiple of `stagger` iterations, drawn anew for each block: what recurs more rarely
    than once in a set, such as a full collection, falls into what counts of each runner as often as
    it is due, wherever the pilot let its warm-up end.

    `warmed_ms` is how long the warm-up lasts at the pilot's pace, in turns or not. For
    `steady_from_ms` and `fastest_from_ms` see `run.plan.counts.Observed`.
    """

    operations: int = Field(ge=0)
    iterations: int = Field(ge=1)
    warmup_iterations: int
    warmup_ms: int
    rounds: int = 0
    lead_in: int = 0
    stagger: int = 0
    seconds: float
    steadiness: Steadiness | None = None
    steady_from_ms: float | None = None
    fastest_from_ms: float | None = None
    warmed_ms: float | None = None
    deviation: float | None = None
    operation_ns: float | None = None

    def staggered(self, steps: int) -> Self:
        """The same with a warm-up that is longer by so many `steps` of `STAGGERS`."""
        more = steps * self.stagger
        return self.model_copy(update={"warmup_iterations": self.warmup_iterations + more})

    def timed_share(self, walk: int) -> float:
        """The share of a `walk` whose operations a process times at least once."""
        rounds = self.rounds or 1
        lead_in = self.operations * self.lead_in
        lap = self.operations * self.iterations // rounds - lead_in
        return reached(walk, lap, lead_in, rounds)

    def longest(self) -> Self:
        """The same with the longest warm-up, which answers all others, too."""
        return self.staggered(STAGGERS - 1)

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


class PlannedWorkload(DatabaseFacts):
    """A user's workload: its file, what its `database` is, each query's share of the mix, which of
    them write, and the limits that a recommended runner keeps to, None for none.

    `paced` are the scenarios whose rounds are timed one by one, with the queries a second at which
    they are planned, None for one after the other; `round` is the number of queries in a round.
    A `sample` is the number of rows of each table that were taken, or a share below 1.
    """

    file: str
    database: str
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


def case_id(scenario: str, axes: dict[str, str], spec: Scenario) -> str:
    """A case's id: `scenario`, or `scenario@axis=value,…` with axes not at their default."""
    other = [f"{a}={axes[a]}" for a, values in spec.axes.items() if axes[a] != values[0]]
    return f"{scenario}@{','.join(other)}" if other else scenario


def parse_case(text: str, catalog: "Catalog") -> tuple[str, dict[str, str]]:
    """The scenario and the axes of a case id; raises UsageError with the nearest names."""
    name, _, rest = text.partition("@")
    spec = catalog.scenarios.get(name)
    if spec is None:
        raise UsageError(unknown("scenario", name, catalog.scenarios))
    axes = {axis: values[0] for axis, values in spec.axes.items()}
    for part in filter(None, rest.split(",")):
        axis, _, value = part.partition("=")
        if axis not in spec.axes:
            raise UsageError(unknown(f"axis of {name}", axis, spec.axes))
        if value not in spec.axes[axis]:
            raise UsageError(unknown(f"value of {name}'s {axis}", value, spec.axes[axis]))
        axes[axis] = value
    return name, axes


_AS_DEFINED = (
    *("title", "question", "group", "bound_by", "metric", "unit", "per_operation", "writes"),
    *("fixed", "notes"),
)


def make_case(name: str, axes: dict[str, str], catalog: "Catalog", mode: Mode) -> PlannedCase:
    """The case of scenario `name` at `axes`, with the least counts that `mode` allows."""
    spec = catalog.scenarios[name]
    counts = override_of(spec, axes)
    operations = counts.operations
    steps = steps_of(spec, axes)
    walks = walks_of(steps, int(axes.get("texts", "1")))
    executions = sum(step.repeat for step in steps)
    if spec.sequence:
        walks = [len(spec.sequence.order)]
        executions = _executions(spec.sequence, steps) // len(spec.sequence.order)
    profile = catalog.profiles[axes["profile"]] if "profile" in axes else None
    variant = _variant(spec, axes)
    set_by_profile = profile.pragmas if profile else []
    set_by_variant = {name for name, _ in variant.pragmas}
    cold = spec.metric == "cold"
    unwarmed = cold or spec.fixed or spec.writes  # whose answer depends on how often it is done
    warmup_iterations = spec.warmup_iterations
    if warmup_iterations is None:
        warmup_iterations = mode.warmup_iterations
    return PlannedCase(
        id=case_id(name, axes, spec),
        scenario=name,
        **{field: getattr(spec, field) for field in _AS_DEFINED},
        axes=axes,
        operations=operations,
        walk=max(walks, default=1),
        walks=walks,
        executions=max(executions, 1),
        warmup_operations=counts.warmup_operations,
        timed_operations=counts.timed_operations,
        reset_every=spec.reset_every or (operations if spec.reset else None),
        iterations=1 if cold else spec.iterations or mode.iterations[0],
        warmup_iterations=0 if cold else warmup_iterations,
        warmup_ms=0 if unwarmed else mode.warmup_ms[0],
        fixture=variant.fixture or spec.fixture,
        workers=int(axes.get("workers", "1")),
        processes=int(axes["processes"]) if "processes" in axes else None,
        sql=[step.text(axes) for step in steps],
        pragmas=[(n, v) for n, v in set_by_profile if n not in set_by_variant] + variant.pragmas,
        variant=variant,
    )


def override_of(spec: Scenario, axes: dict[str, str]) -> Override:
    """How many operations a case does, and at which pace: the first that holds for its `axes`, with
    what it leaves out from the scenario."""
    applies = (o for o in spec.overrides if all(axes[a] == v for a, v in o.when.items()))
    override = next(applies, Override(when={}, operations=spec.operations))
    writer = spec.writer
    return Override(
        when=override.when,
        operations=override.operations,
        warmup_operations=override.warmup_operations or spec.warmup_operations,
        timed_operations=override.timed_operations or spec.timed_operations,
        rate=override.rate or spec.rate,
        writer_operations=override.writer_operations or (writer and writer.operations),
        writer_rate=override.writer_rate or (writer and writer.rate),
    )


def walks_of(steps: Iterable[ScenarioStep], texts: int = 1) -> list[int]:
    """Operations after which a pool or the texts of `steps` begin again, each number once, the
    least first; lengths are powers of two, so the last is a multiple of all."""
    lengths = ((length, step.repeat) for step in steps for length in (step.rows, texts))
    return sorted({length // gcd(length, repeat) for length, repeat in lengths})


def _executions(sequence: Sequence, steps: list[ScenarioStep]) -> int:
    """How many statements a sequence executes."""
    repeats = iter(step.repeat for step in steps)
    each = [sum(itertools.islice(repeats, size)) for size in sequence.groups]
    return sum(each[group] for group in sequence.order)


def reached(walk: int, lap: int, lead_in: int, rounds: int) -> float:
    """The share of a `walk` that `rounds` laps reach, each after a lead-in; all in operations, and
    `lap` and `lead_in` are multiples of one power of two, as a walk is one or more."""
    step = gcd(walk, lap, lead_in)
    whole, length, turn = walk // step, lap // step, (lap + lead_in) // step
    rows = {(r * turn + n) % whole for r in range(rounds) for n in range(min(length, whole))}
    return len(rows) / whole


def _variant(spec: Scenario, axes: dict[str, str]) -> Variant:
    """Everything that the axis values change, put together."""
    together = Variant()
    for axis, values in spec.variants.items():
        if axes[axis] in values:
            together = together.also(values[axes[axis]])
    return together


def as_answered(case: PlannedCase, spec: Scenario) -> PlannedCase:
    """The case that the oracle is asked: `case` itself, or the same rows in another storage."""
    instead = case.variant.answered_as
    if not instead:
        return case
    axes = {**case.axes, **instead}
    changes = {
        "axes": axes,
        "variant": _variant(spec, axes),
        "sql": [step.text(axes) for step in steps_of(spec, axes)],
    }
    return case.model_copy(update=changes)


def steps_of(spec: Scenario, axes: dict[str, str]) -> list[ScenarioStep]:
    """The scenario's steps that apply to these axis values."""
    return applying(spec.steps, axes)


def applying(steps: Iterable[ScenarioStep], axes: dict[str, str]) -> list[ScenarioStep]:
    """Those of `steps` that apply to these axis values."""
    return [
        step
        for step in steps
        if all(
            axes.get(axis) in ([v] if isinstance(v, str) else v) for axis, v in step.only.items()
        )
    ]


def cases_of(suite: Suite, catalog: "Catalog", mode: Mode) -> list[PlannedCase]:
    """The suite's cases, each once, in the order of their scenarios; the spare ones last."""
    cases: dict[str, PlannedCase] = {}
    for selection in itertools.chain(*suite.parts.values()):
        scenario = str(selection["scenario"])
        names = list(catalog.scenarios) if scenario == "*" else [scenario]
        for name in names:
            for axes in _combinations(catalog.scenarios[name], selection):
                case = make_case(name, axes, catalog, mode)
                cases.setdefault(case.id, case)
    return list(cases.values())


def _combinations(
    spec: Scenario, selection: dict[str, str | list[str]]
) -> Iterator[dict[str, str]]:
    choices = [
        [(axis, value) for value in selection.get(axis, values[:1])]
        for axis, values in spec.axes.items()
    ]
    for combination in itertools.product(*choices):
        yield dict(combination)
