"""Reading whole columns gives what reading line by line gives, whatever is in the lines."""

# pyright: reportPrivateUsage=false

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlitmus.analysis import samples as module
from sqlitmus.analysis.samples import Cells, Samples, read_samples
from tests.analysis.runs import COLUMNS, noisy, plan, samples, written

PLAN = plan(blocks=4)
CELLS = Cells(
    PLAN["run"],
    {"get-pk": (False, [100, 50, 100, 100]), "get-index": (True, [1, 1, 1, 1])},
    ["node", "bun", "rust-ffi"],
    ["node"],
    4,
    {(2, 0)},
)
VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, 1, -1, 3, 4, 2, 2**53, 2**70, 10**400, 1.5, float("nan"), float("inf"), "1",
     "ok", "failed", "wrong", "node", "bun", "canary", "get-pk", [], {}]
)  # fmt: skip
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, 5, "x" * len(COLUMNS), [], [0], {}, {"complete": True}, {"schema": 9}, {"case": "x"}]
)


def one_by_one(lines: list[object]) -> Samples:
    reader = module._Reader(CELLS)
    for number, line in enumerate(lines, start=1):
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
    st.lists(st.tuples(st.integers(1, 32), st.integers(0, len(COLUMNS) - 1), VALUES), max_size=4),
    st.lists(st.tuples(st.integers(0, 40), ODD), max_size=2),
    st.booleans(),
    st.sampled_from([1, 64]),
)
def test_columns_and_lines_agree(
    changes: list[tuple[int, int, Any]], odd: list[tuple[int, Any]], twice: bool, few: int
) -> None:
    lines: list[Any] = written(
        {**line, "take": line["position"] % 2} if "block" in line else line
        for line in samples(PLAN, noisy())
    )
    if twice:
        lines.append([*lines[5]])
    for row, column, value in changes:
        lines[row][column] = value
    for place, line in odd:
        lines.insert(place, line)
    try:
        expected = one_by_one(lines)
    except ValueError as error:
        expected = str(error)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FEW", few)
        try:
            found = read_samples(lines, CELLS)
        except ValueError as error:
            found = str(error)
    if isinstance(found, str) or isinstance(expected, str):
        assert found == expected
    else:
        assert same(found, expected)


def test_a_sound_file_is_read_by_columns_only() -> None:
    reader = module._Reader(CELLS)
    header, *rows, _ = written(samples(PLAN, noisy()))
    reader._single(1, header)
    assert reader._whole(rows)
    assert not reader._whole(rows[:1])  # a second time it is a repeat
