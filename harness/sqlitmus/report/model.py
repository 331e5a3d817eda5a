"""What a report shows: made once by `analysis`, read by every renderer, saved as `summary.json`.

Times are nanoseconds per unit of work (`Case.unit`). A ratio is time of `runner` over time of
`reference`: below 1 is faster. All texts that come from results or machines are untrusted and
must be escaped.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations
from typing import Literal

VERSION = 1

Outcome = Literal["ok", "unsupported", "wrong", "failed", "missing"]
Verdict = Literal[
    "materially faster",
    "faster",
    "equivalent",
    "slower",
    "materially slower",
    "not resolved",
    "not testable",
]


OPPOSITE: dict[Verdict, Verdict] = {
    "materially faster": "materially slower",
    "faster": "slower",
    "equivalent": "equivalent",
    "slower": "faster",
    "materially slower": "materially faster",
    "not resolved": "not resolved",
    "not testable": "not testable",
}


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95 % interval; `low` and `high` are None when it cannot be had."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """`runner` against `reference` in one case, from `blocks` paired blocks.

    `needs_blocks` is the number that would probably resolve a `not resolved`; None elsewhere.
    """

    runner: str
    reference: str
    ratio: Interval
    verdict: Verdict
    blocks: int
    needs_blocks: int | None = None


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All pairs of `runners` in one case, in columns: a page of ten thousand cells has 45,000.

    Pair (i, j) with i < j is runner j over runner i, at `place(i, j)` in each column; the other
    direction is its inverse. `verdict` is None where the two have no block in common.
    """

    runners: list[str]
    ratio: list[float | None]
    low: list[float | None]
    high: list[float | None]
    verdict: list[Verdict | None]
    blocks: list[int]
    needs_blocks: list[int | None]

    def of(self, runner: str, reference: str) -> Comparison | None:
        """`runner` against `reference`; None if one of them is not here or they share no block."""
        if runner == reference or runner not in self.runners or reference not in self.runners:
            return None
        over, under = self.runners.index(runner), self.runners.index(reference)
        at = place(min(over, under), max(over, under))
        value, low, high, verdict = self.ratio[at], self.low[at], self.high[at], self.verdict[at]
        if value is None or verdict is None:
            return None
        if over < under:
            value, verdict = 1 / value, OPPOSITE[verdict]
            low, high = (None if end is None else 1 / end for end in (high, low))
        ratio = Interval(value, low, high)
        return Comparison(runner, reference, ratio, verdict, self.blocks[at], self.needs_blocks[at])

    def against(self, reference: str) -> dict[str, Comparison]:
        """All that can be compared with `reference`, by runner."""
        found = ((name, self.of(name, reference)) for name in self.runners)
        return {name: one for name, one in found if one is not None}

    def __iter__(self) -> Iterator[Comparison]:
        """Every ordered pair that has a ratio, by runner, then reference."""
        found = (self.of(*pair) for pair in permutations(self.runners, 2))
        return (one for one in found if one is not None)


def place(i: int, j: int) -> int:
    """Where the columns of `Comparisons` hold the pair of runners `i` < `j`."""
    return j * (j - 1) // 2 + i


@dataclass(frozen=True, slots=True)
class Cell:
    """One runner in one case.

    `time` is None unless `outcome` is ok. `samples` holds one steady (or cold) value per block in
    block order, None where that invocation failed. `positions` is the place of each of those
    invocations in the run (0 = first), for the drift strip. `overhead` is time minus the floor.
    """

    runner: str
    outcome: Outcome
    reason: str | None = None
    time: Interval | None = None
    samples: list[float | None] = field(default_factory=list[float | None])
    positions: list[int] = field(default_factory=list[int])
    overhead: Interval | None = None
    cold_ns: float | None = None
    cpu_ns: float | None = None
    peak_rss_bytes: float | None = None
    plans: list[list[str]] = field(default_factory=list[list[str]])
    command: str = ""
    log: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario with every axis fixed, and each runner's cell in it.

    `comparisons` holds every pair of runners that are ok: any of them can be the reference.
    `checks` says in words what was proven equal (rows, affected rows, checksum, read-back).
    """

    id: str
    scenario: str
    title: str
    question: str
    group: str
    bound_by: str
    axes: dict[str, str]
    metric: Literal["cold", "steady"]
    unit: str
    sql: list[str]
    pragmas: list[tuple[str, str]]
    operations: int
    checks: str
    cells: list[Cell]
    comparisons: Comparisons
    canary: Comparison | None
    notes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Runner:
    """A runner and the SQLite inside it; `missing` says why it did not run."""

    name: str
    title: str
    runtime: str
    driver: str
    role: Literal["runner", "floor", "oracle"]
    missing: str | None = None
    runtime_version: str | None = None
    driver_version: str | None = None
    sqlite_version: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A runner against one reference over all cases of `group` that both can do.

    `ratio` is the geometric mean over those cases with its interval; `cases` says over how many.
    """

    runner: str
    reference: str
    group: str
    ratio: Interval | None
    cases: int
    faster: int
    slower: int
    equivalent: int
    unresolved: int
    not_ok: int


@dataclass(frozen=True, slots=True)
class Point:
    """Throughput at a number of workers, operations per second."""

    workers: int
    rate: Interval


@dataclass(frozen=True, slots=True)
class Curve:
    """One runner's throughput over numbers of workers in one parallel scenario."""

    runner: str
    points: list[Point]


@dataclass(frozen=True, slots=True)
class Scaling:
    """Curves of one parallel scenario with its other axes fixed."""

    scenario: str
    title: str
    axes: dict[str, str]
    cores: int
    curves: list[Curve]


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of provenance: a fact for each runner; `differs` when they are not all equal."""

    group: str
    name: str
    values: dict[str, str]
    differs: bool


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a renderer needs. `headline` is the verdict strip: sentences, best first."""

    version: int
    title: str
    run: str
    label: str
    suite: str
    created: str
    sqlitmus_version: str
    seed: int
    blocks_planned: int
    blocks_complete: int
    margin: float
    reference: str
    floor: str | None
    headline: list[str]
    notices: list[str]
    canary_summary: str
    runners: list[Runner]
    groups: list[str]
    standings: list[Standing]
    cases: list[Case]
    scaling: list[Scaling]
    provenance: list[Fact]
    machine: dict[str, str]
    method: list[str]
    rerun: str
