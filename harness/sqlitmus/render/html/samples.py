"""A case's samples as columns for the page's script, and the axes that they are drawn on."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import floor, isfinite, log10
from typing import Any

from sqlitmus.render.html import charts
from sqlitmus.results.report import Cell

WHOLE = 1e5
DIGITS = 5
# Half-heights of the drift strips, which hold a case's largest relative deviation of a sample.
DRIFT_FLOOR = 0.02
DRIFT_CEILING = 0.5


def columns(cells: Sequence[Cell | None]) -> dict[str, Any]:
    """Samples and positions of a case, and the axes on which they are drawn."""
    exponents = [sample_exponent(cell) for cell in cells]
    samples = [cell.samples if cell else [] for cell in cells]
    numbers = [x for column in samples for x in column if x]
    axis = charts.sample_axis(min(numbers), max(numbers)) if numbers else None
    return {
        "exponents": exponents,
        "samples": [
            [None if x is None else round(x * 10.0**-exponent) for x in column]
            for column, exponent in zip(samples, exponents, strict=True)
        ],
        "positions": [differences(cell.positions) if cell else [] for cell in cells],
        "drift": drift(cells),
        "axis": axis and [short(axis[0]), short(axis[1]), [short(tick) for tick in axis[2]]],
    }


def drift(cells: Iterable[Cell | None]) -> float:
    """The largest relative deviation of a sample from its runner's estimate, within bounds."""
    widest = DRIFT_FLOOR
    for cell in cells:
        numbers = [x for x in cell.samples if x] if cell else []
        if cell and cell.time and cell.time.value > 0 and numbers:
            value = cell.time.value
            widest = max(widest, max(numbers) / value - 1, 1 - min(numbers) / value)
    return round(min(widest, DRIFT_CEILING), 4)


def short(value: float | None) -> float | int | None:
    """Thousandths below 100 µs or 100 KB, whole numbers from there: five significant digits or
    more."""
    if value is None or not isfinite(value):
        return None
    return round(value, 3) if abs(value) < WHOLE else round(value)


def differences(positions: Sequence[int]) -> list[int]:
    """The first position, then each one minus the one before."""
    return [*positions[:1], *(after - before for before, after in pairwise(positions))]


def sample_exponent(cell: Cell | None) -> int:
    """The power of ten that leaves five digits before the point of a cell's estimate."""
    if cell is None or cell.time is None or cell.time.value <= 0:
        return 0
    return floor(log10(cell.time.value)) - DIGITS + 1
