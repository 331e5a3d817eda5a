"""Values of pragmas, as SQLite reads them back and as users read them."""

from collections.abc import Iterable

_WORDS = {
    "synchronous": {"off": "0", "normal": "1", "full": "2", "extra": "3"},
    "temp_store": {"default": "0", "file": "1", "memory": "2"},
    "query_only": {"off": "0", "on": "1", "false": "0", "true": "1"},
    "foreign_keys": {"off": "0", "on": "1", "false": "0", "true": "1"},
}


def normal_pragma(name: str, value: str | int | None) -> str:
    """A pragma's value in the form in which SQLite reads it back."""
    text = str(value).lower()
    return _WORDS.get(name, {}).get(text, text)


def with_keys(pragmas: Iterable[tuple[str, object]]) -> dict[str, str]:
    """`pragmas` by name, and who decides whether foreign keys are checked where none does."""
    stated = {name: str(value) for name, value in pragmas}
    return {**stated, "foreign_keys": stated.get("foreign_keys", "as the driver has it")}
