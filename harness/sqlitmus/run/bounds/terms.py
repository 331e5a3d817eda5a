"""What is held against what: a bound, how a case is done, and numbers in words. Pure."""

from dataclasses import dataclass

from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.catalog.scenario import Scenario
from sqlitmus.run.finished import Timing
from sqlitmus.vocabulary.contract.result import Result

CLOCKS_NS, CLOCKS = 20e6, 1.01
"""How far two clocks of one process may differ: a start in ticks of 10 ms, and a share."""


@dataclass(frozen=True, slots=True)
class Held:
    """A value held against the most that it can be; `problem` says what is wrong beyond that."""

    bound: str
    value: float
    most: float
    problem: str


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How a job was done: workers in all of the processes, whether it resets between iterations,
    whether operations have planned times, and whether it never waits: one thread that only reads
    what is in memory, one operation after the other.
    """

    workers: int
    processes: int
    resets: bool
    planned: bool
    never_waits: bool = False

    @classmethod
    def of(cls, case: PlannedCase, spec: Scenario) -> "Arrangement":
        """That of `case`, which is of the scenario `spec`."""
        planned = bool(spec.rate or (spec.writer and spec.writer.rate))
        together = case.workers > 1 or case.processes is not None
        return cls(
            workers=case.workers * (case.processes or 1),
            processes=case.processes or 1,
            resets=bool(spec.reset),
            planned=planned,
            never_waits=not (together or planned or spec.writes or spec.timer_ms),
        )


def life_ns(timing: Timing) -> float:
    """The longest that anything in a process can have taken by another clock than hyperfine's."""
    return CLOCKS * timing.wall_ns + CLOCKS_NS


def timed_ns(result: Result) -> int:
    """All that was timed, warm-up included."""
    return sum(result.warmup_ns) + sum(result.iterations_ns)


def phases_ns(result: Result) -> int:
    """The phases that are known."""
    return sum(ns or 0 for ns in result.phases_ns.model_dump().values())


def seconds(ns: float) -> str:
    """A time in words; small ones in nanoseconds."""
    if ns < 1e6:
        return f"{ns:,.0f} ns"
    return f"{ns / 1e9:,.0f} s" if ns >= 1e12 else f"{ns / 1e9:.3g} s"


def megabytes(count: float) -> str:
    """Bytes in words."""
    return f"{count / 2**20:.3g} MB"
