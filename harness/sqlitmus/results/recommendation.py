"""Which runner serves a workload best, what speaks against others, and what would change it."""

from dataclasses import dataclass, field
from typing import Literal

from sqlitmus.results.estimate import Interval
from sqlitmus.results.ranking import Cost, Limit, Ranking


@dataclass(frozen=True, slots=True)
class Latency:
    """The p99 of rounds of `queries` queries in ns, by runner, median of the blocks' processes;
    None for one without an answer. `rate` is in queries a second, None for one after the other."""

    case: str
    rate: float | None
    queries: int
    p99: dict[str, Interval | None]


@dataclass(frozen=True, slots=True)
class Again:
    """How a run is repeated: its command, and the seconds that a block took, None where nobody
    knows."""

    command: str = ""
    block_s: float | None = None


@dataclass(frozen=True, slots=True)
class Composed:
    """A runner's time for the mix, measured as one in a process, over what its parts add up to."""

    runner: str
    ratio: Interval


@dataclass(frozen=True, slots=True)
class Database:
    """What is told of the user's database."""

    name: str
    bytes: int
    page_size: int
    encoding: str
    journal_mode: str
    user_version: int
    tables: int
    schema_hash: str


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The decision on a workload; all that is told apart in it is told with 95 % at once.

    `shares` are the queries' shares of the calls, `case` is where the `ranking` was decided, over
    so many `blocks`. Limits are `unchecked` whose cases were not measured.
    """

    case: str
    database: Database
    shares: dict[str, float]
    workers: int
    ranking: Ranking
    composed: list[Composed]
    costs: list[Cost]
    blocks: int
    latencies: list[Latency] = field(default_factory=list[Latency])
    unchecked: list[Limit] = field(default_factory=list[Limit])
    again: Again = field(default_factory=Again)
    kind: Literal["recommendation"] = field(default="recommendation")
