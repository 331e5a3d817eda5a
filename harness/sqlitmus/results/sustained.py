"""The rate that a runner sustains, and the processor's share of its work, as data."""

from dataclasses import dataclass
from typing import Literal

from sqlitmus.results.estimate import Interval
from sqlitmus.vocabulary.terms import CellOutcome

# "at least": all rates that were planned hold; "less than": not even the lowest does.
Bound = Literal["", "at least", "less than"]


@dataclass(frozen=True, slots=True)
class Build:
    """What of a runner may change from one measurement to the next; None where it is not known."""

    runtime: str | None
    driver: str | None
    sqlite: str | None


@dataclass(frozen=True, slots=True)
class Sustained:
    """A runner: operations a second, median over `blocks` with its interval, None without any.

    `cpu_s` are CPU seconds for a million operations that are not planned. `void` of the `probes`
    told nothing because the machine was late, `late_ns` in half of them or more; `lost` blocks had
    too many of those.
    """

    runner: str
    outcome: CellOutcome
    reason: str
    rate: Interval | None
    bound: Bound
    cpu_s: Interval | None
    blocks: int
    lost: int
    probes: int
    void: int
    late_ns: float | None
    build: Build | None = None


@dataclass(frozen=True, slots=True)
class Sustaining:
    """All runners at one `limit_ns` on the time of 99 % of operations; `reads` is their share of
    reads, `factor` the step between two planned rates, `created` when it was measured."""

    limit_ns: float
    reads: float
    factor: float
    runners: list[Sustained]
    created: str = ""
