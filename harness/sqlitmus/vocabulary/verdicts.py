"""What may be said of a comparison, and of a published figure: each word once; `verdicts.toml` has
all that is ever shown of it.
"""

import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Self

_TABLE: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)

RunKind = Literal["suite", "compare", "claims", "advise", "selftest"]
Role = Literal["runner", "floor", "oracle", "variant"]
# The group of scenarios bound by SQLite itself: there to check the method, not to choose by.
CONTROLS = "controls"
CaseMetric = Literal["cold", "steady", "p99", "timer_p99"]
"""What the primary time of a case is: that of a whole process, of a unit of work, or the latency
that 99 % of operations have at most, from their scheduled start."""
# What became of an invocation; a cell may also be missing, because its runner is not installed.
Outcome = Literal["ok", "unsupported", "wrong", "failed"]
Untimed = Literal["unsupported", "wrong", "failed", "missing"]
CellOutcome = Literal["ok", Untimed]
Apart = Literal[
    "the load generator fell behind",
    "still warming up",
    "did not rest",
    "did less work",
    "did other work",
]
"""Why the time of a cell that is ok is compared with nothing."""
Correction = Literal["none", "holm", "bh"]
Steadiness = Literal["flat", "warm-up", "slowdown", "no steady state"]
Scheme = Literal["relay", "process"]
"""How the processes of a case are measured: all alive at once, taking turns; or one after the
other."""
ClaimMetric = Literal["steady", "wall", "loop", "cpu time", "p50", "p99", "p999", "max", "file"]
METRICS: dict[str, str] = _TABLE["metric"]
# The word and reasons of a claim's row, by how its interval lies to what was published.
POSITIONS: dict[str, dict[str, str]] = _TABLE["position"]
Ends = tuple[float, float]
PublishedKind = Literal["ratio", "at least", "at most", "range"]
# What several machines say together of one comparison.
HoldsWord = Literal[
    "holds on all",
    "holds on most",
    "depends on the machine",
    "on one machine only",
    "not resolved",
    "no answer",
]


Side = Literal["faster", "slower", "equivalent", "undecided"]
STYLES: dict[Side, str] = {"faster": "f", "slower": "s", "equivalent": "eq", "undecided": "un"}


class Verdict(StrEnum):
    """Runner against reference, in words. The order of definition is that of stored codes.

    `letter` stands for the verdict in the page's data, `symbol` in tables, `ascii` in plain ones.
    `material` is a difference beyond the margin. `rank` orders comparisons, most urgent first.
    `amount` is the verdict on a quantity that is no time, such as memory.
    """

    letter: str
    symbol: str
    ascii: str
    side: Side
    material: bool
    rank: int
    amount: str
    meaning: str

    def __new__(cls, words: str) -> Self:
        """The verdict of these words, with its row of the table."""
        verdict = str.__new__(cls, words)
        verdict._value_ = words
        vars(verdict).update(_TABLE["verdict"][words])
        verdict.material = words.startswith("materially ")
        verdict.amount = words.replace("faster", "less").replace("slower", "more")
        return verdict

    MATERIALLY_FASTER = "materially faster"
    FASTER = "faster"
    EQUIVALENT = "equivalent"
    SLOWER = "slower"
    MATERIALLY_SLOWER = "materially slower"
    NOT_RESOLVED = "not resolved"
    NOT_TESTABLE = "not testable"

    @property
    def code(self) -> int:
        """The place of the verdict in stored columns, from 0."""
        return list(Verdict).index(self)

    @property
    def opposite(self) -> "Verdict":
        """The verdict with runner and reference exchanged."""
        exchanged = {"faster": "slower", "slower": "faster"}.get(self.side, "")
        return Verdict(self.replace(self.side, exchanged)) if exchanged else self

    @property
    def different(self) -> bool:
        """Whether a difference is resolved."""
        return self.side in ("faster", "slower")

    @property
    def style(self) -> str:
        """The style class of the verdict's side."""
        return STYLES[self.side]


Style = Literal["same", "near", "other", "turned", "open"]
# Which of a claim's lessons belongs to a word.
LessonName = Literal[
    "reproduced",
    "compatible",
    "different",
    "larger",
    "other_work",
    "unresolved",
    "reversed",
    "untestable",
]


class ClaimWord(StrEnum):
    """A measured figure against a published one, in a word. The order of definition is that of
    tallies.

    `symbol` stands for the word in tables, `ascii` in plain ones; `style` is its style class,
    `lesson` which of a claim's lessons it calls for, `meaning` what the legend says. `decides` is
    the place in what decides a claim: what refutes it outweighs what agrees, and that what is open.
    The signs of a claim's rows, in a line, are its strip.
    """

    symbol: str
    ascii: str
    style: Style
    lesson: LessonName
    decides: int
    meaning: str

    def __new__(cls, word: str) -> Self:
        """The word, with its row of the table."""
        made = str.__new__(cls, word)
        made._value_ = word
        vars(made).update(_TABLE["claim"][word])
        return made

    @property
    def short(self) -> str:
        """The word where it stands beside what it is of: "smaller", "not testable"."""
        return self.removesuffix(" than published").removesuffix(" here")

    REPRODUCED = "reproduced"
    COMPATIBLE = "compatible"
    SMALLER = "smaller than published"
    LARGER = "larger than published"
    NO_EFFECT = "no effect"
    REVERSED = "reversed"
    OTHER_WORK = "not the same work"
    NOT_RESOLVED = "not resolved"
    NOT_TESTABLE = "not testable here"
