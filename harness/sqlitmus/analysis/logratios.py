"""Log ratios of times, and their means over the blocks and sessions of a run."""

import numpy as np

from sqlitmus.stats.estimate import (
    LEVEL,
    Array,
    TrimmedMeans,
    student_t_of,
    trimmed_means,
)
from sqlitmus.stats.sessions import combine

# Log ratios closer than this differ by rounding only, not by time.
RESOLUTION = 1e-12


def log_times(times: Array) -> Array:
    """Their logarithms; NaN for 0, as of CPU time on a coarse clock, which has no ratio."""
    return np.log(np.where(times > 0, times, np.nan))


def log_ratios(times: Array, names: list[str]) -> Array:
    """Per case and pair its log ratio in each block."""
    indices, logs = indices_of(names), log_times(times)
    differences = logs[:, [i for i, _ in indices]] - logs[:, [j for _, j in indices]]
    return differences.reshape(-1, times.shape[2])


def indices_of(names: list[str]) -> list[tuple[int, int]]:
    """Pairs (runner, reference) in the order of `Comparisons`."""
    return [(j, i) for j in range(len(names)) for i in range(j)]


def estimates(rows: Array, sessions: int) -> tuple[TrimmedMeans, tuple[Array, Array]]:
    """Trimmed means of `rows`, and where one more session would lie; see `over_sessions`."""
    parts = rows.reshape(len(rows) * sessions, rows.shape[1] // sessions)
    return over_sessions(trimmed_means(parts, resolution=RESOLUTION), sessions)


def over_sessions(each: TrimmedMeans, sessions: int) -> tuple[TrimmedMeans, tuple[Array, Array]]:
    """One row from the `sessions` rows of each; of several their random-effects combination."""
    if sessions == 1:
        value = np.where(each.count > 1, each.mean, np.nan)
        none = np.full(len(value), np.nan)
        return TrimmedMeans(value, each.error, each.freedom, each.count), (none, none)
    shape = (len(each.mean) // sessions, sessions)
    freedom, count = each.freedom.reshape(shape), each.count.reshape(shape)
    together = combine(each.mean.reshape(shape), each.error.reshape(shape), freedom)
    degrees = np.maximum(together.count - 1, 0)
    half = (together.high - together.low) / 2
    means = TrimmedMeans(
        together.mean, half / student_t_of(degrees, LEVEL), degrees, count.sum(axis=1)
    )
    return means, (together.next_low, together.next_high)
