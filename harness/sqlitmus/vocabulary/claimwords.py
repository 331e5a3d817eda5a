"""What may be said of a published figure: each word once, with all that is ever shown of it."""

from collections.abc import Collection
from enum import StrEnum
from typing import Literal, Self

Style = Literal["same", "near", "other", "turned", "open"]
# Which of a claim's lessons belongs to a word.
LessonName = Literal[
    "reproduced", "compatible", "different", "larger", "unresolved", "reversed", "untestable", ""
]


class ClaimWord(StrEnum):
    """A measured figure against a published one, in a word. The order of definition is that of
    tallies.

    `symbol` stands for the word in tables, `ascii` in plain ones; `style` is its style class,
    `rank` how much it settles (2 = how the figure here and the published one lie to each other,
    1 = only that there is an effect, 0 = nothing), `lesson` which of a claim's lessons it calls
    for, `meaning` what the legend says.
    """

    symbol: str
    ascii: str
    style: Style
    rank: int
    lesson: LessonName
    meaning: str

    def __new__(
        cls, word: str, symbols: str, style: Style, rank: int, lesson: LessonName, meaning: str
    ) -> Self:
        """`symbols` are the symbol and its ASCII form, with a space between them."""
        made = str.__new__(cls, word)
        made._value_ = word
        made.symbol, made.ascii = symbols.split()
        made.style, made.rank, made.lesson, made.meaning = style, rank, lesson, meaning
        return made

    REPRODUCED = (
        "reproduced",
        "\u2713 +",
        "same",
        2,
        "reproduced",
        "the whole interval counts as the published size",
    )
    COMPATIBLE = (
        "compatible",
        "\u2248 ~",
        "near",
        1,
        "compatible",
        "told from 1, but not precise enough to say whether it has the published size",
    )
    SMALLER = (
        "smaller than published",
        "\u2193 v",
        "other",
        2,
        "different",
        "the whole interval lies below what counts as the published size",
    )
    LARGER = (
        "larger than published",
        "\u2191 ^",
        "other",
        2,
        "larger",
        "the whole interval lies above what counts as the published size",
    )
    NO_EFFECT = (
        "no effect",
        "\u25cb o",
        "turned",
        2,
        "reversed",
        "an effect was published; here the whole interval lies within the margin of 1",
    )
    REVERSED = (
        "reversed",
        "\u2717 x",
        "turned",
        2,
        "reversed",
        "told from 1, on its other side",
    )
    MIXED = (
        "mixed",
        "\u00b1 *",
        "other",
        2,
        "",
        "of a whole claim: its rows came out differently; the counts beside it say how",
    )
    NOT_RESOLVED = (
        "not resolved",
        "? ?",
        "open",
        0,
        "unresolved",
        "the interval includes 1 and some of what counts as the published size",
    )
    NOT_TESTABLE = (
        "not testable here",
        "\u2205 0",
        "open",
        0,
        "untestable",
        "not measured here, for the reason given",
    )

    @classmethod
    def of_all(cls, words: Collection["ClaimWord"]) -> "ClaimWord":
        """The word of a claim with rows of these `words`: the most that holds for each of them.

        Rows that are not testable here say nothing. Settled rows of different words are mixed,
        whatever the others would come to. Else one row that is not resolved leaves the claim open,
        and one that is compatible makes a reproduced one compatible and any other mixed.
        """
        telling = set(words) - {cls.NOT_TESTABLE}
        settled = {word for word in telling if word.rank == cls.REPRODUCED.rank}
        # no effect is smaller than any published one
        if settled == {cls.SMALLER, cls.NO_EFFECT}:
            settled = {cls.SMALLER}
        if not telling:
            return cls.NOT_TESTABLE
        if len(settled) > 1:
            return cls.MIXED
        if cls.NOT_RESOLVED in telling:
            return cls.NOT_RESOLVED
        if cls.COMPATIBLE in telling:
            return cls.COMPATIBLE if settled <= {cls.REPRODUCED} else cls.MIXED
        return next(iter(settled))
