"""Which operations are whose."""

from job import Measure


def parts(measure: Measure) -> list[tuple[int, int]]:
    """Operation numbers [begin, end) of each worker of this process."""
    total, first, of = measure.operations_per_iteration, *place(measure)
    numbers = range(first, first + measure.workers)
    return [(total * w // of, total * (w + 1) // of) for w in numbers]


def place(measure: Measure) -> tuple[int, int]:
    """The number of this process's first worker, and how many there are in all processes."""
    share = measure.share
    return (share.first, share.of) if share else (0, measure.workers)
