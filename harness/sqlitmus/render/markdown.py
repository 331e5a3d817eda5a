"""A document as GitHub-flavoured Markdown in which untrusted text stays text, short enough for a
job summary (1 MiB).
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlitmus.render.document import model as doc
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


LIMIT = 1024 * 1024
RESERVE = 1024
# What a comment on a pull request holds, in characters.
COMMENT = 65_536


def comment(document: doc.Document) -> str:
    """The document as a comment on a pull request, of 65,536 characters at most: its answer, the
    rows of its first table, and all else folded. The text says how many rows it leaves out."""
    (answer, *_) = [*document.answer, *document.headline, document.title]
    parts = [f"### {text(answer)}"]
    rows: list[doc.Row] = []
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
    document: doc.Document,
    *,
    all_rows: bool = False,
    limit: int | None = None,
    without: Collection[int] = (),
) -> str:
    """The document; where it would pass `limit` bytes, 1 MiB by default, names of folded rows and
    then the rows of the highest rank go, and the text says how many. Folded rows are folded or
    named, unless `all_rows`. It is `without` the rows of these identities."""
    tables = [*filter(None, [document.answers]), *_tables(document.sections)]
    rows = [
        (row, table)
        for table in tables
        for row in _rows(table, all_rows=all_rows)
        if id(row) not in without
    ]
    limit = LIMIT if limit is None else limit
    whole = {id(row) for row, _ in rows} | {id(table.folded) for table in tables}
    page = _Page(whole, all_rows).of(document)
    if len(page.encode()) <= limit:
        return page
    room = limit - RESERVE - len(_Page(set(), all_rows).of(document).encode())
    fitting = _fitting(rows, room)
    note = f"Left out for length: {counted(len(rows) - len(fitting), 'row')}. {document.whole}"
    return f"{_Page(fitting, all_rows).of(document)}\n{text(note)}\n"


def _tables(sections: Iterable[doc.Section]) -> Iterator[doc.Table]:
    """The tables that are printed of these."""
    for section in sections:
        if not section.detail:
            yield from (block for block in section.blocks if isinstance(block, doc.Table))
            yield from _tables(section.sections)


def _rows(table: doc.Table, *, all_rows: bool) -> list[doc.Row]:
    """The rows that are printed as rows."""
    brief = table.folded is None or table.folded.brief != "rows"
    return table.rows if brief and not all_rows else table.every_row


def _fitting(rows: Iterable[tuple[doc.Row, doc.Table]], room: int) -> set[int]:
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


@dataclass(frozen=True, slots=True)
class _Page:
    """A document's page with the rows and names that are `fitting`, by identity."""

    fitting: Collection[int]
    all_rows: bool

    def of(self, document: doc.Document) -> str:
        first, rest = document.headline[:1], document.headline[1:]
        parts = [f"# {text(document.title)}", *map(text, [*first, document.definition, *rest])]
        if document.answers:
            parts += [f"**{text(document.answers.title)}**", *self._table(document.answers)]
        parts.append("\n>\n".join(f"> {text(notice.text)}" for notice in document.notices))
        parts.append(
            " · ".join(f"{text(name)} {code(value)}" if name else text(value)
                       for name, value in document.facts)
        )  # fmt: skip
        parts.append(" ".join(map(text, document.trust)))
        for section in document.sections:
            parts += self._section(section, 2)
        parts += [each for block in document.foot for each in self._block(block)]
        return "\n\n".join(filter(None, parts)) + "\n"

    def _section(self, section: doc.Section, level: int) -> list[str]:
        """Heading, lead, blocks, and the sections below; nothing of one that is all detail."""
        if section.detail:
            return []
        body = [*map(text, section.lead)]
        body += [each for block in section.blocks for each in self._block(block)]
        for below in section.sections:
            body += self._section(below, level + 1)
        if section.folded:
            return [_details(section.title, "\n\n".join(body))] if body else []
        return [f"{'#' * level} {text(section.title)}", *body]

    def _block(self, block: doc.Block) -> Iterator[str]:
        match block:
            case doc.Table():
                yield from self._table(block)
            case doc.Chart():
                return
            case doc.Legend():
                yield legend(block.entries)
            case doc.Definitions():
                yield "\n".join(f"- **{text(name)}:** {text(value)}" for name, value in block.items)
            case doc.Items():
                yield "\n".join(f"- {text(item)}" for item in block.texts)
            case doc.Paragraph():
                yield text(block.text)
            case doc.Code():
                yield (f"{text(block.label)}: " if block.label else "") + code(block.text)

    def _table(self, table: doc.Table) -> Iterator[str]:
        folded = None if self.all_rows else table.folded
        rows = table.every_row if self.all_rows else table.rows
        if rows := self._fit(rows):
            yield grid(table, rows)
        if folded is None:
            return
        if folded.brief == "rows":
            yield _details(folded.count, grid(table, self._fit(folded.rows)))
        elif folded.brief == "names" and id(folded) in self.fitting:
            yield _details(folded.count, ", ".join(map(code, folded.names)))
        else:
            yield f"Besides: {text(folded.count)}."

    def _fit(self, rows: Iterable[doc.Row]) -> list[doc.Row]:
        return [row for row in rows if id(row) in self.fitting]


def _details(summary: str, body: str) -> str:
    return f"<details><summary>{text(summary)}</summary>\n\n{body}\n\n</details>"


def legend(entries: list[doc.LegendEntry]) -> str:
    """Marks and words in a line."""
    return text(" · ".join(f"{entry.mark.symbol} {entry.word}" for entry in entries))


def grid(table: doc.Table, rows: Iterable[doc.Row]) -> str:
    """A table of those rows; numbers stand to the right."""
    columns = [table.head, *table.columns]
    titles = [
        code(column.title) if table.matrix and column is not table.head else text(column.title)
        for column in columns
    ]
    rule = ["--:" if column.kind == "number" else "---" for column in columns]
    return "\n".join([gfm_row(titles), gfm_row(rule), *(_line(table, row) for row in rows)])


def gfm_row(cells: Sequence[str]) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"


def _line(table: doc.Table, row: doc.Row) -> str:
    head = code(row.head.text) if table.head.kind == "id" else text(row.head.text)
    return gfm_row([head, *cells(table, row)])


def cells(table: doc.Table, row: doc.Row) -> list[str]:
    """The texts of a row's cells, one per column."""
    return list(map(_cell, table.cells(row), table.columns))


def _cell(cell: doc.Cell, column: doc.Column) -> str:
    """Mark, text, bounds, note: bold where it is decided, slanted where it is no value."""
    written = code(cell.text) if column.kind == "id" and cell.text else text(cell.text)
    if cell.text and cell.emphasis:
        written = f"**{written}**" if cell.emphasis == "strong" else f"_{written}_"
    note = f"({text(cell.note)})" if cell.note else ""
    mark = text(cell.mark.symbol) if cell.mark else ""
    return " ".join(filter(None, (mark, written, cell.bounds, note)))
