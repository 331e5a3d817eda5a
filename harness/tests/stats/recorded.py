"""The recorded A/A traces of `traces/`; its README says what they are."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from tests.stats.noise import Array

TRACES = Path(__file__).with_name("traces")
WALL, STEADY = 0, 1


@lru_cache
def trace(name: str) -> Array:
    """One row per invocation (or pair, or process), columns as the file's first line names them."""
    return np.loadtxt(TRACES / f"{name}.csv.gz", delimiter=",", skiprows=1)
