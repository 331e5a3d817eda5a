"""A document with no more rows than fit into a page: those of the lowest rank stay."""

from dataclasses import replace

from sqlitmus.render.document.model import Block, Document, Section
from sqlitmus.render.document.table import Row, Table
from sqlitmus.vocabulary.nouns import counted

# About what a row takes in bytes besides its cells' texts, and each of its cells.
ROW, CELL = 500, 130


def fitted(document: Document, room: int) -> tuple[Document, str]:
    """The document with the rows that fit into `room` bytes, and a sentence on those that do not;
    "" for none."""
    rows = [row for table in document.tables() for row in table.every_row]
    fitting: set[int] = set()
    for row in sorted(rows, key=lambda row: row.rank):
        room -= size(row)
        if room < 0:
            break
        fitting.add(id(row))
    if len(fitting) == len(rows):
        return document, ""
    shorter = replace(
        document, sections=[_section(section, fitting) for section in document.sections]
    )
    note = f"Left out for length: {counted(len(rows) - len(fitting), 'row')}. {document.whole}"
    return shorter, note


def size(row: Row) -> int:
    """About how many bytes a row takes."""
    texts = sum(len(cell.text) + len(cell.bounds) + len(cell.tooltip) for cell in row.cells)
    return ROW + CELL * len(row.cells) + texts


def _section(section: Section, fitting: set[int]) -> Section:
    return replace(
        section,
        blocks=[_block(block, fitting) for block in section.blocks],
        sections=[_section(below, fitting) for below in section.sections],
    )


def _block(block: Block, fitting: set[int]) -> Block:
    if not isinstance(block, Table):
        return block
    folded = block.folded
    if folded is not None:
        rows = [row for row in folded.rows if id(row) in fitting]
        folded = replace(folded, rows=rows) if rows else None
    return replace(block, rows=[row for row in block.rows if id(row) in fitting], folded=folded)
