"""The machine over the run as the page sees it: a strip of bars per fact, and a table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlitmus.render.document import format as fmt
from sqlitmus.results.conditions import Block
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.nouns import counted

WIDTH = 10
HEIGHT = 30
MARK = 6
UNREADABLE = "not readable here"
# Less than these full heights would make a quiet machine look restless.
LEAST_PROBE = 0.05
LEAST_SHARE = 0.05
LEAST_LOAD = 1.0


@dataclass(frozen=True, slots=True)
class Strip:
    """One fact over the blocks: bars as an SVG path, "" where it was never read, and its range in
    words."""

    title: str
    bars: str
    said: str


@dataclass(frozen=True, slots=True)
class NoiseView:
    """All strips; `marks` is a path over the blocks that were repeated, `rows` are (block, a text
    per strip, repeated)."""

    count: int
    strips: list[Strip]
    marks: str
    repeated: str
    rows: list[tuple[int, list[str], bool]]


@dataclass(frozen=True, slots=True)
class Fact:
    """How one fact of a block is read, drawn and written."""

    title: str
    read: Callable[[Block], float | None]
    written: Callable[[float], str]
    heights: Callable[[Sequence[float | None]], list[float | None]]


def noise(report: Report) -> NoiseView:
    """Strips, marks and table of a report's blocks."""
    blocks = report.blocks
    columns = [[fact.read(block) for block in blocks] for fact in FACTS]
    strips = [strip(fact, column) for fact, column in zip(FACTS, columns, strict=True)]
    again = [place for place, block in enumerate(blocks) if block.repeated]
    marks = "".join(f"M{place * WIDTH} 0h{WIDTH}v{MARK / 2:g}h-{WIDTH}" for place in again)
    rows = [
        (
            block.number + 1,
            [
                UNREADABLE if column[place] is None else fact.written(column[place] or 0.0)
                for fact, column in zip(FACTS, columns, strict=True)
            ],
            block.repeated,
        )
        for place, block in enumerate(blocks)
    ]
    return NoiseView(len(blocks), strips, marks, repeated(again, blocks), rows)


def strip(fact: Fact, values: Sequence[float | None]) -> Strip:
    """Bars of one fact and its range."""
    read = [value for value in values if value is not None]
    if not read:
        return Strip(fact.title, "", UNREADABLE)
    bars = "".join(
        f"M{place * WIDTH + 1} {HEIGHT}v{-(HEIGHT - MARK) * height:.4g}h{WIDTH - 2}V{HEIGHT}"
        for place, height in enumerate(fact.heights(values))
        if height
    )
    low, high = fact.written(min(read)), fact.written(max(read))
    span = low if low == high else f"{low} to {high}"
    unread = len(values) - len(read)
    if unread:
        span += f"; {UNREADABLE} in {counted(unread, 'block')}"
    return Strip(fact.title, bars or f"M0 {HEIGHT}", span)


def repeated(again: list[int], blocks: Sequence[Block]) -> str:
    """Which blocks were disturbed, in words."""
    if not again:
        return "No block was disturbed."
    names = ", ".join(str(blocks[place].number + 1) for place in again)
    noun = "Block" if len(again) == 1 else "Blocks"
    was = "was" if len(again) == 1 else "were"
    return (
        f"{noun} {names} {was} disturbed and measured again; a line above the bar marks what is "
        "not used."
    )


def over_fastest(values: Sequence[float | None]) -> list[float | None]:
    """Height by how much longer than the fastest, so that a drift of a few percent can be seen."""
    read = [value for value in values if value is not None]
    least = min(read)
    top = max(max(read) / least - 1, LEAST_PROBE)
    return [None if value is None else (value / least - 1) / top for value in values]


def from_zero(least: float) -> Callable[[Sequence[float | None]], list[float | None]]:
    """Height in proportion to the largest value, or to `least` if that is larger."""

    def heights(values: Sequence[float | None]) -> list[float | None]:
        top = max([least, *(value for value in values if value is not None)])
        return [None if value is None else value / top for value in values]

    return heights


def share(value: float) -> str:
    """A share of a block's wall time in percent."""
    return f"{value * 100:.1f} %"


def yes_or_no(value: float) -> str:
    """Whether the processor was slowed down."""
    return "yes" if value else "no"


FACTS = (
    Fact("Fixed work", lambda block: block.probe_ns, fmt.duration, over_fastest),
    Fact("CPU stolen", lambda block: block.steal, share, from_zero(LEAST_SHARE)),
    Fact("CPU pressure", lambda block: block.cpu_pressure, share, from_zero(LEAST_SHARE)),
    Fact("I/O pressure", lambda block: block.io_pressure, share, from_zero(LEAST_SHARE)),
    Fact("Load", lambda block: block.load, lambda value: f"{value:.2f}", from_zero(LEAST_LOAD)),
    Fact("Throttled", lambda block: block.throttled, yes_or_no, from_zero(1.0)),
)
