"""Columns of numbers as the page's script wants them: rounded, None where there is no number.

A page of ten thousand cells rounds half a million numbers in columns of ten to fifty, which are too
short for numpy to gain anything.
"""

from collections.abc import Sequence
from math import inf, log
from operator import sub

LOG_UNIT = 1e6
WHOLE = 1e5

Integers = list[int | None]
Numbers = list[float | int | None]


def logs(values: Sequence[float | None]) -> Integers:
    """Logarithms in units of 1e-6; None for what has no finite one."""
    return [None if v is None or not 0 < v < inf else round(log(v) * LOG_UNIT) for v in values]


def short(values: Sequence[float | None]) -> Numbers:
    """Thousandths below 100 µs or 100 KB, whole numbers from there: five significant digits or
    more."""
    return [
        None if v is None or not -inf < v < inf else round(v, 3) if -WHOLE < v < WHOLE else round(v)
        for v in values
    ]


def scaled(values: Sequence[float | None], exponent: int) -> Integers:
    """Integers in units of 10^exponent."""
    factor = 10.0**-exponent
    return [None if value is None else round(value * factor) for value in values]


def differences(positions: Sequence[int]) -> list[int]:
    """The first position, then each one minus the one before."""
    return [*positions[:1], *map(sub, positions[1:], positions)]
