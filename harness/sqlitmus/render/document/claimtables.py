"""Tables of a claim's cells: who took how long, threads, and latencies."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.claimrow import NONE
from sqlitmus.render.document.model import Chart, Paragraph, Section
from sqlitmus.render.document.table import RUNNER, Cell, Column, Head, Table
from sqlitmus.render.document.table import Row as TableRow
from sqlitmus.results.claims import (
    METRICS,
    Claim,
    Histograms,
    Load,
    Place,
    Ranking,
    ThreadPoint,
    Threads,
)
from sqlitmus.results.estimate import Interval

# Counts below this have a digit or two behind the point.
FEW = 10
T = TypeVar("T")
Figure = tuple[str, Callable[[T], str]]


def cells_of(
    claim: Claim, data: Ranking | Threads | Histograms, lead: str, table: Table, *charts: Chart
) -> Section:
    """A table of cells beside each other, its charts, and what is missing in it."""
    return Section(
        f"claim-{claim.name}-{data.title}",
        data.title,
        [lead] if lead else [],
        [*charts, table, *(Paragraph(problem, "dim") for problem in data.problems)],
    )


def ranking(ranked: Ranking) -> Table:
    """Fastest first; only columns that any cell has a figure for, and no file that all share."""
    figures = _filled(_COLUMNS, ranked.places)
    if len({place.file for place in ranked.places}) > 1:
        figures.append(_FILE)
    rows = [
        TableRow(Head(p.label), [Cell(p.runner), *(Cell(read(p) or NONE) for _, read in figures)])
        for p in ranked.places
    ]
    return _table("cell", [RUNNER, *(Column(title, title) for title, _ in figures)], rows)


def threads(scaled: Threads) -> Table:
    """A row for each option and number of threads; only columns that any of them has."""
    points = [(line.label, point) for line in scaled.lines for point in line.points]
    figures = _filled(_THREADS, [point for _, point in points])
    if scaled.rates:
        figures.insert(0, ("time, per operation", lambda p: fmt.duration(1e9 / p.value.value)))
    write = fmt.rate if scaled.rates else fmt.time
    rows = [
        TableRow(
            Head(label),
            [
                Cell(str(point.threads), note="more than cores" if point.over else ""),
                Cell(*write(point.value), value=point.value),
                *(Cell(read(point) or NONE) for _, read in figures),
            ],
        )
        for label, point in points
    ]
    value = "operations/s" if scaled.rates else METRICS[scaled.metric]
    titles = ["threads", value, *(title for title, _ in figures)]
    return _table("option", [Column(title, title) for title in titles], rows)


def ends(ranked: Ranking) -> str:
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


def by_threads(scaled: Threads) -> str:
    """What a scaling shows, as a sentence."""
    what = "operations per second" if scaled.rates else METRICS[scaled.metric]
    return f"{what.capitalize()} by threads."


def histograms(drawn: Histograms) -> Table:
    """Each cell's number of operations and their quantiles."""
    rows: list[TableRow] = []
    for cell in drawn.cells:
        total = sum(count for *_, count in cell.buckets)
        quantiles = [_quantile(cell.buckets, share) for share in (0.5, 0.99)]
        values = [cell.buckets[0][0], *quantiles, cell.buckets[-1][1]]
        durations = [Cell(fmt.duration(value), value=value) for value in values]
        rows.append(TableRow(Head(cell.label), [Cell(cell.runner), Cell(str(total)), *durations]))
    titles = ("operations", "shortest", "median", "99 %", "longest")
    return _table("cell", [RUNNER, *(Column(title, title) for title in titles)], rows)


def _table(head: str, columns: list[Column], rows: list[TableRow]) -> Table:
    return Table("", Column(head, head, "text"), columns, rows)


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


_LOAD: tuple[Figure[Load], ...] = (
    ("CPU, per operation", lambda load: fmt.duration(load.cpu) if load.cpu else ""),
    ("voluntary switches, per operation", lambda load: _count(load.voluntary)),
    ("involuntary switches, per operation", lambda load: _count(load.involuntary)),
)
_COLUMNS: tuple[Figure[Place], ...] = (
    ("end to end", lambda p: _time(p.wall)),
    ("loop, per operation", lambda p: _time(p.loop)),
    *((title, lambda p, read=read: read(p.load)) for title, read in _LOAD),
    (
        "operations/s",
        lambda p: fmt.rate(Interval(1e9 / p.loop.value, None, None))[0] if p.loop else "",
    ),
    ("average", lambda p: _time(p.average)),
    ("median", lambda p: _time(p.p50)),
    ("99 %", lambda p: _time(p.p99)),
    ("99.9 %", lambda p: _time(p.p999)),
    ("CPU in sum", lambda p: _percent(p.cpu)),
    ("per processor", lambda p: ", ".join(f"{n}: {_percent(c)}" for n, c in p.cpus.items())),
    ("slowest / fastest worker", lambda p: f"{p.spread:.2f}" if p.spread else ""),
    ("starts apart", lambda p: fmt.duration(p.skew) if p.skew else ""),
    ("writer's 99 %", lambda p: _time(p.writer_p99)),
    ("busy", lambda p: _count(p.busy)),
    ("writer's busy", lambda p: _count(p.writer_busy)),
    ("pacing error, 99 %", lambda p: "" if p.pacing is None else fmt.duration(p.pacing)),
)
_FILE: Figure[Place] = ("file", lambda p: fmt.size(p.file) if p.file else "")
_THREADS: tuple[Figure[ThreadPoint], ...] = tuple(
    (title, lambda p, read=read: read(p.load)) for title, read in _LOAD
)
