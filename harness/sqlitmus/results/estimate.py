"""A figure with its interval: what every part of a report is made of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95 % interval; `low` and `high` are None when it cannot be had."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Speedup:
    """How many times as fast the new one is: time of the base over time of the new one, with its
    95 % interval. All other ratios are an `Interval` of new over base; a type of its own keeps the
    two apart."""

    value: float
    low: float | None
    high: float | None


def speedup(ratio: Interval) -> Speedup:
    """The speed-up that a ratio of times (new over base) says."""
    low, high = (None if end is None else 1 / end for end in (ratio.high, ratio.low))
    return Speedup(1 / ratio.value, low, high)


@dataclass(frozen=True, slots=True)
class RateTest:
    """The new runner's rate over the base's: its speed-up with 95, 99 and 99.9 % intervals, p of no
    difference, and p after Holm's correction over the cases that have one; None where too few
    blocks give any."""

    intervals: list[Speedup]
    p: float | None
    holm: float | None
