"""The machine over the run: what was read of it around each block, as a table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.model import Block, Chart, Paragraph, Section
from sqlitmus.render.document.table import Cell, Column, Head, Row, Table
from sqlitmus.results import conditions
from sqlitmus.results.report import Report

UNREADABLE = "not readable here"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a fact of a block is read, and how it is written."""

    title: str
    read: Callable[[conditions.Block], float | None]
    written: Callable[[float], str]


def section(report: Report, trust: list[str]) -> Section:
    """What the canary says of the noise, then the machine over the run."""
    below: list[Section] = []
    blocks: list[Block] = [
        Paragraph("Nothing was read of the machine between the blocks of this run.")
    ]
    if report.blocks:
        sessions = f", in {report.sessions} sessions" if report.sessions > 1 else ""
        lead = (
            f"One bar per block, in the order in which they were measured{sessions}. "
            f"{repeated(report.blocks)}"
        )
        numbers = Section(
            "conditions-numbers", "The same as a table", blocks=[_table(report.blocks)], folded=True
        )
        below = [
            Section(
                "conditions",
                "The machine over the run",
                [lead],
                [Chart("conditions", report)],
                [numbers],
            )
        ]
        blocks = []
    return Section("noise", "Noise", trust[:2], blocks, below, detail=True)


def repeated(blocks: Sequence[conditions.Block]) -> str:
    """Which blocks were disturbed, in words."""
    again = [str(block.number + 1) for block in blocks if block.repeated]
    if not again:
        return "No block was disturbed."
    noun, was = ("Block", "was") if len(again) == 1 else ("Blocks", "were")
    return (
        f"{noun} {', '.join(again)} {was} disturbed and measured again; a line above the bar marks "
        "what is not used."
    )


def _table(blocks: Sequence[conditions.Block]) -> Table:
    rows = [
        Row(
            Head(str(block.number + 1)),
            [
                *(Cell(written(reading, block)) for reading in READINGS),
                Cell("disturbed, measured again" if block.repeated else ""),
            ],
        )
        for block in blocks
    ]
    columns = [
        *(Column(each.title, each.title) for each in READINGS),
        Column("repeated", "repeated", "text"),
    ]
    title = "What was read of the machine around each block, in measured order"
    return Table("conditions", Column("block", "block", "text"), columns, rows, title=title)


def written(reading: Reading, block: conditions.Block) -> str:
    """A fact of a block as text."""
    value = reading.read(block)
    return UNREADABLE if value is None else reading.written(value)


PROBE = Reading("Fixed work", lambda block: block.probe_ns, fmt.duration)
STEAL = Reading("CPU stolen", lambda block: block.steal, fmt.percent)
CPU_PRESSURE = Reading("CPU pressure", lambda block: block.cpu_pressure, fmt.percent)
IO_PRESSURE = Reading("I/O pressure", lambda block: block.io_pressure, fmt.percent)
LOAD = Reading("Load", lambda block: block.load, lambda value: f"{value:.2f}")
THROTTLED = Reading(
    "Throttled", lambda block: block.throttled, lambda value: "yes" if value else "no"
)
READINGS = (PROBE, STEAL, CPU_PRESSURE, IO_PRESSURE, LOAD, THROTTLED)
