"""Decides how a measured ratio lies to the published one."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sqlitmus.stats.estimate import Array, TrimmedMeans, student_p
from sqlitmus.stats.power import blocks_to_clear
from sqlitmus.stats.verdict import ALPHA, MIN_BLOCKS, alphas
from sqlitmus.vocabulary.verdicts import ClaimWord, Correction

# Words that rest on the interval of what is said at all, not on that of what is told from 1.
ANY = (ClaimWord.SMALLER, ClaimWord.NO_EFFECT, ClaimWord.LARGER)
Why = Literal[
    "same size",
    "no effect, as published",
    "size open",
    "smaller",
    "larger",
    "an effect",
    "no effect",
    "other side",
    "open",
    "neither",
    "few blocks",
    "no interval",
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
    """The word for a row, and what it rests on: `low` and `high`, as log ratios, are the interval
    that was held against the published size. `needed` is about how many blocks would settle an open
    row; 0 = does not apply, or no number would."""

    word: ClaimWord
    why: Why
    low: float = float("nan")
    high: float = float("nan")
    needed: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """What all rows of a run are decided by: a share of the time that counts as no difference, how
    the number of rows is corrected for, and how many sessions the blocks are divided into."""

    margin: float = 0.02
    correction: Correction = "bh"
    sessions: int = 1


def decide(
    logs: TrimmedMeans,
    published: Sequence[Published],
    rule: Rule,
    measured: Sequence[int] | None = None,
) -> list[Decision]:
    """A decision for each row of `logs`, log ratios base / new.

    Two questions are corrected for each, as the intervals of `alphas`: whether a row is told from
    1, and whether anything is said of it at all. A wider interval excludes less, so it never
    settles more. Rows with the same number in `measured` show the same measurement, which counts
    once; without it, each row is its own. Rows of fewer than `MIN_BLOCKS` blocks, or without an
    interval, are not resolved and do not count.
    """
    if not published:
        return []
    bands = np.array([p.same() for p in published])
    tested = (logs.count >= MIN_BLOCKS) & ~np.isnan(logs.error)
    which = list(range(len(bands))) if measured is None else measured
    from_one = np.abs(logs.mean)
    sure, next_sure = alphas(_p(logs, from_one, tested), which, rule.correction, ALPHA)
    saying = np.maximum(_informing(logs, bands), from_one * _effects(bands))
    alpha, _ = alphas(_p(logs, saying, tested), which, rule.correction, ALPHA)
    edge = np.abs(logs.mean[:, None] - bands).min(axis=1)
    inside = (logs.mean > bands[:, 0]) & (logs.mean < bands[:, 1])
    needed = blocks_to_clear(logs, edge, inside, next_sure, rule.sessions)
    ends = [*logs.interval(1 - alpha), *logs.interval(1 - sure)]
    columns = [column.tolist() for column in (logs.count, needed, *ends)]
    return [
        _decide(publication, rule.margin, int(count), int(blocks), bounds)
        for publication, count, blocks, *bounds in zip(published, *columns, strict=True)
    ]


def _effects(bands: Array) -> Array:
    """1 for rows of a published effect; where "no effect" was published, to exclude 1 alone says
    nothing."""
    return np.where((bands[:, 0] > 0) | (bands[:, 1] < 0), 1.0, 0.0)


def _informing(logs: TrimmedMeans, bands: Array) -> Array:
    """Per row how far its estimate lies from all that counts as the published size, or from all
    else."""
    low, high = bands[:, 0] - logs.mean, bands[:, 1] - logs.mean
    return np.maximum(np.maximum(low, -high), np.minimum(-low, high))


def _p(logs: TrimmedMeans, distance: Array, tested: NDArray[np.bool_]) -> Array:
    """Per row one minus the level at which its interval is that wide to both sides."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        p = student_p(np.maximum(distance, 0) / logs.error, logs.freedom)
    return np.where(tested, p, np.nan)


def _decide(
    published: Published, margin: float, count: int, needed: int, bounds: Sequence[float]
) -> Decision:
    low, high, *sure = bounds
    if count < MIN_BLOCKS or np.isnan(low):
        why: Why = "few blocks" if count < MIN_BLOCKS else "no interval"
        return Decision(ClaimWord.NOT_RESOLVED, why)
    word, why = word_of(published, margin, (low, high), (sure[0], sure[1]))
    shown = (low, high) if word in ANY or not published.effect else (sure[0], sure[1])
    return Decision(word, why, *shown, 0 if word.rank > 1 else needed)


def word_of(
    published: Published,
    margin: float,
    interval: tuple[float, float],
    sure: tuple[float, float],
) -> tuple[ClaimWord, Why]:
    """The word for an interval of log ratios, and one at least as wide that `sure` asks for what
    needs an effect; the order of the questions is part of the rule."""
    (low, high), (near, far) = interval, published.same()
    beyond = low > far or high < near
    if not published.effect:
        if near < low and high < far:
            return ClaimWord.REPRODUCED, "no effect, as published"
        is_effect = beyond and (sure[0] > 0 or sure[1] < 0)
        return (ClaimWord.LARGER, "an effect") if is_effect else (ClaimWord.NOT_RESOLVED, "neither")
    if near < sure[0] and sure[1] < far:
        return ClaimWord.REPRODUCED, "same size"
    if far < 0:  # as if base and new were exchanged
        low, high, far, sure = -high, -low, -near, (-sure[1], -sure[0])
    if beyond and low <= far:
        return _less(margin, max(-low, high), sure[1])
    if sure[0] <= 0:
        return ClaimWord.NOT_RESOLVED, "open"
    return (ClaimWord.LARGER, "larger") if beyond else (ClaimWord.COMPATIBLE, "size open")


def _less(margin: float, farthest: float, highest: float) -> tuple[ClaimWord, Why]:
    """The word for less than the published size."""
    if farthest < np.log1p(margin):
        return ClaimWord.NO_EFFECT, "no effect"
    if highest < 0:
        return ClaimWord.REVERSED, "other side"
    return ClaimWord.SMALLER, "smaller"
