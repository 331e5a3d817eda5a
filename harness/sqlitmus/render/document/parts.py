"""Sections that reports of every kind have: what went wrong, what differs, how to go on."""

from collections.abc import Iterator

from sqlitmus.render.document import cells, details, durability, noticewords, sentences, symbols
from sqlitmus.render.document.model import (
    Block,
    Code,
    Document,
    Legend,
    Notice,
    Origin,
    Paragraph,
    Section,
)
from sqlitmus.render.document.table import CASE, RUNNER, Cell, Column, Head, Row, Table
from sqlitmus.results.notices import NoticeKind
from sqlitmus.results.report import Report

# What to know about figures that hold.
NOTES: frozenset[NoticeKind] = frozenset({
    *("settled", "shared", "repeats", "flat", "sqlite", "journal", "cores unknown"),
    *("oversubscribed", "plans", "not warm", "not steady", "earlier", "governor"),
})  # fmt: skip

# As many facts of the machine stand at the top of a page.
MACHINE = 6


def document(
    report: Report, facts: list[tuple[str, str]], sections: list[Section], reading: list[Block]
) -> Document:
    """The report around the `sections` of its kind; `reading` says how to read them."""
    trust = [*sentences.noise(report.noise)]
    if report.canary:
        trust.append(sentences.canary(report.canary))
    blocks = f"{report.blocks_complete} of {report.blocks_planned} blocks"
    return Document(
        title=report.title,
        headline=list(map(sentences.statement, report.headline)),
        facts=[("", f"suite {report.suite}"), ("", blocks), *facts],
        notices=[
            Notice(noticewords.notice(notice), "note" if notice.kind in NOTES else "caution")
            for notice in report.notices
        ],
        trust=trust,
        sections=[
            *sections,
            *durability.section(report),
            *_problems(report),
            *details.sections(report, trust),
        ],
        foot=[
            *reading,
            Code(report.rerun, "Run again"),
            Paragraph(" ".join(symbols.selftest(report)), "dim"),
            Paragraph(
                f"sqlitmus {report.sqlitmus_version} · run {report.run} · seed {report.seed}", "dim"
            ),
        ],
        whole=f"`./just report results/{report.run} --format json` has all of them.",
        origin=Origin(report.created, report.sqlitmus_version, report.label),
        grade=report.noise.grade,
        definition=sentences.definition(report),
        machine=list(report.machine.items())[:MACHINE],
        runners=report.runners,
    )


def verdicts(report: Report, figure: str, count: int | None = None) -> list[Block]:
    """The verdicts' symbols, what a `figure` is, and how verdicts were corrected, of which there
    are `count` where they are not those within cases."""
    text = f"{figure}; brackets are 95 % intervals. {symbols.correction(report, count)}"
    return [Legend(cells.verdicts()), Paragraph(text, "dim")]


def _problems(report: Report) -> Iterator[Section]:
    """Cells that answered wrongly or failed, and runners that are not here."""
    rows = [
        Row(
            Head(case.id),
            [
                Cell(cell.runner),
                Cell(symbols.OUTCOMES[cell.outcome].label, style="bad"),
                Cell(cell.reason or ""),
            ],
        )
        for case in report.cases
        for cell in case.cells
        if cell.outcome in ("wrong", "failed")
    ]
    columns = [
        RUNNER,
        Column("outcome", "outcome", "text"),
        Column("reason", "reason", "text"),
    ]
    if rows:
        table = Table("problems", CASE, columns, rows)
        yield Section("problems", "Wrong or failed", blocks=[table])
    gone: list[Block] = [
        Paragraph(f"{runner.name} is not here. {runner.missing}", "problem")
        for runner in report.runners
        if runner.missing
    ]
    if gone:
        yield Section("missing", "Not here", blocks=gone)
