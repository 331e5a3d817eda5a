"""What analysis needs of a run, and how it is made from the parsed JSON of a run directory.

Keys that analysis does not use are ignored. A run that cannot be understood raises `RunDataError`;
a bad sample never does: it marks its cell instead, so that one cell cannot hide the others.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sqlitmus.analysis.claims.details import Details, read_details
from sqlitmus.analysis.samples import Cells as SampleCells
from sqlitmus.analysis.samples import Samples, read_samples
from sqlitmus.analysis.selftest import Tested, of_run
from sqlitmus.catalog.claims import Claim
from sqlitmus.catalog.definitions import Variant
from sqlitmus.catalog.plan import PlannedAdvice, PlannedWorkload, Shard
from sqlitmus.catalog.presets import Preset
from sqlitmus.results.report import SelfTest
from sqlitmus.results.sustained import Sustaining
from sqlitmus.run import folder
from sqlitmus.run.judge import Verified
from sqlitmus.run.look import MOST_EXTENDED, Look
from sqlitmus.run.records import RunDataError
from sqlitmus.run.store import Block
from sqlitmus.vocabulary.contract import Identity, Sqlite
from sqlitmus.vocabulary.detail import Detail
from sqlitmus.vocabulary.terms import CaseMetric, Correction, Role, RunKind, Steadiness


class Record(BaseModel):
    """Frozen; unknown keys are ignored, so that the store may write more than analysis reads."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


M = TypeVar("M", bound=BaseModel)


class Described(Record):
    """The part of `describe` that provenance shows."""

    identity: Identity
    sqlite: Sqlite


class PlannedRunner(Record):
    """A runner of the plan; `missing` says why it could not take part."""

    name: str
    title: str
    runtime: str
    driver: str
    role: Role
    missing: str | None = None
    description: Described | None = None


class PlannedCase(Record):
    """A scenario with every axis fixed; one operation is `per_operation` units of work."""

    id: str
    scenario: str
    title: str
    question: str
    group: str
    bound_by: str
    axes: dict[str, str | int | float | bool]
    metric: CaseMetric
    unit: str
    per_operation: int = Field(default=1, ge=1)
    operations: int = Field(default=0, ge=0)
    sql: list[str]
    pragmas: list[tuple[str, str | int]]
    workers: int = Field(default=1, ge=1)
    processes: int | None = None
    warmup_ms: float = 0
    fixture: str | None = None
    variant: Variant = Variant()
    database_bytes: int | None = None
    notes: list[str] = []

    @model_validator(mode="after")
    def _divisible(self) -> Self:
        if self.metric != "cold" and self.operations < 1:
            raise ValueError("a steady case needs at least 1 operation per iteration")
        return self


class Counts(Record):
    """What the plan asks of a cell, and what the pilot saw of it."""

    operations: int = Field(ge=0)
    iterations: int = Field(ge=1)
    warmup_iterations: int = 0
    warmup_ms: float = 0
    rounds: int = 0
    lead_in: int = 0
    operation_ns: float | None = None
    steadiness: Steadiness | None = None
    steady_from_ms: float | None = None


class Plan(Record):
    """The frozen plan; `canary` is the runner that runs twice, `canaries` names another for some
    cases, "" for none, `cells` maps a case to the runners that were to do it (None: all), `rerun`
    is the command that repeats the run, `pins` the processors of the processes of a cell that has
    several.
    `ended` are the cases that were settled at a planned look, with the blocks that they have;
    `blocks` are those of the others.
    """

    version: Literal[2] = Field(alias="schema_version")
    run: str
    label: str
    kind: RunKind = "suite"
    suite: str
    mode: str = ""
    size: str = ""
    created: str
    sqlitmus: str
    seed: int
    blocks: int = Field(ge=1)
    sessions: int = Field(default=1, ge=1)
    looks: int = Field(default=1, ge=1)
    gate: float | None = None
    correction: Correction
    reference: str
    canary: str | None = None
    canaries: dict[str, str] = {}
    floor: str | None = None
    margin: float = Field(gt=0, lt=1)
    rerun: str = ""
    runners: list[PlannedRunner] = Field(min_length=1)
    cases: list[PlannedCase]
    cells: dict[str, list[str]] | None = None
    counts: dict[str, dict[str, Counts]] = {}
    claims: list[Claim] = []
    workload: PlannedWorkload | None = None
    advice: PlannedAdvice | None = None
    pins: list[int] = []
    machine: str = ""
    shard: Shard | None = None
    definitions: dict[str, str] = {}
    ended: dict[str, int] = {}

    def twins(self) -> list[int] | None:
        """Per case the place of the runner that the canary repeats; None without a canary."""
        if self.canary is None:
            return None
        names = [runner.name for runner in self.runners]
        return [names.index(self.canaries.get(case.id) or self.canary) for case in self.cases]

    def repeated(self) -> list[int]:
        """The places of the cases that the canary repeats; none without a canary."""
        return [
            place
            for place, case in enumerate(self.cases)
            if self.canary and self.canaries.get(case.id, self.canary)
        ]

    def units(self, case: PlannedCase) -> list[int]:
        """Units of work that the primary time of each series of `case` covers, canary last.

        One process if cold, else what an iteration does.
        """
        if case.metric == "cold":
            return [1] * (len(self.runners) + 1)
        planned = self.counts.get(case.id, {})
        names = [runner.name for runner in self.runners]
        twin = self.canaries.get(case.id) or self.canary or names[0]
        return [
            (planned[name].operations if name in planned else case.operations) * case.per_operation
            for name in [*names, twin]
        ]

    @model_validator(mode="after")
    def _names(self) -> Self:
        names = [runner.name for runner in self.runners]
        _unique("runner", names)
        _unique("case", [case.id for case in self.cases])
        named = [(key, getattr(self, key)) for key in ("reference", "canary", "floor")]
        for key, name in [*named, *(("canary", name or None) for name in self.canaries.values())]:
            if name is not None and name not in names:
                raise ValueError(f"{key} {name!r} is not among the runners {', '.join(names)}")
        if self.blocks % self.sessions:
            raise ValueError(
                f"{self.blocks} blocks cannot be divided into {self.sessions} sessions"
            )
        return self


class Check(Verified, extra="ignore"):
    """One cell against the oracle, before any timing."""


class Gated(Record):
    """What the gate of a comparison came to, as sentences."""

    lines: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class RunData:
    """A run directory in memory. `checks` is keyed by (case id, runner name); `presets` are by what
    weights it is decided, `sustaining` is what this machine remembered of sustained rates."""

    plan: Plan
    checks: dict[tuple[str, str], Check]
    samples: Samples
    blocks: list[Block]
    machine: dict[str, str]
    selftest: SelfTest | None = None
    truncated: bool = False
    details: Details | None = None
    gate: Sequence[str] = ()
    presets: Mapping[str, Preset] = field(default_factory=dict[str, Preset])
    sustaining: Sustaining | None = None


def from_records(
    plan: object,
    checks: Iterable[object],
    samples: Iterable[object],
    machine: Mapping[str, object],
    *,
    blocks: Iterable[object] = (),
    selftest: object = None,
    truncated: bool = False,
    details: Iterable[object] | None = None,
    gate: object = None,
    looks: Iterable[object] = (),
) -> RunData:
    """A run from the parsed `plan.json`, `verify.jsonl`, `samples.jsonl`, `machine.json` and
    `blocks.jsonl`, and `selftest.json`, `details.jsonl`, `gate.json` and `looks.jsonl` if there are
    any.

    `checks` and `samples` are iterables of parsed lines, header and footer included; `samples` is
    read once and may be a generator. A cell checked twice keeps its last check. `truncated` says
    that a last line was cut off and left out. Raises `RunDataError`.
    """
    parsed = _looked(validated(Plan, plan, "plan.json"), looks)
    folder.check_counts("plan.json", parsed)
    cells: dict[tuple[str, str], Check] = {}
    for number, line in enumerate(checks, start=1):
        check = validated(Check, line, f"verify.jsonl line {number}")
        cells[check.case, check.runner] = check
    passes = [
        validated(Block, line, f"blocks.jsonl line {number}")
        for number, line in enumerate(blocks, start=1)
    ]
    repeated = {(b.block, b.take) for b in passes if b.repeated}
    try:
        columns = read_samples(
            samples,
            SampleCells(
                run=parsed.run,
                cases={c.id: (c.metric, parsed.units(c)) for c in parsed.cases},
                runners=[runner.name for runner in parsed.runners],
                canaries={*filter(None, [*parsed.canaries.values(), parsed.canary])},
                blocks=parsed.blocks,
                superseded=repeated,
            ),
        )
    except ValueError as error:
        raise RunDataError(str(error)) from error
    facts = {str(name): str(value) for name, value in machine.items()}
    tested = None if selftest is None else validated(Tested, selftest, "selftest.json")
    took_turns = any(c.rounds for of in parsed.counts.values() for c in of.values())
    shown = tested and of_run(tested, took_turns=took_turns)
    more = None
    if details is not None:
        told = (
            validated(Detail, line, f"details.jsonl line {number}")
            for number, line in enumerate(details, start=1)
        )
        more = read_details(told, columns, repeated)
    said = () if gate is None else validated(Gated, gate, "gate.json").lines
    return RunData(parsed, cells, columns, passes, facts, shown, truncated, more, said)


def _looked(plan: Plan, looks: Iterable[object]) -> Plan:
    """The plan as its planned looks left it."""
    ended, blocks, most = dict[str, int](), plan.blocks, MOST_EXTENDED * plan.blocks
    for number, line in enumerate(looks, start=1):
        look = validated(Look, line, f"looks.jsonl line {number}")
        if look.until > most:
            raise RunDataError(f"looks.jsonl line {number}: $.until: more than {most} blocks")
        ended |= {case: look.blocks for case in look.settled if case not in ended}
        blocks = look.until
    return plan.model_copy(update={"ended": ended, "blocks": blocks})


def _unique(what: str, names: list[str]) -> None:
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ValueError(f"{what} {', '.join(repeated)} occurs more than once")


def validated(model: type[M], value: object, where: str) -> M:
    """`value` as a model; raises RunDataError with the JSON path below `where`."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = "$" + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"])
        raise RunDataError(f"{where}: {path}: {first['msg']}") from error
