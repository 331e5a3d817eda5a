"""Claims as the page's template sees them."""

from dataclasses import dataclass, field

from sqlitmus.render.document import claims as claimwords
from sqlitmus.render.html import charts, claimcharts
from sqlitmus.results.claims import Claim, Group, Row
from sqlitmus.results.estimate import Interval
from sqlitmus.results.report import Report

WIDTH = 164


@dataclass(frozen=True, slots=True)
class RowView:
    """A row's texts, the look of its verdict, and where its interval lies."""

    line: claimwords.Line
    look: claimwords.WordLook | None
    mark: charts.Mark | None


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
    axis: charts.RatioAxis
    runners: bool
    folds: list[FoldView]


@dataclass(frozen=True, slots=True)
class TableView:
    """A table with its charts, if it has any."""

    title: str
    summary: str
    grid: claimwords.Grid
    problems: list[str]
    threads: claimcharts.ThreadsPanel | None = None
    bars: list[claimcharts.BarsPanel] = field(default_factory=list[claimcharts.BarsPanel])


@dataclass(frozen=True, slots=True)
class ClaimView:
    """One claim; `look` is that of its word if all rows agree."""

    claim: Claim
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
        TableView(one.title, claimwords.ends(one), claimwords.ranking(one), one.problems)
        for one in claim.rankings
    ]
    for one in claim.threads:
        panel = claimcharts.threads_panel(one)
        said, grid = claimwords.by_threads(one), claimwords.threads(one)
        tables.append(TableView(one.title, said, grid, one.problems, panel))
    for one in claim.histograms:
        grid, bars = claimwords.histograms(one), claimcharts.bars_panels(one)
        tables.append(TableView(one.title, "", grid, one.problems, bars=bars))
    return ClaimView(
        claim,
        claimwords.WORDS[words[0]] if len(words) == 1 else None,
        [("" if len(words) == 1 else f"Where {word}: ", said) for word, said in claim.lessons],
        [group_view(group) for group in claim.groups],
        tables,
    )


def group_view(group: Group) -> GroupView:
    """One group on the axis that holds its intervals and its published ratios."""
    known = [row.ratio for row in group.rows if row.ratio]
    known += [Interval(row.published, None, None) for row in group.rows if row.published]
    axis = charts.ratio_axis(known, WIDTH, charts.FOREST_PAD)
    return GroupView(
        group.title,
        claimwords.measured(group),
        axis,
        len({row.runner for row in group.rows}) > 1,
        [
            FoldView(runner, claimwords.tally(rows), [row_view(row, axis) for row in rows])
            for runner, rows in claimwords.folds(group)
        ],
    )


def row_view(row: Row, axis: charts.RatioAxis) -> RowView:
    """One row."""
    return RowView(
        claimwords.line(row),
        claimwords.WORDS[row.verdict] if row.verdict else None,
        axis.mark(row.ratio) if row.ratio else None,
    )
