"""A document as text for a terminal: ids and numbers stay whole, only texts wrap."""

from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.model import (
    Block,
    Cell,
    Code,
    Column,
    Definitions,
    Document,
    Items,
    Legend,
    Paragraph,
    Row,
    Section,
    Table,
)
from sqlitmus.vocabulary.text import one_line

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
    """The value, its mark and its note, without bounds."""
    parts = (cell.text, _mark(cell, plain=plain), cell.note and f"({cell.note})")
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


# Tables in so many columns of a terminal: ids and numbers stay whole, only texts wrap.


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
        words = column.title.split()
        halves = ((words[:n], words[n:]) for n in range(1, len(words) + 1))
        title = min(max(cell_len(" ".join(half)) for half in both) for both in halves)
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


# A document as text for a terminal.


ASCII = {
    "×": "x",
    "µ": "u",
    fmt.THIN: " ",
    fmt.MINUS: "-",
    "\u2013": "-",
    "\u00b7": ".",
    "\u2192": "->",
    "\N{GREEK CAPITAL LETTER DELTA}": "change",
}
TONES = {"": "", "dim": "dim", "problem": "yellow"}


def render(
    document: Document,
    width: int,
    *,
    color: bool,
    plain: bool = False,
    all_rows: bool = False,
    brief: bool = False,
) -> str:
    """The document in `width` columns; `plain` keeps to ASCII symbols for terminals that need it.

    Folded rows are named or counted, unless `all_rows`. A `brief` text has the answer, the tables
    that stand for all, and the gist of each notice; without such tables it is the whole.
    """
    out = StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        emoji=False,
        markup=False,
    )
    tables = document.brief or [*filter(None, [document.answers])]
    parts = (
        _brief(document, tables, width, plain=plain)
        if brief and tables
        else _parts(document, width, plain=plain, all_rows=all_rows)
    )
    console.print(Group(*parts))
    text = "\n".join(line.rstrip() for line in out.getvalue().split("\n"))
    return ascii_only(text) if plain else text


def ascii_only(text: str) -> str:
    """ASCII for what this module writes; "?" for any other character."""
    for old, new in ASCII.items():
        text = text.replace(old, new)
    return text.encode("ascii", "replace").decode()


def _parts(
    document: Document, width: int, *, plain: bool, all_rows: bool
) -> Iterator[RenderableType]:
    yield from _title(document)
    yield from (_line(text) for text in document.headline)
    if document.answers:
        yield from (Text(), _line(document.answers.title, "bold"))
        yield from _table(document.answers, width, plain=plain, all_rows=all_rows)
        yield Text()
    yield from (_line(f"! {notice.text}", "yellow") for notice in document.notices)
    yield from (_line(text, "dim") for text in document.trust)
    for section in document.sections:
        yield from _section(section, width, plain=plain, all_rows=all_rows)
    yield Text()
    for block in document.foot:
        yield from _block(block, width, plain=plain, all_rows=all_rows)


def _title(document: Document) -> Iterator[Text]:
    yield _line(document.title, "bold")
    facts = (" ".join(filter(None, fact)) for fact in document.facts)
    yield _line(" \u00b7 ".join(facts), "dim")
    yield Text()


NEVER_LEFT_OUT = {"problems", "missing"}  # wrong or failed cells, and runners that are not here


def _brief(
    document: Document, tables: Sequence[Table], width: int, *, plain: bool
) -> Iterator[RenderableType]:
    yield from _title(document)
    yield from (_line(text) for text in document.answer or document.headline[:1])
    for table in tables:
        if table.matrix and table.rows:
            yield Text()
            yield from _compact(table, table.rows, width, plain=plain)
            if table.folded:
                names = [row.head.text for row in table.folded.rows]
                yield listed(f"{table.folded.count}:", names, width)
        elif table.every_row:
            yield Text()
            yield _line(table.title, "bold")
            yield from _table(table, width, plain=plain, all_rows=False)
    yield Text()
    if document.notices:
        yield _line("! " + " \u00b7 ".join(notice.gist for notice in document.notices), "yellow")
    yield from (_line(text, "dim") for text in document.trust[:1])
    for section in document.sections:
        if section.id in NEVER_LEFT_OUT:
            yield from _section(section, width, plain=plain, all_rows=False)
    marks = {cell.mark for table in tables for row in table.rows for cell in row.cells}
    for block in document.foot:
        if isinstance(block, Legend):
            used = Legend([entry for entry in block.entries if entry.mark in marks])
            yield from _block(used, width, plain=plain, all_rows=False)


def _compact(
    table: Table, rows: Sequence[Row], width: int, *, plain: bool
) -> Iterator[RenderableType]:
    """A matrix as it stands: ratios without their sign and bounds, heads of columns broken at
    hyphens and spaces, and what stands in a cell's note below. Where it has no room, wide columns
    are left out and heads of rows wrap; where that does not do, it is in bands."""
    texts = [[_figure(cell, plain=plain) for cell in row.cells] for row in rows]
    heads = [one_line(each.title).replace("-", "-\n").replace(" ", "\n") for each in table.columns]
    needs = [
        max(cell_len(part) for part in (*head.split("\n"), *(line[n].plain for line in texts)))
        for n, head in enumerate(heads)
    ]
    names = min(max(cell_len(one_line(row.head.text)) for row in rows), width // 2)
    places = list(range(len(needs)))
    narrow = [n for n in places if not table.columns[n].wide]
    spare = width - sum(needs[n] + 1 for n in narrow)
    left_out = ""
    words = (part for row in rows for part in (row.head.name, *row.head.axes))
    if names + sum(need + 1 for need in needs) > width and spare >= max(map(cell_len, words)):
        left_out = ", ".join(one_line(each.title) for each in table.columns if each.wide)
        places, names = narrow, min(names, spare)
    yield _line(f"{table.title}, without {left_out}" if left_out else table.title, "bold")
    bands = _fitting([needs[n] - 1 for n in places], width - names - GAP)
    for number, band in enumerate([places[k] for k in band] for band in bands):
        if number:
            yield Text()
        grid = Grid(box=None, pad_edge=False, header_style="dim", padding=(0, 1, 0, 0))
        grid.add_column("", width=names, overflow="fold")
        for n in band:
            grid.add_column(Text(heads[n], justify="right"), width=needs[n], justify="right")
        for row, line in zip(rows, texts, strict=True):
            grid.add_row(Text(one_line(row.head.text)), *(line[n] for n in band))
        yield grid
    yield from _notes(table, rows, width)


MARKED = "*"
LONG = 12


def _figure(cell: Cell, *, plain: bool) -> Text:
    """A cell of a compact matrix."""
    if _aside(cell):
        return Text(MARKED, style=_style(cell))
    symbol = MARKED if cell.note else _mark(cell, plain=plain)
    return Text(one_line(cell.text.removesuffix("×") + symbol), style=_style(cell))


def _aside(cell: Cell) -> str:
    """What stands for a figure and is too long to stand in its column."""
    return cell.text if cell.emphasis == "aside" and cell_len(cell.text) > LONG else ""


def _notes(table: Table, rows: Sequence[Row], width: int) -> Iterator[Text]:
    """A line or more for each note of a compact matrix: in which rows, and of whom."""
    places: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        for column, cell in zip(table.columns, row.cells, strict=False):
            if note := cell.note or _aside(cell):
                of = places.setdefault(note, {}).setdefault(row.head.text, [])
                of.append(column.title)
    for note, of in places.items():
        parts = [
            part for row, titles in of.items() for part in (f"{row}: {titles[0]}", *titles[1:])
        ]
        yield listed(f"{MARKED} {note}:", parts, width)


def _line(text: str, style: str = "") -> Text:
    return Text(one_line(text), style=style)


def _section(
    section: Section, width: int, *, plain: bool, all_rows: bool
) -> Iterator[RenderableType]:
    if section.detail:
        return
    yield Text()
    if section.folded and not all_rows:
        yield _line(f"{section.title}; the HTML shows them", "dim")
        return
    yield _line(section.title, "bold")
    yield from (_line(text, "dim") for text in section.lead)
    for block in section.blocks:
        yield from _block(block, width, plain=plain, all_rows=all_rows)
    for below in section.sections:
        yield from _section(below, width, plain=plain, all_rows=all_rows)


def _block(block: Block, width: int, *, plain: bool, all_rows: bool) -> Iterator[RenderableType]:
    match block:
        case Table():
            yield from _table(block, width, plain=plain, all_rows=all_rows)
        case Legend():
            marks = ((e.mark.ascii if plain else e.mark.symbol, e.word) for e in block.entries)
            yield listed("", [f"{mark} {word}" for mark, word in marks], width)
        case Definitions():
            yield from (_line(f"{name}: {text}") for name, text in block.items)
        case Items():
            yield from (_line(f"- {text}") for text in block.texts)
        case Paragraph():
            yield _line(block.text, TONES[block.style])
        case Code():
            yield _line(f"{block.label}: {block.text}" if block.label else block.text)
        case _:
            return


def _table(table: Table, width: int, *, plain: bool, all_rows: bool) -> Iterator[RenderableType]:
    rows = table.every_row if all_rows else table.rows
    if rows:
        yield from laid_out(table, rows, width, plain=plain)
    if table.folded is None or all_rows:
        return
    count = table.folded.count
    if table.folded.brief == "names":
        yield listed(f"{count}:", [row.head.text for row in table.folded.rows], width)
    else:
        yield _line(f"{count}; the HTML shows them", "dim")
