"""Histograms of the contract: buckets of nanoseconds, none wider than 1/128 of its values. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping

Buckets = Mapping[int, int]


def bucket(ns: int) -> int:
    """The bucket of `ns`: e * 128 + (ns >> e), e = max(0, floor(log2 ns) - 7)."""
    shift = max(0, ns.bit_length() - 8)
    return shift * 128 + (ns >> shift)


def bounds(number: int) -> tuple[int, int]:
    """The least and the greatest nanoseconds of a bucket."""
    shift = max(0, number // 128 - 1)
    low = (number - shift * 128) << shift
    return low, low + (1 << shift) - 1


def merged(many: Iterable[Iterable[tuple[int, int]]]) -> Counter[int]:
    """Several histograms as one."""
    together: Counter[int] = Counter()
    for buckets in many:
        for number, count in buckets:
            together[number] += count
    return together


def quantile(buckets: Buckets, share: float) -> float | None:
    """The value that `share` of all lie at or below: the middle of its bucket; None of nothing."""
    total = sum(buckets.values())
    seen = 0
    for number in sorted(buckets):
        seen += buckets[number]
        if seen >= share * total:
            low, high = bounds(number)
            return (low + high) / 2
    return None


def mean(buckets: Buckets) -> float | None:
    """The mean of the buckets' middles, weighted by their counts; None of nothing."""
    total = sum(buckets.values())
    if not total:
        return None
    return sum(sum(bounds(n)) / 2 * count for n, count in buckets.items()) / total
