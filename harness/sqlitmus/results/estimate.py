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
