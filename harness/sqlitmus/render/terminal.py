"""A document as text for a terminal: ids and numbers stay whole, only texts wrap."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from sqlitmus.render.document import format as fmt, model as doc
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
TONES = {"": "", "dim": "dim", "problem": "yellow"}
MOST_ROWS = 20  # of a brief table; the others are named
NEVER_LEFT_OUT = {"problems", "missing"}  # wrong or failed cells, and runners that are not here
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


def render(
    document: doc.Document,
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
    short = brief and tables
    printer = Printer(width, plain, all_rows and not short)
    console.print(Group(*(printer.brief(document, tables) if short else printer.whole(document))))
    text = "\n".join(line.rstrip() for line in out.getvalue().split("\n"))
    if not plain:
        return text
    for symbol, instead in ASCII.items():
        text = text.replace(symbol, instead)
    return text.encode("ascii", "replace").decode()


def _line(text: str, style: str = "") -> Text:
    return Text(one_line(text), style=style)


def _title(document: doc.Document) -> Iterator[Text]:
    yield _line(document.title, "bold")
    facts = (" ".join(filter(None, fact)) for fact in document.facts)
    yield _line(" \u00b7 ".join(facts), "dim")
    yield Text()


@dataclass(frozen=True, slots=True)
class Printer:
    """Prints in `width` columns; `plain` in ASCII symbols, `all_rows` the folded ones, too."""

    width: int
    plain: bool = False
    all_rows: bool = False

    def whole(self, document: doc.Document) -> Iterator[RenderableType]:
        """All of it."""
        yield from _title(document)
        yield from map(_line, document.headline)
        if document.answers:
            yield from (Text(), _line(document.answers.title, "bold"))
            yield from self._table(document.answers)
            yield Text()
        yield from (_line(f"! {notice.text}", "yellow") for notice in document.notices)
        yield from (_line(text, "dim") for text in document.trust)
        for section in document.sections:
            yield from self._section(section)
        yield Text()
        for block in document.foot:
            yield from self._block(block)

    def brief(
        self, document: doc.Document, tables: Sequence[doc.Table]
    ) -> Iterator[RenderableType]:
        """The answer, the `tables` that stand for all, and the gist of each notice."""
        yield from _title(document)
        yield from map(_line, document.answer or document.headline[:1])
        for table in tables:
            if table.matrix and table.rows:
                yield Text()
                yield from self._compact(table)
                if table.folded:
                    yield self._listed(f"{table.folded.count}:", table.folded.names)
            elif table.every_row:
                yield from (Text(), _line(table.title, "bold"))
                yield from self._first(table)
        yield Text()
        if document.notices:
            gists = " \u00b7 ".join(notice.gist for notice in document.notices)
            yield _line(f"! {gists}", "yellow")
        yield from (_line(text, "dim") for text in document.trust[:1])
        for section in document.sections:
            if section.id in NEVER_LEFT_OUT:
                yield from self._section(section)
        marks = {c.mark.symbol for t in tables for row in t.rows for c in row.cells if c.mark}
        for block in document.foot:
            if isinstance(block, doc.Legend):
                used = [e for e in block.entries if any(e.mark.symbol in mark for mark in marks)]
                yield from self._block(doc.Legend(used))

    def _section(self, section: doc.Section) -> Iterator[RenderableType]:
        if section.detail:
            return
        yield Text()
        if section.folded and not self.all_rows:
            yield _line(f"{section.title}; the HTML shows them", "dim")
            return
        yield _line(section.title, "bold")
        yield from (_line(text, "dim") for text in section.lead)
        for block in section.blocks:
            yield from self._block(block)
        for below in section.sections:
            yield from self._section(below)

    def _block(self, block: doc.Block) -> Iterator[RenderableType]:
        match block:
            case doc.Table():
                yield from self._table(block)
            case doc.Legend():
                marks = ((e.mark.ascii if self.plain else e.mark.symbol, e) for e in block.entries)
                yield self._listed("", [f"{mark} {entry.word}" for mark, entry in marks])
            case doc.Definitions():
                yield from (_line(f"{name}: {text}") for name, text in block.items)
            case doc.Items():
                yield from (_line(f"- {text}") for text in block.texts)
            case doc.Paragraph():
                yield _line(block.text, TONES[block.style])
            case doc.Code():
                yield _line(f"{block.label}: {block.text}" if block.label else block.text)
            case _:
                return

    def _table(self, table: doc.Table, *, brief: bool = False) -> Iterator[RenderableType]:
        rows = table.every_row if self.all_rows else table.rows
        if rows:
            made = self._turned if table.matrix else partial(self.laid_out, brief=brief)
            yield from made(table, rows)
        if table.folded is None or self.all_rows:
            return
        if table.folded.brief == "names":
            yield self._listed(f"{table.folded.count}:", table.folded.names)
        else:
            yield _line(f"{table.folded.count}; the HTML shows them", "dim")

    def _first(self, table: doc.Table) -> Iterator[RenderableType]:
        """The first rows of a table, and the names of the others."""
        yield from self._table(replace(table, rows=table.rows[:MOST_ROWS]), brief=True)
        if names := [row.head.text for row in table.rows[MOST_ROWS:]]:
            yield self._listed(f"{len(names)} more:", names)

    def _listed(self, before: str, parts: Sequence[str]) -> Text:
        """The parts after each other, separated by commas, none of them broken over lines."""
        lines = [one_line(before)]
        for number, part in enumerate(parts):
            text = one_line(part) + ("," if number < len(parts) - 1 else "")
            if lines[-1] and cell_len(lines[-1]) + 1 + cell_len(text) > self.width:
                lines.append(text)
            else:
                lines[-1] = f"{lines[-1]} {text}".lstrip()
        return Text("\n".join(lines), style="dim")

    def _mark(self, cell: doc.Cell) -> str:
        return "" if cell.mark is None else cell.mark.ascii if self.plain else cell.mark.symbol

    # A table as it stands: ids and numbers stay whole, only texts wrap.

    def laid_out(
        self, table: doc.Table, rows: Sequence[doc.Row], *, brief: bool = False
    ) -> Iterator[RenderableType]:
        """All columns beside each other; or without wide ones and notes; or, if `brief`, without
        the last, too; or each row's head above its cells; or in bands: the first that fits."""
        strips = self._strips(table, rows, notes=True)
        if _room(strips) <= self.width:
            yield _grid(strips, self.width)
            return
        bare = [each for each in self._strips(table, rows, notes=False) if not each.column.wide]
        head, *below = bare
        if brief and _room(bare) > self.width >= _room(bare[:-1]):
            bare = bare[:-1]
        if _room(bare) <= self.width:
            yield _grid(bare, self.width)
        elif _room(below) + INDENT <= self.width:
            yield from _stacked(head.texts, below, self.width - INDENT)
        else:
            yield from _bands(strips, self.width)

    def _strips(self, table: doc.Table, rows: Sequence[doc.Row], *, notes: bool) -> list["Strip"]:
        def text(cell: doc.Cell) -> Text:
            note = f"({cell.note})" if cell.note and notes else ""
            parts = (self._mark(cell), cell.text, cell.bounds, note)
            return _line(" ".join(filter(None, parts)), _style(cell))

        heads = [_line(row.head.text, "red" if row.style == "bad" else "") for row in rows]
        cells = [table.cells(row) for row in rows]
        return [
            Strip(table.head, heads),
            *(
                Strip(column, [text(row[place]) for row in cells])
                for place, column in enumerate(table.columns)
            ),
        ]

    def _turned(self, table: doc.Table, rows: Sequence[doc.Row]) -> Iterator[RenderableType]:
        """Subjects as rows, cases as columns; a subject that says one thing of all is told once."""

        def short(cell: doc.Cell) -> Text:
            parts = (cell.text, self._mark(cell), cell.note and f"({cell.note})")
            return _line(" ".join(filter(None, parts)), _style(cell))

        cells = [[short(row.cells[n]) for row in rows] for n in range(len(table.columns))]
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
        for number, band in enumerate(_fitting(needs, self.width - names - GAP)):
            if number:
                yield Text()
            grid = _empty(GAP)
            grid.add_column("", width=min(names, self.width // 2), overflow="fold")
            for place in band:
                head = Text("\n".join(heads[place]), justify="right")
                grid.add_column(head, width=needs[place], justify="right", overflow="fold")
            for title, n in zip(titles, shown, strict=True):
                grid.add_row(Text(title), *(cells[n][place] for place in band))
            yield grid
        for n, same in enumerate(alike):
            if same:
                yield _line(f"{table.columns[n].title}: {cells[n][0].plain}", "dim")

    def _compact(self, table: doc.Table) -> Iterator[RenderableType]:
        """A matrix as it stands: ratios without their sign and bounds, heads of columns broken at
        hyphens and spaces, and what stands in a cell's note below. Where it has no room, wide
        columns are left out and heads of rows wrap; where that does not do, it is in bands."""
        rows, width = table.rows, self.width
        texts = [[self._figure(cell) for cell in row.cells] for row in rows]
        heads = [one_line(c.title).replace("-", "-\n").replace(" ", "\n") for c in table.columns]
        needs = [
            max(cell_len(part) for part in (*head.split("\n"), *(line[n].plain for line in texts)))
            for n, head in enumerate(heads)
        ]
        names = min(max(cell_len(one_line(row.head.text)) for row in rows), width // 2)
        places = list(range(len(needs)))
        narrow = [n for n in places if not table.columns[n].wide]
        spare = width - sum(needs[n] + 1 for n in narrow)
        title = table.title
        words = (part for row in rows for part in (row.head.name, *row.head.axes))
        if names + sum(need + 1 for need in needs) > width and spare >= max(map(cell_len, words)):
            if left_out := ", ".join(c.title for c in table.columns if c.wide):
                title += f", without {left_out}"
            places, names = narrow, min(names, spare)
        yield _line(title, "bold")
        bands = _fitting([needs[n] - 1 for n in places], width - names - GAP)
        for number, band in enumerate([places[k] for k in band] for band in bands):
            if number:
                yield Text()
            grid = _empty(1)
            grid.add_column("", width=names, overflow="fold")
            for n in band:
                grid.add_column(Text(heads[n], justify="right"), width=needs[n], justify="right")
            for row, line in zip(rows, texts, strict=True):
                grid.add_row(_line(row.head.text), *(line[n] for n in band))
            yield grid
        yield from self._notes(table)

    def _figure(self, cell: doc.Cell) -> Text:
        """A cell of a compact matrix."""
        if _aside(cell):
            return Text(MARKED, style=_style(cell))
        symbol = MARKED if cell.note else self._mark(cell)
        return _line(cell.text.removesuffix("×") + symbol, _style(cell))

    def _notes(self, table: doc.Table) -> Iterator[Text]:
        """A line or more for each note of a compact matrix: in which rows, and of whom."""
        places: dict[str, dict[str, list[str]]] = {}
        for row in table.rows:
            for column, cell in zip(table.columns, row.cells, strict=False):
                if note := cell.note or _aside(cell):
                    places.setdefault(note, {}).setdefault(row.head.text, []).append(column.title)
        for note, of in places.items():
            parts = [
                part for row, titles in of.items() for part in (f"{row}: {titles[0]}", *titles[1:])
            ]
            yield self._listed(f"{MARKED} {note}:", parts)


MARKED = "*"
LONG = 12
GAP = 2
INDENT = 2
# Texts wrap to no fewer columns than this.
NARROW = 20


def _style(cell: doc.Cell) -> str:
    return STYLES.get(cell.style.rstrip("0123456789"), "")


def _aside(cell: doc.Cell) -> str:
    """What stands for a figure and is too long to stand in its column."""
    return cell.text if cell.emphasis == "aside" and cell_len(cell.text) > LONG else ""


@dataclass(frozen=True, slots=True)
class Strip:
    """A column of a table with its texts."""

    column: doc.Column
    texts: list[Text]

    @property
    def whole(self) -> int:
        """What it needs where no cell wraps; the title of a number may stand on two lines."""
        title = cell_len(self.column.title)
        if self.column.kind == "number":
            words = self.column.title.split()
            halves = ((words[:n], words[n:]) for n in range(1, len(words) + 1))
            title = min(max(cell_len(" ".join(half)) for half in both) for both in halves)
        return max([title, *(cell_len(text.plain) for text in self.texts)])

    @property
    def least(self) -> int:
        """What it needs at least: a text can wrap."""
        return min(self.whole, NARROW) if self.column.kind == "text" else self.whole


def _room(strips: Sequence[Strip]) -> int:
    """What these need at least beside each other."""
    return sum(strip.least for strip in strips) + GAP * (len(strips) - 1)


def _widths(strips: Sequence[Strip], width: int) -> Iterator[int]:
    """What each gets: what it needs at least, and texts what is left, from the left."""
    spare = width - _room(strips)
    for strip in strips:
        needs = max(strip.whole, cell_len(strip.column.title))
        more = max(0, min(spare, needs - strip.least))
        spare -= more
        yield strip.least + more


def _empty(gap: int, *, header: bool = True) -> Grid:
    padding = (0, gap, 0, 0)
    return Grid(box=None, pad_edge=False, show_header=header, header_style="dim", padding=padding)


def _grid(
    strips: Sequence[Strip], width: int, rows: slice = slice(None), *, header: bool = True
) -> Grid:
    """Some `rows` of these columns, as wide as all rows need."""
    grid = _empty(GAP, header=header)
    for strip, wide in zip(strips, _widths(strips, width), strict=True):
        justify = "right" if strip.column.kind == "number" else "left"
        title = _line(strip.column.title)
        grid.add_column(title, width=wide, justify=justify, overflow="fold")
    for row in zip(*(strip.texts[rows] for strip in strips), strict=True):
        grid.add_row(*row)
    return grid


def _stacked(heads: Sequence[Text], below: Sequence[Strip], width: int) -> Iterator[RenderableType]:
    """Each row's head, and its cells in the line below; equal heads once."""
    inset = (0, 0, 0, INDENT)
    yield Padding(_grid(below, width, slice(0)), inset)
    for _, same in groupby(range(len(heads)), key=lambda place: heads[place].plain):
        first, last = min(places := [*same]), max(places)
        yield heads[first]
        yield Padding(_grid(below, width, slice(first, last + 1), header=False), inset)


def _bands(strips: Sequence[Strip], width: int) -> Iterator[RenderableType]:
    """Each row's head and ids again before every band of the other columns."""
    head, *others = strips
    left = [head, *(strip for strip in others if strip.column.kind == "id")]
    rest = [strip for strip in others if strip.column.kind != "id"]
    for band in _fitting([strip.least for strip in rest], width - _room(left) - GAP):
        yield _grid([*left, *(rest[number] for number in band)], width)


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
