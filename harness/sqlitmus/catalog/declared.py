"""What else the catalogue's files declare: profiles, suites, modes, fixtures and runners."""

from typing import Annotated

from pydantic import AfterValidator, Field

from sqlitmus.catalog.steps import Generator
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.engine import EngineOptions
from sqlitmus.vocabulary.terms import Role, Scheme


class Profile(Model):
    """A named list of pragmas."""

    title: str
    summary: str
    pragmas: list[tuple[str, str | int]]


class Suite(Model):
    """A selection of cases, and the mode that measures them by default.

    A case names a scenario (or `*`) and axis values.
    """

    title: str
    summary: str
    mode: str
    oracle: bool
    cases: list[dict[str, str | list[str]]]


def _in_order(bounds: tuple[int, int]) -> tuple[int, int]:
    if not 0 <= bounds[0] <= bounds[1]:
        raise ValueError(f"expected [least, most], got {list(bounds)}")
    return bounds


Bounds = Annotated[tuple[int, int], AfterValidator(_in_order)]
# Of an invocation, unless its mode says otherwise.
TIMEOUT_S = 60.0


class Mode(Model):
    """How hard to measure: `sessions` of `blocks` each, `pause_s` seconds apart.

    Bounds are [least, most]. `pilot` is the number of pilot processes per cell, 0 for none. A
    decision may be taken at each of `looks` equally spaced looks: of a gate about the whole run,
    else about each case. With a `budget_s` for verification, pilot and blocks together, `blocks`
    are the fewest.

    In the scheme `relay` the processes of a case take turns: in each of `rounds` rounds every one
    has a lead-in of `lead_in_ms`, between whose bounds the pilot chooses, and a lap of at least
    `lap_ms`. Where no pilot finds them, a process has the least of `iterations`. An invocation is
    ended after `timeout_s`.
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
    scheme: Scheme = "process"
    rounds: int = Field(default=8, ge=1)
    lead_in_ms: Bounds = (20, 20)
    lap_ms: int = Field(default=10, ge=1)
    timeout_s: float = Field(default=TIMEOUT_S, gt=0)


class Fixture(Model):
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


class RunnerSpec(Model):
    """How to start a runner. `{tool}` in a command or an environment is a path, `{tool_url}` the
    same as a URL, `{runners}` the runners' folder. `without` says what to do for a `tool` that no
    set-up makes.

    `steady_environment` is added only to steady-state measurements, because it would change the
    start; `engine` holds options of SQLite itself, as the contract's `connection.engine`. Without
    `nul_in_text`, texts end at their first U+0000. `slow_vectors` are left to the runner's own
    tests: the first word of their names, and why.
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
    engine: EngineOptions = {}
    warmup_ms: int = 0
    nul_in_text: bool = True
    slow_vectors: dict[str, str] = {}
    without: str = ""
    role: Role = "runner"


class Runners(Model):
    """A `runner.toml`: the runners of one folder."""

    runner: list[RunnerSpec]
