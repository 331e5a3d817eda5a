"""Tables in so many columns of a terminal: ids and numbers stay whole, only texts wrap.

A table stands as a grid where that fits. Else its `wide` columns go; else each row's head gets a
line of its own; else the columns of numbers follow each other in bands. A matrix is turned: the
subjects are its rows, and as many cases as fit stand beside each other.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from sqlitmus.render.document.table import Column, Row, Table
from sqlitmus.render.terminal.texts import short, texts_of
from sqlitmus.vocabulary.plain import one_line

GAP = 2
INDENT = 2
# Texts wrap to no fewer columns than this.
NARROW = 20


def laid_out(
    table: Table, rows: Sequence[Row], width: int, *, plain: bool
) -> Iterator[RenderableType]:
    """The rows in the first of the ways above that fits into `width`."""
    if table.matrix:
        yield from _turned(table, rows, width, plain=plain)
        return
    columns = [table.head, *table.columns]
    whole = [texts_of(row, table, plain=plain) for row in rows]
    places = list(range(len(columns)))
    if _room(columns, whole, places) <= width:
        yield _grid(columns, whole, places, width)
        return
    texts = [texts_of(row, table, plain=plain, notes=False) for row in rows]
    narrow = [place for place in places if not columns[place].wide]
    if _room(columns, texts, narrow) <= width:
        yield _grid(columns, texts, narrow, width)
    elif _room(columns, texts, narrow[1:]) + INDENT <= width:
        yield from _stacked(columns, texts, narrow[1:], width)
    else:
        yield from _bands(columns, whole, places, width)


def _natural(column: Column, texts: Sequence[Sequence[Text]], place: int) -> int:
    """What a column needs where no cell wraps; the title of a number may stand on two lines."""
    title = cell_len(column.title)
    if column.kind == "number":
        title = max([(title + 1) // 2, *map(cell_len, column.title.split())])
    return max([title, *(cell_len(row[place].plain) for row in texts)])


def _least(
    columns: Sequence[Column], texts: Sequence[Sequence[Text]], places: Sequence[int]
) -> list[int]:
    """What each column needs at least: a text can wrap."""
    needs = [_natural(columns[place], texts, place) for place in places]
    return [
        min(need, NARROW) if columns[place].kind == "text" else need
        for need, place in zip(needs, places, strict=True)
    ]


def _room(columns: Sequence[Column], texts: Sequence[Sequence[Text]], places: Sequence[int]) -> int:
    """What these columns need at least beside each other."""
    return sum(_least(columns, texts, places)) + GAP * (len(places) - 1)


def _widths(
    columns: Sequence[Column], texts: Sequence[Sequence[Text]], places: Sequence[int], width: int
) -> list[int]:
    """What each column gets: what it needs at least, and texts what is left, from the left."""
    widths = _least(columns, texts, places)
    spare = width - sum(widths) - GAP * (len(places) - 1)
    for number, place in enumerate(places):
        needs = max(_natural(columns[place], texts, place), cell_len(columns[place].title))
        more = max(0, min(spare, needs - widths[number]))
        widths[number] += more
        spare -= more
    return widths


def _empty(
    columns: Sequence[Column], places: Sequence[int], widths: Sequence[int], *, header: bool = True
) -> Grid:
    grid = Grid(
        box=None, pad_edge=False, show_header=header, header_style="dim", padding=(0, GAP, 0, 0)
    )
    for place, width in zip(places, widths, strict=True):
        column = columns[place]
        justify = "right" if column.kind == "number" else "left"
        title = Text(one_line(column.title))
        grid.add_column(title, width=width, justify=justify, overflow="fold")
    return grid


def _grid(
    columns: Sequence[Column], texts: Sequence[Sequence[Text]], places: Sequence[int], width: int
) -> Grid:
    grid = _empty(columns, places, _widths(columns, texts, places, width))
    for row in texts:
        grid.add_row(*(row[place] for place in places))
    return grid


def _stacked(
    columns: Sequence[Column], texts: Sequence[Sequence[Text]], below: Sequence[int], width: int
) -> Iterator[RenderableType]:
    """Each row's head, and its cells in the line below; equal heads once."""
    widths = _widths(columns, texts, below, width - INDENT)
    yield Padding(_empty(columns, below, widths), (0, 0, 0, INDENT))
    for _, same in groupby(texts, key=lambda row: row[0].plain):
        rows = list(same)
        yield rows[0][0]
        grid = _empty(columns, below, widths, header=False)
        for row in rows:
            grid.add_row(*(row[place] for place in below))
        yield Padding(grid, (0, 0, 0, INDENT))


def _bands(
    columns: Sequence[Column], texts: Sequence[Sequence[Text]], places: Sequence[int], width: int
) -> Iterator[RenderableType]:
    """Each row's head and ids again before every band of the other columns."""
    left = [place for place in places if columns[place].kind == "id" or place == 0]
    rest = [place for place in places if place not in left]
    room = width - _room(columns, texts, left) - GAP
    for band in _fitting(_least(columns, texts, rest), room):
        yield _grid(columns, texts, [*left, *(rest[number] for number in band)], width)


def _fitting(needs: Sequence[int], width: int) -> Iterator[range]:
    """Ranges of neighbours that fit into `width` together, each of one at least."""
    start = 0
    while start < len(needs):
        end, used = start + 1, needs[start]
        while end < len(needs) and used + GAP + needs[end] <= width:
            used += GAP + needs[end]
            end += 1
        yield range(start, end)
        start = end


def _turned(
    table: Table, rows: Sequence[Row], width: int, *, plain: bool
) -> Iterator[RenderableType]:
    """Subjects as rows, cases as columns; a subject that says one thing of all is told once."""
    cells = [[short(row.cells[n], plain=plain) for row in rows] for n in range(len(table.columns))]
    alike = [len({text.plain for text in line}) == 1 and len(line) > 1
             and all(row.cells[n].emphasis == "aside" for row in rows)
             for n, line in enumerate(cells)]  # fmt: skip
    shown = [n for n, same in enumerate(alike) if not same]
    titles = [one_line(table.columns[n].title) for n in shown]
    names = max([cell_len(title) for title in titles], default=0)
    heads = [[one_line(part) for part in (row.head.name, *row.head.axes)] for row in rows]
    needs = [
        max(cell_len(part) for part in (*head, *(cells[n][place].plain for n in shown)))
        for place, head in enumerate(heads)
    ]
    for number, band in enumerate(_fitting(needs, width - names - GAP)):
        if number:
            yield Text()
        grid = Grid(box=None, pad_edge=False, header_style="dim", padding=(0, GAP, 0, 0))
        grid.add_column("", width=min(names, width // 2), overflow="fold")
        for place in band:
            head = Text("\n".join(heads[place]), justify="right")
            grid.add_column(head, width=needs[place], justify="right", overflow="fold")
        for title, n in zip(titles, shown, strict=True):
            grid.add_row(Text(title), *(cells[n][place] for place in band))
        yield grid
    for n, same in enumerate(alike):
        if same:
            yield Text(f"{one_line(table.columns[n].title)}: {cells[n][0].plain}", style="dim")
