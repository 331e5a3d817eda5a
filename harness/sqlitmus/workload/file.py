"""A workload as its TOML file has it, with its limits."""

import hashlib
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from sqlitmus.catalog.cases import Durability
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import Parameter, Profile
from sqlitmus.catalog.toml import Lines, Place, at_lines, parse, place, words
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import PRAGMAS_READ_BACK, Model
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.figures import UserDatabase
from sqlitmus.vocabulary.text import unknown


class About(UserDatabase):
    """A user's database; `content` is a SHA-256, shortened."""

    content: str


def about(name: str, file: Path, journal_mode: str) -> About:
    """What a copy in `file` tells of the database of that `name`. Raises sqlite3.Error, OSError."""
    with closing(sqlite3.connect(file)) as connection:

        def pragma(name: str) -> str:
            return str(connection.execute(f"PRAGMA {name}").fetchone()[0])

        rows = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2")
        schema = rows.fetchall()
        facts = {
            "page_size": int(pragma("page_size")),
            "encoding": pragma("encoding"),
            "user_version": int(pragma("user_version")),
        }
    content = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(2**20):
            content.update(block)
    return About.model_validate(
        {
            **facts,
            "name": name,
            "bytes": file.stat().st_size,
            "journal_mode": journal_mode,
            "tables": sum(k == "table" and not n.startswith("sqlite_") for k, n, _ in schema),
            "schema_hash": hashlib.sha256(repr(schema).encode()).hexdigest()[:16],
            "content": content.hexdigest()[:16],
        }
    )


class Limits(Model):
    """What a runner must keep to to be recommended: memory of a process, start to first row, p99 of
    a round of the mix, and what a commit outlives: a power cut if it is `full`, a crash of the
    process only if it is `normal`."""

    memory_mib: float | None = Field(default=None, gt=0)
    start_ms: float | None = Field(default=None, gt=0)
    p99_ms: float | None = Field(default=None, gt=0)
    durability: Durability | None = None


_TOO_WEAK: dict[Durability, dict[str, tuple[str, ...]]] = {
    "normal": {"synchronous": ("off", "0"), "journal_mode": ("off", "memory")},
    "full": {"synchronous": ("off", "0", "normal", "1"), "journal_mode": ("off", "memory")},
}


def weaker(profile: Profile, limit: Durability) -> str | None:
    """The pragma of `profile` that makes less durable than `limit`, if there is one."""
    for name, value in profile.pragmas:
        if str(value).lower() in _TOO_WEAK[limit].get(name, ()):
            return f"{name} {value}"
    return None


PROFILE = "normalised"
OWN = "own"  # a profile that the workload's pragmas change
_SETTABLE = [name for name in PRAGMAS_READ_BACK if name not in ("encoding", "page_size")]

Scalar = int | float | str | bytes | None  # TOML has neither of the latter, a trace has both


def _path(text: str) -> str:
    if "\0" in text:
        raise ValueError("it holds the character U+0000, which no path can; take it out")
    return text


FilePath = Annotated[str, AfterValidator(_path)]
Drawn = str | list[Parameter] | list[Scalar] | list[list[Scalar]]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]


class Statement(Model):
    """One statement of a query; `parameters` are a query on the database whose rows are bound, a
    generator for each placeholder, or a list of rows."""

    sql: Annotated[str, Field(min_length=1)]
    operation: Literal["get", "all", "iterate", "run"] | None = None
    parameters: Drawn = Field(default_factory=list[Scalar], union_mode="left_to_right")
    repeat: int = Field(default=1, ge=1, le=10_000)


class Query(Model):
    """What a service does with the database at once: one statement, or several `statements`, each
    for itself or in one `transaction`; `weight` says how often, relative to the others.

    `reset` undoes what it wrote, so that it can be done again; for inserts it is found by itself.
    """

    weight: float = Field(default=1.0, gt=0, le=1e6, allow_inf_nan=False)
    transaction: Literal["none", "deferred", "immediate"] = "none"
    sql: str | None = None
    operation: Literal["get", "all", "iterate", "run"] | None = None
    parameters: Drawn = Field(default_factory=list[Scalar], union_mode="left_to_right")
    repeat: int = Field(default=1, ge=1, le=10_000)
    statements: list[Statement] = []
    reset: list[str] = []

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if bool(self.sql) == bool(self.statements):
            raise ValueError("a query has either sql or statements")
        if self.statements and (self.operation or self.parameters or self.repeat != 1):
            raise ValueError("operation, parameters and repeat belong to each of its statements")
        return self

    def parts(self) -> list[Statement]:
        """Its statements, in order."""
        if self.statements:
            return self.statements
        return [
            Statement(
                sql=self.sql or "",
                operation=self.operation,
                parameters=self.parameters,
                repeat=self.repeat,
            )
        ]


class Workload(Model):
    """A database, what queries or a trace ask of it, and with how many workers at once; a `check`
    is a query that finds no row, whatever was written."""

    database: FilePath
    profile: str = PROFILE
    pragmas: dict[str, str | int] = {}
    workers: int = Field(default=1, ge=1, le=64)
    seed: int = 1
    limits: Limits = Limits()
    rates: list[Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]] = []
    trace: FilePath | None = None
    query: dict[Name, Query] = {}
    check: dict[Name, str] = {}

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if bool(self.query) == bool(self.trace):
            raise ValueError("a workload has queries, or a trace in their place")
        return self


@dataclass(frozen=True, slots=True)
class Recording:
    """The first requests of a trace in their order: the query of each, the number of its
    connection, and when it began, in seconds; no times where the trace has none. By query,
    what each statement binds: a row for each execution."""

    order: list[str]
    connections: list[int]
    times: list[float]
    rows: dict[str, list[list[list[Scalar]]]]


class Source:
    """A workload's file: it tells on which line something is wrong.

    `traced` has file and line of each statement of a query that comes from a trace, whose requests
    are the `recording`.
    """

    def __init__(
        self,
        file: Path,
        text: str,
        workload: Workload,
        traced: dict[str, list[str]] | None = None,
        recording: Recording | None = None,
    ) -> None:
        self.file, self.workload, self.recording = file, workload, recording
        self._text, self._lines, self._traced = text, Lines(text), traced or {}

    @property
    def is_traced(self) -> bool:
        """Whether its queries are those of a trace."""
        return bool(self._traced)

    @property
    def database(self) -> Path:
        """The path of the database, which the file gives relative to itself."""
        return self.beside(self.workload.database)

    def profile(self, catalog: Catalog) -> tuple[str, Profile]:
        """The profile that every connection sets, with the workload's own pragmas, and its name."""
        name, changes = self.workload.profile, self.workload.pragmas
        profile = catalog.profiles[name]
        if not changes:
            return name, profile
        changed = ", ".join(f"{pragma} {value}" for pragma, value in changes.items())
        pragmas = [*{**dict(profile.pragmas), **changes}.items()]
        summary = f"as {name}, with {changed}"
        return OWN, Profile(title="The workload's own", summary=summary, pragmas=pragmas)

    def beside(self, path: str) -> Path:
        """A path that the file gives relative to itself."""
        return paths.given(str(self.file.parent / Path(path).expanduser()))

    def with_queries(
        self, queries: dict[str, Query], traced: dict[str, list[str]], recording: Recording
    ) -> "Source":
        """The same with the queries of a trace, which stand where `traced` says."""
        workload = self.workload.model_copy(update={"query": queries})
        return Source(self.file, self._text, workload, traced, recording)

    def wrong(self, at: Place, problem: str) -> UsageError:
        """An error at `at`."""
        if at[:1] == ("query",) and (lines := self._traced.get(str(at[1]))):
            number = next((part for part in at if isinstance(part, int)), 0)
            return UsageError(f"{lines[number]}: {problem}")
        return UsageError(f"{self.file}:{self._lines.of(at)}: {place('', at)}: {problem}")

    def of(self, query: str, number: int, key: str) -> Place:
        """The place of `key` of a query's statement."""
        if self.workload.query[query].statements:
            return ("query", query, "statements", number, key)
        return ("query", query, key)


def read(file: Path, catalog: Catalog) -> Source:
    """The workload in `file`; raises UsageError with file and line for all that is wrong."""
    raw, text = parse(file)
    try:
        workload = Workload.model_validate(raw)
    except ValidationError as error:
        places = [
            (tuple(part for part in each["loc"] if part not in _BRANCHES), _words(each))
            for each in error.errors()
        ]
        within = {at[:length] for at, _ in places for length in range(len(at))}
        # Of what may have several forms, the form that it nearly has is told.
        nearest = [(at, problem) for at, problem in places if at and at not in within]
        problems = at_lines(file, text, nearest) or dict.fromkeys(f"{file}: {p}" for _, p in places)
        raise UsageError("\n".join(problems)) from error
    source = Source(file, text, workload)
    if workload.profile not in catalog.profiles:
        problem = unknown("profile", workload.profile, catalog.profiles)
        raise source.wrong(("profile",), problem)
    for name in workload.pragmas.keys() - set(_SETTABLE):
        problem = f"{unknown('pragma', name, _SETTABLE)}; runners read no other back"
        raise source.wrong(("pragmas", name), problem)
    limit = workload.limits.durability
    if limit and (weak := weaker(source.profile(catalog)[1], limit)):
        raise source.wrong(
            ("limits", "durability"),
            f"it is {limit}, and profile {workload.profile} sets {weak}, which no runner can then "
            "be; choose another profile, such as durable, or take the limit out",
        )
    return source


_BRANCHES = {"str", "list[Parameter]", "list[nullable[union[int,float,str,bytes]]]", "[key]"} | {
    "list[list[nullable[union[int,float,str,bytes]]]]",
    "int",
    "float",
    "bytes",
}


def _words(error: ErrorDetails) -> str:
    """pydantic's words, but of what is absent, of what nobody knows, and of names."""
    if error["type"] == "string_pattern_mismatch":
        return "a query's name has small letters, digits and dashes, 40 at most"
    return words(error)
