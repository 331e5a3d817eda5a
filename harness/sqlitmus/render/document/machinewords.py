"""What is said of merged machines and of what holds on them."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlitmus.results.machines import Machine, MergedReport, Row
from sqlitmus.vocabulary.nouns import listed
from sqlitmus.vocabulary.terms import HoldsWord


@dataclass(frozen=True, slots=True)
class HoldWord:
    """`ascii` stands in for the symbol on plain terminals; a row is `folded` where it says nothing
    for or against a runner."""

    symbol: str
    ascii: str
    folded: bool
    meaning: str


# In the order in which rows are kept where not all have room.
WORDS: dict[HoldsWord, HoldWord] = {
    "depends on the machine": HoldWord(
        "≠",
        "!=",
        False,
        "machines contradict each other: faster on one and slower on another, or materially so on "
        "one and equivalent on another",
    ),
    "holds on all": HoldWord("✓", "ok", False, "every machine with an answer says the same"),
    "holds on most": HoldWord(
        "◐", "~", False, "two or more machines and more than half say the same, the others nothing"
    ),
    "on one machine only": HoldWord(
        "1", "1", False, "one machine has an answer, and it is decided"
    ),
    "not resolved": HoldWord("?", "?", True, "too few machines can tell"),
    "no answer": HoldWord("∅", "0", True, "no machine has both runners"),
}


def said(row: Row) -> str:
    """`materially faster: holds on all 6`, or the word alone."""
    return row.text if row.verdict is None else f"{row.verdict}: {row.text}"


def side(row: Row) -> str:
    """The side of what the machines agree on: f, s, eq or un."""
    return "un" if row.verdict is None else row.verdict.style


def folded(row: Row) -> bool:
    """Whether a row is behind a fold."""
    return WORDS[row.word].folded


def count(rows: Iterable[Row]) -> str:
    """`12 not resolved, 3 no answer`: the words that occur."""
    kinds = [row.word for row in rows]
    return ", ".join(f"{kinds.count(word)} {word}" for word in WORDS if word in kinds)


def blocks(machine: Machine) -> str:
    """`30`, or `12 of 30`."""
    if machine.blocks == machine.blocks_planned:
        return str(machine.blocks)
    return f"{machine.blocks} of {machine.blocks_planned}"


def sqlite(machine: Machine) -> str:
    """The version of SQLite, or each with the runners that have it."""
    if len(machine.sqlite) < 2:
        return next(iter(machine.sqlite), "unknown")
    return "; ".join(f"{version}: {', '.join(names)}" for version, names in machine.sqlite.items())


def absent(report: MergedReport) -> list[str]:
    """What is not in the report, as sentences: machines and emulated runners."""
    lines = [f"{name} was expected and did not arrive." for name in report.expected]
    for machine in report.machines:
        if machine.emulated:
            names = ", ".join(machine.emulated)
            lines.append(f"{machine.name}: emulated, so not counted in any word or mean: {names}.")
    return lines


def schemes(report: MergedReport) -> list[str]:
    """That machines did not all measure in the same scheme."""
    turned, alone = (
        [machine.name for machine in report.machines if machine.scheme == scheme]
        for scheme in ("relay", "process")
    )
    if not (turned and alone):
        return []
    sentence = (
        f"On {listed(turned)} the processes of a case took turns, and on {listed(alone)} they ran "
        "one after the other, which can change a ratio by itself."
    )
    return [sentence]
