"""TOML files as models, with the file and the line of each fault."""

import re
import tomllib
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sqlitmus.machine import plainfiles
from sqlitmus.vocabulary.errors import UsageError

Place = tuple[int | str, ...]

_TOKEN = re.compile(
    r'(?P<string>"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')'
    r"|(?P<skip>#[^\n]*|[ \t\r]+)|(?P<mark>[\[\]{},=.\n])|(?P<bare>[^\s\[\]{},=.#\"']+)",
    re.DOTALL,
)


class Lines:
    """The lines of a text that `tomllib` has read without complaint; `all` has that of every place
    that is written down."""

    def __init__(self, text: str) -> None:
        self._tokens = deque(_tokens(f"{text}\n"))
        self.all: dict[Place, int] = {}
        last: dict[Place, int] = {}  # number of an array's last table
        table: Place = ()
        while self._tokens:
            mark = self._tokens[0][0]
            if mark == "\n":
                self._tokens.popleft()
            elif mark == "[":
                table = self._header(last)
            else:
                self._pair(table)

    def of(self, place: Place) -> int:
        """The line of the innermost part of `place` that is written down; 1 if none is."""
        while place and place not in self.all:
            place = place[:-1]
        return self.all.get(place, 1)

    def _header(self, last: dict[Place, int]) -> Place:
        array = self._tokens[1][0] == "["
        place: Place = ()
        parts, line = self._key()
        for number, part in enumerate(parts, 1):
            place = (*place, part)
            if array and number == len(parts):
                self._tokens.popleft()
                last[place] = last.get(place, -1) + 1
            place = (*place, last[place]) if place in last else place
        self.all.setdefault(place, line)
        return place

    def _key(self) -> tuple[list[str], int]:
        """The parts of a key, up to the mark behind it, and its line."""
        parts, line = list[str](), self._tokens[0][1]
        while (word := self._tokens.popleft()[0]) not in ("=", "]"):
            if word not in (".", "["):
                parts.append(word[1:-1] if word[0] in "\"'" else word)
        return parts, line

    def _pair(self, place: Place) -> None:
        parts, line = self._key()
        for part in parts:
            place = (*place, part)
            self.all.setdefault(place, line)
        self._value(place)

    def _value(self, place: Place) -> None:
        opened, number = self._tokens.popleft()[0], 0
        while opened in ("[", "{") and self._tokens[0][0] not in ("]", "}"):
            mark, line = self._tokens[0]
            if mark in (",", "\n"):
                self._tokens.popleft()
            elif opened == "{":
                self._pair(place)
            else:
                self.all[*place, number] = line
                self._value((*place, number))
                number += 1
        if opened in ("[", "{"):
            self._tokens.popleft()
        while self._tokens[0][0] not in (",", "]", "}", "\n"):  # the rest of 1.5
            self._tokens.popleft()


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """(token, line), without blanks and comments."""
    line = 1
    for match in _TOKEN.finditer(text):
        if match.lastgroup != "skip":
            yield match[0], line
        line += match[0].count("\n")


def at_lines(file: Path, text: str, problems: Iterable[tuple[Place, str]]) -> list[str]:
    """Problems at places of a file as lines, `FILE:LINE: PLACE: PROBLEM`, each once."""
    pairs = list(problems)
    lines = Lines(text if pairs else "")
    return list(dict.fromkeys(f"{file}:{lines.of(at)}: {place('', at)}: {p}" for at, p in pairs))


def words(error: ErrorDetails) -> str:
    """pydantic's words, but of what is absent and of what nobody knows."""
    if error["type"] == "missing":
        return "is missing; add it"
    if error["type"] == "extra_forbidden":
        return "there is no such key; correct its name, or take it out"
    return error["msg"].removeprefix("Value error, ")


M = TypeVar("M", bound=BaseModel)
MOST_BYTES = 16 * 2**20
MOST_DEEP = 64
_TOO_DEEP = f"it is nested deeper than {MOST_DEEP} levels; take the brackets or dots out"


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


def place(at: str, location: Place) -> str:
    """A key path such as `get-pk.steps[0].sql`."""
    text = at
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "(top level)"
