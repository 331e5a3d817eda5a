"""By how much a process's memory grows while its operations are timed. Pure."""

from collections.abc import Sequence
from statistics import linear_regression

from sqlitmus.vocabulary.contract.result import Result

LEAST = 8
"""Looks at the memory without which a slope says nothing."""
MILLION = 1_000_000


def growth(resident: Sequence[tuple[float, int]], result: Result) -> float | None:
    """Bytes per million operations: the slope of a line through the `resident` memory, (ms, bytes),
    by least squares, over the time of the timed iterations, which end as the connection is closed.

    None for fewer than `LEAST` looks in that time.
    """
    alive = [(ms, size) for ms, size in resident if size]
    operations = result.operations_each * len(result.iterations_ns)
    if not alive or not operations:
        return None
    spent = sum(result.iterations_ns) / 1e6
    end = alive[-1][0] - (result.phases_ns.close or 0) / 1e6
    timed = [(ms, size) for ms, size in alive if end - spent <= ms <= end]
    if len(timed) < LEAST:
        return None
    line = linear_regression([ms for ms, _ in timed], [size for _, size in timed])
    return line.slope * spent / operations * MILLION
