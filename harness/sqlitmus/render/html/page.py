"""A report as one self-contained HTML file, printed from its document; a merged report holds
those of its machines.
"""

import gzip
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlitmus.render.document import format as fmt, symbols
from sqlitmus.render.document.build import build
from sqlitmus.render.document.machines import MARKS
from sqlitmus.render.document.model import SUMMARY, Chart, Document, Legend, Row, Section, Table
from sqlitmus.render.html import assets, charts, drawings, embed
from sqlitmus.render.html.view import looks
from sqlitmus.results.machines import Answer, MergedReport, Pooled, Row as MachineRow
from sqlitmus.results.report import Interval, Report
from sqlitmus.vocabulary.text import counted, first_sentences, visible
from sqlitmus.vocabulary.verdicts import Verdict

# Sections that are beside the question, or that a table of answers leads to.
BESIDE = ("beside-", "claim-", "means", "presets", "setting-", "syncs", "tails", "workload")

# About what a row takes in bytes besides its cells' texts, and each of its cells.
ROW, CELL = 500, 130


def fitted(document: Document, room: int) -> tuple[Document, str]:
    """The document with the rows that fit into `room` bytes, and a sentence on those that do not;
    "" for none."""
    rows = [row for table in document.tables() for row in table.every_row]
    fitting: set[int] = set()
    for row in sorted(rows, key=lambda row: row.rank):
        texts = sum(len(cell.text) + len(cell.bounds) + len(cell.tooltip) for cell in row.cells)
        room -= ROW + CELL * len(row.cells) + texts
        if room < 0:
            break
        fitting.add(id(row))
    if len(fitting) == len(rows):
        return document, ""

    def of(section: Section) -> Section:
        blocks = [fit(block) if isinstance(block, Table) else block for block in section.blocks]
        return replace(section, blocks=blocks, sections=list(map(of, section.sections)))

    def fit(table: Table) -> Table:
        shown, folded = (
            [row for row in rows if id(row) in fitting]
            for rows in (table.rows, table.folded.rows if table.folded else [])
        )
        fold = replace(table.folded, rows=folded) if table.folded and folded else None
        return replace(table, rows=shown, folded=fold)

    note = f"Left out for length: {counted(len(rows) - len(fitting), 'row')}. {document.whole}"
    return replace(document, sections=list(map(of, document.sections))), note


def render(report: Report) -> str:
    """The page for `report`: its document, with controls over the cases."""
    drawn = drawings.Drawn(question_first(build(report)))
    besides = {"chosen": drawn.view(Chart("cases", report)), "deciding": embed.deciding(report)}
    return printed("report.html.j2", drawn, embed.page_data(report), [assets.bundle()], besides)


def question_first(document: Document) -> Document:
    """What answers the question first, and the rest folded. Around a matrix, whose rows of groups
    are the summary and in which cases open, that is the matrix."""
    matrix = any("matrix" in {chart.kind for chart in s.charts} for s in document.sections)
    sections = [
        replace(
            section,
            nav=None if matrix and section.id == "cases" else section.nav,
            folded=section.detail or section.folded or section.id.startswith(BESIDE),
        )
        for section in document.sections
        if section.id != SUMMARY or not matrix
    ]
    return replace(document, sections=sorted(sections, key=lambda s: s.id != "matrix"))


def printed(
    template: str,
    drawn: drawings.Drawn,
    data: Mapping[str, object],
    scripts: Sequence[str],
    besides: Mapping[str, object],
) -> str:
    """A document through a template that extends that of documents and asks for what is `besides`.

    The first script is the page's, which reads `data`; the others are of pages that it unpacks.
    """
    document = drawn.document
    ranked = [table for table in document.brief[:1] if not table.matrix]
    legends = [block for block in document.foot if isinstance(block, Legend)]
    theme = assets.script("theme")
    return visible(
        assets.environment()
        .get_template(template)
        .render(
            document=document,
            answer=first_sentences("".join(document.headline[:1])),
            tables=[document.answers] if document.answers else ranked,
            drawn=drawn,
            # a chart that stands in for its section explains its own marks
            legends=[] if drawn.begins_whole else legends,
            foot=[block for block in document.foot if not isinstance(block, Legend)],
            looks=looks(document.runners),
            words=symbols,
            verdicts=list(Verdict),
            fmt=fmt,
            pictures=pictures,
            counted=counted,
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


def pack(report: Report) -> bytes:
    """A machine's own page, compressed, for the calls of the presets alone; nothing where it could
    not fit into the merged one."""
    if sum(len(case.cells) for case in report.cases) > MOST_CELLS:
        return b""
    page = render(replace(report, weighing=None))
    return gzip.compress(page.encode(), compresslevel=9, mtime=0)


def first_group(document: Document) -> Document:
    """The comparisons of the first group; the others folded."""
    sections = [
        replace(section, sections=[replace(s, folded=s is not section.sections[0])
                                   for s in section.sections])
        for section in document.sections
    ]  # fmt: skip
    return replace(document, sections=sections)


def render_merged(report: MergedReport, pages: Sequence[bytes]) -> str:
    """The page; `pages` are the packed ones of `report.machines`; those stay out that would
    make the file too large."""
    document, left_out = fitted(first_group(build(report)), ROOM)

    names = [machine.name for machine in report.machines]

    def page(texts: Sequence[str]) -> str:
        packed = list(zip(names, texts, strict=True))
        machines = [{"name": name, "here": bool(text)} for name, text in packed]
        data = {"kind": "merged", "run": report.run, "words": list(MARKS), "machines": machines}
        scripts = [assets.bundle(*assets.MERGED), assets.bundle()]
        besides = {"packed": packed, "run": report.run, "left_out": left_out}
        return printed("merged.html.j2", drawings.Drawn(document), data, scripts, besides)

    room = LIMIT - RESERVE - len(page([""] * len(names)).encode())
    texts: list[str] = []
    for given in pages:
        text = b64encode(given).decode()
        texts.append(text if len(text) <= room else "")
        room -= len(texts[-1])
    return page(texts)


# The column of pictures in a table: its axis, and what is drawn in each row; no markup.

MACHINE_WIDTH = 150
WIDEST = 4.0
STEP = 6
TIGHT = 3
MANY = 12


@dataclass(frozen=True, slots=True)
class MachineDrawing:
    """A row's picture as SVG paths: (side, bars, points), then (next machine, mean) per kind."""

    height: int
    sides: list[tuple[str, str, str]]
    means: list[tuple[str, str]]


def machine_axis(rows: Sequence[MachineRow]) -> charts.RatioAxis:
    """One axis for a group, as wide as its estimates need, at most to `WIDEST` on both sides."""
    values = [
        Interval(a.contrast.ratio.value, None, None)
        for row in rows
        for a in row.answers
        if a.contrast
    ]
    tight = charts.ratio_axis(values, MACHINE_WIDTH)
    return replace(tight, low=max(tight.low, 1 / WIDEST), high=min(tight.high, WIDEST))


def drawing(
    answers: Sequence[Answer], pooled: Sequence[Pooled], axis: charts.RatioAxis
) -> MachineDrawing:
    """All machines' intervals below each other, then each kind's mean as a diamond."""
    step = STEP if len(answers) <= MANY else TIGHT
    sides: dict[str, tuple[str, str]] = {}
    y = step
    for answer in answers:
        if contrast := answer.contrast:
            side = "em" if answer.emulated else contrast.verdict.style
            bars, points = sides.get(side, ("", ""))
            bar, point = _mark(axis.mark(contrast.ratio), y, axis.width)
            sides[side] = bars + bar, points + point
        y += step
    means: list[tuple[str, str]] = []
    for mean in pooled:
        means.append(_diamond(axis.mark(mean.ratio), axis.mark(mean.next), y, axis.width))
        y += STEP
    return MachineDrawing(y, [(side, *paths) for side, paths in sides.items()], means)


def _mark(mark: charts.Mark, y: int, width: int) -> tuple[str, str]:
    """An interval and its estimate; one beyond the axis is an arrow head."""
    if mark.over:
        end = width - 2 if mark.over > 0 else 2
        return f"M{end - 4 * mark.over} {y - 2}l{4 * mark.over} 2l{-4 * mark.over} 2", ""
    return f"M{mark.left:g} {y}H{mark.right:g}", f"M{mark.centre:g} {y}h0"


def _diamond(mean: charts.Mark, further: charts.Mark, y: int, width: int) -> tuple[str, str]:
    """Where the next machine would lie, and the mean; a mean beyond the axis is half of it, which
    points there."""
    line = f"M{further.left:g} {y}H{further.right:g}"
    if mean.over:
        end = width - 1 if mean.over > 0 else 1
        back = end - 5 * mean.over
        return line, f"M{back} {y - 3}L{end} {y}L{back} {y + 3}z"
    left, right = min(mean.left, mean.centre - 2), max(mean.right, mean.centre + 2)
    top, bottom = f"{mean.centre:g} {y - 2.5}", f"{mean.centre:g} {y + 2.5}"
    return line, f"M{left:g} {y}L{top}L{right:g} {y}L{bottom}z"


WIDTH = 164
CHANGES = 300
# Columns whose values are ratios of times.
RATIOS = ("change", "here", "over", "ratio")
PUBLISHED = "published"
NOWHERE = charts.RatioAxis(1.0, 1.0, 0)
MACHINES = "holds"


@dataclass(frozen=True, slots=True)
class Picture:
    """One row's: where its interval and the published ratio lie, or its machines."""

    mark: charts.Mark | None = None
    published: float | None = None
    drawing: MachineDrawing | None = None


@dataclass(frozen=True, slots=True)
class Pictures:
    """`after` is the id of the column that they stand behind, "" where a table has none.

    `margin` is that around 1, None where it is not drawn.
    """

    after: str = ""
    axis: charts.RatioAxis = NOWHERE
    rows: list[Picture] = field(default_factory=list[Picture])
    margin: float | None = None


def pictures(table: Table, rows: list[Row], chart: Chart | None) -> Pictures:
    """Those of `rows`, on an axis that holds the whole table."""
    if chart is not None and isinstance(chart.data, MergedReport):
        return of_machines(table, rows, chart.data)
    margin = chart.data.margin if chart is not None and isinstance(chart.data, Report) else None
    return forest(table, rows, margin)


def forest(table: Table, rows: list[Row], margin: float | None) -> Pictures:
    """Intervals of the column of ratios, if there is one; changes on an axis in percent that holds
    the `rows` alone, which others that are folded would press together."""
    after = next((column.id for column in table.columns if column.id in RATIOS), None)
    if after is None:
        return Pictures()
    changes = after == RATIOS[0]
    intervals = [
        each
        for row in (rows if changes else table.every_row)
        for each in (_value(table, row, after), _value(table, row, PUBLISHED))
        if each
    ]
    axis = charts.ratio_axis(intervals, CHANGES if changes else WIDTH, percent=changes)
    drawn: list[Picture] = []
    for row in rows:
        ratio, claim = _value(table, row, after), _value(table, row, PUBLISHED)
        drawn.append(Picture(ratio and axis.mark(ratio), claim and claim.value))
    return Pictures(after, axis, drawn, margin if changes else None)


def _value(table: Table, row: Row, column: str) -> Interval | None:
    """A row's figure in a column, where the table has one."""
    if all(each.id != column for each in table.columns):
        return None
    value = table.cell(row, column).value
    return value if value is None or isinstance(value, Interval) else Interval(value, None, None)


def of_machines(table: Table, rows: list[Row], report: MergedReport) -> Pictures:
    """The pictures of comparisons, found by their case and runner."""
    by_name = {(row.case, row.runner): row for row in report.rows}

    def comparison(row: Row) -> MachineRow:
        return by_name[row.head.name, table.cell(row, "runner").text]

    if all(column.id != MACHINES for column in table.columns):
        return Pictures()
    axis = machine_axis([comparison(row) for row in table.every_row])
    drawn = [
        Picture(drawing=drawing(compared.answers, compared.pooled, axis))
        for compared in map(comparison, rows)
    ]
    return Pictures(MACHINES, axis, drawn)
