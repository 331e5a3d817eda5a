"""Several machines as a document: what holds on which of them, and what they are."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf

from sqlitmus.render.document import format as fmt, model as doc, sentences, symbols
from sqlitmus.render.document.decision import over
from sqlitmus.render.document.ranking import few
from sqlitmus.results.machines import Answer, Machine, MergedReport, Pooled, Row
from sqlitmus.results.recommendation import Choice, Weighed
from sqlitmus.results.report import Agreed
from sqlitmus.vocabulary.text import counted, listed

# In the order in which rows are kept where not all have room.
WORDS = [
    doc.LegendEntry(
        doc.Mark("≠", "!="),
        "depends on the machine",
        "machines contradict each other: faster on one and slower on another, or materially so on "
        "one and equivalent on another",
    ),
    doc.LegendEntry(
        doc.Mark("✓", "ok"), "holds on all", "every machine with an answer says the same"
    ),
    doc.LegendEntry(
        doc.Mark("◐", "~"),
        "holds on most",
        "two or more machines and more than half say the same, the others nothing",
    ),
    doc.LegendEntry(
        doc.Mark("1", "1"), "on one machine only", "one machine has an answer, and it is decided"
    ),
    doc.LegendEntry(doc.Mark("?", "?"), "not resolved", "too few machines can tell"),
    doc.LegendEntry(doc.Mark("∅", "0"), "no answer", "no machine has both runners"),
]
MARKS = {entry.word: entry.mark for entry in WORDS}
# Rows of these say nothing for or against a runner.
FOLDED = ("not resolved", "no answer")


def _notices(report: MergedReport) -> Iterator[doc.Notice]:
    """That machines did not all measure in the same scheme; then what is not in the report."""
    turned, alone = (
        [machine.name for machine in report.machines if machine.scheme == scheme]
        for scheme in ("relay", "process")
    )
    if turned and alone:
        yield doc.Notice(
            f"The processes of a case took turns on {listed(turned)} and ran one after the other "
            f"on {listed(alone)}; that alone can change a ratio."
        )
    for name in report.expected:
        yield doc.Notice(f"{name} was expected and did not arrive.", "absent")
    for machine in report.machines:
        if machine.emulated:
            what = "emulated, so not counted in any word or mean"
            yield doc.Notice(f"{machine.name}: {what}: {', '.join(machine.emulated)}.", "absent")
    for run in report.refused:
        yield doc.Notice(f"Not taken: {run.path}: {run.reason}", "absent")


MACHINES = [
    doc.Column("kind", "kind", "text"),
    doc.Column("cpu", "CPU", "text"),
    doc.Column("cores", "cores", "text", wide=True),
    doc.Column("system", "system", "text", wide=True),
    doc.Column("sqlite", "SQLite", "text", wide=True),
    doc.Column("blocks", "blocks", "text"),
    doc.Column("detectable", "finds"),
    doc.Column("run", "run", "text", wide=True),
]


def build(report: MergedReport) -> doc.Document:
    """The document of a merged report."""
    arrived, expected = len(report.machines), len(report.machines) + len(report.expected)
    machines, heat = _machines(report), _heat(report)
    return doc.Document(
        title=report.title,
        created=report.created,
        version=report.sqlitmus_version,
        headline=[*filter(None, [finding(report)]), *map(sentences.statement, report.headline)],
        facts=[
            ("", f"{arrived} of {counted(expected, 'machine')}"),
            ("", counted(len(report.rows), "comparison")),
            ("reference", report.reference),
        ],
        notices=[*_notices(report)],
        trust=[],
        sections=[_holds(report), machines],
        foot=[
            doc.Legend(WORDS),
            doc.Legend(symbols.verdicts()),
            doc.Code(
                f"./just report results/{report.run} --machine NAME", "One machine's own report"
            ),
            doc.Paragraph(f"sqlitmus {report.sqlitmus_version} · run {report.run}", "dim"),
        ],
        whole=f"`./just report results/{report.run} --format json` has all of them.",
        answers=heat,
        brief=[] if heat else [*machines.tables()],
    )


def finding(report: MergedReport) -> str:
    """Who is fastest for the first use on every machine, or that it differs; without such a
    decision, who is faster than the reference in the most cases."""
    apart = sum(row.word == "depends on the machine" for row in report.rows)
    depends = f"{counted(apart, 'comparison')} depend{'s' * (apart == 1)} on the machine"
    depends = depends if apart else "no comparison depends on the machine"
    if choices := decisions(report):
        fronts = [choice.ranking.front for choice in choices]
        emulated = {name for machine in report.machines for name in machine.emulated}
        in_all = set(fronts[0]).intersection(*fronts) - emulated
        text = "who is fastest differs between the machines"
        if shared := [name for name in fronts[0] if name in in_all]:
            verb = "is" if len(shared) == 1 else "are"
            where = "both" if len(fronts) == 2 else f"all {len(fronts)}"
            text = f"{few(shared)} {verb} fastest or tied for it on {where} machines"
        return f"For {choices[0].title}, {text}; {depends}."
    faster: Counter[str] = Counter()
    for group in report.headline:
        if isinstance(group, Agreed):
            faster.update({name: sides.get("faster", 0) for name, sides in group.sides.items()})
    if not faster.total():
        return ""
    (name, number), *_ = faster.most_common(1)
    cases = counted(number, "case")
    return (
        f"{name} is faster than {report.reference} in {cases} on all or most machines; {depends}."
    )


def decisions(report: MergedReport) -> list[Choice]:
    """Each machine's decision for the first use; none where a machine has none for the same."""
    choices = [
        each.choices[0]
        for machine in report.machines
        for each in machine.headline
        if isinstance(each, Weighed) and each.choices[0].ranking.front
    ]
    alike = len({choice.title for choice in choices}) == 1
    return choices if alike and len(choices) == len(report.machines) else []


def _heat(report: MergedReport) -> doc.Table | None:
    """What each runner takes for the first use over the fastest of the same machine."""
    choices = decisions(report)
    if not choices:
        return None
    names = dict.fromkeys(
        cost.runner
        for choice in choices
        for cost in sorted(choice.costs, key=lambda cost: cost.time.value if cost.time else inf)
    )
    rows = [
        doc.Row(
            doc.Head(name),
            [
                _marked(cell) if name in machine.emulated else cell
                for choice, machine in zip(choices, report.machines, strict=True)
                for cell in [over(choice.ranking, name)]
            ],
        )
        for name in names
    ]
    columns = [doc.Column(machine.name, machine.name) for machine in report.machines]
    title = f"Time of {choices[0].title} over the fastest of the same machine"
    return doc.Table("heat", doc.RUNNER, columns, rows, title=title, matrix=True)


def _holds(report: MergedReport) -> doc.Section:
    """By group the comparisons that are decided; those that are not are counted."""
    columns = [
        doc.RUNNER,
        doc.Column("holds", "does it hold?", "text"),
        doc.Column("ratios", "ratios"),
        doc.Column("means", "mean of a kind", "text", wide=True),
        *(doc.Column(machine.name, machine.name, wide=True) for machine in report.machines),
    ]
    sections: list[doc.Section] = []
    for group in report.groups:
        mine = [row for row in report.rows if row.group == group]
        rest = [row for row in mine if row.word in FOLDED]
        words = Counter(row.word for row in rest)
        count = ", ".join(f"{words[word]} {word}" for word in FOLDED if word in words)
        fold = doc.Folded(count, list(map(_row, rest))) if rest else None
        decided = [_row(row) for row in mine if row.word not in FOLDED]
        if mine:
            table = doc.Table(f"holds-{group}", doc.CASE, columns, decided, fold)
            sections.append(doc.Section(table.id, group, blocks=[table]))
    reading = symbols.LEADS["machines"].format(reference=report.reference)
    blocks: list[doc.Block] = [doc.Chart("machines", report)]
    if not sections:
        blocks.append(doc.Paragraph("No machine has a comparison."))
    else:
        last = sections[-1]
        sections[-1] = replace(last, blocks=[*last.blocks, doc.Paragraph(reading, "dim")])
    return doc.Section("holds", "Does it hold?", [], blocks, sections)


def _row(row: Row) -> doc.Row:
    text = row.text if row.verdict is None else f"{row.verdict}: {row.text}"
    style = "un" if row.verdict is None else row.verdict.style  # of what the machines agree on
    return doc.Row(
        doc.Head(row.case, title=row.title),
        [
            doc.Cell(row.runner),
            doc.Cell(
                "; ".join(filter(None, (text, row.beside))), mark=MARKS[row.word], style=style
            ),
            doc.Cell(_span(row.answers), style=style),
            doc.Cell(" ".join(map(_mean, row.pooled))),
            *map(_answer, row.answers),
        ],
        style=style,
        key=row.case,
        rank=[*MARKS].index(row.word),
    )


def _span(answers: Sequence[Answer]) -> str:
    """The smallest and the largest ratio of the machines that count."""
    ratios = [a.contrast.ratio for a in answers if a.contrast and not a.emulated]
    if not ratios:
        return symbols.NONE.text
    ratios.sort(key=lambda ratio: ratio.value)
    return " to ".join(dict.fromkeys(fmt.ratio(ratio)[0] for ratio in (ratios[0], ratios[-1])))


def _mean(pooled: Pooled) -> str:
    """A kind's mean, and where one more such machine would lie."""
    value, bounds = fmt.ratio(pooled.ratio)
    return f"{value} {bounds} {pooled.kind} × {pooled.machines}, next {fmt.ratio(pooled.next)[1]}"


def _answer(answer: Answer) -> doc.Cell:
    """One machine's ratio, or why there is none."""
    if answer.contrast is None:
        return doc.Cell(answer.said, style="na", emphasis="aside")
    cell = symbols.compared(answer.contrast)
    return _marked(cell) if answer.emulated else cell


def _marked(cell: doc.Cell) -> doc.Cell:
    """That of an emulated runner, which counts in nothing."""
    return replace(cell, note="emulated", style="em", emphasis="")


def _machines(report: MergedReport) -> doc.Section:
    """What the machines are and what arrived of them."""
    rows = [
        doc.Row(doc.Head(machine.name), list(map(doc.Cell, _facts(machine))), key=machine.name)
        for machine in report.machines
    ]
    table = doc.Table("machines", doc.Column("machine", "machine", "id"), MACHINES, rows)
    return doc.Section("machines", "Machines", blocks=[table])


def _facts(machine: Machine) -> Iterator[str]:
    yield machine.kind
    yield from (machine.facts.get(name, "unknown") for name in ("cpu", "cores", "os"))
    if len(machine.sqlite) < 2:
        yield next(iter(machine.sqlite), "unknown")
    else:  # each version with the runners that have it
        yield "; ".join(f"{version}: {', '.join(of)}" for version, of in machine.sqlite.items())
    done, planned = machine.blocks, machine.blocks_planned
    yield str(done) if done == planned else f"{done} of {planned}"
    yield "unknown" if machine.detectable is None else fmt.percent(machine.detectable)
    yield machine.created
