"""An A/B comparison as rows: case, base, new, change, verdict, blocks; what is decided first."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import matrix
from sqlitmus.render.document import symbols as words
from sqlitmus.results.report import Case, Cell, Interval, Measure, Report
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.verdicts import Verdict

ORDER = sorted(Verdict, key=lambda verdict: verdict.rank)
NONE = "\u2013"


@dataclass(frozen=True, slots=True)
class Row:
    """One case. `verdict` is None where there is nothing to compare; then `said` is why.
    `broken` where the new subject answered wrongly or failed. `blocks` is None for a secondary
    figure, which has those of the time."""

    index: int
    case: Case
    name: str
    base: str
    new: str
    ratio: Interval | None = None
    change: str = NONE
    bounds: str = ""
    verdict: Verdict | None = None
    said: str = ""
    blocks: int | None = None
    needs: int | None = None
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One figure over all cases: `rows` are the differences, `folded` the others, both in order.

    A case in which the new subject answers wrongly or fails is a difference too.
    """

    title: str
    rows: list[Row]
    folded: list[Row]

    def count(self) -> str:
        """ "14 not resolved, 3 equivalent": what is folded; "" for nothing."""
        kinds = [row.verdict or "without result" for row in self.folded]
        named = (*ORDER, "without result")
        return ", ".join(f"{kinds.count(kind)} {kind}" for kind in named if kind in kinds)


@dataclass(frozen=True, slots=True)
class Mean:
    """A group's geometric mean of the changes, over `cases` of it."""

    group: str
    cases: int
    ratio: Interval | None
    change: str
    bounds: str


def subjects(report: Report) -> tuple[str, str]:
    """Names of base and new; UsageError for a report that is no comparison of two."""
    others = [runner.name for runner in report.runners if runner.name != report.reference]
    if report.kind != "compare" or len(others) != 1:
        raise UsageError(
            f"run {report.run} is no comparison of two subjects: it holds "
            f"{counted(len(report.runners), 'runner')}; make one with `./just compare BASE NEW`"
        )
    return report.reference, others[0]


def tables(report: Report) -> list[Table]:
    """Time, then cold, CPU and memory as far as they were recorded."""
    base, new = subjects(report)
    names = matrix.names(report.cases)
    found = [table("Time", times(report, base, new, names))]
    for title, read, written, worded in MEASURES:
        rows = list(measures(report, (base, new), names, read, written, worded))
        if rows:
            found.append(table(title, rows))
    return found


def table(title: str, rows: Iterable[Row]) -> Table:
    """The rows in order: by verdict, then from the slowest change to the fastest."""
    ordered = sorted(rows, key=rank)
    shown = [row for row in ordered if row.broken or (row.verdict and row.verdict.different)]
    return Table(title, shown, ordered[len(shown) :])


def rank(row: Row) -> tuple[int, float]:
    """Wrong and failed first, then by verdict; what cannot be compared last."""
    if row.verdict is None:
        return (-1 if row.broken else len(ORDER)), 0.0
    return row.verdict.rank, -row.ratio.value if row.ratio else 0.0


def times(report: Report, base: str, new: str, names: Sequence[str]) -> Iterable[Row]:
    """The primary figure of each case."""
    for index, (case, name) in enumerate(zip(report.cases, names, strict=True)):
        cells = {cell.runner: cell for cell in case.cells}
        subject = cells.get(new)
        broken = subject is not None and subject.outcome in ("wrong", "failed")
        row = Row(index, case, name, time(cells.get(base)), time(subject), broken=broken)
        found = case.comparisons.of(new, base)
        if found is None:
            bad = next((c for c in (subject, cells.get(base)) if c and c.reason), None)
            yield replace(row, said=(bad and bad.reason) or "not compared", blocks=0)
            continue
        change, bounds = fmt.change(found.ratio)
        yield replace(
            row,
            ratio=found.ratio,
            change=change,
            bounds=bounds,
            verdict=found.verdict,
            said=found.verdict,
            blocks=found.blocks,
            needs=found.needs_blocks,
        )


def time(cell: Cell | None) -> str:
    """A cell's time, or its outcome."""
    if cell is None:
        return words.ABSENT.label
    return fmt.time(cell.time)[0] if cell.time else words.OUTCOMES[cell.outcome].label


def measures(
    report: Report,
    names: tuple[str, str],
    titles: Sequence[str],
    read: Callable[[Cell], Measure | None],
    written: Callable[[float], str],
    worded: Callable[[Verdict], str],
) -> Iterable[Row]:
    """A secondary figure of each case where both subjects have it."""
    for index, (case, title) in enumerate(zip(report.cases, titles, strict=True)):
        cells = {cell.runner: cell for cell in case.cells}
        base, new = (read(cells[name]) if name in cells else None for name in names)
        if base is None or new is None or new.ratio is None or new.verdict is None:
            continue
        change, bounds = fmt.change(new.ratio)
        yield Row(
            index,
            case,
            title,
            written(base.value),
            written(new.value),
            ratio=new.ratio,
            change=change,
            bounds=bounds,
            verdict=new.verdict,
            said=worded(new.verdict),
        )


def _amount(verdict: Verdict) -> str:
    return verdict.amount


MEASURES: tuple[
    tuple[str, Callable[[Cell], Measure | None], Callable[[float], str], Callable[[Verdict], str]],
    ...,
] = (
    ("Cold: the whole process", lambda cell: cell.cold, fmt.duration, str),
    ("CPU time", lambda cell: cell.cpu, fmt.duration, _amount),
    ("Peak memory", lambda cell: cell.memory, fmt.size, _amount),
)


def means(report: Report) -> list[Mean]:
    """The geometric mean of each group that has one."""
    base, new = subjects(report)
    found = {s.group: s for s in report.standings if (s.runner, s.reference) == (new, base)}
    return [
        Mean(group, one.cases, one.ratio, *(fmt.change(one.ratio) if one.ratio else (NONE, "")))
        for group in report.groups
        if (one := found.get(group))
    ]
