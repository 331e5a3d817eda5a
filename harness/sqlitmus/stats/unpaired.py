"""Compares two runs without common blocks: trimmed means of two independent samples."""

import numpy as np

from sqlitmus.stats.estimate import TRIM, Array, TrimmedMeans, trimmed_means


def unpaired_means(
    first: Array, second: Array, trim: float = TRIM, resolution: float = 0.0
) -> TrimmedMeans:
    """Trimmed mean of `first` minus that of `second`, row by row (rows x blocks, NaN for none).

    Log times give log ratios. The squared error is the sum of both samples' by Yuen, the degrees of
    freedom are Welch's: (u + v)^2 / (u^2 / f + v^2 / g) for squared errors u, v with f, g degrees
    (Yuen, Biometrika 61, 1974, 165-170); they need not be whole. `count` is the smaller of the two.
    No error where either sample has none. What was drift within a run is spread here, and what was
    drift between the runs is in the mean.
    """
    left, right = trimmed_means(first, trim, resolution), trimmed_means(second, trim, resolution)
    error = np.hypot(left.error, right.error)
    share, rest = np.square(left.error / error), np.square(right.error / error)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = 1 / (np.square(share) / left.freedom + np.square(rest) / right.freedom)
    defined = ~np.isnan(error)
    return TrimmedMeans(
        left.mean - right.mean,
        error,
        np.where(defined, freedom, 0.0),
        np.minimum(left.count, right.count),
    )
