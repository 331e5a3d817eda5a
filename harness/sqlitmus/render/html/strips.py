"""The machine over the run: a strip of bars per reading; no markup."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlitmus.render.document.conditions import (
    CPU_PRESSURE,
    IO_PRESSURE,
    LOAD,
    PROBE,
    STEAL,
    THROTTLED,
    UNREADABLE,
    Reading,
)
from sqlitmus.results.conditions import Block
from sqlitmus.results.report import Report, Runner
from sqlitmus.vocabulary.nouns import counted

WIDTH = 10
HEIGHT = 30
MARK = 6
# Less than these full heights would make a quiet machine look restless.
LEAST_PROBE = 0.05
LEAST_SHARE = 0.05
LEAST_LOAD = 1.0
Heights = Callable[[Sequence[float | None]], list[float | None]]


@dataclass(frozen=True, slots=True)
class Strip:
    """One reading over the blocks: bars as an SVG path, "" where it was never read, and its range
    in words."""

    title: str
    bars: str
    said: str


@dataclass(frozen=True, slots=True)
class Strips:
    """All of them, `width` px wide; `marks` is a path over the blocks that were repeated."""

    width: int
    strips: list[Strip]
    marks: str


def strips(report: Report, _: Sequence[Runner]) -> Strips:
    """Strips and marks of a report's blocks."""
    again = [place for place, block in enumerate(report.blocks) if block.repeated]
    marks = "".join(f"M{place * WIDTH} 0h{WIDTH}v{MARK / 2:g}h-{WIDTH}" for place in again)
    drawn = [strip(reading, heights, report.blocks) for reading, heights in DRAWN]
    return Strips(len(report.blocks) * WIDTH, drawn, marks)


def strip(reading: Reading, heights: Heights, blocks: Sequence[Block]) -> Strip:
    """Bars of one reading and its range."""
    values = [reading.read(block) for block in blocks]
    read = [value for value in values if value is not None]
    if not read:
        return Strip(reading.title, "", UNREADABLE)
    bars = "".join(
        f"M{place * WIDTH + 1} {HEIGHT}v{-(HEIGHT - MARK) * height:.4g}h{WIDTH - 2}V{HEIGHT}"
        for place, height in enumerate(heights(values))
        if height
    )
    low, high = reading.written(min(read)), reading.written(max(read))
    span = low if low == high else f"{low} to {high}"
    unread = len(values) - len(read)
    if unread:
        span += f"; {UNREADABLE} in {counted(unread, 'block')}"
    return Strip(reading.title, bars or f"M0 {HEIGHT}", span)


def over_fastest(values: Sequence[float | None]) -> list[float | None]:
    """Height by how much longer than the fastest, so that a drift of a few percent can be seen."""
    read = [value for value in values if value is not None]
    least = min(read)
    top = max(max(read) / least - 1, LEAST_PROBE)
    return [None if value is None else (value / least - 1) / top for value in values]


def from_zero(least: float) -> Heights:
    """Height in proportion to the largest value, or to `least` if that is larger."""

    def heights(values: Sequence[float | None]) -> list[float | None]:
        top = max([least, *(value for value in values if value is not None)])
        return [None if value is None else value / top for value in values]

    return heights


DRAWN: tuple[tuple[Reading, Heights], ...] = (
    (PROBE, over_fastest),
    (STEAL, from_zero(LEAST_SHARE)),
    (CPU_PRESSURE, from_zero(LEAST_SHARE)),
    (IO_PRESSURE, from_zero(LEAST_SHARE)),
    (LOAD, from_zero(LEAST_LOAD)),
    (THROTTLED, from_zero(1.0)),
)
