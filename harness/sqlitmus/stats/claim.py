"""Decides how a measured ratio lies to the published one."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Literal

import numpy as np

from sqlitmus.stats.distributions import student_p
from sqlitmus.stats.estimate import Array, TrimmedMeans
from sqlitmus.stats.multiplicity import adjust
from sqlitmus.stats.power import blocks_to_clear
from sqlitmus.stats.verdict import ALPHA, MIN_BLOCKS
from sqlitmus.vocabulary.claimwords import ClaimWord
from sqlitmus.vocabulary.terms import Correction

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
    guard: Array,
    rule: Rule,
    measured: Sequence[int] | None = None,
) -> list[Decision]:
    """A decision for each row of `logs`, log ratios base / new.

    A row's word is read off one interval, at the level of `_alphas` and drawn out by `guard`, a log
    ratio >= 0 of noise, to both sides. A wider interval excludes less, so it never settles more.
    Rows with the same number in `measured` show the same measurement, which counts once; without
    it, each row is its own. Rows of fewer than `MIN_BLOCKS` blocks, or without an interval, are not
    resolved and do not count.
    """
    if not published:
        return []
    bands = np.array([p.same() for p in published])
    tested = (logs.count >= MIN_BLOCKS) & ~np.isnan(logs.error)
    which = np.arange(len(bands)) if measured is None else np.asarray(measured)
    p = np.where(tested, _p_of_nothing(logs, bands, guard), np.nan)
    alpha, next_alpha = _alphas(p, which, rule.correction)
    low, high = logs.interval(1 - alpha)
    edge = np.abs(logs.mean[:, None] - bands).min(axis=1) - guard
    inside = (logs.mean > bands[:, 0]) & (logs.mean < bands[:, 1])
    needed = blocks_to_clear(logs, edge, inside, next_alpha, rule.sessions)
    columns = (logs.count, low - guard, high + guard, needed)
    return [
        _decide(publication, rule.margin, int(count), below, above, int(blocks))
        for publication, count, below, above, blocks in zip(
            published, *(column.tolist() for column in columns), strict=True
        )
    ]


def _p_of_nothing(logs: TrimmedMeans, bands: Array, guard: Array) -> Array:
    """Per row the level from which on its interval, at 1 - level, says anything: it excludes 1, or
    all that counts as the published size, or all else."""
    low, high = bands[:, 0] - logs.mean, bands[:, 1] - logs.mean
    outside, inside = np.maximum(low, -high), np.minimum(-low, high)
    # "no effect" was published where 1 lies in the band: to exclude 1 alone says nothing then
    effect = (bands[:, 0] > 0) | (bands[:, 1] < 0)
    from_one = np.where(effect, np.abs(logs.mean), 0)
    distance = np.maximum.reduce([outside, inside, from_one]) - guard
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return student_p(np.maximum(distance, 0) / logs.error, logs.freedom)


def _alphas(p: Array, which: Array, correction: Correction) -> tuple[float, float]:
    """One minus the level of the rows' intervals, and of those if one more row came to say
    something.

    "bh": 5 % R / m, if intervals at that level say something of R of m measurements, R as large as
    can be. Then at most 5 % of the R intervals are expected to miss the truth, and no other words
    can be false (Benjamini and Yekutieli, J. Am. Statist. Assoc. 100, 2005, 71-81). "holm":
    5 % / m, so that in 95 % of runs none misses. "none": 5 % each.
    """
    family = _least(p, which)
    count = int(np.count_nonzero(~np.isnan(family)))
    if correction == "none" or not count:
        return ALPHA, ALPHA
    if correction == "holm":
        return ALPHA / count, ALPHA / count
    saying = int(np.count_nonzero(adjust(family, "bh") <= ALPHA))
    return ALPHA * max(saying, 1) / count, ALPHA * min(saying + 1, count) / count


def _least(p: Array, which: Array) -> Array:
    """The least p of each measurement."""
    numbers, place = np.unique(which, return_inverse=True)
    least = np.full(len(numbers), np.nan)
    np.fmin.at(least, place, p)
    return least


def _decide(
    published: Published, margin: float, count: int, low: float, high: float, needed: int
) -> Decision:
    if count < MIN_BLOCKS or np.isnan(low):
        why: Why = "few blocks" if count < MIN_BLOCKS else "no interval"
        return Decision(ClaimWord.NOT_RESOLVED, why)
    word, why = word_of(published, margin, low, high)
    return Decision(word, why, low, high, 0 if word.rank > 1 else needed)


def word_of(published: Published, margin: float, low: float, high: float) -> tuple[ClaimWord, Why]:
    """The word for an interval of log ratios; the order of the questions is part of the rule."""
    near, far = published.same()
    if near < low and high < far:
        return ClaimWord.REPRODUCED, "same size" if published.effect else "no effect, as published"
    beyond = low > far or high < near
    if not published.effect:
        return (ClaimWord.LARGER, "an effect") if beyond else (ClaimWord.NOT_RESOLVED, "neither")
    if far < 0:  # as if base and new were exchanged
        low, high, far = -high, -low, -near
    if not beyond:
        return (ClaimWord.COMPATIBLE, "size open") if low > 0 else (ClaimWord.NOT_RESOLVED, "open")
    if max(-low, high) < np.log1p(margin):
        return ClaimWord.NO_EFFECT, "no effect"
    if high < 0:
        return ClaimWord.REVERSED, "other side"
    return (ClaimWord.LARGER, "larger") if low > far else (ClaimWord.SMALLER, "smaller")
