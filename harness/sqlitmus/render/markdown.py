"""A document as GitHub-flavoured Markdown in which untrusted text stays text, short enough for a
job summary (1 MiB).
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from sqlitmus.render.document.model import (
    Block,
    Cell,
    Chart,
    Code,
    Column,
    Definitions,
    Document,
    Items,
    Legend,
    LegendEntry,
    Paragraph,
    Row,
    Section,
    Table,
)
from sqlitmus.vocabulary.text import counted, visible

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!$@])")
# All but the thin space of a number and its unit.
SPACE = re.compile(r"[^\S\u202f]+")
BACKTICKS = re.compile(r"`+")


def text(value: str) -> str:
    """Untrusted text on one line, nothing in it read as markup, HTML or a mention."""
    return SPECIAL.sub(r"\\\1", _flat(value))


def code(value: str) -> str:
    """Untrusted text as a code span that holds in a table too."""
    flat = _flat(value)
    longest = max((len(run) for run in BACKTICKS.findall(flat)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}".replace("|", "\\|")


def _flat(value: str) -> str:
    return visible(SPACE.sub(" ", value)).strip()


def gfm_row(cells: Sequence[str]) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"


def gfm_grid(header: Sequence[str], lines: Iterable[str], numbers: Sequence[bool]) -> str:
    """A whole table of such lines; columns of `numbers` stand to the right."""
    rule = ["--:" if number else "---" for number in numbers]
    return "\n".join([gfm_row(header), gfm_row(rule), *lines])


LIMIT = 1024 * 1024
RESERVE = 1024


# What a comment on a pull request holds, in characters.
COMMENT = 65_536


def comment(document: Document) -> str:
    """The document as a comment on a pull request, of 65,536 characters at most: its answer, the
    rows of its first table, and all else folded. The text says how many rows it leaves out."""
    (answer, *_) = [*document.answer, *document.headline, document.title]
    parts = [f"### {text(answer)}"]
    rows: list[Row] = []
    for table in [*document.brief, *document.tables()][:1]:
        half = COMMENT // 2
        rows = [row for row in table.rows if (half := half - len(_line(table, row)) - 1) > 0]
        parts += [grid(table, rows)] if rows else []
    head = "\n\n".join(parts)
    room = COMMENT - len(head.encode()) - RESERVE
    rest = render(document, limit=room, without=set(map(id, rows)))
    if len(rest.encode()) > room:
        rest = text(f"Left out for length: all other figures. {document.whole}")
    return f"{head}\n\n{_details(document.title, rest.rstrip())}\n"


def render(
    document: Document,
    *,
    all_rows: bool = False,
    limit: int | None = None,
    without: Collection[int] = (),
) -> str:
    """The document; where it would pass `limit` bytes, 1 MiB by default, names of folded rows and
    then the rows of the highest rank go, and the text says how many. Folded rows are folded or
    named, unless `all_rows`. It is `without` the rows of these identities."""
    tables = [*([document.answers] if document.answers else []), *_tables(document.sections)]
    rows = [
        (row, table)
        for table in tables
        for row in _rows(table, all_rows=all_rows)
        if id(row) not in without
    ]
    limit = LIMIT if limit is None else limit
    whole = {id(row) for row, _ in rows} | {id(table.folded) for table in tables}
    page = _page(document, whole, all_rows=all_rows)
    if len(page.encode()) <= limit:
        return page
    room = limit - RESERVE - len(_page(document, set(), all_rows=all_rows).encode())
    fitting = _fitting(rows, room)
    note = f"Left out for length: {counted(len(rows) - len(fitting), 'row')}. {document.whole}"
    return f"{_page(document, fitting, all_rows=all_rows)}\n{text(note)}\n"


def _tables(sections: Iterable[Section]) -> Iterator[Table]:
    """The tables that are printed of these."""
    for section in sections:
        if not section.detail:
            yield from (block for block in section.blocks if isinstance(block, Table))
            yield from _tables(section.sections)


def _fitting(rows: Iterable[tuple[Row, Table]], room: int) -> set[int]:
    """The rows that fit into `room` bytes, those of the lowest rank first; by identity."""
    fitting: set[int] = set()
    headed: set[int] = set()
    for line, table in sorted(rows, key=lambda pair: pair[0].rank):
        room -= len(_line(table, line).encode()) + 1
        if id(table) not in headed:
            headed.add(id(table))
            room -= len(grid(table, []).encode()) + len("<details>") * 8
        if room < 0:
            break
        fitting.add(id(line))
    return fitting


def _rows(table: Table, *, all_rows: bool) -> list[Row]:
    """The rows that are printed as rows."""
    brief = table.folded is None or table.folded.brief != "rows"
    return table.rows if brief and not all_rows else table.every_row


def _page(document: Document, fitting: Collection[int], *, all_rows: bool) -> str:
    first, rest = document.headline[:1], document.headline[1:]
    parts = [f"# {text(document.title)}", *map(text, [*first, document.definition, *rest])]
    if document.answers:
        parts.append(f"**{text(document.answers.title)}**")
        parts += _table(document.answers, fitting, all_rows=all_rows)
    parts.append("\n>\n".join(f"> {text(notice.text)}" for notice in document.notices))
    parts.append(
        " · ".join(f"{text(name)} {code(value)}" if name else text(value)
                   for name, value in document.facts)
    )  # fmt: skip
    parts.append(" ".join(map(text, document.trust)))
    for section in document.sections:
        parts += _section(section, 2, fitting, all_rows=all_rows)
    for block in document.foot:
        parts += _block(block, fitting, all_rows=all_rows)
    return "\n\n".join(filter(None, parts)) + "\n"


def _section(
    section: Section, level: int, fitting: Collection[int], *, all_rows: bool
) -> list[str]:
    """Heading, lead, blocks, and the sections below; nothing of one that is all detail."""
    if section.detail:
        return []
    body = [*map(text, section.lead)]
    for block in section.blocks:
        body += _block(block, fitting, all_rows=all_rows)
    for below in section.sections:
        body += _section(below, level + 1, fitting, all_rows=all_rows)
    if section.folded:
        return [_details(section.title, "\n\n".join(body))] if body else []
    return [f"{'#' * level} {text(section.title)}", *body]


def _block(block: Block, fitting: Collection[int], *, all_rows: bool) -> list[str]:
    match block:
        case Table():
            return _table(block, fitting, all_rows=all_rows)
        case Chart():
            return []
        case _:
            return [_words(block)]


def _words(block: Legend | Definitions | Items | Paragraph | Code) -> str:
    match block:
        case Legend():
            return legend(block.entries)
        case Definitions():
            return "\n".join(f"- **{text(name)}:** {text(value)}" for name, value in block.items)
        case Items():
            return "\n".join(f"- {text(item)}" for item in block.texts)
        case Paragraph():
            return text(block.text)
        case Code():
            return f"{text(block.label)}: {code(block.text)}" if block.label else code(block.text)


def _table(table: Table, fitting: Collection[int], *, all_rows: bool) -> list[str]:
    rows = [row for row in table.rows if id(row) in fitting]
    folded = table.folded
    if folded is None:
        return [grid(table, rows)] if rows else []
    if all_rows:
        rows += [row for row in folded.rows if id(row) in fitting]
    parts = [grid(table, rows)] if rows else []
    if all_rows:
        return parts
    if folded.brief == "rows":
        body = grid(table, [row for row in folded.rows if id(row) in fitting])
        return [*parts, _details(folded.count, body)]
    if folded.brief == "names" and id(folded) in fitting:
        names = ", ".join(code(row.head.text) for row in folded.rows)
        return [*parts, _details(folded.count, names)]
    return [*parts, f"Besides: {text(folded.count)}."]


def _details(summary: str, body: str) -> str:
    return f"<details><summary>{text(summary)}</summary>\n\n{body}\n\n</details>"


def legend(entries: list[LegendEntry]) -> str:
    """Marks and words in a line."""
    return text(" · ".join(f"{entry.mark.symbol} {entry.word}" for entry in entries))


def grid(table: Table, rows: list[Row]) -> str:
    """A table of those rows."""
    columns = [table.head, *table.columns]
    titles = [
        code(column.title) if table.matrix and column is not table.head else text(column.title)
        for column in columns
    ]
    numbers = [column.kind == "number" for column in columns]
    return gfm_grid(titles, (_line(table, row) for row in rows), numbers)


def _line(table: Table, row: Row) -> str:
    head = code(row.head.text) if table.head.kind == "id" else text(row.head.text)
    return gfm_row([head, *cells(table, row)])


def cells(table: Table, row: Row) -> list[str]:
    """The texts of a row's cells, one per column."""
    written = list(map(_cell, row.cells, table.columns))
    return written + [""] * (len(table.columns) - len(written))


def _cell(cell: Cell, column: Column) -> str:
    """Mark, text, bounds, note: bold where it is decided, slanted where it is no value."""
    written = code(cell.text) if column.kind == "id" and cell.text else text(cell.text)
    if cell.text and cell.emphasis:
        written = f"**{written}**" if cell.emphasis == "strong" else f"_{written}_"
    note = f"({text(cell.note)})" if cell.note else ""
    mark = text(cell.mark.symbol) if cell.mark else ""
    return " ".join(filter(None, (mark, written, cell.bounds, note)))
