"""Which runner suits which use, by weights of the groups of cases; and what other weights come to
is made of."""

from dataclasses import dataclass, field
from typing import Literal

from sqlitmus.results.estimate import Interval
from sqlitmus.results.recommendation import Again, Beside, Beyond, Change, Open, Standby
from sqlitmus.results.sustained import Sustaining
from sqlitmus.vocabulary.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class CatchUp:
    """`runner` takes `before` times as long as `reference` in a `case` of the group, and is slower;
    in the `variant` of that case it takes `ratio` times as long, and is not."""

    runner: str
    reference: str
    group: str
    case: str
    variant: str
    before: Interval
    ratio: Interval
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Choice:
    """The decision by a preset's `shares` of the groups.

    `lacking` are groups that the run has no cases of: nobody is ranked then. Of those who keep to
    the limits, nobody is shown to be faster than `front`; `alike` where all of these are
    equivalent. `others` are the rest over the first of them, the fastest first. `absent` did not
    complete the cases of these groups. `blocks` hold all cases of the most complete pair; fewer
    than `least` rank nobody. A rate has to be sustained that nobody measured of `unrated`.
    """

    preset: str
    title: str
    summary: str
    shares: dict[str, float]
    lacking: list[str]
    front: list[str] = field(default_factory=list[str])
    alike: bool = False
    others: list[Standby] = field(default_factory=list[Standby])
    beyond: list[Beyond] = field(default_factory=list[Beyond])
    absent: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    changes: list[Change] = field(default_factory=list[Change])
    beside: list[Beside] = field(default_factory=list[Beside])
    blocks: int = 0
    least: int = 0
    open: Open | None = None
    catching: list[CatchUp] = field(default_factory=list[CatchUp])
    unrated: list[str] = field(default_factory=list[str])


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

    `sustaining` is what the same builds sustained when this machine last measured it.
    """

    choices: list[Choice]
    old: list[OldEngine]
    again: Again = field(default_factory=Again)
    sustaining: Sustaining | None = None
    kind: Literal["weighed"] = field(default="weighed")


@dataclass(frozen=True, slots=True)
class GroupParts:
    """What weighted figures take from a group; the lists have an entry per runner, None where it
    did not complete the group.

    `canary` is the mean of the canary's log ratios with its error, degrees of freedom and blocks.
    `time` and `cpu` are mean logarithms of ns, `memory` is the most bytes of a process; each None
    where that is not known.
    """

    name: str
    cases: int
    canary: tuple[float, float, float, int] | None
    time: list[float | None]
    cpu: list[float | None]
    memory: list[float | None]


@dataclass(frozen=True, slots=True)
class PairParts:
    """What weighted figures take from a pair: `stats.weights.Parts` by session, each `square` as
    its lower triangle, row by row; `single` is the verdict on the case of a group of one."""

    runner: str
    reference: str
    mean: list[list[float | None]]
    square: list[list[float | None]]
    left: list[int]
    count: list[int]
    single: list[Verdict | None]


@dataclass(frozen=True, slots=True)
class Weighing:
    """From this the page recomputes the decision for other weights.

    An interval has the coverage `level`, and `z` is that of a normal one; `start` is the longest
    start of each runner in ns.
    """

    level: float
    z: float
    least: int
    runners: list[str]
    groups: list[GroupParts]
    pairs: list[PairParts]
    start: list[float | None]
    catching: list[CatchUp]
