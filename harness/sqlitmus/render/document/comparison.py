"""An A/B comparison as a document: a table per figure, what is decided first."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import log

from sqlitmus.render.document import format as fmt, model as doc, parts, symbols
from sqlitmus.render.document.parts import headed
from sqlitmus.render.document.symbols import more_blocks, worded
from sqlitmus.results.ranking import Contrast
from sqlitmus.results.report import Case, Recorded, Report
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.figures import Figure
from sqlitmus.vocabulary.text import counted, listed
from sqlitmus.vocabulary.verdicts import Verdict

COLUMNS = [
    doc.Column("base", "base"),
    doc.Column("new", "new"),
    doc.Column("change", "\N{GREEK CAPITAL LETTER DELTA} [95 %]"),
    doc.Column("verdict", "verdict", "text"),
    doc.Column("blocks", "blocks"),
]
SIDES = ("faster", "slower", "equivalent", Verdict.NOT_RESOLVED, Verdict.NOT_TESTABLE)
# Ranks of a row without a verdict: wrong and failed first, what cannot be compared last.
BROKEN, UNCOMPARED = -1, len(Verdict)
Ordered = tuple[tuple[int, float], Verdict | None, doc.Row]


def content(report: Report) -> doc.Content:
    """That of an A/B comparison; UsageError for a report that is none."""
    base, new = subjects(report)
    rows = (_time(report, case, head, base, new) for case, head in headed(report.cases))
    times = _table(report, "Time", COLUMNS, rows)
    times = replace(times, title=doc.titled(times.title, _verdicts(times)))
    compared = [case.comparisons.of(new, base) for case in report.cases]
    counts = _count(report, [each and each.verdict for each in compared])
    cases = counted(len(report.cases), "case")
    return doc.Content(
        [("", cases), ("base", base), ("new", new)],
        [*_figures(report, base, new), *_means(report, base, new)],
        parts.verdicts(report, "\N{GREEK CAPITAL LETTER DELTA} is the change from the base"),
        _finding(report, base, new),
        answer=[f"{new} against {base} in {cases}: {counts}."],
        answers=times,
        picture=doc.Chart("forest", report),
    )


def _finding(report: Report, base: str, new: str) -> str:
    """How many cases took more, less or the same time, and the largest change that was resolved."""
    judged = [
        (contrast, case.id)
        for case in report.cases
        if (contrast := case.comparisons.of(new, base)) is not None
    ]
    # what a gate came to is the finding
    if not judged or any(isinstance(each, Recorded) for each in report.headline):
        return ""
    words = [contrast.verdict for contrast, _ in judged]
    sides = Counter(str(word) if word.side == "undecided" else word.side for word in words)
    tally = listed([f"{sides[side]} {side}" for side in SIDES if sides[side]])
    text = f"Of {counted(len(judged), 'case')}: {tally}"
    changed = [(contrast, case) for contrast, case in judged if contrast.verdict.different]
    if not changed:
        return f"{text}."
    most, case = max(
        changed, key=lambda pair: (pair[0].verdict.material, abs(log(pair[0].ratio.value)))
    )
    kind = "material change" if most.verdict.material else "change, not shown to be material"
    return f"{text}; largest {kind}: {case}, {' '.join(fmt.change(most.ratio))}."


def subjects(report: Report) -> tuple[str, str]:
    """Names of base and new; UsageError for a report that is no comparison of two."""
    others = [runner.name for runner in report.runners if runner.name != report.reference]
    if report.kind != "compare" or len(others) != 1:
        raise UsageError(
            f"run {report.run} is no comparison of two subjects: it holds "
            f"{counted(len(report.runners), 'runner')}; make one with `./just compare BASE NEW`"
        )
    return report.reference, others[0]


def _figures(report: Report, base: str, new: str) -> list[doc.Section]:
    """Time, then the secondary figures as far as they were recorded."""
    named = headed(report.cases)
    tables: list[doc.Table] = []
    for figure in figures.FIGURES:
        rows = [row for case, head in named if (row := _judged(figure, case, head, base, new))]
        if rows:
            tables.append(_table(report, figure.title, COLUMNS[:-1], rows))
    return [
        doc.Section(
            f"beside-change-{number}",
            table.title,
            blocks=[doc.Chart("forest", report), replace(table, id=f"change-{number}")],
            finding=_verdicts(table),
        )
        for number, table in enumerate(tables)
    ]


def _verdicts(table: doc.Table) -> str:
    """How many cases of a table have which verdict."""
    verdicts = [table.cell(row, "verdict") for row in table.rows]
    words = Counter(cell.text if cell.mark else "wrong or failed" for cell in verdicts)
    changed = ", ".join(f"{count} {word}" for word, count in words.items())
    return changed or (table.folded.count if table.folded else "")


def _table(
    report: Report, title: str, columns: Sequence[doc.Column], rows: Iterable[Ordered]
) -> doc.Table:
    """The rows by verdict, then from the slowest change to the fastest; those without a difference
    folded."""
    ordered = sorted(rows, key=lambda row: row[0])
    shown = [row for (rank, _), verdict, row in ordered
             if rank == BROKEN or (verdict and verdict.different)]  # fmt: skip
    rest = ordered[len(shown) :]
    count = _count(report, [verdict for _, verdict, _ in rest])
    folded = doc.Folded(count, [row for *_, row in rest], "names")
    return doc.Table("", doc.CASE, list(columns), shown, folded if rest else None, title)


def _count(report: Report, verdicts: list[Verdict | None]) -> str:
    """`14 not resolved, 3 equivalent`."""
    ranked = sorted(Verdict, key=lambda verdict: verdict.rank)
    return ", ".join(
        f"{verdicts.count(verdict)} {worded(verdict, report) if verdict else 'without result'}"
        for verdict in (*ranked, None)
        if verdict in verdicts
    )


def _time(report: Report, case: Case, head: doc.Head, base: str, new: str) -> Ordered:
    """The primary figure of a case."""
    measured = {cell.runner: cell for cell in case.cells}
    old, fresh = measured.get(base), measured.get(new)
    times = [symbols.time(cell) for cell in (old, fresh)]
    comparison = case.comparisons.of(new, base)
    if comparison is None:
        reason = next((c.reason for c in (fresh, old) if c and c.reason), "not compared")
        broken = fresh is not None and fresh.outcome in ("wrong", "failed")
        rank = BROKEN if broken else UNCOMPARED
        row = [*times, symbols.NONE, doc.Cell(reason), doc.Cell()]
        return (rank, 0.0), None, doc.Row(head, row, "bad" if broken else "na", head.link[2:])
    words = worded(comparison.verdict, report)
    medians = symbols.of_medians(fresh, old, comparison.ratio)
    note = f"these medians make {fmt.change(medians)[0]}" if medians else ""
    return _row(head, times, comparison, words, more_blocks(comparison), note)


def _row(
    head: doc.Head,
    figures: list[doc.Cell],
    contrast: Contrast,
    words: str,
    needs: str = "",
    note: str = "",
) -> Ordered:
    verdict = contrast.verdict
    change = replace(symbols.change(contrast), note=note)
    row = [*figures, change, doc.Cell(words, "", symbols.mark(verdict), needs, change.style)]
    if contrast.blocks:
        row.append(doc.Cell(str(contrast.blocks), value=contrast.blocks))
    rank = (verdict.rank, -contrast.ratio.value)
    return rank, verdict, doc.Row(head, row, change.style, head.link[2:])


def _judged(figure: Figure, case: Case, head: doc.Head, base: str, new: str) -> Ordered | None:
    """A secondary figure of a case; None unless both subjects have it, with a verdict."""
    measured = {cell.runner: cell.figures.get(figure.name) for cell in case.cells}
    old, fresh = measured.get(base), measured.get(new)
    if old is None or fresh is None or fresh.contrast is None:
        return None
    values = [doc.Cell(fmt.figure(of.value, figure.unit), value=of.value) for of in (old, fresh)]
    return _row(head, values, fresh.contrast, figure.said(fresh.contrast.verdict))


def _means(report: Report, base: str, new: str) -> list[doc.Section]:
    """The geometric mean of the changes of each group that has one."""
    standings = {s.group: s for s in report.standings if (s.runner, s.reference) == (new, base)}
    rows: list[doc.Row] = []
    for group in report.groups:
        if standing := standings.get(group):
            cases = doc.Cell(str(standing.cases), value=standing.cases)
            rows.append(doc.Row(doc.Head(group), [cases, symbols.mean(standing, fmt.change)]))
    if not rows:
        return []
    columns = [doc.Column("cases", "cases"), COLUMNS[2]]
    table = doc.Table("means", doc.Column("group", "group", "text"), columns, rows)
    shown = [f"{row.head.name} {row.cells[1].text}" for row in rows if row.cells[1].style != "un"]
    finding = ", ".join(shown) or "no change resolved"
    return [
        doc.Section(
            "means", "Geometric means", [symbols.LEADS["together"]], [table], finding=finding
        )
    ]
