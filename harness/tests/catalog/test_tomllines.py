"""The lines of keys and items in TOML."""

import tomllib
from collections.abc import Iterator

import pytest

from sqlitmus.catalog.toml import Lines, Place
from sqlitmus.vocabulary import paths

TEXT = '''# a comment with "quotes" and [brackets]
a = "one # two"
b.c = 1.5
"d e" = """
  [no.table]
"""
f = [1,
  2, # two
  { g = 'x', h = [ "]" ] },
]

[table]
key = 2026-11-22T10:00:00Z
[[items]]
name = "first"
[[items]]
name = "second"
[items.inner]
deep = true
'''


def test_each_key_and_item_has_its_line() -> None:
    lines = Lines(TEXT)
    expected: dict[Place, int] = {
        ("a",): 2,
        ("b", "c"): 3,
        ("d e",): 4,
        ("f", 0): 7,
        ("f", 1): 8,
        ("f", 2, "h", 0): 9,
        ("table", "key"): 13,
        ("items", 0): 14,
        ("items", 1, "name"): 17,
        ("items", 1, "inner", "deep"): 19,
    }
    assert {place: lines.of(place) for place in expected} == expected


def test_what_is_not_written_has_the_line_of_what_it_is_missing_in() -> None:
    lines = Lines(TEXT)
    assert lines.of(("items", 1, "nothing", 3)) == 16
    assert lines.of(("nothing",)) == 1


def _places(value: object, place: Place = ()) -> Iterator[Place]:
    if isinstance(value, dict):
        parts = list(value.items())  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    elif isinstance(value, list):
        parts = list(enumerate(value))  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    else:
        yield place
        return
    for name, part in parts:  # pyright: ignore[reportUnknownVariableType]
        yield from _places(part, (*place, name))  # pyright: ignore[reportUnknownArgumentType]


@pytest.mark.parametrize("folder", ["claims", "."])
def test_it_sees_every_value_that_tomllib_sees(folder: str) -> None:
    for file in sorted((paths.SCENARIOS / folder).glob("*.toml")):
        text = file.read_text("utf-8")
        assert set(_places(tomllib.loads(text))) <= set(Lines(text).all), file.name
