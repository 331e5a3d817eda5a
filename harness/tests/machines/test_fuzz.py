"""Whatever stands in a run's file, merging it neither fails nor touches the runs beside it."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, strategies as st

from tests.machines.folders import FILE, ask, change, merged, read, report, write

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
Fleet = Callable[[], Path]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """Gives a run as it was written, beside two that stay as they are, so that what they agree in
    holds."""
    runs = tmp_path_factory.mktemp("fleet") / "runs"
    for machine in (*WHOLE, "other"):
        write(runs / machine, machine=machine)
    content = (runs / "other" / FILE).read_bytes()

    def restored() -> Path:
        for file in (runs / "other").glob(f"{FILE}*"):
            file.unlink()
        (runs / "other" / FILE).write_bytes(content)
        return runs / "other"

    return restored


def survives(other: Path) -> None:
    """Merge all; two are as they were, and the other refused or good for a report."""
    out = other.parents[1] / "out"
    shutil.rmtree(out, ignore_errors=True)
    done = merged(other.parent, out=out, partial=True)
    question = "SELECT * FROM result WHERE machine = '{0}' ORDER BY 3, 4, 5, 6, 7"
    for name in WHOLE:
        theirs = ask(other.parent / name, question.format(name))
        assert ask(done.directory, question.format(name)) == theirs
    numbers = {machine.label: machine.number for machine in read(done.directory).machines}
    taken = [number for label, number in numbers.items() if label not in WHOLE]
    assert [refused.path for refused in done.made.refused] == ([] if taken else ["runs/other"])
    for number in taken:
        report(done.directory, number)


@given(st.floats(0, 1), st.none() | st.binary(max_size=30), st.integers(0, 3))
def test_bytes_changed_or_cut_off_anywhere(
    fleet: Fleet, place: float, new: bytes | None, removed: int
) -> None:
    other = fleet()
    before = (other / FILE).read_bytes()
    at = int(place * len(before))
    changed = b"" if new is None else new + before[at + (removed or len(new)) :]
    (other / FILE).write_bytes(before[:at] + changed)
    survives(other)


@given(st.sampled_from(COLUMNS), st.integers(1, 20), NUMBERS | TEXTS | st.binary(max_size=9))
def test_values_of_any_kind_in_any_column(
    fleet: Fleet, column: tuple[str, str], row: int, value: Any
) -> None:
    other = fleet()
    table, name = column
    key = {"value": "sample", "fact": "run"}.get(table, "id")
    with suppress(sqlite3.IntegrityError, UnicodeEncodeError):  # what a table's types refuse
        change(other, f"UPDATE OR IGNORE {table} SET {name} = ? WHERE {key} = {row}", value)
    survives(other)


@given(st.sampled_from(JSON), st.integers(0, 10**6), st.sampled_from(VALUES))
def test_values_of_any_kind_anywhere_in_json(
    fleet: Fleet, column: tuple[str, str], place: int, value: str
) -> None:
    other = fleet()
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
