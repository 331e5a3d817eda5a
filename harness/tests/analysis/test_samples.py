"""Reading whole columns gives what reading line by line gives, whatever is in the lines."""

# pyright: reportPrivateUsage=false

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlitmus.analysis import samples as module
from sqlitmus.analysis.samples import Cells, Samples, read_samples
from tests.analysis.runs import noisy, plan, samples

PLAN = plan(blocks=4)
CELLS = Cells(
    PLAN["run"],
    {"get-pk": (False, [100, 50, 100, 100]), "get-index": (True, [1, 1, 1, 1])},
    ["node", "bun", "rust-ffi"],
    "node",
    4,
    {(2, 0)},
)
KEYS = (
    "block", "take", "case", "runner", "label", "position", "outcome", "wall_ns", "user_ns",
    "system_ns", "rss_bytes", "steady_ns", "steady_cpu_ns", "complete", "schema",
)  # fmt: skip
VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, 1, -1, 3, 4, 2, 2**53, 2**70, 10**400, 1.5, float("nan"), float("inf"), "1",
     "ok", "failed", "wrong", "node", "bun", "canary", "get-pk", [], {}]
)  # fmt: skip
ABSENT = object()


def one_by_one(lines: list[object]) -> Samples:
    reader = module._Reader(CELLS)
    for number, line in enumerate(lines, start=1):
        if not reader._superseded(line):
            reader._single(number, line)
    return reader.samples()


def same(one: Samples, other: Samples) -> bool:
    arrays = ("code", "time", "wall", "cpu", "rss", "position")
    rest = ("reasons", "strays", "repeats", "complete")
    return all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=name != "code")
        for name in arrays
    ) and all(getattr(one, name) == getattr(other, name) for name in rest)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.sampled_from(KEYS), VALUES | st.just(ABSENT)), max_size=4
    ),
    st.booleans(),
)
def test_columns_and_lines_agree(changes: list[tuple[int, str, Any]], twice: bool) -> None:
    lines: list[Any] = [
        line if "schema" in line else {**line, "take": line.get("block", 0) // 3}
        for line in samples(PLAN, noisy())
    ]
    if twice:
        lines.append(lines[5])
    for at, key, value in changes:
        line = {**lines[at % len(lines)], key: value}
        if value is ABSENT:
            del line[key]
        lines[at % len(lines)] = line
    try:
        expected = one_by_one(lines)
    except ValueError as error:
        expected = str(error)
    try:
        found = read_samples(lines, CELLS)
    except ValueError as error:
        found = str(error)
    if isinstance(found, str) or isinstance(expected, str):
        assert found == expected
    else:
        assert same(found, expected)


def test_a_sound_file_is_read_by_columns_only() -> None:
    reader = module._Reader(replace(CELLS, superseded=()))
    assert reader._whole(samples(PLAN, noisy())[1:-1])
    assert not reader._whole(samples(PLAN, noisy())[1:2])  # a second time it is a repeat
