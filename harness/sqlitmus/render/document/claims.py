"""Published claims as a document: what was said and what came out here, then tables of cells."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlitmus.render.document import parts, sentences
from sqlitmus.render.document.claimrow import here, mark, published, rows_of
from sqlitmus.render.document.claimtables import (
    by_threads,
    cells_of,
    ends,
    histograms,
    ranking,
    threads,
)
from sqlitmus.render.document.model import (
    Block,
    Chart,
    Definitions,
    Document,
    Legend,
    LegendEntry,
    Paragraph,
    Section,
)
from sqlitmus.render.document.suite import matrix, scatter
from sqlitmus.render.document.table import Cell, Column, Head, Table
from sqlitmus.render.document.table import Row as TableRow
from sqlitmus.results.claims import Claim, Row
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.claimwords import ClaimWord
from sqlitmus.vocabulary.nouns import counted

CLAIM = Column("claim", "claim", "text")
ANSWERS = [
    Column("published", "published"),
    Column("here", "here [95 %]"),
    Column("word", "word", "text"),
]
READING = (
    "1.20\u00d7 as fast means that the new one does 1.20 times as much in the same time. Absolute "
    "times depend on the machine; the ratio is the claim. Times are medians over all blocks; the "
    "ratio is the trimmed mean of the ratios within blocks, where what slows both sides cancels."
)
RULE = (
    "A row's word is read off its interval, drawn out by the correction for all rows and by the "
    "guard, the noise that the canary showed in a case, if any: a noisier measurement never gets a "
    "word that settles more."
)


def build(report: Report) -> Document:
    """The document of a run of claims: each claim with its rows and tables."""
    entries = [LegendEntry(mark(word), word, word.meaning, word.style) for word in ClaimWord]
    reading: list[Block] = [
        Legend(entries),
        Paragraph(f"{READING} {RULE}", "dim"),
        Paragraph(correction(report), "dim"),
    ]
    size = counted(len(report.claims), "claim")
    facts = [("", size), ("reference", report.reference)]
    cells = replace(matrix(report), detail=True)
    sections = [*(_claim(claim, report.claims) for claim in report.claims), cells, scatter(report)]
    document = parts.document(report, facts, sections, reading)
    return replace(document, answers=answers(report.claims))


def answers(claims: Sequence[Claim]) -> Table:
    """A line for each claim: a published figure, the one from here, the claim's word."""
    rows = [
        TableRow(
            Head(claim.title, link=f"claim-{claim.name}"),
            [
                figure_of(claim.first),
                here(claim.first),
                Cell(
                    claim.word,
                    mark=mark(claim.word),
                    note=deciding(claim),
                    style=claim.word.style,
                    emphasis="strong",
                ),
            ],
            style=claim.word.style,
        )
        for claim in claims
    ]
    return Table("answers", CLAIM, ANSWERS, rows, title="Do they hold?")


def figure_of(row: Row) -> Cell:
    """The published figure, and what it is of."""
    return replace(published(row), note=" \u00b7 ".join(filter(None, (row.name, row.runner))))


def deciding(claim: Claim) -> str:
    """How many rows decide and what they came to, of which the line shows the first; nothing of a
    single row."""
    number = sum(claim.counts.values())
    if len(claim.counts) == 1:
        return f"all {number} rows" if number > 1 else ""
    return f"{counted(number, 'row')}: {sentences.outcome(claim.counts)}"


def _claim(claim: Claim, every: Sequence[Claim]) -> Section:
    sections = [rows_of(f"claim-{claim.name}-{n}", group) for n, group in enumerate(claim.groups)]
    sections += [cells_of(claim, r, ends(r), ranking(r)) for r in claim.rankings]
    sections += [
        cells_of(claim, t, by_threads(t), threads(t), Chart("threads", t)) for t in claim.threads
    ]
    sections += [
        cells_of(claim, h, "", histograms(h), Chart("histogram", h)) for h in claim.histograms
    ]
    return Section(
        f"claim-{claim.name}",
        claim.title,
        blocks=[Definitions(list(facts(claim))), *_contradiction(claim, every)],
        sections=sections,
    )


def _contradiction(claim: Claim, every: Sequence[Claim]) -> Iterator[Paragraph]:
    """A sentence on the publication that says otherwise, with what came out of it here."""
    for other in every:
        if claim.contradicts == other.name:
            text = f"Another publication says otherwise: {other.title} (here: {other.word})."
            yield Paragraph(text, link=f"claim-{other.name}")
            return
    if claim.contradicts:
        yield Paragraph(
            "Another publication says otherwise; this run did not measure it: "
            f"./just claims {claim.name} {claim.contradicts}"
        )


def facts(claim: Claim) -> Iterator[tuple[str, str]]:
    """What stands above a claim's rows, as names and texts."""
    yield "Outcome", f"{claim.word}; {deciding(claim)}" if len(claim.counts) > 1 else claim.word
    for word, lesson in claim.lessons:
        yield "Lesson" if len(claim.lessons) == 1 else f"Where {word}", lesson
    yield "Hypothesis", claim.hypothesis
    yield "Source", claim.source
    yield "Published on", claim.published_on
    yield "Here", "; ".join(claim.here)
    for text in claim.differences:
        yield "Different here", text
    for text in claim.untestable:
        yield "Not testable here", text


def correction(report: Report) -> str:
    """What was done about the number of rows, as a sentence."""
    groups = [group for claim in report.claims for group in claim.groups]
    family = {(r.base, r.new, g.metric, g.unit) for g in groups for r in g.rows if r.judged}
    count = counted(len(family), "measurement")
    how = {
        "none": "are not corrected for their number",
        "bh": f"are corrected for {count} by Benjamini and Yekutieli's intervals",
        "holm": f"are corrected for {count} by Bonferroni's intervals",
    }[report.correction]
    return f"Words {how}; brackets are 95 % intervals."
