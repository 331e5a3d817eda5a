"""Combines several sessions of the same comparison, and predicts the next one."""

from dataclasses import dataclass

import numpy as np

from sqlitmus.stats.estimate import LEVEL, Array, Counts, student_t_of


@dataclass(frozen=True, slots=True, eq=False)
class Combined:
    """Per row the mean over sessions and its interval, all log ratios.

    `next_low` and `next_high` enclose the true log ratio of one more session. `between` is the
    standard deviation of true log ratios between sessions, `count` the sessions with an interval of
    their own; the others are not used. NaN: intervals and `between` below 2 sessions, next below 3.
    """

    mean: Array
    low: Array
    high: Array
    next_low: Array
    next_high: Array
    between: Array
    count: Counts


def combine(mean: Array, error: Array, freedom: Counts | Array, level: float = LEVEL) -> Combined:
    """Random-effects combination of rows x sessions; NaN marks a session without an estimate.

    Weights 1 / (error^2 + tau^2), tau^2 by Paule and Mandel. The half-width is t with k - 1 degrees
    of freedom times Hartung and Knapp's error, but never less than the interval without tau^2, for
    sessions that happen to agree. For the next session tau^2 is added to the squared error, with k
    - 2 degrees of freedom (Higgins, Thompson and Spiegelhalter, J. R. Statist. Soc. A 172, 2009,
    137-159).
    """
    present = ~np.isnan(mean) & ~np.isnan(error)
    count = np.count_nonzero(present, axis=1).astype(np.int64)
    values, variances = np.where(present, mean, 0.0), np.where(present, np.square(error), np.inf)
    tau2 = paule_mandel(values, variances)

    weights = 1 / (variances + tau2[:, None])
    total = weights.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (weights * values).sum(axis=1) / total
        squares = (weights * np.square(values - centre[:, None])).sum(axis=1)
        knapp = np.sqrt(squares / (total * (count - 1)))
    several = count > 1
    t = student_t_of(count - 1, level)
    floor = _fixed_half(variances, freedom, level)
    half = np.where(several, np.fmax(t * knapp, floor), np.nan)
    reach = student_t_of(count - 2, level) * np.hypot(half / t, np.sqrt(tau2))
    return Combined(
        centre,
        centre - half,
        centre + half,
        centre - reach,
        centre + reach,
        np.where(several, np.sqrt(tau2), np.nan),
        count,
    )


def paule_mandel(values: Array, variances: Array) -> Array:
    """The tau^2 >= 0 at which the weighted squares about the mean sum to k - 1, for each row.

    Newton's method from 0, as of DerSimonian and Kacker (Contemp. Clin. Trials 28, 2007, 105-114):
    the sum falls and is convex in tau^2, so it is approached from one side. Absent sessions have an
    infinite variance. 0 where the values agree better than their errors would have them.
    """
    tau2 = np.zeros(len(values))
    expected = np.isfinite(variances).sum(axis=1) - 1
    for _ in range(200):
        weights = 1 / (variances + tau2[:, None])
        total = np.fmax(weights.sum(axis=1), np.finfo(np.float64).tiny)
        centre = (weights * values).sum(axis=1) / total
        squares = weights * np.square(values - centre[:, None])
        excess = squares.sum(axis=1) - expected
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(excess > 0, excess / (weights * squares).sum(axis=1), 0.0)
        tau2 += step
        if not np.any(step > 1e-13 * tau2):
            break
    return tau2


def _fixed_half(variances: Array, freedom: Counts | Array, level: float) -> Array:
    """Half-width if all sessions had the same true ratio; Satterthwaite's degrees, rounded down."""
    weights = 1 / variances
    total = weights.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.square(weights / total[:, None])
        degrees = 1 / np.where(shares > 0, shares / freedom, 0.0).sum(axis=1)
        whole = np.where(np.isfinite(degrees), degrees + 1e-9, 0.0).astype(np.int64)
        return student_t_of(whole, level) / np.sqrt(total)
