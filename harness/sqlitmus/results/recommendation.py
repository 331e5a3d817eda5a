"""Which runner suits which use: by calls per 1,000 requests, or for a workload of one's own."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field
from typing_extensions import TypeAliasType

from sqlitmus.results.ranking import Contrast, Cost, Interval, Limit, Ranking
from sqlitmus.vocabulary.figures import UserDatabase
from sqlitmus.vocabulary.verdicts import Apart, Untimed, Verdict


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
class Recommendation:
    """The decision on a workload; all that is told apart in it is told with 95 % at once.

    `shares` are the queries' shares of the calls, `case` is where the `ranking` was decided, over
    so many `blocks`; fewer than `least` rank nobody. Limits are `unchecked` whose cases were not
    measured.
    """

    case: str
    database: UserDatabase
    shares: dict[str, float]
    workers: int
    ranking: Ranking
    composed: list[Composed]
    costs: list[Cost]
    blocks: int
    least: int = 0
    latencies: list[Latency] = field(default_factory=list[Latency])
    unchecked: list[Limit] = field(default_factory=list[Limit])
    again: Again = field(default_factory=Again)
    kind: Literal["recommendation"] = field(default="recommendation")


@dataclass(frozen=True, slots=True)
class CatchUp:
    """A runner is slower than another in a `case` as `before` has it, and in the `variant` of that
    case it is not."""

    case: str
    variant: str
    before: Contrast
    after: Contrast


@dataclass(frozen=True, slots=True)
class Choice:
    """The decision by a preset's `calls` of cases per 1,000 requests; `starts` where one of them is
    a process start.

    `lacking` are cases that the run does not have: no runner is ranked then. `costs` has what each
    spends. `blocks` hold all cases of the most complete pair; fewer than `least` rank nobody.
    """

    preset: str
    title: str
    summary: str
    calls: dict[str, float]
    lacking: list[str]
    starts: bool = False
    ranking: Ranking = field(default_factory=lambda: Ranking([]))
    costs: list[Cost] = field(default_factory=list[Cost])
    blocks: int = 0
    least: int = 0
    catching: list[CatchUp] = field(default_factory=list[CatchUp])


@dataclass(frozen=True, slots=True)
class OldEngine:
    """`runner` has a SQLite that is years older than the `newest` of the others."""

    runner: str
    version: str
    newest: str


@dataclass(frozen=True, slots=True)
class Weighed:
    """The decisions by all presets, the one in front first; all that is told apart in them is told
    with 95 % at once.

    `names` say what a call of a case is, with `(s)` where a plural has an s.
    """

    choices: list[Choice]
    names: dict[str, str]
    old: list[OldEngine]
    again: Again = field(default_factory=Again)
    kind: Literal["weighed"] = field(default="weighed")


@dataclass(frozen=True, slots=True)
class OperationParts:
    """What sums take from a case that may be called; the lists have an entry per runner, None where
    it did not complete the case, or where the figure is not known.

    `start` where a call is a process start. `level` is the mean ln ns of a call, `cpu` the CPU ns
    of one, `memory` the most bytes of a process, `apart` why its time is compared with nothing.
    """

    case: str
    name: str
    start: bool
    level: list[float | None]
    cpu: list[float | None]
    memory: list[float | None]
    apart: list[Apart | None]


@dataclass(frozen=True, slots=True)
class PairParts:
    """What sums take from a pair: `stats.verdict.Parts` by session, each `square` as its lower
    triangle, row by row; `single` is the verdict on each case."""

    runner: str
    reference: str
    difference: list[list[float | None]]
    middle: list[list[float | None]]
    square: list[list[float | None]]
    left: list[int]
    count: list[int]
    single: list[Verdict]


@dataclass(frozen=True, slots=True)
class Weighing:
    """From this the page recomputes the decision for other calls.

    An interval has the coverage `level`, and `z` is that of a normal one; `start` is the longest
    start of each runner in ns.
    """

    level: float
    z: float
    least: int
    runners: list[str]
    operations: list[OperationParts]
    pairs: list[PairParts]
    start: list[float | None]
    catching: list[CatchUp]


Difference = Literal["helps", "does nothing here", "hurts", "not resolved"]
Effect = TypeAliasType(
    "Effect",
    Annotated[
        Literal[Difference, "is so already", Untimed, Apart, "not measured here"],
        Field(
            title="Effect",
            description="What a setting does to the time of a group of queries.\n\n"
            "All but the first four are no figure: it is in effect without being set, a cell is "
            "unsupported,\nwrong, failed, missing or compared with nothing, or it was not measured "
            "at all.",
        ),
    ],
)


# What follows for the reader from all of a setting's effects together.
Counsel = Literal[
    "set it",
    "your decision",
    "both",
    "leave it",
    "does nothing",
    "is so already",
    "open",
    "no answer",
]


class Promise(StrEnum):
    """What a commit survives, from the strongest to the weakest."""

    level: int

    def __new__(cls, words: str, level: int) -> Self:
        """`level` orders them, 0 for the weakest."""
        promise = str.__new__(cls, words)
        promise._value_ = words
        promise.level = level
        return promise

    DURABLE = "each commit is synced before it returns", 3
    LATE = "a power failure can take the last commits away; the file stays whole", 2
    RISKY = "a power failure can, rarely, damage the file", 1
    NONE = "a power failure or a crash can damage the file", 0


@dataclass(frozen=True, slots=True)
class Published:
    """What somebody published of a setting, and where."""

    says: str
    source: str
    url: str


@dataclass(frozen=True, slots=True)
class Tried:
    """A setting on one group of queries and one database: time of the case `new` over that of
    `base`; `reason` is said where there is no figure. Times are ns per unit of work."""

    group: str
    database: str
    effect: Effect
    base: str = ""
    new: str = ""
    contrast: Contrast | None = None
    base_time: Interval | None = None
    new_time: Interval | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting, what was found of it, and what follows.

    `before` and `after` are what a commit promises without it and with it, by what the runner read
    back; None where that is not known or the setting was tried on no query that writes.
    """

    name: str
    title: str
    beside: str
    does: str
    caution: str
    counsel: Counsel
    before: Promise | None
    after: Promise | None
    published: list[Published]
    tried: list[Tried]

    @property
    def weakens(self) -> bool:
        """Whether a commit promises less with it."""
        return bool(self.before and self.after and self.after.level < self.before.level)

    def of(self, *effects: Effect) -> list[Tried]:
        """What came out so."""
        return [tried for tried in self.tried if tried.effect in effects]


@dataclass(frozen=True, slots=True)
class Place:
    """A database of the run: its size where all cases have the same, and the cache of SQLite that
    it was read through at first, both in bytes."""

    name: str
    title: str
    bytes: int | None
    cache_bytes: int | None


@dataclass(frozen=True, slots=True)
class Advice:
    """All settings on one runner; a difference within `margin` on both sides of 1 is nothing.

    `groups` are names and titles. `start` is what the settings are added to.
    """

    runner: str
    start: str
    margin: float
    groups: dict[str, str]
    places: list[Place]
    settings: list[Setting]
    workload: str = ""
    kind: Literal["advice"] = field(default="advice")
