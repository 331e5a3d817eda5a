"""A TOML file as models, with the file and the place of each fault."""

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from sqlitmus.vocabulary.errors import UsageError

M = TypeVar("M", bound=BaseModel)


def parse(file: Path) -> tuple[dict[str, Any], str]:
    """What a file says, and its text; raises UsageError with the file."""
    try:
        text = file.read_text(encoding="utf-8")
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: not TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: not UTF-8: {error.reason} at byte {error.start}") from error
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error


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
