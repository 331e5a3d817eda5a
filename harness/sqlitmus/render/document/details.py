"""What only a page has room for: each case, what drivers add, parallel readers, the method."""

from collections.abc import Iterator

from sqlitmus.render.document import conditions, provenance
from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.cells import NONE, above_floor, mark
from sqlitmus.render.document.model import Block, Chart, Paragraph, Section
from sqlitmus.render.document.naming import heads, with_axes
from sqlitmus.render.document.table import CASE, RUNNER, Cell, Column, Head, Row, Table
from sqlitmus.results.curves import Scaling
from sqlitmus.results.report import Case, Report
from sqlitmus.results.report import Cell as Measured
from sqlitmus.vocabulary.nouns import counted

CASES = (
    "Open a case for absolute times, the statements, the settings, the proof of equal work and the "
    "command that runs one cell again."
)
SCALING = (
    "Operations per second of all workers together, one connection each; both axes are logarithmic "
    "and shared. A dashed line is linear scaling from the first point. Bands are 95 % intervals; "
    "in the shaded part there are more workers than cores."
)
OVERHEAD = (
    "Time above the floor, {floor}, which calls the C API directly: what a runtime and its driver "
    "add to SQLite. Bars share a scale within their row; the whisker is the 95 % interval."
)


def sections(report: Report, trust: list[str]) -> list[Section]:
    """In the order in which a reader goes deeper; `trust` is what the report says of its noise."""
    cases = Chart("cases", report)
    return [
        Section("cases", "Case by case", [CASES], [cases], detail=True, nav="Cases"),
        *scaling(report),
        *overhead(report),
        conditions.section(report, trust),
        *provenance.section(report),
        *_method(report),
    ]


def _method(report: Report) -> Iterator[Section]:
    if report.method:
        texts: list[Block] = [Paragraph(text) for text in report.method]
        yield Section("method", "Method and caveats", [], texts, detail=True, nav="Method")


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
        yield Section(
            "scaling", "Parallel readers", [SCALING], [], below, detail=True, nav="Scaling"
        )


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
        yield Section(
            "overhead", "Binding overhead", [lead], [], below, detail=True, nav="Overhead"
        )


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
