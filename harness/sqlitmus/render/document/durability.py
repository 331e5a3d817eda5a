"""What write cells make durable: a section of a document, and the words of one case."""

from collections.abc import Iterator

from sqlitmus.render.document.cells import NONE
from sqlitmus.render.document.model import Section
from sqlitmus.render.document.naming import heads
from sqlitmus.render.document.table import CASE, Cell, Column, Row, Table
from sqlitmus.results.report import Case, Report
from sqlitmus.results.report import Cell as Measured
from sqlitmus.vocabulary.nouns import by_value
from sqlitmus.vocabulary.syncs import durability

LEAD = (
    "Calls of fsync and fdatasync by one transaction, on the files of the database and their "
    "folder. They were counted in processes beside the timed ones, as the difference between two "
    "numbers of transactions."
)


def section(report: Report) -> Iterator[Section]:
    """A row per write case, if it is known of any whether its syncs were counted."""
    rows = [
        Row(head, [_cell(cells.get(runner.name)) for runner in report.runners])
        for case, head in zip(report.cases, heads(report.cases), strict=True)
        if in_words(case)
        for cells in ({cell.runner: cell for cell in case.cells},)
    ]
    if rows:
        columns = [Column(runner.name, runner.name) for runner in report.runners]
        table = Table("syncs", CASE, columns, rows, matrix=True)
        yield Section("syncs", "Syncs per transaction", [LEAD], [table])


def in_words(case: Case) -> str:
    """`4 fsync, 31.3 kB per transaction: node and bun; …`; nothing where nothing is known."""
    texts = {cell.runner: durability(cell.syncs, cell.uncounted) for cell in case.cells}
    return by_value({runner: text for runner, text in texts.items() if text})


def _cell(cell: Measured | None) -> Cell:
    if cell is None or not (cell.syncs or cell.uncounted):
        return NONE
    if cell.syncs is None:
        return Cell("not counted", style="na", emphasis="aside", tooltip=cell.uncounted or "")
    value = cell.syncs.per_transaction
    return Cell(f"{value:.3g}", style="un", value=value, tooltip=cell.syncs.words())
