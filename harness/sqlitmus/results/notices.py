"""Under what a report was made, and what a reader should know before believing a number, as
data.
"""

from dataclasses import dataclass, field
from typing import Literal

from sqlitmus.results.ranking import Interval
from sqlitmus.vocabulary.verdicts import Scheme


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of provenance: a fact for each runner; `differs` when they are not all equal."""

    group: str
    name: str
    values: dict[str, str]
    differs: bool


@dataclass(frozen=True, slots=True)
class Block:
    """What was read of the machine around a block, in the order in which blocks were measured.

    `number` is the block's (0 = first). `probe_ns` is the time of the fixed work around it; shares
    are of the block's wall time, None where the system does not tell.
    """

    number: int
    probe_ns: int | None
    steal: float | None
    cpu_pressure: float | None
    io_pressure: float | None
    load: float | None
    throttled: bool | None


@dataclass(frozen=True, slots=True)
class Taken:
    """What others took from processes that took turns, where that was looked at: as a share of the
    laps of a process that count, the median process and the most; and the share of rounds that do
    not count for it."""

    median: float
    most: float
    left_out: float


@dataclass(frozen=True, slots=True)
class SelfTest:
    """A self-test on this machine, as sentences: when, what was found, whether it holds, and how
    its processes were measured."""

    created: str
    lines: list[str]
    passed: bool
    scheme: Scheme


# What a reader should know before believing a number, as data; renderers word it.


NoticeKind = Literal[
    "unfinished",
    "under way",
    "control",
    "settled",
    "shared",
    "ended",
    "holes",
    "few blocks",
    "flat",
    "sqlite",
    "durability",
    "journal",
    "fewer syncs",
    "other syncs",
    "plans",
    "answers",
    "against oracle",
    "cores unknown",
    "oversubscribed",
    "not warm",
    "not steady",
    "restless",
    "warming up",
    "refused",
    "below floor",
    "governor",
    "emulated",
    "runs differ",
]


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice: `count` of `of`, the `names` that it is about (cases, a governor, numbers of
    blocks), or the `values` by runner or run. `level` and `looks` are those of a run that its gate
    settled, `run` is the run where there are two.
    """

    kind: NoticeKind
    count: int = 0
    of: int = 0
    names: list[str] = field(default_factory=list[str])
    values: dict[str, str] = field(default_factory=dict[str, str])
    level: float = 0.0
    looks: int = 0
    run: str = ""


@dataclass(frozen=True, slots=True)
class CanarySummary:
    """The reference against itself: `runner` is None where each case has another one.

    In `alarms` of `tested` cases the two differ at 1 %; `many` where chance does not explain it.
    `furthest` is the ratio furthest from 1, None where nothing was tested.
    """

    runner: str | None
    tested: int
    alarms: int
    furthest: Interval | None
    many: bool
