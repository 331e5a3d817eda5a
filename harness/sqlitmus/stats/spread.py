"""A robust standard deviation, for the modules that study noise rather than means."""

import numpy as np

from sqlitmus.stats.estimate import Array

# Croux and Rousseeuw, COMPSTAT 1992: brings the median absolute deviation of 2 to 9 normal values
# to the standard deviation on average.
_SMALL = np.array([1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107])


def deviation(values: Array) -> Array:
    """Standard deviation of each row (last axis) by the scaled median absolute deviation.

    1.4826 times the median distance from the median, times the correction for few values; 0 for a
    single value. Up to half of the values may be anything without deciding the result.
    """
    count = values.shape[-1]
    if count < 2:
        return np.zeros(values.shape[:-1])
    factor = _SMALL[count - 2] if count < 10 else count / (count - 0.8)
    centre = np.median(values, axis=-1, keepdims=True)
    return np.asarray(1.4826 * factor * np.median(np.abs(values - centre), axis=-1))
