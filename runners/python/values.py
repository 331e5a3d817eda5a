"""Parameters, checksum and digest, written for clarity: this is the reference for all runners."""

import hashlib
import struct
from collections.abc import Sequence
from math import isfinite

from job import Column, Parameters

Value = int | float | str | bytes | None
Given = tuple[Value, ...] | dict[str, Value]  # what `execute` takes

NULL = 0x9E3779B9
MASK = 0xFFFFFFFF


def pool(parameters: Parameters | None) -> list[tuple[Value, ...]]:
    """The rows of a pool as Python values; one empty row when there are no parameters."""
    if parameters is None:
        return [()]
    kinds = parameters.types
    return [
        tuple(_value(kind, item) for kind, item in zip(kinds, row, strict=True))
        for row in parameters.rows
    ]


def given(names: list[str], row: tuple[Value, ...]) -> Given:
    """A row of a pool as `execute` takes it: by place, or by `names`, which have a prefix."""
    if not names:
        return row
    return {name[1:]: value for name, value in zip(names, row, strict=True)}


def _value(kind: str, item: float | str | None) -> Value:
    if item is None:
        return None
    if kind == "integer":
        return int(item)
    if kind == "real":
        return float(item)
    return bytes.fromhex(str(item)) if kind == "blob" else str(item)


def term(value: Value) -> int:
    """The checksum's x for one value."""
    if value is None:
        return NULL
    if isinstance(value, int):
        return value & MASK
    if isinstance(value, float):
        return int(value) & MASK if isfinite(value) else 0
    if len(value) == 0:
        return 0
    if isinstance(value, str):
        return (31 * ord(value[0]) + ord(value[-1])) & MASK
    return (len(value) + 31 * value[0] + value[-1]) & MASK


class Tally:
    """Rows, affected rows, checksum and (optionally) the digest of a sequence of executions."""

    def __init__(self) -> None:
        self.rows = 0
        self.affected = 0
        self.checksum = 0
        self._h = 0
        self._before = 0, 0
        self._sha = hashlib.sha256()

    def operation(self) -> tuple[int, int, int]:
        """End an operation: its h joins the sum, the next one starts at 0. Its rows, affected rows
        and checksum."""
        counts = self.rows - self._before[0], self.affected - self._before[1], self._h
        self.checksum = (self.checksum + self._h) & MASK
        self._h = 0
        self._before = self.rows, self.affected
        return counts

    def result(
        self, columns: list[Column], rows: list[Sequence[Value]], values: str = "read"
    ) -> None:
        """Fold in the rows of one execution; raises ValueError for a value of another type.

        Those whose `values` are "unread" are in the digest only.
        """
        for row in rows:
            if len(row) != len(columns):
                raise ValueError(f"a row of {len(row)} values for {len(columns)} columns")
            for column, value in zip(columns, row, strict=True):
                if values == "read":
                    self._h = (self._h * 31 + term(value)) & MASK
                self._value(*_canonical(column, value))
        self.rows += len(rows)
        self._end(len(rows))

    def run(self, affected: int) -> None:
        """Fold in an execution without rows."""
        self._h = (self._h * 31 + affected) & MASK
        self.affected += affected
        self._end(affected)

    def answer(self, number: int) -> None:
        """Fold in an execution that ends with a number of the driver's and no row."""
        self._h = (self._h * 31 + number) & MASK
        self._value(b"i", str(number).encode())
        self._end(0)

    def nothing(self) -> None:
        """An execution that has neither rows nor effect."""
        self._end(0)

    def _value(self, tag: bytes, payload: bytes) -> None:
        self._sha.update(tag + struct.pack("<I", len(payload)) + payload)

    def _end(self, count: int) -> None:
        self._sha.update(b"E" + struct.pack("<I", count))

    def digest(self) -> str:
        """SHA-256 of everything folded in so far."""
        return self._sha.hexdigest()


def _canonical(column: Column, value: Value) -> tuple[bytes, bytes]:
    match column.type, value:
        case _, None if column.nullable:
            return b"n", b""
        case "integer", int():
            return b"i", str(value).encode()
        case "real", float():
            return b"r", struct.pack("<d", value)
        case "text", str():
            return b"t", value.encode()
        case "blob", bytes():
            return b"b", value
    if value is None:
        raise ValueError(f"column {column.name} is not nullable, got NULL")
    raise ValueError(f"column {column.name} is declared {column.type}, got {type(value).__name__}")
