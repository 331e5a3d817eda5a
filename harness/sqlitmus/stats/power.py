"""How many blocks a question needs, and which differences a number of blocks can resolve."""

import numpy as np
from numpy.typing import NDArray

from sqlitmus.stats.distributions import normal
from sqlitmus.stats.estimate import LEVEL, Array, Counts, TrimmedMeans, kept, student_t_of

POWER = 0.8


def blocks_for(
    effect: Array | float,
    deviation: Array | float,
    power: float = POWER,
    comparisons: int = 1,
) -> Array:
    """Blocks at which a true log ratio `effect` is told from 0 with probability `power`.

    ((z + z') deviation / effect)^2 with z of the two-sided 95 % interval and z' of the power, the
    usual normal approximation; `deviation` is the spread of one block, error times sqrt(blocks).
    Infinite for an effect of 0. For one of several `comparisons` the 5 % are divided by their
    number (Bonferroni), which Holm's procedure at worst asks for.
    """
    return _squared(normal(_level(comparisons)) + normal(2 * power - 1), deviation, effect)


def detectable(deviation: Array, blocks: Counts, comparisons: int, power: float = POWER) -> Array:
    """The smallest log ratio that is told from 0 with probability `power`, for each row.

    (t (1 - 1 / 4f) + z' sqrt(1 + t^2 / 2f)) deviation / sqrt(blocks), from the noncentral t
    (Johnson and Welch, Biometrika 31, 1940, 362-389): t of the two-sided interval at 5 % /
    `comparisons` (Bonferroni, which Holm's procedure at worst asks for), z' of the power, f the
    degrees of freedom that trimming leaves. `deviation` is the spread of one block, error times
    sqrt(blocks). NaN where trimming leaves fewer than two blocks.
    """
    freedom = kept(blocks) - 1
    t = student_t_of(freedom, _level(comparisons))
    f = np.where(freedom >= 1, freedom, np.nan)
    shift = t * (1 - 1 / (4 * f)) + normal(2 * power - 1) * np.sqrt(1 + np.square(t) / (2 * f))
    return shift * deviation / np.sqrt(blocks)


def blocks_to_resolve(logs: TrimmedMeans, margin: float, comparisons: int = 1) -> NDArray[np.int64]:
    """About how many blocks would turn each row that is not resolved into a verdict.

    The fewer of two ways, taking the estimate as the truth: enough to tell it from 0, or enough to
    show it within the margin (both one-sided tests, so 1 - (1 - power) / 2 each); each at 5 % /
    `comparisons`. Always more than the row has; 0 where it has no interval.
    """
    size = np.abs(logs.mean)
    deviation = logs.error * np.sqrt(logs.count)
    differs = blocks_for(size, deviation, comparisons=comparisons)
    room = np.maximum(np.log1p(margin) - size, 0)
    inner = 2 * _level(comparisons) - 1
    within = _squared(normal(inner) + normal(POWER), deviation, room)
    needed = np.maximum(np.ceil(np.fmin(differs, within)), logs.count + 1)
    return np.where(np.isfinite(needed), needed, 0).astype(np.int64)


def _level(comparisons: int) -> float:
    """The two-sided level of each of several comparisons."""
    if comparisons < 1:
        raise ValueError(f"there must be at least one comparison, got {comparisons}")
    return 1 - (1 - LEVEL) / comparisons


def _squared(quantiles: float, deviation: Array | float, distance: Array | float) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.square(quantiles * np.divide(deviation, distance)), dtype=np.float64)
