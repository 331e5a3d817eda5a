"""Weighted mean log ratios over groups of cases, for any weights from a few numbers per pair.

With weights w of groups, the mean is w'm and Yuen's squared error w'Sw: the page's script, which
gets m and S, comes to what this module comes to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from sqlitmus.stats.estimate import TRIM, Array, Counts, TrimmedMeans, freedom_of
from sqlitmus.stats.grade import grade


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Per row (a pair, or a session of it) what its weighted means are made of.

    `mean` is rows x groups, `square` rows x groups x groups: Yuen's squared error of the groups'
    means on the diagonal, and beside it what they have in common. Both NaN for a group that the row
    has no cases of; `square` also where the kept values of some case are all equal. `count` blocks
    have a value in every case of every group, `left` stay after trimming; `cases` is the number of
    cases of each group.
    """

    mean: Array
    square: Array
    left: Counts
    count: Counts
    cases: Counts


def parts(groups: Sequence[Array], trim: float = TRIM, resolution: float = 0.0) -> Parts:
    """The parts of `groups`, each the log ratios of its cases: cases x rows x blocks.

    A row has no cases of a group where all of its values there are NaN. Each case is trimmed and
    winsorised on its own, as in `groups.group_means`; with all weight on one group, and all blocks
    in all groups, `weighed` is that.
    """
    rows = groups[0].shape[1] if groups else 0
    mean = np.full((rows, len(groups)), np.nan)
    square = np.full((rows, len(groups), len(groups)), np.nan)
    left, count = np.zeros((2, rows), dtype=np.int64)
    for row in range(rows):
        logs = [group[:, row] for group in groups]
        has = [bool(len(group)) and not np.isnan(group).all() for group in logs]
        if not any(has):
            continue
        absent = [np.isnan(group).any(axis=0) for group in compress(logs, has)]  # fmt: skip
        whole = ~np.any(absent, axis=0)
        n = int(whole.sum())
        cut = int(trim * n)
        count[row], left[row] = n, n - 2 * cut
        if not n:
            continue
        blocks = np.full((len(groups), n), np.nan)
        for place in np.flatnonzero(has).tolist():
            values = logs[place][:, whole]
            ordered = np.sort(values, axis=1)
            mean[row, place] = ordered[:, cut : n - cut].mean()
            bottom, top = ordered[:, cut], ordered[:, n - cut - 1]
            if (top - bottom > resolution).all():
                clipped = np.clip(values, bottom[:, None], top[:, None]).mean(axis=0)
                blocks[place] = clipped - clipped.mean()
        if left[row] > 1:
            square[row] = blocks @ blocks.T / (left[row] * (left[row] - 1))
    return Parts(mean, square, left, count, np.array([len(g) for g in groups], dtype=np.int64))


def weighed(of: Parts, shares: Array) -> TrimmedMeans:
    """Each row's mean with the groups' `shares` (their sum 1); NaN where a group that has one lacks
    in the row.

    A case has its part of its group's share. The degrees of freedom are those of a mean over as
    many cases as these parts are worth, 1 / the sum of their squares (`estimate.freedom_of`).
    """
    taken = shares > 0
    w = shares[taken]
    mean = of.mean[:, taken] @ w
    square = np.einsum("i,rij,j->r", w, of.square[:, taken][:, :, taken], w)
    # rounding may leave a hair below 0
    error = np.sqrt(np.where(np.isnan(square), np.nan, np.fmax(square, 0.0)))
    worth = 1 / float(np.square(w) @ (1 / of.cases[taken]))
    return TrimmedMeans(mean, error, freedom_of(of.left, worth), of.count)


def weighed_guard(canary: TrimmedMeans, shares: Array) -> float:
    """How far from 0 a weighted mean must lie where the canary shows that intervals are too narrow,
    else 0: the rule of `grade.grade`. `canary` has a row per group; one without an error is left
    out."""
    taken = (shares > 0) & ~np.isnan(canary.error)
    if not taken.any():
        return 0.0
    w = shares[taken]
    mean, error = w @ canary.mean[taken], np.sqrt(np.square(w) @ np.square(canary.error[taken]))
    row = TrimmedMeans(
        np.array([mean]),
        np.array([error]),
        np.array([canary.freedom[taken].min()]),
        np.array([canary.count[taken].min()], dtype=np.int64),
    )
    return float(grade(row).guard[0])
