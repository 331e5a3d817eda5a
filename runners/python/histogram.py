"""Counts of nanoseconds in buckets of at most 1/128 of their value."""

# Bucket of 2**63 - 1, the longest time that the clock can tell, and one more.
BUCKETS = 57 * 128

# The bucket of `v` nanoseconds, as source for the timed loops.
BUCKET = "((e := max(0, v.bit_length() - 8)) * 128 + (v >> e))"


class Recording:
    """What a worker notes of its operations: arrays that are made before the clock."""

    def __init__(self) -> None:
        self.latencies = [0] * BUCKETS
        self.pacing = [0] * BUCKETS


def pairs(counts: list[int]) -> dict[str, list[tuple[int, int]]]:
    """A histogram as a result holds it: the buckets that are not empty, with their counts."""
    return {"buckets": [(bucket, count) for bucket, count in enumerate(counts) if count]}
