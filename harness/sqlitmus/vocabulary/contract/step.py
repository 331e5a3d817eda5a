"""A step of a job: one statement, the values that it binds, the columns that it returns."""

from typing import Literal, Self

from pydantic import model_validator

from sqlitmus.vocabulary.contract.model import Model, Positive

Type = Literal["integer", "real", "text", "blob"]
Value = int | float | str | None
Operation = Literal[
    "get",
    "all",
    "iterate",
    "run",
    "prepare",
    "open",
    "open-file",
    "in-transaction",
    "execute",
    "read-file",
]
FILES = ("open-file", "read-file")


class Column(Model):
    """A result column: its name in the SQL, the declared type of its values, and whether a value
    can be NULL, which no runner asks where it cannot.
    """

    name: str
    type: Type
    nullable: bool = False


class Parameters(Model):
    """A pool of parameter rows; execution number *n* of a step binds row *n mod length*."""

    types: list[Type]
    rows: list[list[Value]]

    @model_validator(mode="after")
    def _shape(self) -> Self:
        length = len(self.rows)
        if not 1 <= length <= 16_384 or length & (length - 1):
            raise ValueError(f"a pool has a power of two of rows, at most 16384; this has {length}")
        for number, row in enumerate(self.rows):
            if len(row) != len(self.types):
                raise ValueError(f"row {number} has {len(row)} values for {len(self.types)} types")
        return self


class Step(Model):
    """One statement of an operation; rows whose values are `unread` are counted and no more.

    A `cached` one may have several `texts`, which differ in a comment: more than its cache holds.
    """

    operation: Operation
    sql: str = ""
    parameters: Parameters | None = None
    columns: list[Column] = []
    repeat: Positive = 1
    fails: Positive | None = None
    shape: Literal["object", "array", "typed"] = "object"
    integers: Literal["number", "bigint"] = "number"
    statement: Literal["prepared", "cached", "adhoc"] = "prepared"
    texts: Positive = 1
    values: Literal["read", "unread"] = "read"

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if (self.operation in ("in-transaction", "read-file")) != (not self.sql):
            raise ValueError("all but in-transaction and read-file need sql, and those have none")
        if self.fails is not None and self.operation != "run":
            raise ValueError("only run can be expected to fail")
        if self.operation == "execute" and (self.parameters or self.columns):
            raise ValueError("execute binds no parameters and returns no columns")
        if self.operation in FILES and (
            self.parameters is None or self.parameters.types != ["text"]
        ):
            raise ValueError(f"{self.operation} has one parameter, a text: the path")
        columns = [(column.type, column.nullable) for column in self.columns]
        if self.operation == "read-file" and columns != [("blob", False)]:
            raise ValueError("read-file has one column, a blob that cannot be NULL")
        if self.texts & (self.texts - 1):
            raise ValueError("texts is a power of two")
        if self.texts > 1 and self.statement != "cached":
            raise ValueError("only a cached statement has several texts")
        if self.values == "unread" and self.operation not in ("get", "all", "iterate"):
            raise ValueError("only get, all and iterate have values that can be left unread")
        return self
