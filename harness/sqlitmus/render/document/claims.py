"""Published claims as a document: what was said and what came out here, then tables of cells."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import log
from typing import TypeVar

from sqlitmus.render.document import format as fmt, model as doc, sentences, symbols
from sqlitmus.results import claims as claim_data
from sqlitmus.results.ranking import Interval
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.text import counted
from sqlitmus.vocabulary.verdicts import METRICS, ClaimWord

NONE = "\u2013"
# More rows than these are folded by runner.
FOLD = 10
# Ratio and medians that are farther apart stand beside each other.
APART = 1.02


def rows_of(ident: str, group: claim_data.Group, links: Mapping[str, str]) -> doc.Section:
    """The rows of a group, with the `links` to cases by id; of many, those that decide nothing are
    folded."""
    many = len(group.rows) > FOLD
    shown = [row_of(row, group, links) for row in group.rows if row.key or not many]
    rest = [row for row in group.rows if many and not row.key]
    below = [row_of(row, group, links) for row in rest]
    folded = doc.Folded(tally(rest), below, "rows") if rest else None
    kind = "small" if group.metric == "file" else "fast"
    here = doc.Column("here", f"× as {kind} here [95 %]")
    if group.compare == "difference":
        here = doc.Column("difference", "less here [95 %]")
    columns = [
        doc.RUNNER,
        doc.Column("published", "published", "text"),
        here,
        *([doc.Column("theirs", "theirs here [95 %]")] if _has_theirs(group) else []),
        doc.Column("times", "base \u2192 new", wide=True),
        doc.Column("verdict", "verdict", "text"),
        doc.Column("blocks", "blocks"),
    ]
    table = doc.Table(ident, doc.Column("row", "row", "text"), columns, shown, folded)
    return doc.Section(ident, group.title, [measured(group)], [doc.Chart("forest", group), table])


def _has_theirs(group: claim_data.Group) -> bool:
    return any(row.theirs or row.no_theirs for row in group.rows)


def row_of(row: claim_data.Row, group: claim_data.Group, links: Mapping[str, str]) -> doc.Row:
    """A row of a group: a ratio or a difference, and what was published."""
    word = row.verdict
    text = word or (f"no {group.compare} was published" if row.figure else "not measured")
    against = row.against and f"here / published {' '.join(fmt.ratio(row.against)).strip()}"
    repeated = f"shown and counted in \u201c{row.repeats}\u201d" if row.repeats else ""
    why = "; ".join(filter(None, (row.reason, against, same_size(row), repeated)))
    verdict = doc.Cell(f"{text}: {why}" if why else text, style="na")
    if word:
        verdict = replace(verdict, mark=symbols.mark(word), style=word.style)
    return doc.Row(
        doc.Head(row.name, link=links.get(row.new.rpartition("/")[0], "")),
        [
            doc.Cell(row.runner),
            published(row),
            here(row),
            *([theirs(row)] if _has_theirs(group) else []),
            times(row, group),
            verdict,
            doc.Cell(str(row.blocks), value=row.blocks) if row.figure else doc.Cell(),
        ],
        style=word.style if word else "",
    )


def published(row: claim_data.Row) -> doc.Cell:
    """The published figure, `2.40×`, `at least 2.00×`, `3 to 6×`, and what the publication said."""
    text = ""
    if row.published is not None:
        figure = _written(row, Interval(row.published, None, None))[0]
        text = figure if row.kind == "ratio" else f"{row.kind} {figure}"
        if row.kind == "range" and row.ends:
            text = f"{row.ends[0]:g} to {row.ends[1]:g}×"
    return doc.Cell(text, note=row.said, value=row.published)


def here(row: claim_data.Row) -> doc.Cell:
    """The ratio or difference that was measured."""
    if row.figure is None:
        return doc.Cell(NONE)
    return doc.Cell(*_written(row, row.figure), emphasis="strong", value=row.figure)


def theirs(row: claim_data.Row) -> doc.Cell:
    """What the authors' own programs gave here, or why nothing."""
    if row.theirs is None:
        return doc.Cell(row.no_theirs or NONE, style="na")
    return doc.Cell(*fmt.ratio(row.theirs), value=row.theirs)


def _written(row: claim_data.Row, figure: Interval) -> tuple[str, str]:
    return fmt.time(figure) if row.saves else fmt.ratio(figure)


def same_size(row: claim_data.Row) -> str:
    """What counts as the published figure; and what another machine may make of it."""
    if row.same is None:
        return ""
    text = f"{_band(row, row.same)} counts as published"
    if row.allowed and row.allowance:
        text += f"; another machine may have {_band(row, row.allowed)}: {row.allowance}"
    return text


def _band(row: claim_data.Row, band: claim_data.Band) -> str:
    low, high = (
        "" if end is None else fmt.duration(end) if row.saves else f"{end:.3g}" for end in band
    )
    return f"{low} to {high}" if high else f"{low} or more"


def times(row: claim_data.Row, group: claim_data.Group) -> doc.Cell:
    """Both medians; with their own ratio where it is not that of the row."""
    if row.base_time is None or row.new_time is None:
        return doc.Cell()
    medians = (row.base_time, row.new_time)
    of_files = group.metric == "file"
    both = " \u2192 ".join(
        fmt.size(round(each.value)) if of_files else fmt.time(each)[0] for each in medians
    )
    of_medians = row.base_time.value / row.new_time.value if row.new_time.value else None
    if not row.ratio or not of_medians or abs(log(of_medians / row.ratio.value)) < log(APART):
        return doc.Cell(both)
    ratio = fmt.ratio(Interval(of_medians, None, None))[0]
    return doc.Cell(both, note=f"ratio of these medians: {ratio}")


def tally(rows: Sequence[claim_data.Row]) -> str:
    """`41 rows: 38 reproduced, 3 not resolved`; a measurement that is shown twice counts once."""
    counts = Counter(row.verdict for row in rows if row.verdict and not row.repeats)
    parts = [f"{counts[word]} {word}" for word in ClaimWord if counts[word]]
    if repeats := sum(bool(row.repeats) for row in rows):
        parts.append(f"{repeats} shown before")
    count = counted(len(rows), "row")
    return f"{count}: {', '.join(parts)}" if parts else f"{count} without a published ratio"


def measured(group: claim_data.Group) -> str:
    """What is compared, of what: `median latency per operation`."""
    if group.metric == "file":
        return METRICS[group.metric]
    saved = "; base less new" if group.compare == "difference" else ""
    return f"{METRICS[group.metric]} per {group.unit}{saved}"


# Tables of a claim's cells: who took how long, threads, and latencies.

# Counts below this have a digit or two behind the point.
FEW = 10
T = TypeVar("T")
Figure = tuple[str, Callable[[T], str]]


def cells_of(
    claim: claim_data.Claim,
    data: claim_data.Ranking | claim_data.Threads | claim_data.Histograms,
    lead: str,
    table: doc.Table,
    *charts: doc.Chart,
) -> doc.Section:
    """A table of cells beside each other, its charts, and what is missing in it."""
    return doc.Section(
        f"claim-{claim.name}-{data.title}",
        data.title,
        [lead] if lead else [],
        [*charts, table, *(doc.Paragraph(problem, "dim") for problem in data.problems)],
    )


def ranking(ranked: claim_data.Ranking) -> doc.Table:
    """Fastest first; only columns that any cell has a figure for, and no file that all share."""
    figures = _filled(_COLUMNS, ranked.places)
    if len({place.file for place in ranked.places}) > 1:
        figures.append(_FILE)
    rows = [
        doc.Row(
            doc.Head(p.label),
            [doc.Cell(p.runner), *(doc.Cell(read(p) or NONE) for _, read in figures)],
        )
        for p in ranked.places
    ]
    return _table("cell", ["runner", *(title for title, _ in figures)], rows)


def threads(scaled: claim_data.Threads) -> doc.Table:
    """A row for each option and number of threads; only columns that any of them has."""
    points = [(line.label, point) for line in scaled.lines for point in line.points]
    figures = _filled(_LOAD, [point for _, point in points])
    if scaled.rates:
        figures.insert(0, ("time, per operation", lambda p: fmt.duration(1e9 / p.value.value)))
    write = fmt.rate if scaled.rates else fmt.time
    rows = [
        doc.Row(
            doc.Head(label),
            [
                doc.Cell(str(point.threads), note="more than cores" if point.over else ""),
                doc.Cell(*write(point.value), value=point.value),
                *(doc.Cell(read(point) or NONE) for _, read in figures),
            ],
        )
        for label, point in points
    ]
    value = "operations/s" if scaled.rates else METRICS[scaled.metric]
    return _table("option", ["threads", value, *(title for title, _ in figures)], rows)


def ends(ranked: claim_data.Ranking) -> str:
    """Which cell measured the least and which the most, as a sentence; "" for fewer than two."""
    if len(ranked.times) < 2:
        return ""
    least, most = ranked.times[0], ranked.times[-1]
    first, last = (
        " on ".join(filter(None, (place.label, place.runner)))
        for place in (ranked.places[0], ranked.places[len(ranked.times) - 1])
    )
    return (
        f"Least {METRICS[ranked.metric]}: {first} ({fmt.duration(least)}); most: {last} "
        f"({fmt.duration(most)}), so the least is {100 * (1 - least / most):.0f} % less. These "
        "are medians; their order has no verdict."
    )


def histograms(drawn: claim_data.Histograms) -> doc.Table:
    """Each cell's number of operations and their quantiles."""
    rows: list[doc.Row] = []
    for cell in drawn.cells:
        total = sum(count for *_, count in cell.buckets)
        quantiles = [_quantile(cell.buckets, share) for share in (0.5, 0.99)]
        values = [cell.buckets[0][0], *quantiles, cell.buckets[-1][1]]
        durations = [doc.Cell(fmt.duration(value), value=value) for value in values]
        rows.append(
            doc.Row(doc.Head(cell.label), [doc.Cell(cell.runner), doc.Cell(str(total)), *durations])
        )
    titles = ["runner", "operations", "shortest", "median", "99 %", "max"]
    return _table("cell", titles, rows)


def _table(head: str, titles: list[str], rows: list[doc.Row]) -> doc.Table:
    columns = [
        doc.RUNNER if title == doc.RUNNER.title else doc.Column(title, title) for title in titles
    ]
    return doc.Table("", doc.Column(head, head, "text"), columns, rows)


def _quantile(buckets: Sequence[tuple[int, int, int]], share: float) -> float:
    total, seen = sum(count for *_, count in buckets), 0
    for low, high, count in buckets:
        seen += count
        if seen >= share * total:
            return (low + high) / 2
    raise ValueError("a histogram without operations")


def _time(value: Interval | None) -> str:
    return fmt.time(value)[0] if value else ""


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}".replace("%", " %")


def _count(value: float | None) -> str:
    return "" if value is None else f"{value:.2g}" if value < FEW else f"{value:.0f}"


def _filled(columns: Sequence[Figure[T]], lines: Sequence[T]) -> list[Figure[T]]:
    """The columns that any line has a text for."""
    return [(title, read) for title, read in columns if any(map(read, lines))]


_LOAD: tuple[Figure[claim_data.Place | claim_data.ThreadPoint], ...] = (
    ("CPU, per operation", lambda p: fmt.duration(p.load.cpu) if p.load.cpu else ""),
    ("voluntary switches, per operation", lambda p: _count(p.load.voluntary)),
    ("involuntary switches, per operation", lambda p: _count(p.load.involuntary)),
)
_COLUMNS: tuple[Figure[claim_data.Place], ...] = (
    ("end to end", lambda p: _time(p.wall)),
    ("loop, per operation", lambda p: _time(p.loop)),
    *_LOAD,
    (
        "operations/s",
        lambda p: fmt.rate(Interval(1e9 / p.loop.value, None, None))[0] if p.loop else "",
    ),
    ("median", lambda p: _time(p.p50)),
    ("99 %", lambda p: _time(p.p99)),
    ("99.9 %", lambda p: _time(p.p999)),
    ("CPU in sum", lambda p: _percent(sum(p.cpus.values()) if p.cpus else None)),
    ("per processor", lambda p: ", ".join(f"{n}: {_percent(c)}" for n, c in p.cpus.items())),
    ("slowest / fastest worker", lambda p: f"{p.spread:.2f}" if p.spread else ""),
    ("starts apart", lambda p: fmt.duration(p.skew) if p.skew else ""),
    ("writer's 99 %", lambda p: _time(p.writer_p99)),
    ("busy", lambda p: _percent(p.busy)),
    ("pacing error, 99 %", lambda p: "" if p.pacing is None else fmt.duration(p.pacing)),
)
_FILE: Figure[claim_data.Place] = ("file", lambda p: fmt.size(p.file) if p.file else "")


def content(report: Report) -> doc.Content:
    """That of a run of claims: each claim with its rows and tables."""
    reading: list[doc.Block] = [
        doc.Legend(symbols.verdicts(ClaimWord)),
        doc.Paragraph(symbols.LEADS["claims"], "dim"),
        doc.Paragraph(correction(report), "dim"),
    ]
    size = counted(len(report.claims), "claim")
    facts = [("", size), ("reference", report.reference)]
    links = {case.id: f"c-{number}" for number, case in enumerate(report.cases)}
    sections = [_claim(claim, report.claims, links) for claim in report.claims]
    return doc.Content(facts, sections, reading, answers=answers(report.claims))


def answers(claims: Sequence[claim_data.Claim]) -> doc.Table:
    """A line for each claim by its short name, those of a word beside each other: the signs of its
    rows, and of its deciding row the word, what was published, and what came out here."""
    columns = [
        doc.Column("strip", "rows", "text"),
        doc.Column("word", "deciding row", "text"),
        doc.Column("published", "published"),
        doc.Column("here", "here [95 %]"),
    ]
    rows = [
        doc.Row(
            doc.Head(claim.name, link=f"claim-{claim.name}"),
            [
                doc.Cell(mark=doc.Mark(*(strip(claim, of) for of in MARK))),
                doc.Cell(word.short, mark=symbols.mark(word), style=word.style, emphasis="strong"),
                replace(published(claim.decisive), note=""),
                here(claim.decisive),
            ],
            style=word.style,
        )
        for word in ClaimWord
        for claim in claims
        if claim.decisive.verdict is word
    ]
    return doc.Table(
        "answers", doc.Column("claim", "claim", "text"), columns, rows, title="Do they hold?"
    )


MARK = ("symbol", "ascii")


def strip(claim: claim_data.Claim, of: str) -> str:
    """A sign for each row that decides, as symbols or ASCII; of many, how many there are of each:
    `14■ 1◪ 11□`."""
    if len(claim.strip) <= FOLD:
        return "".join(getattr(word, of) for word in claim.strip)
    return " ".join(f"{number}{getattr(word, of)}" for word, number in claim.counts.items())


def outcome(claim: claim_data.Claim) -> str:
    """What decides the claim, as sentences: "no memory statistics (2 threads at once), rust: no
    effect: 1.00\u00d7 [0.98, 1.02] here, published 3.55\u00d7. Of 4 rows that decide: \u2026"."""
    row = claim.decisive
    text = f"{row.name} ({claim.place.partition(':')[0]})"
    text = ", ".join(filter(None, (text, row.runner)))
    figures = f"{' '.join(filter(None, (here(row).text, here(row).bounds)))} here"
    if row.published is not None:
        figures += f", published {published(row).text}"
    why = row.reason if row.figure is None else figures
    text = f"{text}: {row.verdict}: {why}."
    if len(claim.strip) > 1:
        text += f" Of {len(claim.strip)} rows that decide: {sentences.outcome(claim.counts)}."
        text += "".join(f" Not testable: {why}." for why in claim.absent)
    return text


def other_work(row: claim_data.Row) -> str:
    """What it means that the authors' own programs gave another figure here, as sentences."""
    ours, authors = (" ".join(filter(None, (c.text, c.bounds))) for c in (here(row), theirs(row)))
    return (
        f"{row.name}: the authors' own programs give {authors} here, and this repetition {ours}: "
        "it does other work than they do, and says nothing of the publication."
    )


def _claim(
    claim: claim_data.Claim, every: Sequence[claim_data.Claim], links: Mapping[str, str]
) -> doc.Section:
    sections = [
        rows_of(f"claim-{claim.name}-{place}", group, links)
        for place, group in enumerate(claim.groups)
    ]
    sections += [cells_of(claim, r, ends(r), ranking(r)) for r in claim.rankings]
    for each in claim.threads:
        what = "operations per second" if each.rates else METRICS[each.metric]
        lead = f"{what.capitalize()} by threads."
        sections.append(cells_of(claim, each, lead, threads(each), doc.Chart("threads", each)))
    for each in claim.histograms:
        sections.append(cells_of(claim, each, "", histograms(each), doc.Chart("histogram", each)))
    return doc.Section(
        f"claim-{claim.name}",
        claim.title,
        blocks=[doc.Definitions(list(facts(claim))), *_contradiction(claim, every)],
        sections=sections,
        nav=claim.name,
    )


def _contradiction(
    claim: claim_data.Claim, every: Sequence[claim_data.Claim]
) -> Iterator[doc.Paragraph]:
    """A sentence on the publication that says otherwise, with what came out of it here."""
    for other in every:
        if claim.contradicts == other.name:
            came = sentences.outcome(other.counts)
            text = f"Another publication says otherwise: {other.title} (here: {came})."
            yield doc.Paragraph(text, link=f"claim-{other.name}")
            return
    if claim.contradicts:
        yield doc.Paragraph(
            "Another publication says otherwise; this run did not measure it: "
            f"./just claims {claim.name} {claim.contradicts}"
        )


def facts(claim: claim_data.Claim) -> Iterator[tuple[str, str]]:
    """What stands above a claim's rows, as names and texts."""
    for row in claim.other_work:
        yield "Not the same work", other_work(row)
    yield "Outcome", outcome(claim)
    for word, lesson in claim.lessons:
        yield "Lesson" if len(claim.lessons) == 1 else f"Where {word}", lesson
    yield "Hypothesis", claim.hypothesis
    yield "Source", claim.source
    yield "Published on", claim.published_on
    for text in claim.evidence:
        yield "Evidence", text
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
