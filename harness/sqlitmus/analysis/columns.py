"""Columns of a run's samples, read and refused."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sqlitmus.run.records import LEAST, MOST
from sqlitmus.run.store import SCHEMA
from sqlitmus.stats.estimate import Array
from sqlitmus.vocabulary import figures

PLACE = ("case", "label", "runner", "block", "take", "position", "outcome", "reason")
STEADY = "steady_ns"
_NUMBERS = {int, float, type(None)}
MAX = 2**53  # JSON's largest exact integer, and well within the array's


def column_names(
    header: dict[str, Any], run: str, number: int, metrics: Collection[str]
) -> list[str]:
    """The names of what stands in a row, the primary times of those `metrics` among them."""
    where = f"samples.jsonl line {number}"
    if header["schema"] != SCHEMA:
        raise ValueError(
            f"{where}: schema {header['schema']!r}, this version reads {SCHEMA}; use the sqlitmus "
            "that wrote the run"
        )
    if header.get("run") != run:
        raise ValueError(
            f"{where}: belongs to run {header.get('run')!r}, plan.json to {run!r}; restore the two "
            "files of one run"
        )
    columns = header.get("columns")
    known = cast("list[str]", columns) if isinstance(columns, list) else []
    primary = (figure.sampled for figure in figures.FIGURES if figure.name in metrics)
    missing = [name for name in (*PLACE, STEADY, *primary) if name not in known]
    if missing:
        raise ValueError(
            f"{where}: no column {', '.join(missing)} in $.columns; restore the file's header"
        )
    return known


def as_numbers(column: Sequence[object]) -> Array:
    """The values of `_number`, at once where all are numbers or None."""
    if set(map(type, column)) <= _NUMBERS:
        with suppress(OverflowError):
            array = np.array(column, dtype=np.float64)
            if _sound(array).sum() + column.count(None) == len(column):
                return array
    return np.array([_number(value) for value in column])


def _sound(array: Array | np.float64) -> NDArray[np.bool_] | np.bool_:
    """What is 0 or of ordinary size, with which arithmetic neither overflows nor vanishes."""
    size = np.abs(array)
    return (size < MOST) & ((size >= LEAST) | (size == 0))


def _number(value: object) -> float:
    """NaN if nothing was recorded, -inf if what was recorded is no number of ordinary size."""
    if value is None:
        return np.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        return -np.inf
    try:
        number = float(value)
    except OverflowError:
        return -np.inf
    return number if _sound(np.float64(number)) else -np.inf
