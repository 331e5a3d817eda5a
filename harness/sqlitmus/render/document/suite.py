"""A run of a suite as a document: geometric means by group, then every case."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from sqlitmus.render.document import decision, format as fmt, model as doc, parts, symbols
from sqlitmus.render.document.parts import headed
from sqlitmus.render.document.ranking import few
from sqlitmus.results.ranking import Interval
from sqlitmus.results.recommendation import Recommendation, Weighed
from sqlitmus.results.report import Group, Report, Tail, Tails
from sqlitmus.vocabulary.text import counted, listed

# Of more cases a brief text has the groups' means only.
MOST_ROWS = 16
Said = TypeVar("Said", Recommendation, Weighed)


def content(report: Report) -> doc.Content:
    """That of a run of a suite."""
    size = f"{counted(len(report.cases), 'case')} × {counted(len(report.runners), 'runner')}"
    mix, uses = _said(report, Recommendation), _said(report, Weighed)
    pragmas = [of for case in report.cases if mix and case.id == mix.case for of in case.pragmas]
    workload = decision.workload_section(mix, pragmas)
    presets = decision.presets_section(uses)
    cases = matrix(report)
    # a decision, and of which calls; without one, each group, which the tables say
    ranked = [table for section in [*workload, *presets] for table in section.tables()]
    under_load = any(case.offered for case in report.tails)
    return doc.Content(
        [("", size), ("reference", report.reference)],
        [*workload, *_summary(report), cases, scatter(report), *tails_section(report), *presets],
        parts.verdicts(report, "Numbers are time over the reference's time"),
        "" if mix or uses else _finding(report),
        answer=2 if mix or uses else 1,
        picture=doc.Chart("loads", report) if under_load else None,
        brief=[*(ranked if workload else ranked[-1:]), *_whole(report, cases)],
    )


def _whole(report: Report, cases: doc.Section) -> Iterator[doc.Table]:
    """All cases as one table for a brief text, or the means of groups in place of many."""
    groups = [*cases.tables()]
    rows = [row for table in groups for row in table.rows]
    if len(rows) > MOST_ROWS:
        title = f"Geometric means of time relative to {report.reference}"
        for section in _summary(report):
            yield from (replace(table, title=title, matrix=True) for table in section.tables())
    elif groups:
        columns = [replace(each, wide=each.id == report.floor) for each in groups[0].columns]
        yield doc.Table(
            "matrix", doc.CASE, columns, rows, title=f"{cases.title}, by case", matrix=True
        )


def _finding(report: Report) -> str:
    """Who is fastest or tied for it in the most groups, and in the next most; nothing of a single
    group."""
    groups = [each for each in report.headline if isinstance(each, Group)]
    counts = Counter(name for group in groups for name in group.ranking.front)
    if len(groups) < 2 or not counts:
        return ""
    by_count: dict[int, list[str]] = {}
    for name, count in counts.most_common():
        by_count.setdefault(count, []).append(name)
    (most, first), *rest = by_count.items()
    verb = "is" if len(first) == 1 else "are"
    text = f"{few(first)} {verb} fastest or tied for it in {most} of {len(groups)} groups"
    latencies = {case.group for case in report.cases if case.metric == "p99"}
    for each in groups:
        if each.group in latencies and each.ranking.front:
            front = each.ranking.front
            tied = "has" if len(front) == 1 else "are tied for"
            return f"Under load {few(front)} {tied} the lowest p99; {text}."
    return "; ".join([text, *(f"{few(names)} in {count}" for count, names in rest[:1])]) + "."


def _said(report: Report, kind: type[Said]) -> Said | None:
    return next((each for each in report.headline if isinstance(each, kind)), None)


def _summary(report: Report) -> list[doc.Section]:
    """Geometric means: a row per runner, a column per group."""
    means = report.means()
    if not means:
        return []
    named = {group for group, _ in means}
    groups = [group for group in report.groups if group in named]
    rows: list[doc.Row] = []
    for runner in report.runners:
        mine = [means.get((group, runner.name)) for group in groups]
        if any(mine):
            rows.append(doc.Row(doc.Head(runner.name), [*map(symbols.mean, mine)], key=runner.name))
    columns = [doc.Column(group, group) for group in groups]
    table = doc.Table("means", doc.RUNNER, columns, rows)
    lead = (
        f"Geometric mean of time relative to {report.reference}, of groups of several cases; "
        f"below 1 is faster. {symbols.LEADS['together']}"
    )
    return [doc.Section(doc.SUMMARY, "Summary", [lead], [table])]


def matrix(report: Report) -> doc.Section:
    """Every case by group: the reference's time, then each other runner's ratio to it."""
    groups: dict[str, list[doc.Row]] = {group: [] for group in report.groups}
    names = [r.name for r in report.runners]
    names.sort(key=lambda name: name != report.reference)
    for case, head in headed(report.cases):
        measured = {cell.runner: cell for cell in case.cells}
        compared = case.comparisons.against(report.reference)
        cells = [symbols.against(measured.get(name), compared.get(name)) for name in names]
        groups.setdefault(case.group, []).append(doc.Row(head, cells, key=head.link[2:]))
    columns = [doc.Column(name, name) for name in names]
    sections = [
        doc.Section(ident, group, blocks=[doc.Table(ident, doc.CASE, columns, rows, matrix=True)])
        for group, rows in groups.items()
        if rows
        for ident in [f"matrix-{group}"]
    ]
    lead = f"Times of {report.reference}, and of the others their ratio to it; below 1 is faster."
    title = f"Time relative to {report.reference}"
    return doc.Section(
        "matrix", title, [lead], [doc.Chart("matrix", report)], sections, nav="Matrix"
    )


def scatter(report: Report) -> doc.Section:
    """Two runners against each other, for a format in which they can be chosen."""
    title = "Two runners against each other"
    return doc.Section(
        "scatter", title, blocks=[doc.Chart("scatter", report)], detail=True, nav=None
    )


# Latencies under load: what they are, who waited how long, and what is not to be compared.

OVER_TIME: dict[doc.ChartKind, str] = {
    "wal": "The write-ahead log's size",
    "resident": "The process's memory",
}
EMPTY = {"", fmt.percent(0)}
LATE = "the load generator fell behind; not ranked"


def tails_section(report: Report) -> list[doc.Section]:
    """The section of all such cases; none where no latencies were recorded."""
    if not report.tails:
        return []
    below = [
        doc.Section(f"tails-{case.case}", tails_name(case), list(tails_said(case)), _blocks(case))
        for case in report.tails
    ]
    name, finding = "Latencies under load", _quickest(report)
    return [doc.Section("tails", name, [symbols.LEADS["tails"]], sections=below, finding=finding)]


def _quickest(report: Report) -> str:
    """Whose p99 was measured lowest in most cases; that has no verdict."""
    choices = {runner.name for runner in report.runners if runner.role == "runner"}
    timed = [
        {cell.runner: cell.p99.value for cell in case.cells
         if cell.p99 and not cell.late and cell.runner in choices}
        for case in report.tails
    ]  # fmt: skip
    lowest = Counter(min(each, key=each.__getitem__) for each in timed if each)
    if not lowest:
        return ""
    (name, number), *_ = lowest.most_common(1)
    return f"{name} measured the lowest p99 in {number} of {counted(len(report.tails), 'case')}"


def _blocks(case: Tails) -> list[doc.Block]:
    blocks: list[doc.Block] = [doc.Chart("tails", case), _tails_table(case)]
    for kind, what in OVER_TIME.items():
        if any(getattr(cell, kind) for cell in case.cells):
            text = f"{what} over time, in the block whose largest is the median one."
            blocks += [doc.Paragraph(text, "dim"), doc.Chart(kind, case)]
    return blocks


def tails_name(case: Tails) -> str:
    """The case with the axes that tell it from its like."""
    return " ".join(filter(None, (case.title, case.axes_text)))


def tails_said(case: Tails) -> Iterator[str]:
    """What to know of the whole case."""
    if case.cores is not None and case.threads > case.cores:
        yield (
            f"{counted(case.threads, 'thread')} on {counted(case.cores, 'core')}: latencies "
            "include waiting for a processor."
        )
    growing = [(cell.runner, cell.growth) for cell in case.cells
               if cell.growth and cell.growth.low is not None and cell.growth.low > 0]  # fmt: skip
    if growing:  # beyond doubt
        names = listed([f"{runner} ({' '.join(_more(growth))})" for runner, growth in growing])
        yield (
            f"Memory grows while the operations are timed in {names} per million operations. "
            "A runtime that has not yet found the size of its heap looks the same: only a longer "
            "load separates it from a leak."
        )
    if behind := [cell for cell in case.cells if cell.late]:
        names = listed([f"{c.runner} ({fmt.duration(c.pacing)})" for c in behind])
        yield (
            f"The load generator fell behind for {names}: of the operations for which a thread "
            "waited, 99 % started up to so much after their time. These cells are not compared "
            "with others."
        )


def _tails_table(case: Tails) -> doc.Table:
    """Least p99 first; only columns that any cell has something in."""
    ordered = sorted(case.cells, key=lambda cell: (cell.late, cell.p99.value if cell.p99 else 0))
    rows = [[read(cell) for read in _LATENCIES.values()] for cell in ordered]
    filled = [place for place, cells in enumerate(zip(*rows, strict=True))
              if any(cell.text not in EMPTY for cell in cells)]  # fmt: skip
    columns = list(_LATENCIES)
    return doc.Table(
        f"tails-{case.case}",
        doc.RUNNER,
        [columns[place] for place in filled],
        [
            doc.Row(doc.Head(cell.runner), [row[place] for place in filled])
            for cell, row in zip(ordered, rows, strict=True)
        ],
    )


def _of(
    value: Interval | float | None, write: Callable[[Any], str | tuple[str, str]] = fmt.time
) -> doc.Cell:
    if value is None:
        return doc.Cell()
    text = write(value)
    return doc.Cell(text, value=value) if isinstance(text, str) else doc.Cell(*text, value=value)


_LATENCIES: dict[doc.Column, Callable[[Tail], doc.Cell]] = {
    doc.Column("rate", "a second"): lambda cell: _of(cell.rate, fmt.rate),
    doc.Column("p50", "p50"): lambda cell: _of(cell.p50),
    doc.Column("p99", "p99"): lambda cell: _of(cell.p99),
    doc.Column("p999", "p99.9"): lambda cell: _of(cell.p999),
    doc.Column("longest", "max"): lambda cell: _of(cell.longest),
    doc.Column("most", "max of all blocks", wide=True): lambda cell: _of(cell.most, fmt.duration),
    doc.Column("writer", "background thread, p99"): lambda cell: _of(cell.writer_p99),
    doc.Column("busy", "busy"): lambda cell: _of(cell.busy, fmt.percent),
    doc.Column("unfair", "slowest over fastest connection"): lambda cell: _of(
        cell.unfair, fmt.ratio
    ),
    doc.Column("wal", "largest WAL"): lambda cell: _of(cell.wal_most, _rounded_size),
    doc.Column("timer_p99", "timer late, p99"): lambda cell: _of(cell.timer_p99),
    doc.Column("timer_longest", "timer late, max"): lambda cell: _of(cell.timer_longest),
    doc.Column("growth", "memory per million operations"): lambda cell: _of(cell.growth, _more),
    doc.Column("remark", "", "text"): lambda cell: doc.Cell(LATE if cell.late else ""),
}


def _rounded_size(size: Interval) -> str:
    return fmt.size(round(size.value))


def _more(growth: Interval) -> tuple[str, str]:
    return fmt.difference(growth, fmt.SIZES)
