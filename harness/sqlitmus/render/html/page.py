"""A report as one self-contained HTML file, printed from its document; a merged report holds
those of its machines.
"""

import gzip
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import symbols
from sqlitmus.render.document.build import build
from sqlitmus.render.document.machines import WORDS
from sqlitmus.render.document.model import Block, Chart, Document, Legend, Row, Section, Table
from sqlitmus.render.html import assets, drawings, embed, pictures, view
from sqlitmus.render.html.view import looks
from sqlitmus.results.machines import Machine, MergedReport
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.text import counted, visible
from sqlitmus.vocabulary.verdicts import Verdict

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


# A report as one self-contained HTML file, printed from its document.


def render(report: Report) -> str:
    """The page for `report`: its document, with controls over the cases."""
    document = build(report)
    deciding = embed.deciding(report)
    if deciding:
        document = matrix_first(document)
    drawn = drawings.Drawn(document)
    return printed(
        "report.html.j2",
        drawn,
        assets.inlined(embed.page_data(report)),
        [assets.bundle()],
        {"chosen": drawn.view(Chart("cases", report)), "deciding": deciding},
    )


def matrix_first(document: Document) -> Document:
    """The matrix after the decision, which has summed it up."""

    def after(section: Section) -> bool:
        return "matrix" not in {chart.kind for chart in section.charts}

    return replace(document, sections=sorted(document.sections, key=after))


def printed(
    template: str,
    drawn: drawings.Drawn,
    data: str,
    scripts: list[str],
    besides: Mapping[str, object],
) -> str:
    """A document through a template that extends that of documents and asks for what is `besides`.

    The first script is the page's, which reads `data`; the others are of pages that it unpacks.
    """
    document = drawn.document
    legends = [block for block in document.foot if isinstance(block, Legend)]
    theme = assets.script("theme")
    return visible(
        assets.environment()
        .get_template(template)
        .render(
            document=document,
            drawn=drawn,
            # a chart that stands in for its section explains its own marks
            legends=[] if drawn.begins_whole else legends,
            foot=[block for block in document.foot if not isinstance(block, Legend)],
            looks=looks(document.runners),
            words=symbols,
            verdicts=list(Verdict),
            fmt=fmt,
            pictures=pictures.pictures,
            counted=counted,
            dash=view.DASH,
            style=assets.styles(),
            data=data,
            first_script=theme,
            main_script=scripts[0],
            policy=assets.policy(theme, *scripts),
            **besides,
        )
    )


# The merged report as one HTML file: the machines side by side, and each one's own page packed
# inside.


LIMIT = 3_000_000
RESERVE = 100_000
# What all rows may take of the page, in bytes; the machines' own pages get the rest.
ROOM = 1_500_000
MOST_CELLS = 10_000  # a page of more never fits, and takes seconds to make


@dataclass(frozen=True, slots=True)
class Packed:
    """A machine and its page as base64 of gzip; "" where it had no room."""

    machine: Machine
    page: str


def pack(report: Report) -> bytes:
    """A machine's own page, compressed; nothing where it could not fit into the merged one."""
    if sum(len(case.cells) for case in report.cases) > MOST_CELLS:
        return b""
    return gzip.compress(render(report).encode(), compresslevel=9, mtime=0)


def render_merged(report: MergedReport, pages: Sequence[bytes]) -> str:
    """The page; `pages` are the packed ones of `report.machines`; those stay out that would
    make the file too large."""
    document, left_out = fitted(build(report), ROOM)
    empty = [Packed(machine, "") for machine in report.machines]
    room = LIMIT - RESERVE - len(_page(report, empty, document, left_out).encode())
    packed: list[Packed] = []
    for machine, page in zip(report.machines, pages, strict=True):
        text = b64encode(page).decode()
        if len(text) > room:
            text = ""
        room -= len(text)
        packed.append(Packed(machine, text))
    return _page(report, packed, document, left_out)


def _page(report: MergedReport, packed: Sequence[Packed], document: Document, left_out: str) -> str:
    machines = [{"name": each.machine.name, "here": bool(each.page)} for each in packed]
    data = {"kind": "merged", "words": list(WORDS), "machines": machines}
    main = assets.own(assets.lean(assets.asset("merged.js")))
    return printed(
        "merged.html.j2",
        drawings.Drawn(document),
        assets.inlined(data),
        [main, assets.bundle()],
        {"packed": packed, "run": report.run, "hold_words": WORDS, "left_out": left_out},
    )
