"""Counts of nanoseconds in buckets of at most 1/128 of their value."""

# Bucket of 2**63 - 1, the longest time that the clock can tell, and one more.
BUCKETS = 57 * 128

# The bucket of `v` nanoseconds, as source for the timed loops.
BUCKET = "((e := max(0, v.bit_length() - 8)) * 128 + (v >> e))"


def pairs(counts: list[int]) -> dict[str, list[tuple[int, int]]]:
    """A histogram as a result holds it: the buckets that are not empty, with their counts."""
    return {"buckets": [(bucket, count) for bucket, count in enumerate(counts) if count]}
