"""Which of two ways of measuring equal things needs less time for the same precision."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sqlitmus.stats.estimate import LEVEL, Array, trimmed_means

RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Gain:
    """How many times as long one way takes as the other for the same precision of a ratio.

    `low` and `high` are the ends of its 95 % interval.
    """

    value: float
    low: float
    high: float

    @property
    def resolved(self) -> bool:
        """Whether the interval tells which way needs less time."""
        return self.low > 1 or self.high < 1


@dataclass(frozen=True, slots=True, eq=False)
class Passes:
    """Log times of equal things (blocks x slots), and the seconds that each block's pass took."""

    logs: Array
    seconds: Array


def gain(base: Passes, other: Passes, resamples: int = RESAMPLES, seed: int = 1) -> Gain | None:
    """How many times as long `base` takes as `other`, by passes in the same blocks.

    A way's cost is Yuen's squared error of the log ratio of two slots, times the mean seconds of a
    pass; the gain is the median over all pairs of slots. Its interval is that of the percentile
    bootstrap over blocks, which `base` and `other` share. None where a pair's times are all equal.
    """
    blocks, slots = base.logs.shape
    rng = np.random.default_rng(seed)
    every = rng.integers(blocks, size=(1 + resamples, blocks))
    every[0] = range(blocks)  # the recording itself
    seconds = np.log(base.seconds[every].mean(axis=1) / other.seconds[every].mean(axis=1))
    ratios = np.stack(
        [
            2 * (_log_error(base.logs, pair, every) - _log_error(other.logs, pair, every))
            for pair in combinations(range(slots), 2)
        ]
    )
    gains = np.median(ratios, axis=0) + seconds
    if not np.isfinite(gains).all():
        return None
    low, high = np.quantile(gains[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Gain(*(float(np.exp(end)) for end in (gains[0], low, high)))


def _log_error(logs: Array, pair: tuple[int, int], blocks: NDArray[np.int64]) -> Array:
    """ln of the standard error of the pair's log ratio, per row of block numbers."""
    first, second = pair
    return np.log(trimmed_means((logs[:, first] - logs[:, second])[blocks]).error)
