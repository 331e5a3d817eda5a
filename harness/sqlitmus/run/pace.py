"""The machine's pace in a moment, by the probe: whether what a pilot saw still holds."""

from math import log

import numpy as np

from sqlitmus.machine.probe import probe
from sqlitmus.stats.spread import deviation
from sqlitmus.vocabulary.contract.model import Model

PROBES = 9
# Another level of the clock or a neighbour who shares the core, on the log scale.
LEVEL = 0.1
# Robust deviations of nine values differ by up to three times by chance.
SPREAD = 4.0
FINEST = 0.005


class Pace(Model):
    """The median of a few probes in ns, and their robust deviation as a share of it."""

    level_ns: float
    spread: float

    def agrees(self, earlier: "Pace") -> bool:
        """Whether both saw the machine at the same level, and about as noisy."""
        spreads = max(self.spread, FINEST) / max(earlier.spread, FINEST)
        return (
            abs(log(self.level_ns / earlier.level_ns)) <= LEVEL and 1 / SPREAD <= spreads <= SPREAD
        )


def pace() -> Pace:
    """The pace now; takes about a third of a second."""
    times = np.array([probe() for _ in range(PROBES)], dtype=np.float64)
    level = float(np.median(times))
    return Pace(level_ns=level, spread=float(deviation(times)) / level)
