"""The steps of a scenario: SQL, its parameters and how they are generated."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.contract.step import Operation, Parameters, Type

# `?`: a value can be NULL
ColumnType = Literal["integer", "real", "text", "blob", "integer?", "real?", "text?", "blob?"]
Bound = int | str  # a number, or an expression of the fixture's size such as "size-1000"


class Generator(Model):
    """How values of a fixture's column are drawn; see `generate`."""

    generator: Literal[
        "sequence", "permutation", "integer", "real", "text", "blob", "pattern", "uuid"
    ]
    min: Bound | float = 0
    max: Bound | float = 0
    offset: int = 0
    scale: int = 1
    every: int = Field(default=1, ge=1)
    pattern: str = "{}"
    alphabet: str = "abcdefghijklmnopqrstuvwxyz 0123456789"
    nulls: float = Field(default=0.0, ge=0, le=1)


class Parameter(Model):
    """How one parameter of a step is drawn, and its type."""

    type: Type
    generator: Literal[
        "permutation", "integer", "real", "text", "blob", "pattern", "uuid", "relative", "same"
    ]
    min: Bound | float = 0
    max: Bound | float = 0
    offset: int = 0
    scale: int = 1
    pattern: str = "{}"
    alphabet: str = "abcdefghijklmnopqrstuvwxyz 0123456789"
    nulls: float = 0.0
    plus: int | float = 0
    every: int = Field(default=1, ge=1)
    step: int = 0
    position: int = 0


def _power_of_two(length: int) -> int:
    if not 1 <= length <= 16_384 or length & (length - 1):
        raise ValueError(f"{length} is no power of two up to 16384")
    return length


class ScenarioStep(Model):
    """One statement; `only` restricts it to cases with these axis values.

    `{tuples}` in the SQL stands for that many tuples of placeholders, each with all parameters. A
    pool that is `given` takes the place of parameters that are drawn.
    """

    operation: Operation
    sql: str = ""
    columns: dict[str, ColumnType] = {}
    parameters: list[Parameter] = []
    given: Parameters | None = None
    pool: Annotated[int, AfterValidator(_power_of_two)] = 4096
    tuples: int = Field(default=1, ge=1)
    repeat: int = 1
    fails: int | None = None
    only: dict[str, str | list[str]] = {}

    @property
    def rows(self) -> int:
        """Rows of its pool."""
        if self.parameters:
            return self.pool
        return len(self.given.rows) if self.given else 1

    def text(self, axes: Mapping[str, str]) -> str:
        """The SQL with its braces filled."""
        placeholders = f"({', '.join('?' * len(self.parameters))})"
        return self.sql.format(tuples=", ".join([placeholders] * self.tuples), **axes)


class Query(Model):
    """A read-back query."""

    sql: str
    columns: dict[str, ColumnType]


def check_step(step: ScenarioStep, first: dict[str, str], at: str) -> None:
    """Raise ValueError, with the place `at`, for a step whose parts do not fit together."""
    if step.tuples > 1 and any(p.generator in ("relative", "same") for p in step.parameters):
        raise ValueError(f"{at}.tuples: several tuples cannot have a relative or same parameter")
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
