"""The engine options that the contract names, and their values.

`runners/contract/CONTRACT.md` explains them; a runner may have others of its own.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator

from sqlitmus.vocabulary.suggest import nearest

VALUES: dict[str, tuple[str | int, ...]] = {
    "threading": ("serialized", "multi-thread", "single-thread"),
    "memstatus": (0, 1),
}


def problem(option: str, value: str | int) -> str:
    """Why `option` cannot be `value`, with what it can be; empty if it can, or has no list."""
    values = VALUES.get(option, (value,))
    if value in values:
        return ""
    names = list(map(str, values))
    near = nearest(str(value), names)
    hint = f"; did you mean {near}?" if near else ""
    return f"{option} is {', '.join(names[:-1])} or {names[-1]}, not {value!r}{hint}"


def _checked(options: Mapping[str, str | int]) -> Mapping[str, str | int]:
    problems = filter(None, (problem(*item) for item in options.items()))
    if text := "; ".join(problems):
        raise ValueError(text)
    return options


EngineOptions = Annotated[dict[str, str | int], AfterValidator(_checked)]
