"""P-values of the three questions behind a verdict, and corrections for asking many times."""

from collections.abc import Sequence
from functools import cache
from math import erfc, sqrt
from typing import get_args

import numpy as np

from sqlitmus.stats.distributions import normal, student_p
from sqlitmus.stats.estimate import Array, TrimmedMeans
from sqlitmus.vocabulary.terms import Correction

CORRECTIONS: tuple[Correction, ...] = get_args(Correction)

_NODES = 64
EARLY = 0.1  # so little that the last look hardly notices


def p_values(logs: TrimmedMeans) -> Array:
    """Two-sided p of "the log ratio is 0"; at most 0.05 where the 95 % interval excludes 0."""
    return student_p(_distance(logs, 0), logs.freedom)


def beyond_margin_p(logs: TrimmedMeans, margin: float) -> Array:
    """P of "the log ratio lies within the margin"; at most 0.05 where the 95 % interval is beyond.

    Two-sided like the interval: twice the one-sided p against the nearer end of the margin, which
    is ln(1 + margin) to both sides; 1 for an estimate within it.
    """
    return student_p(np.maximum(_distance(logs, margin), 0), logs.freedom)


def equivalence_p(logs: TrimmedMeans, margin: float) -> Array:
    """P of "the log ratio lies beyond the margin"; at most 0.05 where the 90 % interval is within.

    The larger p of two one-sided tests (Schuirmann 1987), which is that against the nearer end.
    """
    distance = _distance(logs, margin)
    one_sided = student_p(distance, logs.freedom) / 2
    return np.where(distance < 0, one_sided, 1 - one_sided)


def adjust(p: Array, method: Correction) -> Array:
    """Adjusted p-values of one family; NaN stays NaN and does not count.

    "holm" holds the chance of any false rejection in the family (Holm, Scand. J. Statist. 6, 1979,
    65-70), "bh" the expected share of false ones among the rejections (Benjamini and Hochberg, J.
    R. Statist. Soc. B 57, 1995, 289-300).
    """
    if method not in CORRECTIONS:
        raise ValueError(f"unknown correction {method!r}; there are {', '.join(CORRECTIONS)}")
    if method == "none":
        return p
    order = np.argsort(p)  # NaN last
    count = int(np.count_nonzero(~np.isnan(p)))
    ordered = p[order[:count]]
    rank = np.arange(1, count + 1)
    if method == "holm":
        ordered = np.maximum.accumulate(ordered * (count + 1 - rank))
    else:
        ordered = np.minimum.accumulate((ordered * (count / rank))[::-1])[::-1]
    adjusted = np.full_like(p, np.nan)
    adjusted[order[:count]] = np.minimum(ordered, 1)
    return adjusted


def divisor(method: Correction, family: int, decided: int) -> float:
    """By what the 5 % are divided for the next row to be decided, after `decided` of a `family`.

    Holm's procedure asks for 5 % / (m - k) after k rejections, Benjamini and Hochberg's for
    5 % (k + 1) / m. 1 without a correction or a family.
    """
    if method == "none" or family < 1:
        return 1.0
    if method == "holm":
        return float(max(family - decided, 1))
    return max(family / (decided + 1), 1.0)


def share(looks: int, *, early: bool) -> float:
    """The share of the error that one of `looks` planned looks at a case may spend.

    Earlier looks share `EARLY` evenly and leave the rest to the last (Bonferroni), so a p-value
    over its look's share is valid wherever the case ends, however many blocks lie between looks.
    """
    if looks == 1:
        return 1.0
    return EARLY / (looks - 1) if early else 1 - EARLY


@cache
def pocock(looks: int, alpha: float = 0.05) -> float:
    """The level for each of `looks` equally spaced looks at which all together err with `alpha`.

    The boundary c for which a sum of k standard normal steps leaves +-c sqrt(k) at any k <= looks
    with probability alpha (Pocock, Biometrika 64, 1977, 191-199), by the recursive integration of
    Armitage, McPherson and Rowe (J. R. Statist. Soc. A 132, 1969, 235-244). Good to about 1e-10.
    """
    if looks < 1 or not 0 < alpha < 1:
        raise ValueError(f"pocock needs looks >= 1 and 0 < alpha < 1, got {looks} and {alpha}")
    if looks == 1:
        return alpha
    low, high = normal(1 - alpha), normal(1 - alpha / looks)  # Bonferroni's is too far out
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if _leaves(middle, looks) > alpha else (low, middle)
    return erfc(high / sqrt(2))


def _leaves(boundary: float, looks: int) -> float:
    """The probability that a random walk is beyond boundary x sqrt(k) at any step k <= looks."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    places, mass = np.zeros(1), np.ones(1)
    for k in range(1, looks + 1):
        end = boundary * sqrt(k)
        targets = nodes * end
        density = np.exp(-np.square(targets[:, None] - places) / 2) @ mass / sqrt(2 * np.pi)
        places, mass = targets, density * weights * end
    return 1 - float(mass.sum())


def _distance(logs: TrimmedMeans, margin: float) -> Array:
    """How many standard errors each estimate lies outside the margin; negative inside."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return (np.abs(logs.mean) - np.log1p(margin)) / logs.error


def alphas(
    p: Array, which: Sequence[int], correction: Correction, alpha: float
) -> tuple[float, float]:
    """One minus the level of the rows' intervals, and of those if one more row came to answer.

    Rows with the same number in `which` are one measurement, whose least `p` counts. "bh": alpha R
    / m, if intervals at that level answer for R of m measurements, R as large as can be. Then at
    most the share alpha of the R intervals is expected to miss the truth, and no other answers can
    be false (Benjamini and Yekutieli, J. Am. Statist. Assoc. 100, 2005, 71-81). "holm": alpha / m,
    so that in a share alpha of runs some miss, at most. "none": alpha each.
    """
    family = _least(p, which)
    count = int(np.count_nonzero(~np.isnan(family)))
    if correction == "none" or not count:
        return alpha, alpha
    if correction == "holm":
        return alpha / count, alpha / count
    answering = int(np.count_nonzero(adjust(family, "bh") <= alpha))
    return alpha * max(answering, 1) / count, alpha * min(answering + 1, count) / count


def _least(p: Array, which: Sequence[int]) -> Array:
    """The least p of each measurement."""
    numbers, place = np.unique(which, return_inverse=True)
    least = np.full(len(numbers), np.nan)
    np.fmin.at(least, place, p)
    return least
