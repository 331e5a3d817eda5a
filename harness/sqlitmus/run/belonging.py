"""Whether a result is of the job and of the runner that were asked. Pure."""

from sqlitmus.vocabulary.contract.description import Description
from sqlitmus.vocabulary.contract.result import Result

FIELDS = ("runner", "runtime", "driver", "architecture")
"""Of an identity; the flags show settings that only measured processes get."""


def stranger(result: Result, cell: str, description: Description | None) -> str | None:
    """How `result` differs from what was asked of the runner of `description`, or None."""
    if result.cell != cell:
        return f"its result is of {_short(result.cell)}; it was asked for {cell}"
    if description is None:
        return None
    for name in FIELDS:
        got, right = getattr(result.identity, name), getattr(description.identity, name)
        if got != right:
            return _differs(name, got, right)
    version = result.sqlite_version
    if version is not None and version != description.sqlite.version:
        return _differs("SQLite version", version, description.sqlite.version)
    return None


def _differs(what: str, got: object, right: object) -> str:
    return (
        f"its result is of the {what} {_named(got)}; its `describe` says {_named(right)}, "
        "and is asked anew by the next run"
    )


def _named(value: object) -> str:
    name, version = getattr(value, "name", None), getattr(value, "version", None)
    return _short(f"{name} {version}" if name is not None else str(value))


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"
