"""A document as text for a terminal."""

from collections.abc import Iterator
from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.text import Text

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.model import (
    Block,
    Code,
    Definitions,
    Document,
    Items,
    Legend,
    Paragraph,
    Section,
)
from sqlitmus.render.document.table import Table
from sqlitmus.render.terminal.layout import laid_out
from sqlitmus.render.terminal.texts import listed
from sqlitmus.vocabulary.plain import one_line

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
    document: Document, width: int, *, color: bool, plain: bool = False, all_rows: bool = False
) -> str:
    """The document in `width` columns; `plain` keeps to ASCII symbols for terminals that need it.

    Folded rows are named or counted, unless `all_rows`.
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
    console.print(Group(*_parts(document, width, plain=plain, all_rows=all_rows)))
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
    yield _line(document.title, "bold")
    facts = (" ".join(filter(None, fact)) for fact in document.facts)
    yield _line(" \u00b7 ".join(facts), "dim")
    yield Text()
    yield from (_line(text) for text in document.headline)
    if document.answers:
        yield from _table(document.answers, width, plain=plain, all_rows=all_rows)
        yield Text()
    yield from (_line(f"! {notice.text}", "yellow") for notice in document.notices)
    yield from (_line(text, "dim") for text in document.trust)
    for section in document.sections:
        yield from _section(section, width, plain=plain, all_rows=all_rows)
    yield Text()
    for block in document.foot:
        yield from _block(block, width, plain=plain, all_rows=all_rows)


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
