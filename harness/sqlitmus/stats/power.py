"""How many blocks a question needs."""

import numpy as np
from numpy.typing import NDArray

from .distributions import normal
from .estimate import LEVEL, Array, TrimmedMeans

POWER = 0.8


def blocks_for(effect: Array | float, deviation: Array | float, power: float = POWER) -> Array:
    """Blocks at which a true log ratio `effect` is told from 0 with probability `power`.

    ((z + z') deviation / effect)^2 with z of the two-sided 95 % interval and z' of the power, the
    usual normal approximation; `deviation` is the spread of one block, error times sqrt(blocks).
    Infinite for an effect of 0.
    """
    return _squared(normal(LEVEL) + normal(2 * power - 1), deviation, effect)


def blocks_to_resolve(logs: TrimmedMeans, margin: float) -> NDArray[np.int64]:
    """About how many blocks would turn each row that is not resolved into a verdict.

    The fewer of two ways, taking the estimate as the truth: enough to tell it from 0, or enough to
    show it within the margin (both one-sided tests, so 1 - (1 - power) / 2 each). Always more than
    the row has; 0 where it has no interval.
    """
    size = np.abs(logs.mean)
    deviation = logs.error * np.sqrt(logs.count)
    differs = blocks_for(size, deviation)
    room = np.maximum(np.log1p(margin) - size, 0)
    within = _squared(normal(2 * LEVEL - 1) + normal(POWER), deviation, room)
    needed = np.maximum(np.ceil(np.fmin(differs, within)), logs.count + 1)
    return np.where(np.isfinite(needed), needed, 0).astype(np.int64)


def _squared(quantiles: float, deviation: Array | float, distance: Array | float) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.square(quantiles * np.divide(deviation, distance)), dtype=np.float64)
