"""Whatever stands in a run directory, merging it neither fails nor touches the runs beside it."""

import json
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.analysis import analyse, load
from sqlitmus.results import machines as data
from tests.machines.folders import files, merged, write

# Ratios to a time of 1e-320 ns overflow, of which NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

WHOLE = ("linux-x64", "mac")
NAMES = ("plan.json", "machine.json", "verify.jsonl", "samples.jsonl", "blocks.jsonl")
# JSON as text, so that what no parser writes can stand in it
VALUES = (
    *("null", "true", "-1", "0", "1.5", "1e999", "NaN", "-Infinity", "9" * 400, "1e308", "1e-320"),
    *('""', '"../../x"', '"<script>alert(1)</script>"', '"\\u0000"', '"\\ud800"', '"\\u001b[2J"'),
    *("[]", "{}", "[[]]", '{"a":1}', "[" * 300 + "]" * 300, '"' + "y" * 5000 + '"', "x"),
)


@contextmanager
def fleet() -> Generator[Path]:
    """Two runs that stay as they are, so that what they agree in holds, and one to be changed."""
    with tempfile.TemporaryDirectory() as name:
        runs = Path(name) / "runs"
        for machine in WHOLE:
            write(runs / machine, machine=machine)
        yield write(runs / "other", machine="other")


def survives(other: Path) -> None:
    """Merge all; two are as they were, and the other refused or good for a report."""
    before = {name: files(other.parent / name) for name in WHOLE}
    done = merged(other.parent, out=other.parents[1] / "out", partial=True)
    taken = {m.label: s.hash for m in done.merged.machines for s in m.sources}
    for name in WHOLE:
        assert files(done.directory / "sources" / taken.pop(name)) == before[name]
    assert [refused.path for refused in done.merged.refused] == (
        ["runs/other"] if not taken else []
    )
    for digest in taken.values():
        data.render(analyse(load(done.directory / "sources" / digest)))


@given(st.sampled_from(NAMES), st.floats(0, 1), st.binary(max_size=3), st.integers(0, 3))
def test_changed_bytes(name: str, place: float, new: bytes, removed: int) -> None:
    with fleet() as other:
        before = (other / name).read_bytes()
        at = int(place * len(before))
        (other / name).write_bytes(before[:at] + new + before[at + removed :])
        survives(other)


@given(st.sampled_from(NAMES), st.floats(0, 1))
def test_files_cut_anywhere(name: str, place: float) -> None:
    with fleet() as other:
        before = (other / name).read_bytes()
        (other / name).write_bytes(before[: int(place * len(before))])
        survives(other)


@given(st.sampled_from(NAMES), st.lists(st.integers(0, 20), max_size=20))
def test_lines_left_out_repeated_or_in_another_order(name: str, order: list[int]) -> None:
    with fleet() as other:
        lines = (other / name).read_bytes().splitlines(keepends=True)
        (other / name).write_bytes(b"".join(lines[n % len(lines)] for n in order))
        survives(other)


@given(st.sampled_from(NAMES), st.integers(0, 10**6), st.sampled_from(VALUES))
def test_values_of_any_kind_at_any_place(name: str, place: int, value: str) -> None:
    with fleet() as other:
        text = (other / name).read_text()
        lines = [text] if name.endswith(".json") else text.splitlines()
        at = place % len(lines)
        lines[at] = with_value(json.loads(lines[at]), place // len(lines), value)
        (other / name).write_text("".join(line + "\n" for line in lines))
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
