"""Whatever stands in a run's file, merging it neither fails nor touches the runs beside it."""

import json
import sqlite3
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.analysis import analyse, read
from sqlitmus.machines.merge import merged as read_merged
from sqlitmus.results import machines as data
from tests.machines.folders import FILE, ask, change, merged, opened, write

# Ratios to a time of 1e-19 ns overflow, of which NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

WHOLE = ("linux-x64", "mac")
# JSON as text, so that what no parser writes can stand in it
VALUES = (
    *("null", "true", "-1", "0", "1.5", "1e999", "NaN", "-Infinity", "9" * 400, "1e308", "1e-320"),
    *('""', '"../../x"', '"<script>alert(1)</script>"', '"\\u0000"', '"\\ud800"', '"\\u001b[2J"'),
    *("[]", "{}", "[[]]", '{"a":1}', "[" * 300 + "]" * 300, '"' + "y" * 5000 + '"', "x"),
)
JSON = (("run", "plan"), ("cell", "verification"), ("block", "record"))
COLUMNS = (
    *(("run", name) for name in ("name", "machine", "label", "created", "complete", "gate")),
    *(("cell", name) for name in ("case_id", "runner", "metric", "units", "outcome", "reason")),
    *(("sample", name) for name in ("cell", "label", "block", "position", "outcome")),
    *(("value", name) for name in ("figure", "value")),
    *(("figure", name) for name in ("name", "per_unit")),
    *(("fact", name) for name in ("name", "value")),
)
NUMBERS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(), st.sampled_from([None, 0, 1]))
TEXTS = st.sampled_from(
    ["", "ok", "wrong", "canary", "node", "\x1b[2J", "\x00", "../..", "x" * 5000]
)


@cache
def whole() -> dict[str, bytes]:
    """The files of three runs by machine."""
    with tempfile.TemporaryDirectory() as name:
        return {
            machine: (write(Path(name) / machine, machine=machine) / FILE).read_bytes()
            for machine in (*WHOLE, "other")
        }


@contextmanager
def fleet() -> Generator[Path]:
    """Two runs that stay as they are, so that what they agree in holds, and one to be changed."""
    with tempfile.TemporaryDirectory() as name:
        runs = Path(name) / "runs"
        for machine, content in whole().items():
            (runs / machine).mkdir(parents=True)
            (runs / machine / FILE).write_bytes(content)
        yield runs / "other"


def survives(other: Path) -> None:
    """Merge all; two are as they were, and the other refused or good for a report."""
    done = merged(other.parent, out=other.parents[1] / "out", partial=True)
    several = read_merged(done.directory / FILE)
    assert several is not None
    numbers = {machine.label: machine.number for machine in several.machines}
    question = "SELECT * FROM result WHERE machine = '{0}' ORDER BY 3, 4, 5, 6, 7"
    for name in WHOLE:
        del numbers[name]
        theirs = ask(other.parent / name, question.format(name))
        assert ask(done.directory, question.format(name)) == theirs
    assert [refused.path for refused in done.made.refused] == ([] if numbers else ["runs/other"])
    with opened(done.directory / FILE) as db:
        for number in numbers.values():
            data.render(analyse(read(db, number, {})))


@given(st.floats(0, 1), st.binary(max_size=30), st.integers(0, 3))
def test_changed_bytes(place: float, new: bytes, removed: int) -> None:
    with fleet() as other:
        before = (other / FILE).read_bytes()
        at = int(place * len(before))
        (other / FILE).write_bytes(before[:at] + new + before[at + (removed or len(new)) :])
        survives(other)


@given(st.floats(0, 1))
def test_files_cut_anywhere(place: float) -> None:
    with fleet() as other:
        before = (other / FILE).read_bytes()
        (other / FILE).write_bytes(before[: int(place * len(before))])
        survives(other)


@given(st.sampled_from(COLUMNS), st.integers(1, 20), NUMBERS | TEXTS | st.binary(max_size=9))
def test_values_of_any_kind_in_any_column(column: tuple[str, str], row: int, value: Any) -> None:
    with fleet() as other:
        table, name = column
        key = {"value": "sample", "fact": "run"}.get(table, "id")
        assign(other, f"UPDATE OR IGNORE {table} SET {name} = ? WHERE {key} = {row}", value)
        survives(other)


def assign(folder: Path, statement: str, value: Any) -> None:
    """Change the file; what a table's types refuse stays as it is."""
    try:
        change(folder, statement, value)
    except (sqlite3.IntegrityError, UnicodeEncodeError):
        return


@given(st.sampled_from(JSON), st.integers(0, 10**6), st.sampled_from(VALUES))
def test_values_of_any_kind_anywhere_in_json(
    column: tuple[str, str], place: int, value: str
) -> None:
    with fleet() as other:
        table, name = column
        texts = [text for (text,) in ask(other, f"SELECT {name} FROM {table}")]
        text = texts[place % len(texts)]
        changed = with_value(json.loads(text), place // len(texts), value)
        change(other, f"UPDATE {table} SET {name} = ? WHERE {name} = ?", changed, text)
        survives(other)


def with_value(whole: Any, place: int, value: str) -> str:
    """`whole` as JSON, with one of its values, at any depth, replaced."""
    places = list(walk(whole))
    holder, key = places[place % len(places)]
    holder[key] = "\0here"
    return json.dumps(whole).replace(json.dumps("\0here"), value)


def walk(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place in lists and objects: what holds it, and its key."""
    keys: Iterable[Any] = (
        cast("dict[str, Any]", value) if isinstance(value, dict) else range(len(value))
    )
    for key in list(keys):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from walk(value[key])
