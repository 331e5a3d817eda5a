"""Whole runs replayed on noise: who takes which place in a series of process times, and when.

A series holds the log times of invocations of one program in the order of time. A run takes
consecutive values of it in the product's own order: blocks, in each the cases in random order, in
each case the runners and the canary in random order, every odd block the mirror of the one before.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlitmus.stats.estimate import Array


@dataclass(frozen=True, slots=True)
class Shape:
    """How many cases, runners and blocks a run has; a canary repeats the first runner."""

    cases: int
    runners: int
    blocks: int

    @property
    def invocations(self) -> int:
        """Places of the run, with the canary's."""
        return self.cases * (self.runners + 1) * self.blocks


# Log times in the order of time; a new one for each run where noise is drawn and not recorded.
Noise = Callable[[np.random.Generator, int], Array]


def replayed(series: Array) -> Noise:
    """A stretch of the recording, in its order, that begins anywhere, going round at its end."""
    flat = series.reshape(-1)

    def stretch(rng: np.random.Generator, count: int) -> Array:
        return np.resize(np.roll(flat, -int(rng.integers(len(flat)))), count)

    return stretch


def runs(noise: Noise, shape: Shape, count: int, seed: int) -> Iterator[Array]:
    """Log times of `count` runs of equal runners: cases x (runners, canary) x blocks."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        values = noise(rng, shape.invocations)
        yield values[places(rng, shape)]


def own_noise(shape: Shape, count: int, seed: int = 19) -> Iterator[Array]:
    """The same of runners whose noise differs: in each case t of 4 degrees of freedom times a
    deviation of 0.5 to 10 %, drawn for each runner; the canary has that of the first."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        spread = np.exp(rng.uniform(np.log(0.005), np.log(0.1), (shape.cases, shape.runners)))
        spread = np.concatenate([spread, spread[:, :1]], axis=1)
        yield spread[:, :, None] * rng.standard_t(4, (*spread.shape, shape.blocks))


def places(rng: np.random.Generator, shape: Shape) -> NDArray[np.int64]:
    """The position in time of each case, label and block."""
    width = shape.runners + 1
    each = shape.cases * width
    where = np.empty((shape.cases, width, shape.blocks), dtype=np.int64)
    place = np.empty((shape.cases, width), dtype=np.int64)
    for block in range(shape.blocks):
        if block % 2 == 0:
            order = rng.permutation(shape.cases)
            for turn, case in enumerate(order):
                place[case] = turn * width + rng.permutation(width)
        else:
            place = each - 1 - place  # the mirror
        where[:, :, block] = block * each + place
    return where
