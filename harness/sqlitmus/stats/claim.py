"""Decides whether a measured ratio reproduces the published one."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Literal

import numpy as np

from sqlitmus.stats.estimate import Array, TrimmedMeans
from sqlitmus.stats.multiplicity import adjust, p_values
from sqlitmus.stats.verdict import ALPHA, MIN_BLOCKS
from sqlitmus.vocabulary.terms import ClaimWord, Correction

Why = Literal[
    "same size",
    "smaller",
    "larger",
    "other side",
    "no effect",
    "an effect",
    "few blocks",
    "no interval",
    "includes 1",
    "corrected",
    "noise",
    "neither",
]


@dataclass(frozen=True, slots=True)
class Published:
    """A published ratio base / new, above 0, and a tolerance: the factor that counts as the same.

    Without an `effect` the claim is that there is none, whatever `ratio` was published.
    """

    ratio: float
    tolerance: float = 1.5
    effect: bool = True

    def same(self) -> tuple[float, float]:
        """Both ends, as log ratios, of what counts as the same.

        For an effect P = ln ratio, with L = ln tolerance: from max(|P| - L, |P| / tolerance) to
        min(|P| + L, |P| tolerance), on the side of P. A factor on the ratio alone would accept "no
        effect" as the same as a small one; a factor on the logarithm alone would accept almost
        anything as the same as a large one. Without an effect: from -L to L.
        """
        reach = log(self.tolerance)
        if not self.effect:
            return -reach, reach
        size = abs(log(self.ratio))
        near = max(size - reach, size / self.tolerance)
        far = min(size + reach, size * self.tolerance)
        return (near, far) if self.ratio > 1 else (-far, -near)


@dataclass(frozen=True, slots=True)
class Decision:
    """The word for a row, and the figures it rests on."""

    word: ClaimWord
    why: Why


def decide(
    logs: TrimmedMeans, published: Sequence[Published], correction: Correction, guard: Array
) -> list[Decision]:
    """A decision for each row of `logs`, log ratios base / new; all rows are one family.

    A row is resolved if it has at least `MIN_BLOCKS` blocks, its p of no difference after
    `correction` is at most 5 %, and its 95 % interval lies beyond `guard`, a log ratio >= 0 of
    noise. Of a published effect: not resolved → "not resolved"; on the other side of 1 →
    "reversed"; with an interval that meets `Published.same` → "reproduced"; else "same direction,
    different size". Of no published effect: the interval, drawn out by `guard`, within
    `Published.same` → "reproduced"; resolved and wholly beyond it → "reversed": an effect where
    none was published; else "not resolved".
    """
    low, high = logs.interval()
    tested = (logs.count >= MIN_BLOCKS) & ~np.isnan(logs.error)
    p = np.where(tested, p_values(logs), np.nan)
    columns: list[list[float]] = [
        column.tolist() for column in (logs.count, low, high, p, adjust(p, correction), guard)
    ]
    return [
        _decide(_Row(int(count), *figures), publication)
        for publication, count, *figures in zip(published, *columns, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Row:
    count: int
    low: float
    high: float
    p: float
    adjusted: float
    guard: float

    def unresolved(self) -> Why | None:
        """Why the row cannot be told from 1; None if it can."""
        if self.count < MIN_BLOCKS:
            return "few blocks"
        if np.isnan(self.p):
            return "no interval"
        if self.p > ALPHA:
            return "includes 1"
        if self.adjusted > ALPHA:
            return "corrected"
        return None if self.low > self.guard or self.high < -self.guard else "noise"


def _decide(row: _Row, published: Published) -> Decision:
    why = row.unresolved()
    if published.effect:
        return Decision("not resolved", why) if why else _of_effect(row, *published.same())
    if why in ("few blocks", "no interval"):
        return Decision("not resolved", why)
    low, high = published.same()
    if row.low - row.guard > low and row.high + row.guard < high:
        return Decision("reproduced", "no effect")
    beyond = why is None and (row.low > high or row.high < low)
    return Decision("reversed", "an effect") if beyond else Decision("not resolved", "neither")


def _of_effect(row: _Row, low: float, high: float) -> Decision:
    if (row.low > 0) != (low > 0):
        return Decision("reversed", "other side")
    if row.low <= high and row.high >= low:
        return Decision("reproduced", "same size")
    below = row.high < low if low > 0 else row.low > high
    return Decision("same direction, different size", "smaller" if below else "larger")
