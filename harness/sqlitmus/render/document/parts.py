"""Sections that reports of every kind have: what went wrong, what was measured, what differs,
how to go on.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import sentences, symbols
from sqlitmus.render.document.model import (
    CASE,
    RUNNER,
    Block,
    Cell,
    Chart,
    Code,
    Column,
    Definitions,
    Document,
    Head,
    Legend,
    Notice,
    Origin,
    Paragraph,
    Row,
    Section,
    Table,
    titled,
)
from sqlitmus.render.document.symbols import NONE, above_floor, mark
from sqlitmus.results.report import Block as RunBlock
from sqlitmus.results.report import (
    Broken,
    Case,
    Fact,
    Missing,
    NoticeKind,
    Report,
    Runner,
    Scaling,
)
from sqlitmus.results.report import Cell as Measured
from sqlitmus.vocabulary.detail import durability
from sqlitmus.vocabulary.text import by_value, counted


def varying_axes(cases: Iterable[Case]) -> dict[str, list[str]]:
    """Per scenario, the axes with more than one value among `cases`."""
    values: dict[str, dict[str, set[str]]] = {}
    for case in cases:
        axes = values.setdefault(case.scenario, {})
        for name, value in case.axes.items():
            axes.setdefault(name, set()).add(value)
    return {
        scenario: [name for name, different in axes.items() if len(different) > 1]
        for scenario, axes in values.items()
    }


def heads(cases: Sequence[Case]) -> list[Head]:
    """One per case, in order."""
    varying = varying_axes(cases)
    return [
        Head(
            case.scenario,
            tuple(f"{a}={case.axes[a]}" for a in varying[case.scenario] if a in case.axes),
            case.title,
            f"c-{number}",
        )
        for number, case in enumerate(cases)
    ]


def with_axes(title: str, axes: Mapping[str, str]) -> str:
    """ "Parallel readers rows=10": a title and what tells it from its like."""
    return " ".join((title, *(f"{axis}={value}" for axis, value in axes.items())))


# The machine over the run: what was read of it around each block, as a table.


UNREADABLE = "not readable here"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a fact of a block is read, and how it is written."""

    title: str
    read: Callable[[RunBlock], float | None]
    written: Callable[[float], str]


def conditions_section(report: Report, trust: list[str]) -> Section:
    """What the run finds and its A/A control shows, then the machine over the run."""
    below: list[Section] = []
    blocks: list[Block] = [
        Paragraph("Nothing was read of the machine between the blocks of this run.")
    ]
    if report.blocks:
        sessions = f", in {report.sessions} sessions" if report.sessions > 1 else ""
        lead = f"One bar per block, in the order in which they were measured{sessions}."
        numbers = Section(
            "conditions-numbers", "The same as a table", blocks=[_table(report.blocks)], folded=True
        )
        below = [
            Section(
                "conditions",
                "The machine over the run",
                [lead],
                [Chart("conditions", report)],
                [numbers],
            )
        ]
        blocks = []
    best = (
        f"finds {fmt.percent(report.detectable[1])} in the best case" if report.detectable else ""
    )
    return Section("noise", titled("Noise", best), trust, blocks, below, detail=True, nav="Noise")


def _table(blocks: Sequence[RunBlock]) -> Table:
    rows = [
        Row(
            Head(str(block.number + 1)),
            [Cell(written(reading, block)) for reading in READINGS],
        )
        for block in blocks
    ]
    columns = [Column(each.title, each.title) for each in READINGS]
    title = "What was read of the machine around each block, in measured order"
    return Table("conditions", Column("block", "block", "text"), columns, rows, title=title)


def written(reading: Reading, block: RunBlock) -> str:
    """A fact of a block as text."""
    value = reading.read(block)
    return UNREADABLE if value is None else reading.written(value)


PROBE = Reading("Fixed work", lambda block: block.probe_ns, fmt.duration)
STEAL = Reading("CPU stolen", lambda block: block.steal, fmt.percent)
CPU_PRESSURE = Reading("CPU pressure", lambda block: block.cpu_pressure, fmt.percent)
IO_PRESSURE = Reading("I/O pressure", lambda block: block.io_pressure, fmt.percent)
LOAD = Reading("Load", lambda block: block.load, lambda value: f"{value:.2f}")
THROTTLED = Reading(
    "Throttled", lambda block: block.throttled, lambda value: "yes" if value else "no"
)
READINGS = (PROBE, STEAL, CPU_PRESSURE, IO_PRESSURE, LOAD, THROTTLED)


# What was measured, and what differs between the runners.


PROVENANCE_LEAD = (
    "What was measured. Where runners differ below, the difference is part of every ratio between "
    "them."
)
# More differences than these, as those of compile options, do not stand open.
OPEN_FACTS = 12
RUNNERS = [
    Column("title", "what it is", "text"),
    Column("runtime", "runtime", "text"),
    Column("driver", "driver", "text"),
    Column("sqlite", "SQLite", "text"),
]


def provenance_section(report: Report) -> Iterator[Section]:
    """The runners with their versions, facts that differ by group, then what is alike."""
    groups: dict[str, list[Fact]] = {}
    for fact in report.provenance:
        groups.setdefault(fact.group, []).append(fact)
    names = [r.name for r in report.runners if any(r.name in f.values for f in report.provenance)]
    differing = {group: [fact for fact in facts if fact.differs] for group, facts in groups.items()}
    number = sum(map(len, differing.values()))
    verb = "differs" if number == 1 else "differ"
    title = f"Provenance: {counted(number, 'fact')} {verb} between runners"
    yield Section(
        "provenance",
        title if number else "Provenance",
        [PROVENANCE_LEAD],
        sections=[
            *_runners(report.runners),
            *(_differ(group, facts, names) for group, facts in differing.items() if facts),
            *_alike(groups),
            *_machine(report.machine),
        ],
        detail=not number,
        folded=True,
        nav="Provenance",
    )


def _runners(runners: list[Runner]) -> Iterator[Section]:
    if runners:
        rows = [Row(Head(runner.name), list(_versions(runner))) for runner in runners]
        table: list[Block] = [Table("runners", RUNNER, RUNNERS, rows)]
        yield Section("runners", "Runners", blocks=table, detail=True)


def _versions(runner: Runner) -> Iterator[Cell]:
    yield Cell(runner.title, note="" if runner.role == "runner" else runner.role)
    if runner.missing:
        yield Cell(runner.missing, style="na x-m", emphasis="aside")
        return
    yield Cell(f"{runner.runtime} {runner.runtime_version or 'unknown'}")
    yield Cell(f"{runner.driver} {runner.driver_version or ''}".strip())
    yield Cell(runner.sqlite_version or "unknown")


def _differ(group: str, facts: list[Fact], names: list[str]) -> Section:
    columns = [Column(name, name, "text") for name in names]
    rows = [
        Row(Head(fact.name), [Cell(fact.values.get(name, "unknown")) for name in names])
        for fact in facts
    ]
    table = Table(f"differing-{group}", Column("fact", "fact", "text"), columns, rows)
    title = f"{group}: {counted(len(facts), 'difference')}"
    return Section(f"differing-{group}", title, blocks=[table], folded=len(facts) > OPEN_FACTS)


def _alike(groups: dict[str, list[Fact]]) -> Iterator[Section]:
    for group, facts in groups.items():
        same = [
            (fact.name, next(iter(fact.values.values()), "unknown"))
            for fact in facts
            if not fact.differs
        ]
        if same:
            title = f"{group}: {counted(len(same), 'fact')} alike in all runners"
            blocks: list[Block] = [Definitions(same)]
            yield Section(f"alike-{group}", title, blocks=blocks, detail=True, folded=True)


def _machine(machine: dict[str, str]) -> Iterator[Section]:
    if machine:
        facts: list[Block] = [Definitions(list(machine.items()))]
        yield Section("machine", "Machine", blocks=facts, detail=True)


# What write cells make durable: a section of a document, and the words of one case.


DURABILITY_LEAD = (
    "Calls of fsync and fdatasync by one transaction, on the files of the database and their "
    "folder. They were counted in processes beside the timed ones, as the difference between two "
    "numbers of transactions."
)


def durability_section(report: Report) -> Iterator[Section]:
    """A row per write case, if it is known of any whether its syncs were counted."""
    rows = [
        Row(head, [_cell(cells.get(runner.name)) for runner in report.runners])
        for case, head in zip(report.cases, heads(report.cases), strict=True)
        if in_words(case)
        for cells in ({cell.runner: cell for cell in case.cells},)
    ]
    if rows:
        columns = [Column(runner.name, runner.name) for runner in report.runners]
        table = Table("syncs", CASE, columns, rows, matrix=True)
        name = "Syncs per transaction"
        yield Section("syncs", titled(name, _synced(report)), [DURABILITY_LEAD], [table], nav=name)


def _synced(report: Report) -> str:
    """In how many cases runners sync differently, to a hundredth of a sync, or how often."""
    cases = [
        [cell.syncs.per_transaction for cell in case.cells if cell.syncs] for case in report.cases
    ]
    counts = [count for case in cases for count in case]
    if not counts:
        return "not counted"
    differing = sum(len({f"{count:.2f}" for count in case}) > 1 for case in cases)
    if differing:
        return f"differ in {differing} of {counted(sum(map(bool, cases)), 'case')}"
    ends = dict.fromkeys(f"{end:.2g}" for end in (min(counts), max(counts)))
    return f"{' to '.join(ends)}, alike in all runners"


def in_words(case: Case) -> str:
    """`4 fsync, 31.3 kB per transaction: node and bun; …`; nothing where nothing is known."""
    texts = {cell.runner: durability(cell.syncs, cell.uncounted) for cell in case.cells}
    return by_value({runner: text for runner, text in texts.items() if text})


def _cell(cell: Measured | None) -> Cell:
    if cell is None or not (cell.syncs or cell.uncounted):
        return NONE
    if cell.syncs is None:
        return Cell("not counted", style="na", emphasis="aside", tooltip=cell.uncounted or "")
    value = cell.syncs.per_transaction
    return Cell(f"{value:.3g}", style="un", value=value, tooltip=cell.syncs.words())


# What only a page has room for: each case, what drivers add, parallel readers, the method.


CASES = "Each opens to its times, statements, settings, proof of equal work and command."
SCALING = (
    "Operations per second of all workers together, one connection each; both axes are logarithmic "
    "and shared. A dashed line is linear scaling from the first point. Bands are 95 % intervals; "
    "in the shaded part there are more workers than cores."
)
OVERHEAD = (
    "Time above the floor, {floor}, which calls the C API directly: what a runtime and its driver "
    "add to SQLite. Bars share a scale within their row; the whisker is the 95 % interval."
)


def detail_sections(report: Report, trust: list[str]) -> list[Section]:
    """In the order in which a reader goes deeper; `trust` is what the report says of its noise."""
    cases = Chart("cases", report)
    return [
        Section("cases", "Case by case", [CASES], [cases], detail=True, nav="Cases"),
        *scaling(report),
        *overhead(report),
        conditions_section(report, trust),
        *provenance_section(report),
        *_method(report),
    ]


def _method(report: Report) -> Iterator[Section]:
    if report.method:
        texts: list[Block] = [Paragraph(text) for text in report.method]
        title = titled(
            "Method and caveats", f"95 % intervals over {counted(report.blocks_complete, 'block')}"
        )
        yield Section("method", title, [], texts, detail=True, nav="Method")


def scaling(report: Report) -> Iterator[Section]:
    """Each parallel scenario that has points: curves, and the same numbers as a table."""
    below = [
        Section(
            f"scaling-{number}",
            with_axes(item.title, item.axes),
            blocks=[Chart("scaling", item)],
            sections=[
                Section(
                    f"scaling-{number}-numbers",
                    "The same as a table",
                    blocks=[_rates(item, number)],
                    folded=True,
                )
            ],
        )
        for number, item in enumerate(report.scaling)
        if any(curve.points for curve in item.curves)
    ]
    if below:
        title = titled("Parallel readers", _scaled(report))
        yield Section("scaling", title, [SCALING], [], below, detail=True, nav="Scaling")


def _scaled(report: Report) -> str:
    """The most operations per second over those of the fewest workers, and whose."""
    gains = [
        (point.rate.value / curve.points[0].rate.value, point.workers, curve.runner)
        for item in report.scaling
        for curve in item.curves
        for point in curve.points
    ]
    most, workers, runner = max(gains)
    return f"at most {most:.2g}× ({runner}, {counted(workers, 'worker')})"


def _rates(item: Scaling, number: int) -> Table:
    workers = sorted({point.workers for curve in item.curves for point in curve.points})
    rows: list[Row] = []
    for curve in item.curves:
        rates = {
            point.workers: Cell(*fmt.rate(point.rate), value=point.rate) for point in curve.points
        }
        rows.append(Row(Head(curve.runner), [rates.get(count, NONE) for count in workers]))
    columns = [Column(str(count), counted(count, "worker")) for count in workers]
    title = f"{item.title}: operations per second by workers"
    return Table(f"scaling-{number}", RUNNER, columns, rows, title=title)


def overhead(report: Report) -> Iterator[Section]:
    """By group, what each runner takes over the floor."""
    have = {c.runner for case in report.cases for c in case.cells if c.overhead}
    runners = [r.name for r in report.runners if r.name in have and r.name != report.floor]
    groups: dict[str, list[Row]] = {}
    for number, (case, head) in enumerate(zip(report.cases, heads(report.cases), strict=True)):
        row = list(_over_floor(case, report.floor, runners))
        if row:
            groups.setdefault(case.group, []).append(Row(head, row, key=str(number)))
    columns = [Column("floor", "floor"), *(Column(name, name) for name in runners)]
    below = [
        Section(
            f"overhead-{group}",
            group,
            blocks=[Table(f"overhead-{group}", CASE, columns, rows)],
            folded=place > 0,
        )
        for place, (group, rows) in enumerate(groups.items())
    ]
    if below:
        lead = OVERHEAD.format(floor=report.floor)
        title = titled("Binding overhead", _added(report))
        yield Section("overhead", title, [lead], [], below, detail=True, nav="Overhead")


def _added(report: Report) -> str:
    """The runners that add the least and the most to the floor's time, in their median case."""
    shares: dict[str, list[float]] = {}
    for case in report.cases:
        times = {cell.runner: cell.time.value for cell in case.cells if cell.time}
        for cell in case.cells:
            if cell.overhead and (floor := times.get(report.floor or "")):
                shares.setdefault(cell.runner, []).append(cell.overhead.value / floor)
    middle = {name: median(each) for name, each in shares.items() if name != report.floor}
    ends = dict.fromkeys([min(middle, key=middle.__getitem__), max(middle, key=middle.__getitem__)])
    return ", ".join(f"{name} {100 * middle[name]:+.0f} %".replace("-", fmt.MINUS) for name in ends)


def _over_floor(case: Case, floor: str | None, runners: list[str]) -> Iterator[Cell]:
    """The floor's time, then each runner's time above it; nothing where no runner has one."""
    cells = {cell.runner: cell for cell in case.cells}
    base = cells.get(floor or "")
    over = [cell.overhead for name in runners if (cell := cells.get(name)) and cell.overhead]
    if base is None or base.time is None or not over:
        return
    top = max(max(each.value, each.high or each.value) for each in over)
    yield Cell(fmt.time(base.time)[0], value=base.time)
    yield from (above(cells.get(name), top) for name in runners)


def above(cell: Measured | None, top: float) -> Cell:
    """Time above the floor, with a bar whose full length is `top`, in ns; a negative one has no
    length but keeps its number."""
    if cell is None or cell.overhead is None:
        return NONE
    over, verdict = cell.overhead, cell.overhead_verdict

    def share(value: float) -> float:
        return min(max(value / top, 0.0), 1.0) if top > 0 else 0.0

    text, words = above_floor(over, verdict)
    low = over.value if over.low is None else over.low
    return Cell(
        text,
        mark=mark(verdict) if verdict else None,
        style=verdict.style if verdict else "",
        value=over,
        tooltip=words,
        bar=(share(low), share(over.value), share(over.high or over.value)),
    )


# What to know about figures that hold.
NOTES: frozenset[NoticeKind] = frozenset({
    *("settled", "shared", "flat", "sqlite", "journal", "cores unknown"),
    *("oversubscribed", "plans", "not warm", "not steady", "warming up", "governor"),
})  # fmt: skip

# As many facts of the machine stand at the top of a page.
MACHINE = 6


def document(
    report: Report,
    facts: list[tuple[str, str]],
    sections: list[Section],
    reading: list[Block],
    finding: str = "",
) -> Document:
    """The report around the `sections` of its kind; `reading` says how to read them, `finding` what
    came out, where no sentence of the headline alone does."""
    trust = list(sentences.trust(report))
    amiss = [each for each in report.headline if isinstance(each, Broken | Missing)]
    others = [sentences.statement(each) for each in report.headline if each not in amiss]
    done, planned = report.blocks_complete, report.blocks_planned
    blocks = counted(done, "block") if done == planned else f"{done} of {planned} blocks"
    return Document(
        title=report.title,
        headline=[*filter(None, [finding]), *others],
        facts=[("suite", report.suite), ("", blocks), *facts],
        notices=[
            *(Notice(sentences.statement(each), "absent") for each in amiss),
            *(
                Notice(sentences.notice(notice), "note" if notice.kind in NOTES else "caution")
                for notice in report.notices
            ),
        ],
        trust=trust,
        sections=[
            *sections,
            *durability_section(report),
            *_problems(report),
            *detail_sections(report, trust),
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
        definition=sentences.definition(report),
        machine=list(report.machine.items())[:MACHINE],
        runners=report.runners,
    )


def verdicts(report: Report, figure: str, count: int | None = None) -> list[Block]:
    """The verdicts' symbols, what a `figure` is, and how verdicts were corrected, of which there
    are `count` where they are not those within cases."""
    text = f"{figure}; brackets are 95 % intervals. {symbols.correction(report, count)}"
    return [Legend(symbols.verdicts()), Paragraph(text, "dim")]


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
        title = titled("Wrong or failed", counted(len(rows), "cell"))
        yield Section("problems", title, blocks=[table], nav="Wrong or failed")
    gone: list[Block] = [
        Paragraph(f"{runner.name} is not here. {runner.missing}", "problem")
        for runner in report.runners
        if runner.missing
    ]
    if gone:
        yield Section("missing", "Not here", blocks=gone)
