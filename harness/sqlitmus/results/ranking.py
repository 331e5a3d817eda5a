"""Who is ahead, who ties, who is behind by how much, who is excluded, and what would change it."""

from dataclasses import dataclass, field
from typing import Literal

from sqlitmus.results.estimate import Interval
from sqlitmus.vocabulary.verdicts import Side, Verdict

Limit = Literal["memory", "start-up", "p99", "durability", "warm-up"]


@dataclass(frozen=True, slots=True)
class Contrast:
    """The time of `runner` over the reference's, and what it shows. `implied` is the side on which
    a chain of other contrasts puts the runner where this one does not tell."""

    runner: str
    reference: str
    ratio: Interval
    verdict: Verdict
    implied: Side = "undecided"


@dataclass(frozen=True, slots=True)
class Excluded:
    """Why `runner` is not ranked: it has no time to compare in `cases`, or exceeds a limit.

    Its `value` is more than `most`, in bytes or ns; None where it was not measured, or is the word
    that `shown` has; `cases` are then where, if there are several. In `warm-up`, the value is the
    time of the second half over that of the first.
    """

    runner: str
    why: Limit | Literal["cases"]
    value: float | None = None
    most: float | None = None
    shown: str = ""
    cases: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Cost:
    """What a runner costs: ns a query of the mix, or of 1,000 requests by a preset, and CPU ns of
    the same, bytes, ns to the first answer; None for what was not measured. `parts` are the shares
    of the time by the case that a preset calls."""

    runner: str
    time: Interval | None
    cpu: float | None
    memory: float | None
    start: float | None
    parts: dict[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class Change:
    """What would put `runner` ahead: it takes `ratio` times as long as the fastest in `case` alone.
    At so many `calls` of it per 1,000 requests both take as long; None where that is not known."""

    case: str
    runner: str
    ratio: Interval
    calls: float | None = None


@dataclass(frozen=True, slots=True)
class Open:
    """A tie: about so many `blocks` in all would settle `runner` against `reference` in four of
    five runs, if their ratio here is the true one."""

    runner: str
    reference: str
    blocks: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """An order of runners by contrasts whose intervals hold together.

    Nobody is shown to be faster than those in `front`: one is the fastest, several are tied, and
    `equivalent` where each is to each other. `contrasts` are all others over the `reference`, the
    fastest first. Without a reference they are of those behind alone, each over the first in front
    that it is shown to be slower than. `close` are slower than the fastest by less than `margin`.
    """

    front: list[str]
    equivalent: bool = False
    contrasts: list[Contrast] = field(default_factory=list[Contrast])
    close: list[str] = field(default_factory=list[str])
    margin: float = 0.0
    reference: str | None = None
    excluded: list[Excluded] = field(default_factory=list[Excluded])
    changes: list[Change] = field(default_factory=list[Change])
    open: Open | None = None

    def contrast(self, runner: str) -> Contrast | None:
        """The contrast of a runner; None for the first in front, and for who is not ranked."""
        return next((each for each in self.contrasts if each.runner == runner), None)
