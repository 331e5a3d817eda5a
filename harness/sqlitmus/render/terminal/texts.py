"""Cells of a table as coloured text."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from sqlitmus.render.document.table import Cell, Row, Table
from sqlitmus.vocabulary.plain import one_line

STYLES = {
    "f": "blue",
    "s": "yellow",
    "un": "dim",
    "na": "dim",
    "em": "dim",
    "open": "dim",
    "bad": "red",
    "same": "blue",
    "other": "yellow",
    "turned": "red",
}


def texts_of(row: Row, table: Table, *, plain: bool, notes: bool = True) -> list[Text]:
    """A row's head and cells; `notes` stand in brackets behind them."""
    cells = [_text(cell, plain=plain, notes=notes) for cell in row.cells]
    head = Text(one_line(row.head.text), style="red" if row.style == "bad" else "")
    return [head, *cells, *(Text() for _ in range(len(table.columns) - len(cells)))]


def _text(cell: Cell, *, plain: bool, notes: bool) -> Text:
    note = f"({cell.note})" if cell.note and notes else ""
    parts = (_mark(cell, plain=plain), cell.text, cell.bounds, note)
    return Text(one_line(" ".join(filter(None, parts))), style=_style(cell))


def _style(cell: Cell) -> str:
    return STYLES.get(cell.style.rstrip("0123456789"), "")


def short(cell: Cell, *, plain: bool) -> Text:
    """The value and its mark, without bounds."""
    parts = (cell.text, _mark(cell, plain=plain))
    return Text(one_line(" ".join(filter(None, parts))), style=_style(cell))


def _mark(cell: Cell, *, plain: bool) -> str:
    if cell.mark is None:
        return ""
    return cell.mark.ascii if plain else cell.mark.symbol


def listed(before: str, parts: Sequence[str], width: int) -> Text:
    """The parts after each other, separated by commas, none of them broken over lines."""
    lines = [one_line(before)]
    for number, part in enumerate(parts):
        text = one_line(part) + ("," if number < len(parts) - 1 else "")
        if lines[-1] and cell_len(lines[-1]) + 1 + cell_len(text) > width:
            lines.append(text)
        else:
            lines[-1] = f"{lines[-1]} {text}".lstrip()
    return Text("\n".join(lines), style="dim")
