"""TOML files as models, with the file and the line of each fault."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from sqlitmus.machine import plainfiles
from sqlitmus.vocabulary.errors import UsageError

Place = tuple[int | str, ...]

_TOKEN = re.compile(
    r'(?P<string>"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')'
    r"|(?P<skip>#[^\n]*|[ \t\r]+)|(?P<mark>[\[\]{},=.\n])|(?P<bare>[^\s\[\]{},=.#\"']+)",
    re.DOTALL,
)


class Lines:
    """The lines of a text that `tomllib` has read without complaint."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._last: dict[Place, int] = {}
        self._lines: dict[Place, int] = {}
        self._document()

    def of(self, place: Place) -> int:
        """The line of the innermost part of `place` that is written down; 1 if none is."""
        while place and place not in self._lines:
            place = place[:-1]
        return self._lines.get(place, 1)

    @property
    def all(self) -> Mapping[Place, int]:
        """Every place that is written down, with its line."""
        return self._lines

    def _document(self) -> None:
        table: Place = ()
        while self._at < len(self._tokens):
            if self._see("\n"):
                self._at += 1
            elif self._see("["):
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> Place:
        line = self._tokens[self._at][1]
        self._at += 1
        array = self._see("[")
        self._at += array
        *parents, name = self._key()
        self._at += 1 + array
        place: Place = ()
        for part in parents:
            place = self._inside((*place, part))
        place = (*place, name)
        if array:
            self._last[place] = self._last.get(place, -1) + 1
            place = self._inside(place)
        self._lines.setdefault(place, line)
        return place

    def _inside(self, place: Place) -> Place:
        """The last table of an array of tables; another place is itself."""
        return (*place, self._last[place]) if place in self._last else place

    def _key(self) -> list[str]:
        parts: list[str] = []
        while not (self._see("=") or self._see("]")):
            if not self._see("."):
                word = self._tokens[self._at][0]
                parts.append(word[1:-1] if word[0] in "\"'" else word)
            self._at += 1
        return parts

    def _pair(self, table: Place) -> None:
        line = self._tokens[self._at][1]
        place = table
        for part in self._key():
            place = (*place, part)
            self._lines.setdefault(place, line)
        self._at += 1
        self._value(place)

    def _value(self, place: Place) -> None:
        opened = self._tokens[self._at][0]
        if opened not in "[{":
            while self._at < len(self._tokens) and not any(map(self._see, ",]}\n")):
                self._at += 1
            return
        self._at += 1
        number = 0
        while not self._see("]" if opened == "[" else "}"):
            if self._see(",") or self._see("\n"):
                self._at += 1
            elif opened == "{":
                self._pair(place)
            else:
                self._lines[*place, number] = self._tokens[self._at][1]
                self._value((*place, number))
                number += 1
        self._at += 1

    def _see(self, mark: str) -> bool:
        return self._at < len(self._tokens) and self._tokens[self._at][0] == mark


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """(token, line), without blanks and comments."""
    line = 1
    for match in _TOKEN.finditer(text):
        if match.lastgroup != "skip":
            yield match[0], line
        line += match[0].count("\n")


M = TypeVar("M", bound=BaseModel)


MOST_BYTES = 16 * 2**20
MOST_DEEP = 64


def parse(file: Path) -> tuple[dict[str, Any], str]:
    """What a file says, and its text; raises UsageError with the file."""
    with plainfiles.named(file) as stream:
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UsageError(f"{file}: larger than {MOST_BYTES >> 20} MB; give data as a trace")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: not TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: not UTF-8: {error.reason} at byte {error.start}") from error
    except ValueError as error:  # of int()
        words = "an integer has thousands of digits, and SQLite's have 64 bits; correct it"
        raise UsageError(f"{file}: not TOML: {words}") from error
    except RecursionError as error:
        raise UsageError(f"{file}: {_TOO_DEEP}") from error
    level: list[object] = [tables]
    for _ in range(MOST_DEEP):
        level = [each for value in level for each in _parts(value)]
    if level:
        raise UsageError(f"{file}: {_TOO_DEEP}")
    return tables, text


_TOO_DEEP = f"it is nested deeper than {MOST_DEEP} levels; take the brackets or dots out"


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).values()
    return cast("list[object]", value) if isinstance(value, list) else ()


def tables(kind: type[M], file: Path) -> dict[str, M]:
    """The tables of a file by name, each as a model; raises UsageError with file and place."""
    return {name: model(kind, value, file, name) for name, value in parse(file)[0].items()}


def whole(kind: type[M], file: Path) -> M:
    """All of a file as a model; raises UsageError with file and place."""
    return model(kind, parse(file)[0], file, "")


def model(kind: type[M], value: object, file: Path, at: str) -> M:
    """What stands at a place of a file; raises UsageError with file and place."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        problems = "\n".join(f"{file}: {place(at, e['loc'])}: {e['msg']}" for e in error.errors())
        raise UsageError(problems) from error


def place(at: str, location: tuple[int | str, ...]) -> str:
    """A key path such as `get-pk.steps[0].sql`."""
    text = at
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "(top level)"
