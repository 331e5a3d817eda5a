"""Rows of blocks of which many lie in a mode of their own, far to one side of the others."""

import numpy as np
from numpy.typing import NDArray

from sqlitmus.stats.estimate import Array

# A trimmed mean cuts a fifth from each end: with fewer values than this on one side, none of them
# is left when chance puts a few more there.
SHARE = 0.15
DEVIATIONS = 5.0
_NORMAL = 1.4826  # brings the median absolute deviation of normal values to the standard deviation


def far(values: Array) -> NDArray[np.bool_]:
    """Per row (rows x blocks, NaN for none) whether over 15 % lie in a far mode on one side.

    Far is more than five median absolute deviations, scaled to normal noise, from the median. The
    mode is where a trimmed mean is at the edge of its cut: a third of one-sided disturbance is in
    the mean of one run and not of the next, and more blocks do not help its interval. The median
    does not see it. `./just bench-statistics` prints coverage and how many rows are marked.
    """
    count = np.count_nonzero(~np.isnan(values), axis=1)
    marked = np.zeros(len(values), dtype=np.bool_)
    rows = count > 0
    if not rows.any():
        return marked
    middle = np.nanmedian(values[rows], axis=1, keepdims=True)
    distance = values[rows] - middle
    limit = DEVIATIONS * _NORMAL * np.nanmedian(np.abs(distance), axis=1, keepdims=True)
    above = np.count_nonzero(distance > limit, axis=1)
    below = np.count_nonzero(distance < -limit, axis=1)
    marked[rows] = (np.maximum(above, below) > SHARE * count[rows]) & (limit[:, 0] > 0)
    return marked
