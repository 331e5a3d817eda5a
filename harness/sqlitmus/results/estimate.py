"""A figure with its interval: what every part of a report is made of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95 % interval; `low` and `high` are None when it cannot be had."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class RateTest:
    """The new runner's rate over the base's: its 95, 99 and 99.9 % intervals around one value, p of
    no difference, and p after Holm's correction over the cases that have one; None where too few
    blocks give any."""

    intervals: list[Interval]
    p: float | None
    holm: float | None
