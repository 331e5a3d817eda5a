"""Which runner serves a workload best, what speaks against others, and what would change it."""

from dataclasses import dataclass, field
from typing import Literal

from sqlitmus.results.estimate import Interval
from sqlitmus.vocabulary.verdicts import Verdict

Limit = Literal["memory", "start-up", "p99", "durability", "warm-up", "rate"]


@dataclass(frozen=True, slots=True)
class Beyond:
    """`runner` exceeds a limit: its `value` is more than `most`, in bytes or ns; None where it was
    not measured, or is the word that `shown` has. `case` is where, if there are several. A `rate`
    that is sustained is fewer operations a second than the `most` that it has to be. Of one in
    its `warm-up`, the value is the time of its second half over that of its first.
    """

    runner: str
    limit: Limit
    value: float | None
    most: float | None
    shown: str = ""
    case: str = ""


@dataclass(frozen=True, slots=True)
class Latency:
    """The p99 of rounds of `queries` queries in ns, by runner, median of the blocks' processes;
    None for one without an answer. `rate` is in queries a second, None for one after the other."""

    case: str
    rate: float | None
    queries: int
    p99: dict[str, Interval | None]


@dataclass(frozen=True, slots=True)
class Open:
    """Two that nobody is shown to be faster than: about so many `blocks` in all would settle
    `runner` against `reference` in four of five runs, if their ratio here is the true one."""

    runner: str
    reference: str
    blocks: int


@dataclass(frozen=True, slots=True)
class Again:
    """How a run is repeated: its command, and the seconds that a block took, None where nobody
    knows."""

    command: str = ""
    block_s: float | None = None


@dataclass(frozen=True, slots=True)
class Standby:
    """A runner behind the first one: its time over that one's for the mix, and what it shows."""

    runner: str
    ratio: Interval
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Change:
    """What would put `runner` ahead: its time over the first one's for `query` alone, or from the
    start of a process to the first answer. `share` of the calls is about where both take as long,
    or so many `calls` of the case `query` per 1,000 requests; None where the parts do not tell."""

    query: str
    runner: str
    ratio: Interval
    share: float | None = None
    calls: float | None = None


@dataclass(frozen=True, slots=True)
class Composed:
    """A runner's time for the mix, measured as one in a process, over what its parts add up to."""

    runner: str
    ratio: Interval


@dataclass(frozen=True, slots=True)
class Beside:
    """What a candidate costs: ns a query of the mix, or of 1,000 requests by a preset, and CPU ns
    of the same, bytes, ns to the first answer, operations a second that it sustains; None for what
    was not measured. `parts` are the shares of the time by the case that a preset calls."""

    runner: str
    time: Interval | None
    cpu: float | None
    memory: float | None
    start: float | None
    rate: float | None = None
    parts: dict[str, float] = field(default_factory=dict[str, float])


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

    `shares` are the queries' shares of the calls, `case` is where it was decided. Of those who keep
    to the limits, nobody is shown to be faster than `front`; `alike` where all of these are
    equivalent. `others` are the rest over the first of them, the fastest first; `absent` have no
    answer to the mix. Limits are `unchecked` whose cases were not measured.
    """

    case: str
    database: Database
    shares: dict[str, float]
    workers: int
    front: list[str]
    alike: bool
    others: list[Standby]
    beyond: list[Beyond]
    absent: list[str]
    changes: list[Change]
    composed: list[Composed]
    beside: list[Beside]
    blocks: int
    latencies: list[Latency] = field(default_factory=list[Latency])
    open: Open | None = None
    unchecked: list[Limit] = field(default_factory=list[Limit])
    again: Again = field(default_factory=Again)
    kind: Literal["recommendation"] = field(default="recommendation")
