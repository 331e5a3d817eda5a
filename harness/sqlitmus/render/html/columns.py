"""Columns of numbers as the page's script wants them: rounded, None where there is no number.

A column is that of a whole page, cut into those of its cases only afterwards: numpy gains nothing
on ten numbers, and much on half a million.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import isfinite
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

LOG_UNIT = 1e6
WHOLE = 1e5
INT64 = 2.0**62

Array = NDArray[np.float64]
Integers = list[int | None]
Numbers = list[float | int | None]
T = TypeVar("T")


def logs(values: Sequence[float | None]) -> Integers:
    """Logarithms in units of 1e-6; None for what has no finite one."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return _integers(np.log(numbers(values)) * LOG_UNIT)


def short(values: Sequence[float | None]) -> Numbers:
    """Thousandths below 100 µs or 100 KB, whole numbers from there: five significant digits or
    more."""
    array = numbers(values)
    small = np.abs(array) < WHOLE
    found: Numbers = (np.rint(array * 1000) / 1000).tolist()
    whole = _integers(array)
    for place in np.flatnonzero(~small).tolist():
        found[place] = whole[place]
    return found


def scaled(
    values: Sequence[float | None], exponents: Sequence[int] | NDArray[np.int64]
) -> Integers:
    """Integers, each in units of 10 to the power of its exponent."""
    return _integers(numbers(values) * 10.0 ** -np.asarray(exponents, dtype=np.float64))


def differences(positions: Sequence[int], lengths: Sequence[int]) -> list[int]:
    """The first position of each part, then each one minus the one before."""
    array = np.array(positions, dtype=np.int64)
    steps = np.diff(array, prepend=0)
    starts = [start for start, end in pairwise([0, *accumulate(lengths)]) if end > start]
    steps[starts] = array[starts]
    return steps.tolist()


def extremes(values: Sequence[float | None], lengths: Sequence[int]) -> tuple[Array, Array]:
    """Least and largest of each part, without zeros; inf and 0 where a part has no number."""
    array = numbers(values)
    array[array == 0] = np.nan
    low, high = np.full(len(lengths), np.inf), np.zeros(len(lengths))
    places = np.flatnonzero(lengths)
    if len(places):
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])[places]
        low[places] = np.minimum.reduceat(np.where(np.isnan(array), np.inf, array), starts)
        high[places] = np.maximum.reduceat(np.where(np.isnan(array), 0, array), starts)
    return low, high


def parts(values: list[T], lengths: Sequence[int]) -> list[list[T]]:
    """A column cut into pieces."""
    return [values[start:end] for start, end in pairwise([0, *accumulate(lengths)])]


def numbers(values: Sequence[float | None]) -> Array:
    """A column as an array, NaN for None."""
    return np.array(values, dtype=np.float64)


def _integers(values: Array) -> Integers:
    plain = np.abs(values) < INT64
    found: Integers = np.rint(np.where(plain, values, 0)).astype(np.int64).tolist()
    for place in np.flatnonzero(~plain).tolist():
        value = float(values[place])
        found[place] = round(value) if isfinite(value) else None
    return found
