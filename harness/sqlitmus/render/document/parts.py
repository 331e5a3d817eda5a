"""Sections that reports of every kind have: what went wrong, what was measured, what differs,
how to go on.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from sqlitmus.render.document import format as fmt, model as doc, symbols
from sqlitmus.render.document.symbols import LEADS, NONE, mark
from sqlitmus.results import report as results
from sqlitmus.vocabulary.figures import durability
from sqlitmus.vocabulary.text import by_value, counted


def varying(cases: Sequence[results.Case]) -> list[dict[str, str]]:
    """Of each case the axes that have more than one value among those of its scenario."""
    values: dict[str, dict[str, set[str]]] = {}
    for case in cases:
        axes = values.setdefault(case.scenario, {})
        for name, value in case.axes.items():
            axes.setdefault(name, set()).add(value)
    return [
        {name: case.axes[name] for name, different in values[case.scenario].items()
         if len(different) > 1 and name in case.axes}
        for case in cases
    ]  # fmt: skip


def headed(cases: Sequence[results.Case]) -> list[tuple[results.Case, doc.Head]]:
    """Each with the head of a row about it, in order."""
    return [
        (
            case,
            doc.Head(case.scenario, tuple(map("=".join, axes.items())), case.title, f"c-{number}"),
        )
        for number, (case, axes) in enumerate(zip(cases, varying(cases), strict=True))
    ]


def as_numbers(table: doc.Table) -> doc.Section:
    """What a chart shows, folded below it."""
    return doc.Section(f"{table.id}-numbers", "The same as a table", blocks=[table], folded=True)


# The machine over the run: what was read of it around each block, as a table.

UNREADABLE = "not readable here"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a fact of a block is read and written.

    A bar of full height is the largest value, or `least` if that is larger; of readings `over` the
    smallest it is by how much a value exceeds that, as a share, so that a drift of a few percent
    can be seen.
    """

    title: str
    read: Callable[[results.Block], float | None]
    write: Callable[[float], str]
    least: float
    over: bool = False


READINGS = (
    Reading("Fixed work", lambda block: block.probe_ns, fmt.duration, 0.05, over=True),
    Reading("CPU stolen", lambda block: block.steal, fmt.percent, 0.05),
    Reading("CPU pressure", lambda block: block.cpu_pressure, fmt.percent, 0.05),
    Reading("I/O pressure", lambda block: block.io_pressure, fmt.percent, 0.05),
    Reading("Load", lambda block: block.load, "{:.2f}".format, 1.0),
    Reading("Throttled", lambda block: block.throttled, lambda is_: "yes" if is_ else "no", 1.0),
)


def _conditions(report: results.Report, trust: list[str]) -> doc.Section:
    """What the run finds and its A/A control shows, then the machine over the run."""
    sessions = f", in {report.sessions} sessions" if report.sessions > 1 else ""
    lead = f"One bar per block, in the order in which they were measured{sessions}."
    below = doc.Section(
        "conditions",
        "The machine over the run",
        [lead],
        [doc.Chart("conditions", report)],
        [as_numbers(_table(report.blocks))],
    )
    nothing = doc.Paragraph("Nothing was read of the machine between the blocks of this run.")
    best = report.detectable and f"finds {fmt.percent(report.detectable[1])} in the best case"
    return doc.Section(
        "noise",
        "Noise",
        trust,
        [] if report.blocks else [nothing],
        [below] if report.blocks else [],
        detail=True,
        finding=best or "",
    )


def _table(blocks: Sequence[results.Block]) -> doc.Table:
    rows: list[doc.Row] = []
    for block in blocks:
        facts = [(each, each.read(block)) for each in READINGS]
        texts = [UNREADABLE if value is None else each.write(value) for each, value in facts]
        rows.append(doc.Row(doc.Head(str(block.number + 1)), [*map(doc.Cell, texts)]))
    columns = [doc.Column(each.title, each.title) for each in READINGS]
    title = "What was read of the machine around each block, in measured order"
    return doc.Table("conditions", doc.Column("block", "block", "text"), columns, rows, title=title)


# What was measured, and what differs between the runners.

# More differences than these, as those of compile options, do not stand open.
OPEN_FACTS = 12
RUNNERS = [
    doc.Column("title", "what it is", "text"),
    doc.Column("runtime", "runtime", "text"),
    doc.Column("driver", "driver", "text"),
    doc.Column("sqlite", "SQLite", "text"),
]


def _provenance(report: results.Report) -> doc.Section:
    """The runners with their versions, facts that differ by group, then what is alike."""
    groups: dict[str, list[results.Fact]] = {}
    for fact in report.provenance:
        groups.setdefault(fact.group, []).append(fact)
    names = [r.name for r in report.runners if any(r.name in f.values for f in report.provenance)]
    number = sum(fact.differs for fact in report.provenance)
    verb = "differs" if number == 1 else "differ"
    machine = doc.Section(
        "machine", "Machine", blocks=[doc.Definitions([*report.machine.items()])], detail=True
    )
    return doc.Section(
        "provenance",
        "Provenance",
        [LEADS["provenance"]],
        sections=[
            *_runners(report.runners),
            *_differ(groups, names),
            *_alike(groups),
            *([machine] if report.machine else []),
        ],
        detail=not number,
        folded=True,
        finding=f"{counted(number, 'fact')} {verb} between runners" if number else "",
    )


def _runners(runners: list[results.Runner]) -> Iterator[doc.Section]:
    if runners:
        rows = [doc.Row(doc.Head(runner.name), list(_versions(runner))) for runner in runners]
        table = doc.Table("runners", doc.RUNNER, RUNNERS, rows)
        yield doc.Section("runners", "Runners", blocks=[table], detail=True)


def _versions(runner: results.Runner) -> Iterator[doc.Cell]:
    yield doc.Cell(runner.title, note="" if runner.role == "runner" else runner.role)
    if runner.missing:
        yield doc.Cell(runner.missing, style="na x-m", emphasis="aside")
        return
    yield doc.Cell(f"{runner.runtime} {runner.runtime_version or 'unknown'}")
    yield doc.Cell(f"{runner.driver} {runner.driver_version or ''}".strip())
    yield doc.Cell(runner.sqlite_version or "unknown")


def _differ(groups: dict[str, list[results.Fact]], names: list[str]) -> Iterator[doc.Section]:
    columns = [doc.Column(name, name, "text") for name in names]
    for group, facts in groups.items():
        rows = [
            doc.Row(
                doc.Head(fact.name), [doc.Cell(fact.values.get(name, "unknown")) for name in names]
            )
            for fact in facts
            if fact.differs
        ]
        table = doc.Table(f"differing-{group}", doc.Column("fact", "fact", "text"), columns, rows)
        if rows:
            title = f"{group}: {counted(len(rows), 'difference')}"
            yield doc.Section(table.id, title, blocks=[table], folded=len(rows) > OPEN_FACTS)


def _alike(groups: dict[str, list[results.Fact]]) -> Iterator[doc.Section]:
    for group, facts in groups.items():
        same = [
            (fact.name, next(iter(fact.values.values()), "unknown"))
            for fact in facts
            if not fact.differs
        ]
        if same:
            title = f"{group}: {counted(len(same), 'fact')} alike in all runners"
            blocks: list[doc.Block] = [doc.Definitions(same)]
            yield doc.Section(f"alike-{group}", title, blocks=blocks, detail=True, folded=True)


# What write cells make durable: a section of a document, and the words of one case.


def _durability(report: results.Report) -> Iterator[doc.Section]:
    """A row per write case and a column per runner that writes, if it is known of any whether its
    syncs were counted."""
    cases = [
        (head, {cell.runner: cell for cell in case.cells if cell.syncs or cell.uncounted})
        for case, head in headed(report.cases)
    ]
    writers = {name for _, cells in cases for name in cells}
    columns = [doc.Column(r.name, r.name) for r in report.runners if r.name in writers]
    rows = [
        doc.Row(head, [_cell(cells.get(column.id)) for column in columns])
        for head, cells in cases
        if cells
    ]
    if rows:
        table = doc.Table("syncs", doc.CASE, columns, rows, matrix=True)
        name, finding = "Syncs per transaction", _synced(report)
        yield doc.Section("syncs", name, [LEADS["syncs"]], [table], finding=finding)


def _synced(report: results.Report) -> str:
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


def in_words(case: results.Case) -> str:
    """`4 fsync, 31.3 kB per transaction: node and bun; …`; nothing where nothing is known."""
    texts = {cell.runner: durability(cell.syncs, cell.uncounted) for cell in case.cells}
    return by_value({runner: text for runner, text in texts.items() if text})


def _cell(cell: results.Cell | None) -> doc.Cell:
    if cell is None:
        return NONE
    if cell.syncs is None:
        return doc.Cell("not counted", style="na", emphasis="aside", tooltip=cell.uncounted or "")
    value = cell.syncs.per_transaction
    return doc.Cell(f"{value:.3g}", style="un", value=value, tooltip=cell.syncs.words())


# What only a page has room for: each case, what drivers add, parallel readers, the method.

CASES = "Each opens to its times, statements, settings, proof of equal work and command."


def shared_sections(report: results.Report, trust: list[str]) -> list[doc.Section]:
    """Below those of its kind, in the order in which a reader goes deeper; `trust` is what the
    report says of its noise."""
    cases = doc.Chart("cases", report)
    method = doc.Section(
        "method",
        "Method and caveats",
        blocks=list(map(doc.Paragraph, report.method)),
        detail=True,
        nav="Method",
        finding=f"95 % intervals over {counted(report.blocks_complete, 'block')}",
    )
    drivers = [] if report.claims else [*scaling(report), *overhead(report)]
    return [
        *_durability(report),
        *_problems(report),
        doc.Section("cases", "Case by case", [CASES], [cases], detail=True, nav="Cases"),
        *drivers,
        _conditions(report, trust),
        _provenance(report),
        *([method] if report.method else []),
    ]


def scaling(report: results.Report) -> Iterator[doc.Section]:
    """Each parallel scenario that has points: curves, and the same numbers as a table."""
    below = [
        doc.Section(
            f"scaling-{number}",
            " ".join((item.title, *map("=".join, item.axes.items()))),
            blocks=[doc.Chart("scaling", item)],
            sections=[as_numbers(_rates(item, number))],
        )
        for number, item in enumerate(report.scaling)
        if any(curve.points for curve in item.curves)
    ]
    if below:
        opening, finding = ("scaling", "Parallel readers", [LEADS["scaling"]]), _scaled(report)
        yield doc.Section(*opening, sections=below, detail=True, nav="Scaling", finding=finding)


def _scaled(report: results.Report) -> str:
    """The most operations per second over those of the fewest workers, and whose."""
    gains = [
        (point.rate.value / curve.points[0].rate.value, point.workers, curve.runner)
        for item in report.scaling
        for curve in item.curves
        for point in curve.points
    ]
    most, workers, runner = max(gains)
    return f"at most {most:.2g}× ({runner}, {counted(workers, 'worker')})"


def _rates(item: results.Scaling, number: int) -> doc.Table:
    workers = sorted({point.workers for curve in item.curves for point in curve.points})
    rows: list[doc.Row] = []
    for curve in item.curves:
        rates = {
            each.workers: doc.Cell(*fmt.rate(each.rate), value=each.rate) for each in curve.points
        }
        rows.append(doc.Row(doc.Head(curve.runner), [rates.get(count, NONE) for count in workers]))
    columns = [doc.Column(str(count), counted(count, "worker")) for count in workers]
    title = f"{item.title}: operations per second by workers"
    return doc.Table(f"scaling-{number}", doc.RUNNER, columns, rows, title=title)


def overhead(report: results.Report) -> Iterator[doc.Section]:
    """By group, what each runner takes over the floor."""
    have = {c.runner for case in report.cases for c in case.cells if c.overhead}
    runners = [r.name for r in report.runners if r.name in have and r.name != report.floor]
    groups: dict[str, list[doc.Row]] = {}
    for case, head in headed(report.cases):
        row = list(_over_floor(case, report.floor, runners))
        if row:
            groups.setdefault(case.group, []).append(doc.Row(head, row, key=head.link[2:]))
    columns = [doc.Column("floor", "floor"), *(doc.Column(name, name) for name in runners)]
    below = [
        doc.Section(
            f"overhead-{group}",
            group,
            blocks=[doc.Table(f"overhead-{group}", doc.CASE, columns, rows)],
            folded=place > 0,
        )
        for place, (group, rows) in enumerate(groups.items())
    ]
    if below:
        opening = ("overhead", "Binding overhead", [LEADS["overhead"].format(floor=report.floor)])
        finding = _added(report)
        yield doc.Section(*opening, sections=below, detail=True, nav="Overhead", finding=finding)


def _added(report: results.Report) -> str:
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


def _over_floor(case: results.Case, floor: str | None, runners: list[str]) -> Iterator[doc.Cell]:
    """The floor's time, then each runner's time above it; nothing where no runner has one."""
    cells = {cell.runner: cell for cell in case.cells}
    base = cells.get(floor or "")
    over = [cell.overhead for name in runners if (cell := cells.get(name)) and cell.overhead]
    if base is None or base.time is None or not over:
        return
    top = max(max(each.value, each.high or each.value) for each in over)
    yield doc.Cell(fmt.time(base.time)[0], value=base.time)
    yield from (above(cells.get(name), top) for name in runners)


def above(cell: results.Cell | None, top: float) -> doc.Cell:
    """Time above the floor, with a bar whose full length is `top`, in ns; a negative one has no
    length but keeps its number."""
    if cell is None or cell.overhead is None:
        return NONE
    over, verdict = cell.overhead, cell.overhead_verdict
    text, bounds = fmt.difference(over)
    low = over.value if over.low is None else over.low
    ends = (low, over.value, over.high or over.value)
    return doc.Cell(
        text,
        mark=mark(verdict) if verdict else None,
        style=verdict.style if verdict else "",
        value=over,
        tooltip=f"{bounds} against the floor: {verdict}" if verdict else bounds,
        bar=[min(max(end / top, 0.0), 1.0) if top > 0 else 0.0 for end in ends],
    )


def verdicts(report: results.Report, figure: str, count: int | None = None) -> list[doc.Block]:
    """The verdicts' symbols, what a `figure` is, and how verdicts were corrected, of which there
    are `count` where they are not those within cases."""
    text = f"{figure}; brackets are 95 % intervals. {symbols.correction(report, count)}"
    return [doc.Legend(symbols.verdicts()), doc.Paragraph(text, "dim")]


def _problems(report: results.Report) -> Iterator[doc.Section]:
    """Cells that answered wrongly or failed, and runners that are not here."""
    rows = [
        doc.Row(
            doc.Head(case.id),
            [
                doc.Cell(cell.runner),
                doc.Cell(symbols.OUTCOMES[cell.outcome].label, style="bad"),
                doc.Cell(cell.reason or ""),
            ],
        )
        for case in report.cases
        for cell in case.cells
        if cell.outcome in ("wrong", "failed")
    ]
    columns = [
        doc.RUNNER,
        doc.Column("outcome", "outcome", "text"),
        doc.Column("reason", "reason", "text"),
    ]
    if rows:
        table = doc.Table("problems", doc.CASE, columns, rows)
        finding = counted(len(rows), "cell")
        yield doc.Section("problems", "Wrong or failed", blocks=[table], finding=finding)
    gone: list[doc.Block] = [
        doc.Paragraph(f"{runner.name} is not here. {runner.missing}", "problem")
        for runner in report.runners
        if runner.missing
    ]
    if gone:
        yield doc.Section("missing", "Not here", blocks=gone)
