"""Compares samples that share no blocks: trimmed means of two independent samples."""

import numpy as np

from sqlitmus.stats.estimate import TRIM, Array, TrimmedMeans, freedom_of, yuen_error


def relative_means(
    subject: Array, controls: Array, trim: float = TRIM, resolution: float = 0.0
) -> TrimmedMeans:
    """The subject less its controls, row by row, from log times (rows x blocks and rows x controls
    x blocks, NaN for none): the mean over the controls of the trimmed means of the differences.

    Each control has a difference of its own, which is symmetric about the true one if both sides
    are equally noisy. The mean of several controls is not: it loses the tail that the subject
    keeps, so its trimmed difference would move with the amount of one-sided noise.

    The differences of a row share the subject. So its error is Yuen's (Biometrika 61, 1974,
    165-170) of the mean over the controls, block by block, of their winsorised differences: to
    first order, that is what each block adds to the estimate. One control gives `trimmed_means`
    of the difference; a control without a value is left out, and without any the subject stands
    alone. A block counts if the subject and all those controls have a value in it.
    """
    rows = [
        _relative(times, beside[~np.isnan(beside).all(axis=1)], trim, resolution)
        for times, beside in zip(subject, controls, strict=True)
    ]
    mean, error, freedom, count = np.array(rows).reshape(-1, 4).T
    return TrimmedMeans(mean, error, freedom, count.astype(np.int64))


def _relative(
    times: Array, beside: Array, trim: float, resolution: float
) -> tuple[float, float, float, int]:
    differences = times - beside if len(beside) else times[None]
    differences = differences[:, ~np.isnan(differences).any(axis=0)]
    count = differences.shape[1]
    if not count:
        return np.nan, np.nan, 0.0, 0
    ordered, cut = np.sort(differences, axis=1), int(trim * count)
    left = count - 2 * cut
    mean = float(ordered[:, cut : count - cut].mean())
    ends = ordered[:, cut : cut + 1], ordered[:, count - cut - 1 : count - cut]
    winsorised = np.clip(differences, *ends).mean(axis=0)
    error = np.nan
    if left > 1 and np.ptp(winsorised) > resolution:
        error = float(yuen_error(winsorised, left))
    return mean, error, float(freedom_of(left)), count


def difference(first: TrimmedMeans, second: TrimmedMeans) -> TrimmedMeans:
    """`first` less `second`, row by row, of two runs that share nothing.

    Log times give log ratios. The squared error is the sum of both, the degrees of freedom are
    Welch's: (u + v)^2 / (u^2 / f + v^2 / g) for squared errors u, v with f, g degrees (Yuen,
    Biometrika 61, 1974, 165-170); they need not be whole. `count` is the smaller of the two. No
    error where either has none. What was drift within a run is spread here, and what was drift
    between the runs is in the mean.
    """
    error = np.hypot(first.error, second.error)
    share, rest = np.square(first.error / error), np.square(second.error / error)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = 1 / (np.square(share) / first.freedom + np.square(rest) / second.freedom)
    defined = ~np.isnan(error)
    return TrimmedMeans(
        first.mean - second.mean,
        error,
        np.where(defined, freedom, 0.0),
        np.minimum(first.count, second.count),
    )
