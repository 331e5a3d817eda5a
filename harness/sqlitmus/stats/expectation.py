"""Holds measured log ratios against what is expected of them: an effect of some size, or none."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Literal, NamedTuple, Self

import numpy as np

from sqlitmus.stats import verdict
from sqlitmus.stats.estimate import Array, TrimmedMeans
from sqlitmus.stats.power import blocks_to_clear
from sqlitmus.vocabulary.verdicts import Correction


class Expectation(NamedTuple):
    """The ends, which may be infinite, of the log ratios that are as expected: on one side of 0 for
    an effect, on both for none."""

    low: float
    high: float

    @classmethod
    def of_published(cls, low: float, high: float, margin: float) -> Self:
        """What counts as the figure that was published as `low` to `high`, log ratios that may be
        infinite: that, and `margin` more to both sides, but no nearer to 0 than half of the near
        end."""
        if low <= 0 <= high:
            return cls(low - margin, high + margin)
        near, far = sorted((abs(low), abs(high)))
        near, far = max(near - margin, near / 2), far + margin
        return cls(near, far) if low > 0 else cls(-far, -near)

    @classmethod
    def of_effect(cls, size: float, tolerance: float) -> Self:
        """What may become of an effect of the log ratio `size` where things differ, such as on
        another machine; `tolerance` is a factor.

        With L = ln tolerance: from max(|size| - L, |size| / tolerance) to min(|size| + L, |size|
        tolerance), on the side of `size`. A factor on the ratio alone would accept "no effect" as
        the same as a small one; a factor on the logarithm alone would accept almost anything as the
        same as a large one.
        """
        reach, distance = log(tolerance), abs(size)
        near = max(distance - reach, distance / tolerance)
        far = min(distance + reach, distance * tolerance)
        return cls(near, far) if size > 0 else cls(-far, -near)


Position = Literal[
    "within",  # what is expected
    "beyond",  # it: an effect that is larger, or one where none is expected
    "short",  # of an expected effect
    "none",  # within the margin of 0, where an effect is expected
    "opposite",  # to an expected effect
    "apart",  # from 0, and its size is open
    "open",
    "few blocks",
    "no interval",
]


@dataclass(frozen=True, slots=True)
class Finding:
    """Where a row lies, and what that rests on: `low` and `high`, as log ratios, are the interval
    that was held against the expectation, NaN without one. `needed` is about how many blocks would
    settle an open row; 0 = does not apply, or no number would."""

    position: Position
    low: float
    high: float
    needed: int


def hold(
    logs: TrimmedMeans,
    expected: Sequence[Expectation],
    margin: float,
    correction: Correction = "bh",
    sessions: int = 1,
    measured: Sequence[int] | None = None,
) -> list[Finding]:
    """Where each row of `logs`, log ratios base / new, lies to what is `expected` of it.

    `margin` is a share of the time that counts as no difference, `sessions` how many the blocks are
    divided into. Two questions are corrected for each, as the intervals of `alphas`: whether a row
    is told from 0, and whether anything is said of it at all. A wider interval excludes less, so it
    never settles more. Rows with the same number in `measured` show the same measurement, which
    counts once; without it, each row is its own. Rows of fewer than `MIN_BLOCKS` blocks, or without
    an interval, do not count.
    """
    if not expected:
        return []
    band, tested = np.array(expected).T, verdict.testable(logs)
    low, high = band
    effect, zero_p = (low > 0) | (high < 0), verdict.p_values(logs)
    # where no effect is expected, to be told from 0 alone says nothing
    any_p = np.fmin(verdict.beyond_p(logs, low, high), 2 * verdict.within_p(logs, low, high))
    any_p = np.where(effect, np.fmin(zero_p, any_p), any_p)
    which = range(len(expected)) if measured is None else measured
    (sure, next_sure), (alpha, _) = (
        verdict.alphas(np.where(tested, p, np.nan), which, correction, verdict.ALPHA)
        for p in (zero_p, any_p)
    )
    strict, lenient = (np.array(logs.interval(1 - each)) for each in (sure, alpha))
    positions = _positions(logs, band, strict, lenient, margin)
    by_lenient = ~effect | np.isin(positions, ("beyond", "short", "none"))
    ends = np.where(tested, np.where(by_lenient, lenient, strict), np.nan)
    edge = np.abs(logs.mean - band).min(axis=0)
    inside = (low < logs.mean) & (logs.mean < high)
    needed = blocks_to_clear(logs, edge, inside, next_sure, sessions)
    return [
        Finding(position, low_end, high_end, blocks if position in ("apart", "open") else 0)
        for position, low_end, high_end, blocks in zip(
            positions, *ends.tolist(), needed.tolist(), strict=True
        )
    ]


def _positions(
    logs: TrimmedMeans, band: Array, strict: Array, lenient: Array, margin: float
) -> list[Position]:
    """Each row's position by the interval of what is told from 0, the `strict` one, and that of
    what is said at all; the order of the questions is part of the rule."""
    # as if base and new were exchanged where the new one is expected to be slower
    (near, far), (low, high), (strict_low, strict_high) = (
        np.where(band[1] < 0, -ends[::-1], ends) for ends in (band, lenient, strict)
    )
    effect, apart = near > 0, (strict_low > 0) | (strict_high < 0)
    least, most = np.where(effect, (strict_low, strict_high), (low, high))
    short = effect & (high < near)
    questions: dict[Position, verdict.Rows] = {
        "few blocks": logs.count < verdict.MIN_BLOCKS,
        "no interval": np.isnan(logs.error),
        "within": (near < least) & (most < far),
        "none": short & (np.maximum(-low, high) < np.log1p(margin)),
        "opposite": short & (strict_high < 0),
        "short": short,
        "beyond": apart & ((low > far) | (high < near)),
        "apart": effect & (strict_low > 0),
    }
    positions: list[Position] = np.select([*questions.values()], [*questions], "open").tolist()
    return positions
