"""`samples.jsonl` as columns: what is read of sound lines and of odd ones."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlitmus.analysis.data import NONE, OK, Cells, Samples, read_samples
from sqlitmus.vocabulary import figures
from tests.analysis.runs import COLUMNS, noisy, plan, samples, written

PLAN = plan(blocks=4)
CELLS = Cells(
    PLAN["run"],
    {"get-pk": ("steady", [100, 50, 100, 100]), "get-index": ("cold", [1, 1, 1, 1])},
    ["node", "bun", "rust-ffi"],
    ["node"],
    4,
    {(2, 0)},
)
VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, 1, -1, 3, 4, 2, 2**53, 2**70, 10**400, 1.5, float("nan"), float("inf"), "1",
     "ok", "failed", "wrong", "node", "bun", "canary", "get-pk", [], {}]
)  # fmt: skip


def sound() -> list[Any]:
    """Header, 32 rows, footer; every second row is of take 1."""
    return written(
        {**line, "take": line["position"] % 2} if "block" in line else line
        for line in samples(PLAN, noisy())
    )


def at(lines: list[Any], row: int) -> tuple[int, int, int]:
    """The place of a line in the arrays."""
    line = dict(zip(COLUMNS, lines[row], strict=True))
    series = [*CELLS.runners, "canary"].index(line["label"])
    return list(CELLS.cases).index(line["case"]), series, line["block"]


def without(found: Samples, place: tuple[int, int, int]) -> list[Any]:
    """All codes, positions and figures but those at `place`."""
    arrays = [found.code, found.position, found.time, *found.figures.values()]
    whole = [array.astype(np.float64) for array in arrays]
    for array in whole:
        array[place] = 0
    return whole


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 32), st.integers(0, len(COLUMNS) - 1), VALUES)
def test_an_odd_value_changes_nothing_but_its_own_line(row: int, column: int, value: Any) -> None:
    """Unless it names another place, which then has one line too many."""
    lines = sound()
    place = at(lines, row)
    expected = read_samples(lines, CELLS)
    lines[row][column] = value
    found = read_samples(lines, CELLS)
    if found.repeats or found.strays:
        assert found.repeats + found.strays == 1
        return
    if COLUMNS[column] in ("block", "take"):  # the line is of a block or a take that is repeated
        assert (found.code != NONE).sum() <= (expected.code != NONE).sum() + 1
        return
    for ours, theirs in zip(without(found, place), without(expected, place), strict=True):
        assert np.array_equal(ours, theirs, equal_nan=True)


@pytest.mark.parametrize(
    "line", [None, 5, "x" * len(COLUMNS), [], [0], {}, {"case": "x"}], ids=repr
)
def test_what_is_no_sample_is_counted(line: object) -> None:
    lines = [*sound(), line]
    assert read_samples(lines, CELLS).strays == 1


def test_a_line_a_second_time_is_counted_and_not_used() -> None:
    lines = sound()
    again = [*lines[2]]
    again[COLUMNS.index("steady_ns")] = 9e9
    found, expected = read_samples([*lines, again], CELLS), read_samples(lines, CELLS)
    assert found.repeats == 1
    assert np.array_equal(found.time, expected.time, equal_nan=True)


def test_a_set_of_turns_is_its_rows() -> None:
    header, *rows, footer = sound()
    sets = [rows[start : start + 4] for start in range(0, len(rows), 4)]
    found, expected = (read_samples([header, *lines, footer], CELLS) for lines in (sets, rows))
    assert np.array_equal(found.time, expected.time, equal_nan=True)
    assert found.strays == 0


def test_columns_are_found_by_their_names() -> None:
    header, *rows = sound()
    turned: list[Any] = [
        {**header, "columns": COLUMNS[::-1]},
        *(row[::-1] if isinstance(row, list) else row for row in rows),
    ]
    found, expected = read_samples(turned, CELLS), read_samples([header, *rows], CELLS)
    assert np.array_equal(found.time, expected.time, equal_nan=True)
    assert found.complete


def test_a_figure_without_a_column_is_unknown() -> None:
    """A run from before the figure existed."""
    gone = COLUMNS.index(figures.named("cpu").sampled)
    header, *rows = sound()
    lines: list[Any] = [
        {**header, "columns": [*COLUMNS[:gone], *COLUMNS[gone + 1 :]]},
        *([*row[:gone], *row[gone + 1 :]] if isinstance(row, list) else row for row in rows),
    ]
    found, expected = read_samples(lines, CELLS), read_samples(sound(), CELLS)
    assert np.isnan(found.figures["cpu"]).all()
    assert not np.isnan(expected.figures["cpu"][expected.code == OK]).any()
    assert np.array_equal(found.figures["cold"], expected.figures["cold"], equal_nan=True)
    assert np.array_equal(found.time, expected.time, equal_nan=True)
