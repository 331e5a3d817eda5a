"""A scenario as its TOML file says it: steps, axes, and what a value of an axis changes."""

from typing import Annotated, Any, Literal, Self, cast

from pydantic import BeforeValidator, Field, model_validator

from sqlitmus.catalog.steps import Query, ScenarioStep, check_step
from sqlitmus.vocabulary.contract.job import Flag
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.engine import EngineOptions
from sqlitmus.vocabulary.terms import CaseMetric

Encoding = Literal["UTF-8", "UTF-16le", "UTF-16be"]


def _written(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


AxisValue = Annotated[str, BeforeValidator(_written)]  # a text, or a whole number


class Override(Model):
    """Other operation counts for cases with these axis values, and another pace of workers and
    writer where these are given."""

    when: dict[str, str]
    operations: int
    warmup_operations: int | None = Field(default=None, ge=1)
    timed_operations: int | None = Field(default=None, ge=1)
    rate: float | None = None
    writer_operations: int | None = Field(default=None, ge=1)
    writer_rate: float | None = None


class Variant(Model):
    """What an axis value changes besides the SQL's braces: how the database is opened and set up.

    Pragmas come after the profile's; `worker_pragmas` come after those on each of several workers
    of a process. `encoding` is that of the fixture's file. `answered_as` are the axis values with
    which the oracle is asked instead, where it lacks a function: another way to store the same rows
    for the same question.
    """

    fixture: str | None = None
    encoding: Encoding = "UTF-8"
    readonly: bool = False
    uri: dict[str, str] = {}
    flags: list[Flag] = []
    pragmas: list[tuple[str, str | int]] = []
    worker_pragmas: list[tuple[str, str | int]] = []
    engine: EngineOptions = {}
    per_operation: bool = False
    transaction: Literal["none", "deferred", "immediate", "read"] | None = None
    answered_as: dict[str, str] = {}

    def also(self, other: "Variant") -> "Variant":
        """Both variants together; `other` wins where they contradict each other."""
        both = {**self.model_dump(), **other.model_dump(exclude_defaults=True)}
        for name in ("flags", "pragmas", "worker_pragmas"):
            both[name] = [*getattr(self, name), *getattr(other, name)]
        for name in ("uri", "engine", "answered_as"):
            both[name] = {**getattr(self, name), **getattr(other, name)}
        return Variant.model_validate(both)

    def once(self) -> "Variant":
        """The same, with each pragma set to its last value alone."""
        return self.model_copy(update={"pragmas": [*dict(self.pragmas).items()]})


class Writing(Model):
    """A writer beside the readers: what it does per iteration, at how many operations a second."""

    steps: Annotated[list[ScenarioStep], Field(min_length=1)]
    transaction: Literal["none", "deferred", "immediate"] = "none"
    operations: int = Field(ge=1)
    rate: float | None = None


_NORMALISED = "It chooses no profile, so every connection gets the pragmas of `normalised`."


class Scenario(Model):
    """A question about SQLite use: fixture, steps, axes. An axis's first value is its default.

    `memory` gives each connection its own database, filled by `setup`. Without `ascii_ends`, texts
    begin or end with other characters, which languages fold into the checksum by their own code
    units: it is not compared with the oracle's then, the digest is. Workers of a `mixed` one read
    what others write: neither rows nor checksum are compared, but what was written. `operations`
    are those between two looks at the clock, where no pilot finds them. What writes says how many a
    process does in all, `warmup_operations` and `timed_operations`: so its tables grow from one
    size to another, whoever measures them. `reset` comes before every `reset_every` of them.
    `fixed` keeps the counts whatever a pilot measures; `rate` is in operations a second; with
    `watch_wal` the harness looks at the size of the write-ahead log meanwhile, with
    `memory_limit_mib` at the memory of the process, which is ended if it takes more;
    with `timer_ms` operations are tasks of an event loop, on the thread that the axis `thread`
    says, `main` or `worker`, and a timer that is due so often shows how it is delayed.
    """

    title: str
    question: str
    group: str
    bound_by: Literal["runtime", "driver", "engine", "io", "locks", "mixed"]
    metric: CaseMetric = "steady"
    unit: str
    per_operation: int = 1
    fixture: str | None = None
    memory: bool = False
    ascii_ends: bool = True
    mixed: bool = False
    setup: list[str] = []
    writes: bool = False
    transaction: Literal["none", "deferred", "immediate"] = "none"
    operations: int
    warmup_operations: int | None = Field(default=None, ge=1)
    timed_operations: int | None = Field(default=None, ge=1)
    reset_every: int | None = Field(default=None, ge=1)
    iterations: int | None = None
    warmup_iterations: int | None = None
    fixed: bool = False
    latencies: bool = False
    tolerate_busy: bool = False
    rate: float | None = None
    writer: Writing | None = None
    watch_wal: bool = False
    memory_limit_mib: float | None = Field(default=None, gt=0)
    timer_ms: int | None = Field(default=None, ge=1)
    variants: dict[str, dict[str, Variant]] = {}
    axes: dict[str, Annotated[list[AxisValue], Field(min_length=1)]] = {}
    steps: list[ScenarioStep] = []
    reset: list[str] = []
    readback: list[Query] = []
    overrides: list[Override] = []
    notes: list[str] = []

    @model_validator(mode="before")
    @classmethod
    def _with_profile(cls, given: object) -> object:
        """What opens a file has pragmas: those of `normalised`, unless it says which."""
        fields = cast("dict[str, Any]", given if isinstance(given, dict) else {})
        axes: Any = fields.get("axes", {})
        if not fields.get("fixture") or not isinstance(axes, dict) or "profile" in axes:
            return cast("object", given)
        changed: dict[str, Any] = {
            "axes": {**axes, "profile": ["normalised"]},
            "notes": [*fields.get("notes", []), _NORMALISED],
        }
        return {**fields, **changed}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.steps and bool(self.fixture) == self.memory:
            raise ValueError("steps need a fixture, or memory = true")
        runs = any(step.operation in ("run", "execute") for step in self.steps)
        if (runs or self.writer or self.reset) and not self.writes:
            raise ValueError(
                "what writes (a step with operation run or execute, a writer, reset) needs "
                "writes = true"
            )
        stated = self.warmup_operations and self.timed_operations
        if self.writes and self.metric == "steady" and not self.fixed and not stated:
            raise ValueError(
                "what writes needs warmup_operations and timed_operations, the work of a process"
            )
        if self.reset and not self.fixed and not self.reset_every:
            raise ValueError("reset needs reset_every: after how many operations it comes")
        if self.writes and not self.readback:
            raise ValueError("a scenario that writes needs a readback, which proves its writes")
        first = {axis: values[0] for axis, values in self.axes.items()}
        for number, step in enumerate(self.steps):
            check_step(step, first, f"steps[{number}]")
        named = [(f"variants.{axis}", axis, v) for axis, of in self.variants.items() for v in of]
        named += [("override", axis, v) for o in self.overrides for axis, v in o.when.items()]
        named += [
            ("answered_as", axis, value)
            for of in self.variants.values()
            for variant in of.values()
            for axis, value in variant.answered_as.items()
        ]
        for where, axis, value in named:
            if value not in self.axes.get(axis, []):
                raise ValueError(f"{where} for {axis}={value}, which is not on an axis")
        return self
