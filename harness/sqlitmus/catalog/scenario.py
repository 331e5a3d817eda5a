"""What the catalogue's files declare: scenarios with their steps and axes, profiles, suites,
modes, fixtures, runners.
"""

import re
import string
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self, cast

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from sqlitmus.vocabulary import contract
from sqlitmus.vocabulary.verdicts import CaseMetric, Role, Scheme

# `?`: a value can be NULL
ColumnType = Literal["integer", "real", "text", "blob", "integer?", "real?", "text?", "blob?"]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Real = Annotated[float, Field(allow_inf_nan=False)]
Bound = Whole | str  # a number, or an expression of the fixture's size such as "size-1000"


def _pattern(text: str) -> str:
    for _, name, width, how in string.Formatter().parse(text):
        if name is not None and (name not in ("", "0") or how or not _WIDTH.fullmatch(width or "")):
            raise ValueError("braces hold the number, with a width below 1000, such as {:07d}")
    text.format(1)  # raises ValueError for what else is wrong
    return text


_WIDTH = re.compile(r"0?\d{0,3}[dxX]?")
Pattern = Annotated[str, AfterValidator(_pattern)]
Alphabet = Annotated[str, Field(min_length=1)]


class Generator(contract.Model):
    """How values of a fixture's column are drawn; see `generate`."""

    generator: Literal[
        "sequence", "permutation", "integer", "real", "text", "blob", "pattern", "uuid"
    ]
    min: Bound | Real = 0
    max: Bound | Real = 0
    offset: Whole = 0
    scale: Whole = 1
    every: int = Field(default=1, ge=1)
    pattern: Pattern = "{}"
    alphabet: Alphabet = "abcdefghijklmnopqrstuvwxyz 0123456789"
    nulls: float = Field(default=0.0, ge=0, le=1)


class Parameter(contract.Model):
    """How one parameter of a step is drawn, and its type."""

    type: contract.Type
    generator: Literal[
        "permutation", "integer", "real", "text", "blob", "pattern", "uuid", "relative", "same"
    ]
    min: Bound | Real = 0
    max: Bound | Real = 0
    offset: Whole = 0
    scale: Whole = 1
    pattern: Pattern = "{}"
    alphabet: Alphabet = "abcdefghijklmnopqrstuvwxyz 0123456789"
    nulls: float = Field(default=0.0, ge=0, le=1)
    plus: Whole | Real = 0
    every: int = Field(default=1, ge=1)
    step: int = Field(default=0, ge=0)
    position: int = Field(default=0, ge=0)


def _power_of_two(length: int) -> int:
    if not 1 <= length <= 16_384 or length & (length - 1):
        raise ValueError(f"{length} is no power of two up to 16384")
    return length


QUOTED = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/", re.DOTALL
)  # and comments


class ScenarioStep(contract.Model):
    """One statement; `only` restricts it to cases with these axis values.

    `{tuples}` in the SQL stands for that many tuples of placeholders, each with all parameters. By
    the `names` of its `?` values are bound if the axis `binding` says so, or, without one, where a
    runner can. A pool that is `given` takes the place of parameters that are drawn. Rows with
    `wide` integers, beyond 2^53, are read by the manner that holds them, where a runner has
    several; texts with `nul`, the character U+0000, by runners that read on behind it. Where
    `reals` come from functions that differ from one SQLite to another, verification compares their
    first digits, as of sum(), or their types alone, as of round(), which rounds halves otherwise.
    """

    operation: contract.Operation
    sql: str = ""
    columns: dict[str, ColumnType] = {}
    parameters: list[Parameter] = []
    given: contract.Parameters | None = None
    names: list[contract.ParameterName] = []
    pool: Annotated[int, AfterValidator(_power_of_two)] = 4096
    tuples: int = Field(default=1, ge=1, le=32_766)
    repeat: int = Field(default=1, ge=1, le=1_000_000)
    fails: int | None = None
    only: dict[str, str | list[str]] = {}
    wide: bool = False
    nul: bool = False
    reals: Literal["exact", "digits", "types"] = "exact"

    @property
    def rows(self) -> int:
        """Rows of its pool."""
        if self.parameters:
            return self.pool
        return len(self.given.rows) if self.given else 1

    @property
    def returning(self) -> bool:
        """Whether it may write though it gives rows."""
        return "returning" in self.sql.lower()

    @property
    def writes(self) -> bool:
        """Whether it may write, in a transaction of others."""
        return self.operation == "run" or self.returning

    def text(self, axes: Mapping[str, str]) -> str:
        """The SQL with its braces filled, and with `names` unless it is bound by place."""
        placeholders = f"({', '.join('?' * len(self.parameters))})"
        sql = self.sql.format(tuples=", ".join([placeholders] * self.tuples), **axes)
        if not self.names or axes.get("binding", "named") != "named":
            return sql
        names = iter(self.names)
        return _PARTS.sub(lambda part: next(names) if part[0] == "?" else part[0], sql)


_PARTS = re.compile(rf"{QUOTED.pattern}|\?", re.DOTALL)


class Query(contract.Model):
    """A read-back query."""

    sql: str
    columns: dict[str, ColumnType]


def check_step(step: ScenarioStep, first: dict[str, str], at: str) -> None:
    """Raise ValueError, with the place `at`, for a step whose parts do not fit together."""
    if step.tuples > 1 and any(p.generator in ("relative", "same") for p in step.parameters):
        raise ValueError(f"{at}.tuples: several tuples cannot have a relative or same parameter")
    if step.names:
        places = sum(part[0] == "?" for part in _PARTS.finditer(step.sql))
        distinct = len({name[1:] for name in step.names})
        given = len(step.given.types) if step.given else 0  # where a name may stand twice
        if not len(step.names) == places == (given or distinct) == (given or len(step.parameters)):
            raise ValueError(
                f"{at}.names: there are {len(step.names)}, for {places} ? in the SQL and "
                f"{len(step.parameters)} parameters; name each once, by other words than a prefix"
            )
    unknown = step.only.keys() - first.keys()
    if unknown:
        raise ValueError(f"{at}.only: {', '.join(unknown)} is not an axis of this")
    try:
        step.text(first)
    except (KeyError, IndexError, ValueError) as error:
        raise ValueError(
            f"{at}.sql: {error} is not an axis of this; braces name an "
            "axis, and doubled braces are literal ones"
        ) from error


Encoding = Literal["UTF-8", "UTF-16le", "UTF-16be"]


def _written(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


AxisValue = Annotated[str, BeforeValidator(_written)]  # a text, or a whole number


class Override(contract.Model):
    """Other operation counts for cases with these axis values, and another pace of workers and
    writer where these are given."""

    when: dict[str, str]
    operations: int
    warmup_operations: int | None = Field(default=None, ge=1)
    timed_operations: int | None = Field(default=None, ge=1)
    rate: float | None = None
    writer_operations: int | None = Field(default=None, ge=1)
    writer_rate: float | None = None


class Variant(contract.Model):
    """What an axis value changes besides the SQL's braces: how the database is opened and set up.

    Pragmas come after the profile's. `encoding` is that of the fixture's file. `answered_as` are
    the axis values with which the oracle is asked instead, where it lacks a function: another way
    to store the same rows for the same question.
    """

    fixture: str | None = None
    encoding: Encoding = "UTF-8"
    readonly: bool = False
    uri: dict[str, str] = {}
    flags: list[contract.Flag] = []
    pragmas: list[tuple[str, str | int]] = []
    engine: contract.EngineOptions = {}
    per_operation: bool = False
    transaction: Literal["none", "deferred", "immediate", "read"] | None = None
    answered_as: dict[str, str] = {}

    def also(self, other: "Variant") -> "Variant":
        """Both variants together; `other` wins where they contradict each other."""
        both = {**self.model_dump(), **other.model_dump(exclude_defaults=True)}
        for name in ("flags", "pragmas"):
            both[name] = [*getattr(self, name), *getattr(other, name)]
        for name in ("uri", "engine", "answered_as"):
            both[name] = {**getattr(self, name), **getattr(other, name)}
        return Variant.model_validate(both)

    def once(self) -> "Variant":
        """The same, with each pragma set to its last value alone."""
        return self.model_copy(update={"pragmas": [*dict(self.pragmas).items()]})


class Writing(contract.Model):
    """A writer beside the readers: what it does per iteration, at how many operations a second."""

    steps: Annotated[list[ScenarioStep], Field(min_length=1)]
    transaction: Literal["none", "deferred", "immediate"] = "none"
    operations: int = Field(ge=1)
    rate: float | None = None


_NORMALISED = "It chooses no profile, so every connection gets the pragmas of `normalised`."


class Scenario(contract.Model):
    """A question about SQLite use: fixture, steps, axes. An axis's first value is its default.

    `memory` gives each connection its own database, filled by `setup`. Without `ascii_ends`, texts
    begin or end with other characters, which languages fold into the checksum by their own code
    units: it is not compared with the oracle's then, the digest is. Where several workers read what
    others write, `order_decides` parts of the answer, which are not compared; what was written is.
    `checks` are queries that find no row in what was written, or no more than the oracle's.
    `operations` are those between two looks at the clock, where no pilot finds them. What writes
    says how many a process does in all, `warmup_operations` and `timed_operations`: so its tables
    grow from one size to another. `reset` comes before every `reset_every` of them.
    `fixed` keeps the counts whatever a pilot measures; `rate` is in operations a second; in a
    `sequence` each operation does some of the steps; with
    `watch_wal` the harness looks at the size of the write-ahead log meanwhile, with
    `memory_limit_mib` at the memory of the process, which is ended if it takes more;
    with `timer_ms` operations are tasks of an event loop, and a timer that is due so often shows
    how it is delayed. The axis `thread`, `main` or `worker`, says where they, or a lone worker,
    are.
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
    order_decides: list[Literal["rows", "affected", "checksum"]] = []
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
    sequence: contract.Sequence | None = None
    writer: Writing | None = None
    watch_wal: bool = False
    memory_limit_mib: float | None = Field(default=None, gt=0)
    timer_ms: int | None = Field(default=None, ge=1)
    variants: dict[str, dict[str, Variant]] = {}
    axes: dict[str, Annotated[list[AxisValue], Field(min_length=1)]] = {}
    steps: list[ScenarioStep] = []
    reset: list[str] = []
    readback: list[Query] = []
    checks: dict[str, str] = {}
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

    @model_validator(mode="after")
    def _binding(self) -> Self:
        bindings = {*self.axes.get("binding", [])}
        if bindings - {"positional", "named"}:
            raise ValueError("axes.binding has other values than positional and named")
        if "named" in bindings and any(s.parameters and not s.names for s in self.steps):
            raise ValueError("axes.binding has named, so each step with parameters needs names")
        return self


class Profile(contract.Model):
    """A named list of pragmas."""

    title: str
    summary: str
    pragmas: list[tuple[str, str | int]]


class Suite(contract.Model):
    """A selection of cases, and the mode that measures them by default.

    A case names a scenario (or `*`) and axis values. The `spare` ones are left out, the last first,
    where a time budget has no room for enough blocks of all.
    """

    title: str
    summary: str
    mode: str
    oracle: bool
    cases: list[dict[str, str | list[str]]]
    spare: list[dict[str, str | list[str]]] = []

    @property
    def parts(self) -> dict[str, list[dict[str, str | list[str]]]]:
        """Both lists of cases by the names that they have in the file."""
        return {"cases": self.cases, "spare": self.spare}


def _in_order(bounds: tuple[int, int]) -> tuple[int, int]:
    if not 0 <= bounds[0] <= bounds[1]:
        raise ValueError(f"expected [least, most], got {list(bounds)}")
    return bounds


Bounds = Annotated[tuple[int, int], AfterValidator(_in_order)]
# Of an invocation, unless its mode says otherwise.
TIMEOUT_S = 60.0


class Mode(contract.Model):
    """How hard to measure: `sessions` of `blocks` each, `pause_s` seconds apart.

    Bounds are [least, most]. `pilot` is the number of pilot processes per cell, 0 for none. A
    process warms up for `warmup_ms` and up to `stagger_ms` more, see Counts. A decision may be
    taken at each of `looks` equally spaced looks: of a gate about the whole run, else about each
    case. With a `budget_s` for verification, pilot and blocks together, `blocks` are the fewest.

    In the scheme `relay` the processes of a case take turns: in each of `rounds` rounds every one
    has a lead-in of `lead_in_ms`, between whose bounds the pilot chooses, and a lap of at least
    `lap_ms`; and there are so many rounds that a process has `collections` of garbage in a set, if
    the pilot saw any. Where no pilot finds them, a process has the least of `iterations`. An
    invocation is ended after `timeout_s`; one that was never tried is taken to need `process_s`.
    """

    title: str
    summary: str
    blocks: int = Field(ge=1)
    budget_s: float | None = Field(default=None, gt=0)
    sessions: int = Field(default=1, ge=1)
    pause_s: float = Field(default=0, ge=0)
    looks: int = Field(default=1, ge=1)
    pilot: int = Field(ge=0)
    iterations: Bounds
    warmup_iterations: int = Field(ge=0)
    warmup_ms: Bounds
    stagger_ms: int = Field(default=0, ge=0)
    scheme: Scheme = "process"
    rounds: int = Field(default=8, ge=1)
    lead_in_ms: Bounds = (20, 20)
    lap_ms: int = Field(default=10, ge=1)
    collections: int = Field(default=0, ge=0)
    timeout_s: float = Field(default=TIMEOUT_S, gt=0)
    process_s: float = Field(default=0.3, gt=0)


class Fixture(contract.Model):
    """A database file: schema, sizes and how each column is filled; or one of the user's, by a hash
    of its `content`, of which a copy lies in the cache.

    `files` is a query for pairs of a name and a blob, each of which is also a file: what a step
    `read-file` names. With `databases` there is a copy for each row of the main table, named by its
    number, in which this SQL was executed with the number: what a step `open-file` names.
    """

    title: str
    sizes: dict[str, int]
    seed: int
    tables: list[str]
    indexes: list[str]
    fill: dict[str, dict[str, Generator | str]]
    content: str | None = None
    files: str | None = None
    databases: str | None = None


class RunnerSpec(contract.Model):
    """How to start a runner. `{tool}` in a command or an environment is a path, `{tool_url}` the
    same as a URL, `{runners}` the runners' folder. `without` says what to do for a `tool` that no
    set-up makes.

    `steady_environment` is added only to steady-state measurements, because it would change the
    start; a process warms up for `warmup_ms` at least, and for `warmup_lists_ms` where it lists
    rows; `engine` holds options of SQLite itself, as the contract's `connection.engine`. Without
    `nul_in_text`, and before the runtime's major version `nul_in_text_from`, texts end at their
    first U+0000. With a `worker_thread` its driver calls SQLite in a thread of each connection, for
    which the caller waits. `slow_vectors` are left to the runner's own tests: the first word of
    their names, and why.
    """

    name: str
    title: str
    runtime: str
    driver: str
    tool: str
    command: list[str]
    handwritten: list[str] = []
    environment: dict[str, str] = {}
    steady_environment: dict[str, str] = {}
    sources: list[str] = ["."]
    engine: contract.EngineOptions = {}
    warmup_ms: int = 0
    warmup_lists_ms: int = 0
    nul_in_text: bool = True
    nul_in_text_from: int = 0
    worker_thread: bool = False
    slow_vectors: dict[str, str] = {}
    without: str = ""
    role: Role = "runner"

    def least_warmup_ms(self, steps: Iterable[ScenarioStep]) -> int:
        """How long a process with these steps warms up at least."""
        lists = any(step.operation in ("all", "iterate") for step in steps)
        return max(self.warmup_ms, self.warmup_lists_ms if lists else 0)


class Runners(contract.Model):
    """A `runner.toml`: the runners of one folder."""

    runner: list[RunnerSpec]
