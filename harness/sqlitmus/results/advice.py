"""What each setting does on this machine, as data: in words per setting and group of queries."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Self

from sqlitmus.results.ranking import Interval
from sqlitmus.vocabulary.verdicts import Verdict


class Effect(StrEnum):
    """What a setting does to the time of a group of queries.

    All but the first four are no figure: it is in effect without being set, the cell is
    unsupported, wrong, failed or missing, or it was not measured at all.
    """

    HELPS = "helps"
    NOTHING = "does nothing here"
    HURTS = "hurts"
    NOT_RESOLVED = "not resolved"
    ALREADY = "is so already"
    UNSUPPORTED = "unsupported"
    WRONG = "wrong"
    FAILED = "failed"
    MISSING = "missing"
    NOT_MEASURED = "not measured here"


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
    `base`. `needs_blocks` is about how many would settle a `not resolved`; `reason` is said where
    there is no figure. Times are ns per unit of work."""

    group: str
    database: str
    effect: Effect
    base: str = ""
    new: str = ""
    ratio: Interval | None = None
    verdict: Verdict | None = None
    base_time: Interval | None = None
    new_time: Interval | None = None
    blocks: int = 0
    needs_blocks: int | None = None
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

    def counselled(self, counsel: Counsel) -> list[Setting]:
        """The settings of which that is the upshot."""
        return [setting for setting in self.settings if setting.counsel == counsel]
