"""A run of a suite as a document: geometric means by group, then every case."""

from typing import TypeVar

from sqlitmus.render.document import decision, parts, symbols, tails
from sqlitmus.render.document.model import (
    CASE,
    RUNNER,
    Block,
    Chart,
    Column,
    Document,
    Head,
    Row,
    Section,
    Table,
)
from sqlitmus.render.document.parts import heads
from sqlitmus.results.recommendation import Recommendation, Weighed
from sqlitmus.results.report import Case, Report
from sqlitmus.vocabulary.text import counted

Said = TypeVar("Said", Recommendation, Weighed)


def build(report: Report) -> Document:
    """The document of a run of a suite."""
    size = f"{counted(len(report.cases), 'case')} × {counted(len(report.runners), 'runner')}"
    return parts.document(
        report,
        [("", size), ("reference", report.reference)],
        [
            *decision.workload_section(_said(report, Recommendation)),
            *_summary(report),
            matrix(report),
            scatter(report),
            *tails.section(report),
            *decision.presets_section(_said(report, Weighed)),
        ],
        parts.verdicts(report, "Numbers are time over the reference's time"),
    )


def _said(report: Report, kind: type[Said]) -> Said | None:
    return next((each for each in report.headline if isinstance(each, kind)), None)


def _summary(report: Report) -> list[Section]:
    """Geometric means: a row per runner, a column per group."""
    standings = {
        (s.runner, s.group): s for s in report.standings if s.reference == report.reference
    }
    if not standings:
        return []
    rows: list[Row] = []
    for runner in report.runners:
        mine = [standings.get((runner.name, group)) for group in report.groups]
        if any(mine):
            row = [symbols.mean(standing) for standing in mine]
            rows.append(Row(Head(runner.name), row, key=runner.name))
    columns = [Column(group, group) for group in report.groups]
    table = Table("means", RUNNER, columns, rows)
    lead = (
        f"Geometric mean of time relative to {report.reference}; below 1 is faster. "
        f"{symbols.TOGETHER}"
    )
    return [Section("summary", "Summary", [lead], [Chart("summary", report), table])]


def matrix(report: Report) -> Section:
    """Every case by group: the reference's time, then each other runner's ratio to it."""
    groups: dict[str, list[Row]] = {group: [] for group in report.groups}
    others = [r.name for r in report.runners if r.name != report.reference]
    present = any(runner.name == report.reference for runner in report.runners)
    names = [report.reference, *others] if present else others
    for number, (case, head) in enumerate(zip(report.cases, heads(report.cases), strict=True)):
        groups.setdefault(case.group, []).append(
            Row(head, _row(case, names, report.reference), key=str(number))
        )
    columns = [Column(name, name) for name in names]
    sections: list[Section] = []
    for group, rows in groups.items():
        table: list[Block] = [Table(f"matrix-{group}", CASE, columns, rows, matrix=True)]
        if rows:
            sections.append(Section(f"matrix-{group}", group, blocks=table))
    lead = f"Times of {report.reference}, and of the others their ratio to it; below 1 is faster."
    title = f"Time relative to {report.reference}"
    return Section("matrix", title, [lead], [Chart("matrix", report)], sections, nav="Matrix")


def scatter(report: Report) -> Section:
    """Two runners against each other, for a format in which they can be chosen."""
    title = "Two runners against each other"
    return Section("scatter", title, blocks=[Chart("scatter", report)], detail=True, nav=None)


def _row(case: Case, names: list[str], reference: str) -> list[symbols.Cell]:
    measured = {cell.runner: cell for cell in case.cells}
    compared = case.comparisons.against(reference)
    return [symbols.against(measured.get(name), compared.get(name)) for name in names]
