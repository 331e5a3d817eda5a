"""What analysis needs of a run, and how it is made from the parsed JSON of a run directory.

Keys that analysis does not use are ignored. A run that cannot be understood raises `RunDataError`;
a bad sample never does: it marks its cell instead, so that one cell cannot hide the others.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sqlitmus.contract import Identity, Sqlite
from sqlitmus.errors import UsageError

from .samples import Cells as SampleCells
from .samples import Samples, read_samples


class RunDataError(UsageError):
    """The run directory cannot be analysed; the text names the file and the place in it."""


class Record(BaseModel):
    """Frozen; unknown keys are ignored, so that the store may write more than analysis reads."""

    model_config = ConfigDict(extra="ignore", frozen=True)


M = TypeVar("M", bound=Record)


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
    role: Literal["runner", "floor", "oracle"]
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
    metric: Literal["cold", "steady"]
    unit: str
    per_operation: int = Field(default=1, ge=1)
    operations: int = Field(default=0, ge=0)
    sql: list[str]
    pragmas: list[tuple[str, str | int]]
    workers: int = Field(default=1, ge=1)
    notes: list[str] = []

    @model_validator(mode="after")
    def _divisible(self) -> Self:
        if self.metric == "steady" and self.operations < 1:
            raise ValueError("a steady case needs at least 1 operation per iteration")
        return self

    @property
    def units(self) -> int:
        """Units of work that the primary time covers: one process if cold, else an iteration's."""
        return 1 if self.metric == "cold" else self.operations * self.per_operation


class Plan(Record):
    """The frozen plan; `canary` is the runner that runs twice, `cells` maps a case to the
    runners that were to do it (None: all), `rerun` is the command that repeats the run.
    """

    version: Literal[1] = Field(alias="schema_version")
    run: str
    label: str
    suite: str
    created: str
    sqlitmus: str
    seed: int
    blocks: int = Field(ge=1)
    reference: str
    canary: str | None = None
    floor: str | None = None
    margin: float = Field(gt=0, lt=1)
    rerun: str = ""
    runners: list[PlannedRunner] = Field(min_length=1)
    cases: list[PlannedCase]
    cells: dict[str, list[str]] | None = None

    @model_validator(mode="after")
    def _names(self) -> Self:
        names = [runner.name for runner in self.runners]
        _unique("runner", names)
        _unique("case", [case.id for case in self.cases])
        for key in ("reference", "canary", "floor"):
            name = getattr(self, key)
            if name is not None and name not in names:
                raise ValueError(f"{key} {name!r} is not among the runners {', '.join(names)}")
        return self


class Proof(Record):
    """Rows and checksum of the read-back queries."""

    rows: int
    checksum: int


class Check(Record):
    """One cell against the oracle, before any timing."""

    case: str
    runner: str
    outcome: Literal["ok", "unsupported", "wrong", "failed"]
    reason: str | None = None
    rows: int | None = None
    affected: int | None = None
    checksum: int | None = None
    readback: Proof | None = None
    digest: str | None = None
    plans: list[list[str]] = []
    pragmas: dict[str, str | int | float | None] = {}
    log: str | None = None
    command: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class RunData:
    """A run directory in memory. `checks` is keyed by (case id, runner name)."""

    plan: Plan
    checks: dict[tuple[str, str], Check]
    samples: Samples
    machine: dict[str, str]
    truncated: bool = False


def from_records(
    plan: object,
    checks: Iterable[object],
    samples: Iterable[object],
    machine: Mapping[str, object],
    *,
    truncated: bool = False,
) -> RunData:
    """A run from the parsed `plan.json`, `verify.jsonl`, `samples.jsonl` and `machine.json`.

    `checks` and `samples` are iterables of parsed lines, header and footer included; `samples` is
    read once and may be a generator. A cell checked twice keeps its last check. `truncated` says
    that a last line was cut off and left out. Raises `RunDataError`.
    """
    parsed = _validate(Plan, plan, "plan.json")
    cells: dict[tuple[str, str], Check] = {}
    for number, line in enumerate(checks, start=1):
        check = _validate(Check, line, f"verify.jsonl line {number}")
        cells[check.case, check.runner] = check
    try:
        columns = read_samples(
            samples,
            SampleCells(
                run=parsed.run,
                cases={case.id: (case.metric == "cold", case.units) for case in parsed.cases},
                runners=[runner.name for runner in parsed.runners],
                canary=parsed.canary,
                blocks=parsed.blocks,
            ),
        )
    except ValueError as error:
        raise RunDataError(str(error)) from error
    facts = {str(name): str(value) for name, value in machine.items()}
    return RunData(parsed, cells, columns, facts, truncated)


def _unique(what: str, names: list[str]) -> None:
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ValueError(f"{what} {', '.join(repeated)} occurs more than once")


def _validate(model: type[M], value: object, where: str) -> M:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = "$" + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"])
        raise RunDataError(f"{where}: {path}: {first['msg']}") from error
