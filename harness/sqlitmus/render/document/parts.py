"""Sections that reports of every kind have: what went wrong, what differs, how to go on."""

from collections.abc import Iterator

from sqlitmus.render.document import cells, durability, noticewords, sentences, symbols
from sqlitmus.render.document.model import Block, Code, Document, Legend, Notice, Paragraph, Section
from sqlitmus.render.document.table import Cell, Column, Head, Row, Table
from sqlitmus.results.notices import NoticeKind
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.nouns import counted

# What to know about figures that hold.
NOTES: frozenset[NoticeKind] = frozenset({
    *("settled", "shared", "repeats", "flat", "sqlite", "journal", "cores unknown"),
    *("oversubscribed", "plans", "not warm", "not steady", "other counts", "governor"),
})  # fmt: skip


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
            *_provenance(report),
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
        Column("runner", "runner", "id"),
        Column("outcome", "outcome", "text"),
        Column("reason", "reason", "text"),
    ]
    if rows:
        table = Table("problems", Column("case", "case", "id"), columns, rows)
        yield Section("problems", "Wrong or failed", blocks=[table])
    gone: list[Block] = [
        Paragraph(f"{runner.name} is not here. {runner.missing}", "problem")
        for runner in report.runners
        if runner.missing
    ]
    if gone:
        yield Section("missing", "Not here", blocks=gone)


def _provenance(report: Report) -> Iterator[Section]:
    """Facts that differ between runners, folded away."""
    facts = [fact for fact in report.provenance if fact.differs]
    if not facts:
        return
    names = [r.name for r in report.runners if any(r.name in fact.values for fact in facts)]
    rows = [
        Row(
            Head(f"{fact.group}: {fact.name}"),
            [Cell(fact.values.get(name, "unknown")) for name in names],
        )
        for fact in facts
    ]
    columns = [Column(name, name, "text") for name in names]
    table = Table("differing", Column("fact", "fact", "text"), columns, rows)
    title = f"{counted(len(facts), 'fact')} that differ between runners"
    yield Section("provenance", title, blocks=[table], folded=True)
