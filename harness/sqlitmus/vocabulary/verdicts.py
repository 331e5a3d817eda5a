"""What may be said of a comparison: each verdict once, with all that is ever shown of it."""

from enum import StrEnum
from typing import Literal, Self

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
        amount: str | None = None,
    ) -> Self:
        """`symbols` are the symbol and its ASCII form, with a space between them."""
        verdict = str.__new__(cls, words)
        verdict._value_ = words
        verdict.letter = letter
        verdict.symbol, verdict.ascii = symbols.split()
        verdict.side = side
        verdict.material = words.startswith("materially ")
        verdict.rank = rank
        verdict.amount = amount or words
        verdict.meaning = meaning
        return verdict

    MATERIALLY_FASTER = (
        "materially faster",
        "F",
        "▲ ++",
        "faster",
        3,
        "the gain is resolved, and it is larger than the margin",
        "materially less",
    )
    FASTER = (
        "faster",
        "f",
        "△ +",
        "faster",
        2,
        "the gain is resolved; it may be smaller than the margin",
        "less",
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
        "more",
    )
    MATERIALLY_SLOWER = (
        "materially slower",
        "S",
        "▼ --",
        "slower",
        0,
        "the loss is resolved, and it is larger than the margin",
        "materially more",
    )
    NOT_RESOLVED = (
        "not resolved",
        "n",
        "? ?",
        "undecided",
        4,
        "this run cannot tell them apart: that is not “the same”",
    )
    NOT_TESTABLE = (
        "not testable",
        "t",
        "· .",
        "undecided",
        5,
        "too few blocks for any verdict",
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
