"""Synthetic iteration times and block values with the noise that benchmarks have."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def wander(rng: np.random.Generator, shape: tuple[int, int], deviation: float, lag: float) -> Array:
    """Normal noise whose neighbours along a row correlate with `lag`."""
    steps = rng.normal(0, deviation, shape)
    values = steps.copy()
    for i in range(1, shape[1]):
        values[:, i] = lag * values[:, i - 1] + np.sqrt(1 - lag**2) * steps[:, i]
    return values


def spikes(
    rng: np.random.Generator, shape: tuple[int, int], share: float, size: float = 0.5
) -> Array:
    """Interruptions: a `share` of the values takes about half as long again, some much longer."""
    return (rng.random(shape) < share) * rng.exponential(size, shape)
