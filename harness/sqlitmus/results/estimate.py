"""A figure with its interval: what every part of a report is made of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95 % interval; `low` and `high` are None when it cannot be had."""

    value: float
    low: float | None
    high: float | None

    def within(self, margin: float) -> bool:
        """Whether all of it lies within the margin on both sides of 1; False without ends."""
        if self.low is None or self.high is None:
            return False
        return 1 / (1 + margin) < self.low and self.high < 1 + margin


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
    """What Node's benchmark/compare.R says of two subjects' rates (1 / time), all as shares of the
    base's mean rate: the change of the mean, and the half-widths of its 95, 99 and 99.9 %
    intervals. `p` is Welch's. Both are left out where a side has fewer than two values."""

    improvement: float
    accuracy: list[float]
    p: float | None
