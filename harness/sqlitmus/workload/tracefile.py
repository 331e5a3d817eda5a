"""A trace, `.jsonl`: one statement a line, in the order in which connections ran them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import BeforeValidator, Field, ValidationError

from sqlitmus.catalog.tomlfile import place
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.workload.file import Scalar

TOLD = 20  # bad lines

Kind = Literal["none", "deferred", "immediate"]
Operation = Literal["get", "all", "iterate", "run"]
_TRANSACTION = r"(?:\s+TRANSACTION)?"
_BEGIN = re.compile(rf"BEGIN(?:\s+(DEFERRED|IMMEDIATE|EXCLUSIVE))?{_TRANSACTION}", re.IGNORECASE)
_END = re.compile(rf"(COMMIT|END|ROLLBACK){_TRANSACTION}", re.IGNORECASE)
_WORDS = {
    "missing": "is missing; a line is an object with sql and parameters",
    "model_type": "a line is an object with sql and parameters",
    "extra_forbidden": "there is no such key; a line has sql, parameters, operation, connection",
}


def _bound(value: object) -> object:
    """What a line binds. JSON has no blobs: they are written as {"blob": "00ff"}."""
    if isinstance(value, dict):
        (key, text), *more = cast("dict[str, object]", value).items() or [("", "")]
        if key != "blob" or more:
            raise ValueError('an object is a blob, such as {"blob": "00ff"}')
        return bytes.fromhex(str(text))
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("an integer has 64 bits at most")
    return value


class Line(Model):
    """A statement as it was run; its `connection` tells transactions apart that overlap."""

    sql: Annotated[str, Field(min_length=1)]
    parameters: list[Annotated[Scalar, BeforeValidator(_bound)]] = []
    operation: Operation | None = None
    connection: int | str | None = None


@dataclass(slots=True)
class Unit:
    """What one connection did at once: statements of a transaction, or one without; with the
    numbers of their lines. `begun` is the line of its BEGIN."""

    kind: Kind
    begun: int
    lines: list[tuple[int, Line]] = field(default_factory=list[tuple[int, Line]])


@dataclass(slots=True)
class Trace:
    """A trace's file while it is read: bad lines, and transactions that were rolled back."""

    file: Path
    problems: list[str] = field(default_factory=list[str])
    undone: int = 0

    def units(self) -> Iterator[Unit]:
        """What is done at once, in order of its end. Raises UsageError, at last for bad lines."""
        under_way: dict[int | str | None, Unit] = {}
        for number, line in self._lines():
            if begin := _BEGIN.fullmatch(line.sql):
                outer = under_way.get(line.connection)
                under_way[line.connection] = self._begun(number, begin[1] or "deferred", outer)
            elif end := _END.fullmatch(line.sql):
                unit = under_way.pop(line.connection, None)
                if unit is None:
                    self._wrong(number, "it ends a transaction that no line began")
                elif end[1].upper() == "ROLLBACK":
                    self.undone += 1
                elif unit.lines:
                    yield unit
            elif line.connection in under_way:
                under_way[line.connection].lines.append((number, line))
            else:
                yield Unit("none", number, [(number, line)])
        for unit in under_way.values():
            self._wrong(unit.begun, "it begins a transaction that no line ends")
        if self.problems:
            more = len(self.problems) - TOLD
            rest = [f"{self.file}: and {more} more such lines"] if more > 0 else []
            raise UsageError("\n".join([*self.problems[:TOLD], *rest]))

    def _begun(self, number: int, kind: str, outer: Unit | None) -> Unit:
        if outer:
            self._wrong(
                number,
                f"it begins a transaction within that of line {outer.begun}; tell connections "
                "apart with connection",
            )
        if kind.lower() == "exclusive":
            self._wrong(number, "EXCLUSIVE transactions are not measured; use IMMEDIATE")
        return Unit("immediate" if kind.lower() == "immediate" else "deferred", number)

    def _lines(self) -> Iterator[tuple[int, Line]]:
        try:
            with self.file.open("rb") as stream:
                for number, text in enumerate(stream, 1):
                    if text.strip() and (line := self._line(number, text)):
                        yield number, line
        except OSError as error:
            words = f"{self.file}: cannot be read as a trace: {error.strerror}"
            raise UsageError(words) from error

    def _line(self, number: int, text: bytes) -> Line | None:
        try:
            line = Line.model_validate(json.loads(text))
        except ValidationError as error:
            first = error.errors()[0]
            words = _WORDS.get(first["type"], first["msg"].removeprefix("Value error, "))
            self._wrong(number, f"{place('', first['loc'][:2])}: {words}")
        except ValueError:
            self._wrong(number, "it is no JSON in UTF-8")
        else:
            return line.model_copy(update={"sql": line.sql.strip().rstrip(";").rstrip()})
        return None

    def _wrong(self, number: int, problem: str) -> None:
        self.problems.append(f"{self.file}:{number}: {problem}")
