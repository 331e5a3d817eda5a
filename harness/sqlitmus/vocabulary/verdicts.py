"""What may be said of a comparison, and of a published figure: each word once, with all that is
ever shown of it.
"""

from enum import StrEnum
from typing import Literal, Self

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

    def __new__(
        cls,
        words: str,
        letter: str,
        symbols: str,
        side: Side,
        rank: int,
        meaning: str,
    ) -> Self:
        """`symbols` are the symbol and its ASCII form, with a space between them."""
        verdict = str.__new__(cls, words)
        verdict._value_ = words
        verdict.letter = letter
        verdict.symbol, verdict.ascii = symbols.split()
        verdict.side = side
        verdict.material = words.startswith("materially ")
        verdict.rank = rank
        verdict.amount = words.replace("faster", "less").replace("slower", "more")
        verdict.meaning = meaning
        return verdict

    MATERIALLY_FASTER = (
        "materially faster",
        "F",
        "▲ ++",
        "faster",
        3,
        "the gain is resolved, and it is larger than the margin",
    )
    FASTER = (
        "faster",
        "f",
        "△ +",
        "faster",
        2,
        "the gain is resolved; it may be smaller than the margin",
    )
    EQUIVALENT = (
        "equivalent",
        "e",
        "≈ =",
        "equivalent",
        6,
        "any difference is smaller than the margin",
    )
    SLOWER = (
        "slower",
        "s",
        "▽ -",
        "slower",
        1,
        "the loss is resolved; it may be smaller than the margin",
    )
    MATERIALLY_SLOWER = (
        "materially slower",
        "S",
        "▼ --",
        "slower",
        0,
        "the loss is resolved, and it is larger than the margin",
    )
    NOT_RESOLVED = (
        "not resolved",
        "n",
        "? ?",
        "undecided",
        4,
        "no significant difference in this run: that is not “the same”",
    )
    NOT_TESTABLE = (
        "not testable",
        "t",
        "· .",
        "undecided",
        5,
        "too few blocks, or no interval, for any verdict",
    )

    @property
    def code(self) -> int:
        """The place of the verdict in stored columns, from 0."""
        return list(Verdict).index(self)

    @property
    def opposite(self) -> "Verdict":
        """The verdict with runner and reference exchanged."""
        return _OPPOSITE[self]

    @property
    def different(self) -> bool:
        """Whether a difference is resolved."""
        return self.side in ("faster", "slower")

    @property
    def style(self) -> str:
        """The style class of the verdict's side."""
        return STYLES[self.side]


def _opposite(verdict: Verdict) -> Verdict:
    exchanged: dict[Side, Side] = {"faster": "slower", "slower": "faster"}
    side = exchanged.get(verdict.side)
    same = (v for v in Verdict if v.side == side and v.material == verdict.material)
    return next(same, verdict)


_OPPOSITE = {verdict: _opposite(verdict) for verdict in Verdict}


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
    `lesson` which of a claim's lessons it calls for, `meaning` what the legend says. The signs of a
    claim's rows, in a line, are its strip.
    """

    symbol: str
    ascii: str
    style: Style
    lesson: LessonName
    meaning: str

    def __new__(
        cls, word: str, symbols: str, style: Style, lesson: LessonName, meaning: str
    ) -> Self:
        """`symbols` are the symbol and its ASCII form, with a space between them."""
        made = str.__new__(cls, word)
        made._value_ = word
        made.symbol, made.ascii = symbols.split()
        made.style, made.lesson, made.meaning = style, lesson, meaning
        return made

    @property
    def short(self) -> str:
        """The word where it stands beside what it is of: "smaller", "not testable"."""
        return self.removesuffix(" than published").removesuffix(" here")

    REPRODUCED = (
        "reproduced",
        "\u25a0 #",
        "same",
        "reproduced",
        "the whole interval counts as published",
    )
    COMPATIBLE = (
        "compatible",
        "\u25a3 +",
        "near",
        "compatible",
        "an effect in the published direction; its size is not precise enough to compare",
    )
    SMALLER = (
        "smaller than published",
        "\u25ea v",
        "other",
        "different",
        "the whole interval lies below what counts as published",
    )
    LARGER = (
        "larger than published",
        "\u25e9 ^",
        "other",
        "larger",
        "the whole interval lies above what counts as published",
    )
    NO_EFFECT = (
        "no effect",
        "\u2715 x",
        "turned",
        "reversed",
        "an effect was published; here the whole interval lies within the margin of 1",
    )
    REVERSED = (
        "reversed",
        "\u21c4 <",
        "turned",
        "reversed",
        "a significant effect in the other direction",
    )
    OTHER_WORK = (
        "not the same work",
        "\u2260 !",
        "turned",
        "other_work",
        "the authors\u2019 own programs give another figure here: this is no word on them",
    )
    NOT_RESOLVED = (
        "not resolved",
        "\u25a1 ?",
        "open",
        "unresolved",
        "the interval includes 1 and some of what counts as published",
    )
    NOT_TESTABLE = (
        "not testable here",
        "\u2205 0",
        "open",
        "untestable",
        "not measured here, for the reason given",
    )

    @property
    def decides(self) -> int:
        """The place in what decides a claim: what refutes it outweighs what agrees, and that what
        is open."""
        return DECISIVE.index(self)


DECISIVE = [
    ClaimWord.OTHER_WORK,
    ClaimWord.REVERSED,
    ClaimWord.NO_EFFECT,
    ClaimWord.SMALLER,
    ClaimWord.LARGER,
    ClaimWord.REPRODUCED,
    ClaimWord.COMPATIBLE,
    ClaimWord.NOT_RESOLVED,
    ClaimWord.NOT_TESTABLE,
]
