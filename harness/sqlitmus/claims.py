"""Published claims as experiments: `scenarios/claims/*.toml` read into frozen models. Pure but for
the reading.

Every ratio is base / new: how many times as fast the new cell is as the base.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from sqlitmus import catalog
from sqlitmus.contract import Model
from sqlitmus.errors import UsageError
from sqlitmus.names import unknown

Metric = Literal["steady", "wall", "loop", "average", "p50", "p99", "p999", "max"]
Word = Literal[
    "reproduced",
    "same direction, different size",
    "not resolved",
    "reversed",
    "not testable here",
]


def _finite(value: float) -> float:
    if not 0 < value < float("inf"):
        raise ValueError(f"{value} is no ratio; expected base / new as a positive number")
    return value


Ratio = Annotated[float, AfterValidator(_finite)]


class Cell(Model):
    """A case id, and the runner where the row names one."""

    case: str
    runner: str | None = None


class Row(Model):
    """One published figure. `said` is it in the publication's own words; `values` fill the braces
    of the group's cells. Without `published` the row is shown beside the others, without a verdict.
    """

    name: str
    published: Ratio | None = None
    said: str = ""
    values: dict[str, str] = {}
    untestable: str = ""
    key: bool = False


class Group(Model):
    """Rows of one kind: which cells are compared by which metric, on which runners.

    `expects` "no effect" holds when the interval lies within `tolerance` of 1, "effect" when it
    overlaps the published ratio within the factor `tolerance`. `per` "row" divides by the rows that
    an operation returns. `cores` are the least that the claim can show itself on.
    """

    title: str
    metric: Metric
    base: Cell
    new: Cell
    runners: list[str] = []
    expects: Literal["effect", "no effect"] = "effect"
    tolerance: Annotated[float, Field(gt=1)] = 1.5
    per: Literal["operation", "row"] = "operation"
    cores: int = 1
    rows: Annotated[list[Row], Field(min_length=1)]

    @model_validator(mode="after")
    def _whose(self) -> Self:
        named = [cell.runner is not None for cell in (self.base, self.new)]
        if self.runners and any(named):
            raise ValueError("give either runners or a runner in both cells")
        if not self.runners and not all(named):
            raise ValueError("give runners, or a runner in base and in new")
        for row in self.rows:
            if self.expects == "effect" and row.published == 1.0:
                raise ValueError(f"row {row.name!r}: published = 1 is no effect; set expects")
        return self

    def pairs(self, row: Row) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
        """(case id, runner) of base and new, once for each runner."""
        base, new = (cell.case.format(**row.values) for cell in (self.base, self.new))
        for name in self.runners or [None]:
            yield (base, name or str(self.base.runner)), (new, name or str(self.new.runner))


class Lessons(Model):
    """The one line for a service, by what came out."""

    reproduced: str
    different: str
    unresolved: str
    reversed: str
    untestable: str


class Table(Model):
    """Cells shown beside each other, fastest first by `metric`; `cases` may name a runner each."""

    title: str
    metric: Metric
    cases: Annotated[list[str], Field(min_length=1)]
    runners: Annotated[list[str], Field(min_length=1)]
    kind: Literal["ranking", "scaling", "histogram", "sizes"] = "ranking"


class Claim(Model):
    """A publication and the experiment that measures it again."""

    name: str
    title: str
    source: str
    published_on: str
    hypothesis: str
    differences: list[str] = []
    untestable: list[str] = []
    lessons: Lessons
    groups: Annotated[list[Group], Field(min_length=1)]
    tables: list[Table] = []

    def cells(self) -> Iterator[tuple[str, str]]:
        """Every (case id, runner) that the claim needs, repeats included."""
        for group in self.groups:
            for row in group.rows:
                if not row.untestable:
                    for base, new in group.pairs(row):
                        yield base
                        yield new
        for table in self.tables:
            for case in table.cases:
                for runner in table.runners:
                    yield case, runner


def read(folder: Path) -> dict[str, Claim]:
    """The claims by name, in the order of their files; raises UsageError with file and place."""
    found: dict[str, Claim] = {}
    for file in sorted(folder.glob("*.toml")):
        try:
            value = tomllib.loads(file.read_text(encoding="utf-8"))
            claim = Claim.model_validate({"name": file.stem.partition("-")[2], **value})
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"{file}: cannot be read as a claim: {error}") from error
        except ValidationError as error:
            lines = [f"{file}: {catalog.place('', e['loc'])}: {e['msg']}" for e in error.errors()]
            raise UsageError("\n".join(lines)) from error
        for number, group in enumerate(claim.groups):
            for row in group.rows:
                try:
                    list(group.pairs(row))
                except KeyError as error:
                    raise UsageError(
                        f"{file}: groups[{number}]: row {row.name!r} has no value for {error}"
                    ) from error
        found[claim.name] = claim
    return found


def named(claims: dict[str, Claim], names: list[str]) -> list[Claim]:
    """The claims of `names`, all without any; raises UsageError with the nearest name."""
    for name in names:
        if name not in claims:
            raise UsageError(unknown("claim", name, claims))
    return [claim for name, claim in claims.items() if not names or name in names]
