"""Several machines as a document: what holds on which of them, and what they are."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import sentences, symbols
from sqlitmus.render.document.decision import over
from sqlitmus.render.document.model import (
    CASE,
    RUNNER,
    Block,
    Cell,
    Chart,
    Code,
    Column,
    Document,
    Folded,
    Head,
    Legend,
    LegendEntry,
    Mark,
    Notice,
    Origin,
    Paragraph,
    Section,
    Table,
)
from sqlitmus.render.document.model import Row as TableRow
from sqlitmus.render.document.ranking import few
from sqlitmus.results.machines import Answer, Machine, MergedReport, Pooled, Row
from sqlitmus.results.recommendation import Choice, Weighed
from sqlitmus.results.report import Agreed
from sqlitmus.vocabulary.text import counted, listed
from sqlitmus.vocabulary.verdicts import HoldsWord


@dataclass(frozen=True, slots=True)
class HoldWord:
    """`ascii` stands in for the symbol on plain terminals; a row is `folded` where it says nothing
    for or against a runner."""

    symbol: str
    ascii: str
    folded: bool
    meaning: str


# In the order in which rows are kept where not all have room.
WORDS: dict[HoldsWord, HoldWord] = {
    "depends on the machine": HoldWord(
        "≠",
        "!=",
        False,
        "machines contradict each other: faster on one and slower on another, or materially so on "
        "one and equivalent on another",
    ),
    "holds on all": HoldWord("✓", "ok", False, "every machine with an answer says the same"),
    "holds on most": HoldWord(
        "◐", "~", False, "two or more machines and more than half say the same, the others nothing"
    ),
    "on one machine only": HoldWord(
        "1", "1", False, "one machine has an answer, and it is decided"
    ),
    "not resolved": HoldWord("?", "?", True, "too few machines can tell"),
    "no answer": HoldWord("∅", "0", True, "no machine has both runners"),
}


def said(row: Row) -> str:
    """`materially faster: holds on all 6`, or the word alone."""
    return row.text if row.verdict is None else f"{row.verdict}: {row.text}"


def side(row: Row) -> str:
    """The side of what the machines agree on: f, s, eq or un."""
    return "un" if row.verdict is None else row.verdict.style


def folded(row: Row) -> bool:
    """Whether a row is behind a fold."""
    return WORDS[row.word].folded


def count(rows: Iterable[Row]) -> str:
    """`12 not resolved, 3 no answer`: the words that occur."""
    kinds = [row.word for row in rows]
    return ", ".join(f"{kinds.count(word)} {word}" for word in WORDS if word in kinds)


def blocks(machine: Machine) -> str:
    """`30`, or `12 of 30`."""
    if machine.blocks == machine.blocks_planned:
        return str(machine.blocks)
    return f"{machine.blocks} of {machine.blocks_planned}"


def sqlite(machine: Machine) -> str:
    """The version of SQLite, or each with the runners that have it."""
    if len(machine.sqlite) < 2:
        return next(iter(machine.sqlite), "unknown")
    return "; ".join(f"{version}: {', '.join(names)}" for version, names in machine.sqlite.items())


def absent(report: MergedReport) -> list[str]:
    """What is not in the report, as sentences: machines and emulated runners."""
    lines = [f"{name} was expected and did not arrive." for name in report.expected]
    for machine in report.machines:
        if machine.emulated:
            names = ", ".join(machine.emulated)
            lines.append(f"{machine.name}: emulated, so not counted in any word or mean: {names}.")
    return lines


def schemes(report: MergedReport) -> list[str]:
    """That machines did not all measure in the same scheme."""
    turned, alone = (
        [machine.name for machine in report.machines if machine.scheme == scheme]
        for scheme in ("relay", "process")
    )
    if not (turned and alone):
        return []
    sentence = (
        f"The processes of a case took turns on {listed(turned)} and ran one after the other on "
        f"{listed(alone)}; that alone can change a ratio."
    )
    return [sentence]


READING = (
    "Ratios are within a machine, against its own {reference}; no time of one machine is set "
    "against that of another. Verdicts are those of each machine's own report, corrected there."
)
POOLED = (
    "Where three or more machines of a kind have an estimate, their mean by random effects is "
    "given, and where the ratio on one more such machine would lie (95 %)."
)
MACHINES = [
    Column("kind", "kind", "text"),
    Column("cpu", "CPU", "text"),
    Column("cores", "cores", "text", wide=True),
    Column("system", "system", "text", wide=True),
    Column("sqlite", "SQLite", "text", wide=True),
    Column("blocks", "blocks", "text"),
    Column("detectable", "finds"),
    Column("run", "run", "text", wide=True),
]


def build(report: MergedReport) -> Document:
    """The document of a merged report."""
    arrived, expected = len(report.machines), len(report.machines) + len(report.expected)
    machines, heat = _machines(report), _heat(report)
    refused = [f"Not taken: {run.path}: {run.reason}" for run in report.refused]
    return Document(
        title=report.title,
        headline=[*filter(None, [finding(report)]), *map(sentences.statement, report.headline)],
        facts=[
            ("", f"{arrived} of {counted(expected, 'machine')}"),
            ("", counted(len(report.rows), "comparison")),
            ("reference", report.reference),
        ],
        notices=[
            *(Notice(text) for text in schemes(report)),
            *(Notice(text, "absent") for text in (*absent(report), *refused)),
        ],
        trust=[],
        sections=[_holds(report), machines],
        foot=[
            Legend(
                [LegendEntry(_mark(word), word, look.meaning) for word, look in WORDS.items()]
            ),
            Legend(symbols.verdicts()),
            Code(f"./just report results/{report.run} --machine NAME", "One machine's own report"),
            Paragraph(f"sqlitmus {report.sqlitmus_version} · run {report.run}", "dim"),
        ],
        whole=f"`./just report results/{report.run} --format json` has all of them.",
        origin=Origin(report.created, report.sqlitmus_version),
        answers=heat,
        brief=[] if heat else [*machines.tables()],
    )  # fmt: skip


def finding(report: MergedReport) -> str:
    """Who is fastest for the first use on every machine, or that it differs; without such a
    decision, who is faster than the reference in the most cases."""
    apart = sum(row.word == "depends on the machine" for row in report.rows)
    depends = f"{counted(apart, 'comparison')} depend{'s' * (apart == 1)} on the machine"
    depends = depends if apart else "no comparison depends on the machine"
    choices = decisions(report)
    if choices:
        order = [choice.ranking for choice in choices]
        emulated = {name for machine in report.machines for name in machine.emulated}
        shared = [
            name
            for name in order[0].front
            if name not in emulated and all(name in each.front for each in order)
        ]
        if shared:
            verb = "is" if len(shared) == 1 else "are"
            where = "both" if len(order) == 2 else f"all {len(order)}"
            text = f"{few(shared)} {verb} fastest or tied for it on {where} machines"
        else:
            text = "who is fastest differs between the machines"
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


def _heat(report: MergedReport) -> Table | None:
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
        TableRow(
            Head(name),
            [
                _marked(cell) if name in machine.emulated else cell
                for choice, machine in zip(choices, report.machines, strict=True)
                for cell in [over(choice.ranking, name)]
            ],
        )
        for name in names
    ]
    columns = [Column(machine.name, machine.name) for machine in report.machines]
    title = f"Time of {choices[0].title} over the fastest of the same machine"
    return Table("heat", RUNNER, columns, rows, title=title, matrix=True)


def _holds(report: MergedReport) -> Section:
    """By group the comparisons that are decided; those that are not are counted."""
    columns = [
        RUNNER,
        Column("holds", "does it hold?", "text"),
        Column("ratios", "ratios"),
        Column("means", "mean of a kind", "text", wide=True),
        *(Column(machine.name, machine.name, wide=True) for machine in report.machines),
    ]
    sections: list[Section] = []
    for group in report.groups:
        mine = [row for row in report.rows if row.group == group]
        decided = [_row(row) for row in mine if not folded(row)]
        rest = [row for row in mine if folded(row)]
        fold = Folded(count(rest), [_row(row) for row in rest]) if rest else None
        table = Table(f"holds-{group}", CASE, columns, decided, fold)
        if mine:
            sections.append(Section(f"holds-{group}", group, blocks=[table]))
    reading = f"{READING.format(reference=report.reference)} {POOLED}"
    blocks: list[Block] = [Chart("machines", report)]
    if not sections:
        blocks.append(Paragraph("No machine has a comparison."))
    else:
        last = sections[-1]
        sections[-1] = replace(last, blocks=[*last.blocks, Paragraph(reading, "dim")])
    return Section("holds", "Does it hold?", [], blocks, sections)


def _row(row: Row) -> TableRow:
    text = f"{said(row)}; {row.beside}" if row.beside else said(row)
    return TableRow(
        Head(row.case, title=row.title),
        [
            Cell(row.runner),
            Cell(text, mark=_mark(row.word), style=side(row)),
            Cell(_span(row.answers), style=side(row)),
            Cell(" ".join(map(_mean, row.pooled))),
            *map(_answer, row.answers),
        ],
        style=side(row),
        key=row.case,
        rank=list(WORDS).index(row.word),
    )


def _mark(word: HoldsWord) -> Mark:
    return Mark(WORDS[word].symbol, WORDS[word].ascii)


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


def _answer(answer: Answer) -> Cell:
    """One machine's ratio, or why there is none."""
    if answer.contrast is None:
        return Cell(answer.said, style="na", emphasis="aside")
    cell = symbols.compared(answer.contrast)
    return _marked(cell) if answer.emulated else cell


def _marked(cell: Cell) -> Cell:
    """That of an emulated runner, which counts in nothing."""
    return replace(cell, note="emulated", style="em", emphasis="")


def _machines(report: MergedReport) -> Section:
    """What the machines are and what arrived of them."""
    rows = [
        TableRow(
            Head(machine.name),
            [
                Cell(text)
                for text in (
                    machine.kind,
                    machine.facts.get("cpu", "unknown"),
                    machine.facts.get("cores", "unknown"),
                    machine.facts.get("os", "unknown"),
                    sqlite(machine),
                    blocks(machine),
                    "unknown" if machine.detectable is None else fmt.percent(machine.detectable),
                    machine.created,
                )
            ],
            key=machine.name,
        )
        for machine in report.machines
    ]
    table: list[Block] = [Table("machines", Column("machine", "machine", "id"), MACHINES, rows)]
    return Section("machines", "Machines", blocks=table)
