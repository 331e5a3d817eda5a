"""Claims as the page's template sees them."""

from dataclasses import dataclass, field

from markupsafe import Markup

from sqlitmus.render.document import claims as claimwords
from sqlitmus.render.document import sentences
from sqlitmus.render.document.model import Cell, Table
from sqlitmus.render.html import charts, claimcharts, fragments
from sqlitmus.render.html.view import safe
from sqlitmus.results.claims import Claim, Group, Row
from sqlitmus.results.estimate import Interval, Speedup
from sqlitmus.results.report import Report

WIDTH = 164


@dataclass(frozen=True, slots=True)
class Line:
    """A row as texts."""

    row: Row
    published: str
    ratio: str
    bounds: str
    times: str
    said: str
    blocks: str


def line(row: Row) -> Line:
    """The texts of a row."""
    _, published, here, times, verdict, blocks = claimwords.row_of(row).cells
    return Line(row, published.text, here.text, here.bounds, times.text, verdict.text, blocks.text)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table as texts: the first `left` columns are words, the others numbers."""

    header: list[str]
    lines: list[list[str]]
    left: int


def grid(table: Table) -> Grid:
    """The texts of a table."""
    columns = [table.head, *table.columns]
    lines = [[row.head.text, *map(written, row.cells)] for row in table.rows]
    left = sum(column.kind != "number" for column in columns)
    return Grid([column.title for column in columns], lines, left)


def written(cell: Cell) -> str:
    """A cell's texts."""
    note = f"({cell.note})" if cell.note else ""
    return " ".join(filter(None, (cell.text, cell.bounds, note)))


@dataclass(frozen=True, slots=True)
class RowView:
    """A row's texts, the look of its verdict, and its interval beside the published ratio."""

    line: Line
    look: claimwords.WordLook | None
    drawn: Markup


@dataclass(frozen=True, slots=True)
class FoldView:
    """Rows under one heading, which is folded where it names a runner."""

    runner: str
    tally: str
    rows: list[RowView]


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group with an axis of its own; `runners` says whether its rows are of several."""

    title: str
    measured: str
    ticks: Markup
    runners: bool
    folds: list[FoldView]


@dataclass(frozen=True, slots=True)
class TableView:
    """A table with its charts, if it has any."""

    title: str
    summary: str
    grid: Grid
    problems: list[str]
    threads: claimcharts.ThreadsPanel | None = None
    bars: list[claimcharts.BarsPanel] = field(default_factory=list[claimcharts.BarsPanel])


@dataclass(frozen=True, slots=True)
class ClaimView:
    """One claim; `look` is that of its word if all rows agree."""

    claim: Claim
    outcome: str
    look: claimwords.WordLook | None
    lessons: list[tuple[str, str]]
    groups: list[GroupView]
    tables: list[TableView]


def claim_views(report: Report) -> list[ClaimView]:
    """All claims of a report."""
    return [claim_view(claim) for claim in report.claims]


def claim_view(claim: Claim) -> ClaimView:
    """One claim."""
    words = list(claim.counts)
    tables = [
        TableView(one.title, claimwords.ends(one), grid(claimwords.ranking(one)), one.problems)
        for one in claim.rankings
    ]
    for one in claim.threads:
        panel = claimcharts.threads_panel(one)
        said, numbers = claimwords.by_threads(one), grid(claimwords.threads(one))
        tables.append(TableView(one.title, said, numbers, one.problems, panel))
    for one in claim.histograms:
        numbers, bars = grid(claimwords.histograms(one)), claimcharts.bars_panels(one)
        tables.append(TableView(one.title, "", numbers, one.problems, bars=bars))
    return ClaimView(
        claim,
        sentences.outcome(claim.counts),
        claimwords.WORDS[words[0]] if len(words) == 1 else None,
        [("" if len(words) == 1 else f"Where {word}: ", said) for word, said in claim.lessons],
        [group_view(group) for group in claim.groups],
        tables,
    )


def group_view(group: Group) -> GroupView:
    """One group on the axis that holds its intervals and its published ratios."""
    known = [drawn(row.ratio) for row in group.rows if row.ratio]
    known += [Interval(row.published, None, None) for row in group.rows if row.published]
    axis = charts.ratio_axis(known, WIDTH, charts.FOREST_PAD)
    return GroupView(
        group.title,
        claimwords.measured(group),
        safe(fragments.ticks(axis)),
        len({row.runner for row in group.rows}) > 1,
        [
            FoldView(runner, claimwords.tally(rows), [row_view(row, axis) for row in rows])
            for runner, rows in claimwords.folds(group)
        ],
    )


def drawn(faster: Speedup) -> Interval:
    """A speed-up on an axis of its own kind."""
    return Interval(faster.value, faster.low, faster.high)


def row_view(row: Row, axis: charts.RatioAxis) -> RowView:
    """One row."""
    frame = fragments.forest_frame(axis)
    if row.published:
        frame += f'<path class="said" d="M{axis.at(row.published):g} 1v12"/>'
    return RowView(
        line(row),
        claimwords.WORDS[row.verdict] if row.verdict else None,
        safe(fragments.forest(frame, axis, drawn(row.ratio) if row.ratio else None)),
    )
