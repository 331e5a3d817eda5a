"""Cells that were measured, and whose time is compared with nothing."""

from collections.abc import Collection

import numpy as np

from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.refusals import refusals
from sqlitmus.analysis.tails import late
from sqlitmus.analysis.warming import warming
from sqlitmus.stats.estimate import Array


def untold(run: RunData) -> dict[tuple[int, int], str]:
    """Why, by case and series: the machine started its operations late, it was still warming up, or
    SQLite refused a part of the work."""
    places = zip(*np.nonzero(late(run)), strict=True)
    reasons: dict[tuple[int, int], str] = dict.fromkeys(
        places, "the machine started its planned operations too late"
    )
    for place, ratio in warming(run).items():
        reasons[place] = (
            f"still warming up: its second half took {100 * (1 - ratio):.1f} % less time than its "
            "first"
        )
    for place, share in refusals(run).items():
        reasons[place] = f"did less work: SQLite refused {100 * share:.1f} % of it with SQLITE_BUSY"
    return reasons


def masked(values: Array, places: Collection[tuple[int, int]]) -> Array:
    """`values` (cases x series x blocks), NaN at these places."""
    hidden = values.copy()
    for place in places:
        hidden[place] = np.nan
    return hidden
