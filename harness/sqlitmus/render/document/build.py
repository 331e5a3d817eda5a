"""The document of a report: what its kind says of its own, within what all of them have."""

from collections.abc import Callable

from sqlitmus.render.document import advice, claims, comparison, machines, parts, sentences, suite
from sqlitmus.render.document.model import Code, Content, Document, Notice, Paragraph
from sqlitmus.render.document.symbols import selftest
from sqlitmus.results import report as results
from sqlitmus.results.machines import MergedReport
from sqlitmus.vocabulary.text import counted, first_sentences
from sqlitmus.vocabulary.verdicts import RunKind

CONTENTS: dict[RunKind, Callable[[results.Report], Content]] = {
    "suite": suite.content,
    "compare": comparison.content,
    "claims": claims.content,
    "advise": advice.content,
    "selftest": suite.content,
}

# What to know about figures that hold.
NOTES: frozenset[results.NoticeKind] = frozenset({
    *("settled", "shared", "left out", "flat", "sqlite", "journal", "cores unknown"),
    *("oversubscribed", "plans", "not warm", "not steady", "warming up", "governor"),
})  # fmt: skip

# As many facts of the machine stand at the top of a page.
MACHINE = 6


def build(report: results.Report | MergedReport) -> Document:
    """The document of a run's report, or of several machines'."""
    if isinstance(report, MergedReport):
        return machines.build(report)
    content = CONTENTS[report.kind](report)
    trust = list(sentences.trust(report))
    amiss = [each for each in report.headline if isinstance(each, results.Broken | results.Missing)]
    others = [sentences.statement(each) for each in report.headline if each not in amiss]
    headline = [*filter(None, [content.finding]), *others]
    done, planned = report.blocks_complete, report.blocks_planned
    blocks = counted(done, "block") if done == planned else f"{done} of {planned} blocks"
    answer = content.answer
    if isinstance(answer, int):
        answer = [first_sentences(text, answer) for text in headline[:1] if answer]
    return Document(
        title=report.title,
        created=report.created,
        version=report.sqlitmus_version,
        headline=headline,
        facts=[("suite", report.suite), ("", blocks), *content.facts],
        notices=[
            *(Notice(sentences.statement(each), "absent") for each in amiss),
            *(
                Notice(sentences.notice(notice), "note" if notice.kind in NOTES else "caution")
                for notice in report.notices
            ),
            *content.notices,
        ],
        trust=trust,
        sections=[*content.sections, *parts.shared_sections(report, trust)],
        foot=[
            *content.reading,
            Code(report.rerun, "Run again"),
            Paragraph(selftest(report), "dim"),
            Paragraph(
                f"sqlitmus {report.sqlitmus_version} · run {report.run} · seed {report.seed}", "dim"
            ),
        ],
        whole=f"`./just report results/{report.run} --format json` has all of them.",
        label=report.label,
        answers=content.answers,
        picture=content.picture,
        definition=" ".join([*content.lead, sentences.definition(report)]),
        machine=list(report.machine.items())[:MACHINE],
        runners=report.runners,
        answer=answer,
        brief=content.brief,
    )
