"""Claims as text for a terminal."""

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sqlitmus.render.document import claims as claimwords
from sqlitmus.render.document.matrix import one_line
from sqlitmus.results.claims import Row
from sqlitmus.results.report import Report

STYLES = {"same": "blue", "other": "yellow", "turned": "red", "open": "dim"}
# Columns of numbers beside each other.
BAND = 7
NUMBERS = {"published", "here [95 %]", "base \u2192 new", "blocks"}


def parts(report: Report, *, plain: bool, all_rows: bool) -> list[RenderableType]:
    """Every claim; of a long group only the key rows and the count of the others, unless
    `all_rows`."""
    found: list[RenderableType] = []
    for claim in report.claims:
        found += [Text(), Text(one_line(claim.title), style="bold")]
        found += [Text(one_line(f"{name}: {text}")) for name, text in claimwords.facts(claim)]
        for group in claim.groups:
            found += [Text(), Text(one_line(f"{group.title} ({claimwords.measured(group)})"))]
            rows, counted = claimwords.shown(group, all_rows=all_rows)
            if rows:
                found.append(rows_table(rows, plain=plain))
            if counted:
                note = f"{claimwords.tally(counted)}; the HTML shows them"
                found.append(Padding(Text(note, style="dim"), (0, 0, 0, 2)))
        for title, summary, grid, problems in claimwords.grids(claim):
            found += [Text(), Text(one_line(f"{title}. {summary}".rstrip()))]
            found += bands(grid)
            found += [Text(one_line(problem), style="dim") for problem in problems]
    return found


def bands(grid: claimwords.Grid) -> list[RenderableType]:
    """The table, cut into several of so few columns of numbers that each fits."""
    found: list[RenderableType] = []
    for start in range(grid.left, len(grid.header), BAND):
        header, *lines = (
            [*line[: grid.left], *line[start : start + BAND]] for line in (grid.header, *grid.lines)
        )
        table = empty(header, set(header[grid.left :]))
        for cells in lines:
            table.add_row(*(Text(one_line(cell)) for cell in cells))
        found.append(table)
    return found


def empty(header: list[str], numbers: set[str]) -> Table:
    """A table with these columns; `numbers` stand to the right."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1, 0, 0))
    for name in header:
        table.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    return table


def rows_table(rows: list[Row], *, plain: bool) -> Table:
    """Rows of one group."""
    table = empty(list(claimwords.HEADER), NUMBERS)
    for row in rows:
        line = claimwords.line(row)
        look = claimwords.WORDS[row.verdict] if row.verdict else None
        symbol = (look.ascii if plain else look.symbol) + " " if look else ""
        here = f"{line.ratio} {line.bounds}".rstrip()
        cells = (row.name, row.runner, line.published, here, line.times)
        table.add_row(
            *(Text(one_line(cell)) for cell in cells),
            Text(one_line(f"{symbol}{line.said}"), style=STYLES[look.style] if look else "dim"),
            Text(line.blocks),
        )
    return table
