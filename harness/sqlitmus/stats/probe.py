"""Whether the machine was disturbed, judged by the probe between blocks and never by the cells."""

import numpy as np
from numpy.typing import NDArray

from sqlitmus.stats.estimate import Array
from sqlitmus.stats.spread import deviation

EARLIER = 8
DEVIATIONS = 5.0
FINEST = 0.002


def disturbed(values: Array) -> NDArray[np.bool_]:
    """Per block whether its probe time (one value per block, in order, any unit) is out of line.

    A block is disturbed if its probe took longer than the median of the blocks before it by more
    than `DEVIATIONS` robust deviations, taken as `FINEST` of the median at least. It depends on
    earlier blocks only, so that the answer for the last one is there when the block ends, and
    never changes. The first `EARLIER` probes are not judged. NaN: no probe, not disturbed.
    """
    flags = np.zeros(len(values), dtype=np.bool_)
    for block in range(len(values)):
        before = values[:block][~np.isnan(values[:block])]
        if len(before) >= EARLIER:
            middle = float(np.median(before))
            spread = max(float(deviation(before)), FINEST * middle)
            flags[block] = values[block] > middle + DEVIATIONS * spread
    return flags


def repeats_allowed(planned: int) -> int:
    """How many disturbed blocks may be repeated: a fifth of the `planned` ones."""
    return planned // 5
