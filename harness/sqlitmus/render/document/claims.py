"""What all renderers say of claims: verdicts as symbols, rows and tables as short texts."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlitmus.render.document import format as fmt
from sqlitmus.results.claims import (
    METRICS,
    Claim,
    Group,
    Histograms,
    Interval,
    Load,
    Place,
    Ranking,
    Row,
    ThreadPoint,
    Threads,
)
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.terms import ClaimWord

NONE = "\u2013"
# More rows than these are folded by runner.
FOLD = 10
# Counts below this have a digit or two behind the point.
FEW = 10

T = TypeVar("T")
Column = tuple[str, Callable[[T], str]]


@dataclass(frozen=True, slots=True)
class WordLook:
    """A verdict's symbol, the same in ASCII, its style class, and what it means."""

    symbol: str
    ascii: str
    style: str
    meaning: str


WORDS: dict[ClaimWord, WordLook] = {
    "reproduced": WordLook("\u2713", "+", "same", "resolved, and about as large as published"),
    "same direction, different size": WordLook(
        "~", "~", "other", "resolved on the published side of 1, but not as large or larger"
    ),
    "not resolved": WordLook("?", "?", "open", "this run cannot tell it from 1"),
    "reversed": WordLook("\u2717", "x", "turned", "resolved on the other side of 1"),
    "not testable here": WordLook("\u2205", "0", "open", "not measured here, for the reason given"),
}
HEADER = ("row", "runner", "published", "here [95 %]", "base \u2192 new", "verdict", "blocks")
READING = (
    "A ratio is base / new: 1.20\u00d7 means that the new one does 1.20 times as much in the same "
    "time. Absolute times depend on the machine; the ratio is the claim."
)


@dataclass(frozen=True, slots=True)
class Line:
    """A row as texts; `symbol` stands before the verdict."""

    row: Row
    published: str
    ratio: str
    bounds: str
    times: str
    said: str
    blocks: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A table as texts: the first `left` columns are words, the others numbers."""

    header: list[str]
    lines: list[list[str]]
    left: int = 1


def line(row: Row) -> Line:
    """The texts of a row."""
    published = fmt.ratio(Interval(row.published, None, None))[0] if row.published else ""
    ratio, bounds = fmt.ratio(row.ratio) if row.ratio else (NONE, "")
    both = [fmt.time(one)[0] for one in (row.base_time, row.new_time) if one]
    said = row.verdict or ("no ratio was published" if row.ratio else "not measured")
    return Line(
        row,
        published,
        ratio,
        bounds,
        " \u2192 ".join(both),
        f"{said}: {row.reason}" if row.reason else said,
        str(row.blocks) if row.ratio else "",
    )


def folds(group: Group) -> Iterator[tuple[str, list[Row]]]:
    """The rows of a group by runner, if there are many; else all under an empty name."""
    if len(group.rows) <= FOLD:
        yield "", group.rows
        return
    for runner in dict.fromkeys(row.runner for row in group.rows):
        yield runner, [row for row in group.rows if row.runner == runner]


def tally(rows: Sequence[Row]) -> str:
    """`41 rows: 38 reproduced, 3 not resolved`."""
    counts = Counter(row.verdict for row in rows if row.verdict)
    parts = [f"{counts[word]} {word}" for word in WORDS if counts[word]]
    count = counted(len(rows), "row")
    return f"{count}: {', '.join(parts)}" if parts else f"{count} without a published ratio"


def measured(group: Group) -> str:
    """What is compared, of what: `median latency per operation`."""
    return f"{METRICS[group.metric]} per {group.unit}"


def ranking(found: Ranking) -> Grid:
    """Fastest first; only columns that any cell has a figure for, and no file that all share."""
    columns = _filled(_COLUMNS, found.places)
    if len({place.file for place in found.places}) > 1:
        columns.append(_FILE)
    lines = [
        [place.label, place.runner, *(read(place) or NONE for _, read in columns)]
        for place in found.places
    ]
    return Grid(["cell", "runner", *(title for title, _ in columns)], lines, 2)


def threads(found: Threads) -> Grid:
    """A line for each option and number of threads; only columns that any of them has."""
    points = [(one.label, point) for one in found.lines for point in one.points]
    columns = _filled(_THREADS, [point for _, point in points])
    if found.rates:
        columns.insert(0, ("time, per operation", lambda p: fmt.duration(1e9 / p.value.value)))
    write = fmt.rate if found.rates else fmt.time
    lines = [
        [
            label,
            f"{point.threads} (more than cores)" if point.over else str(point.threads),
            " ".join(write(point.value)).strip(),
            *(read(point) or NONE for _, read in columns),
        ]
        for label, point in points
    ]
    value = "operations/s" if found.rates else METRICS[found.metric]
    return Grid(["option", "threads", value, *(title for title, _ in columns)], lines)


def ends(found: Ranking) -> str:
    """Which cell is fastest and which slowest, as a sentence; "" for fewer than two."""
    if len(found.times) < 2:
        return ""
    least, most = found.times[0], found.times[-1]
    first, last = (
        " on ".join(filter(None, (place.label, place.runner)))
        for place in (found.places[0], found.places[len(found.times) - 1])
    )
    return (
        f"By {METRICS[found.metric]}, fastest is {first} ({fmt.duration(least)}), slowest "
        f"{last} ({fmt.duration(most)}); {100 * (1 - least / most):.0f} % of the time saved."
    )


def by_threads(found: Threads) -> str:
    """What a scaling shows, as a sentence."""
    what = "operations per second" if found.rates else METRICS[found.metric]
    return f"{what.capitalize()} by threads."


def histograms(found: Histograms) -> Grid:
    """Each cell's number of operations and their quantiles."""
    lines: list[list[str]] = []
    for cell in found.cells:
        total = sum(count for *_, count in cell.buckets)
        quantiles = [fmt.duration(_quantile(cell.buckets, share)) for share in (0.5, 0.99)]
        ends = [fmt.duration(cell.buckets[0][0]), fmt.duration(cell.buckets[-1][1])]
        lines.append([cell.label, cell.runner, str(total), ends[0], *quantiles, ends[1]])
    header = ["cell", "runner", "operations", "shortest", "median", "99 %", "longest"]
    return Grid(header, lines, 2)


def grids(claim: Claim) -> Iterator[tuple[str, str, Grid, list[str]]]:
    """Title, sentence, table and what is missing of each of a claim's tables."""
    for one in claim.rankings:
        yield one.title, ends(one), ranking(one), one.problems
    for one in claim.threads:
        yield one.title, by_threads(one), threads(one), one.problems
    for one in claim.histograms:
        yield one.title, "", histograms(one), one.problems


def reading(*, plain: bool = False) -> str:
    """The symbols and what a ratio is."""
    marks = (f"{look.ascii if plain else look.symbol} {word}" for word, look in WORDS.items())
    return f"{', '.join(marks)}. {READING}"


def facts(claim: Claim) -> Iterator[tuple[str, str]]:
    """What stands above a claim's rows, as names and texts."""
    yield "Outcome", claim.outcome
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


def shown(group: Group, *, all_rows: bool) -> tuple[list[Row], list[Row]]:
    """The rows that a text shows, and those that it counts: of many only the key ones are shown."""
    if all_rows or len(group.rows) <= FOLD:
        return group.rows, []
    return [row for row in group.rows if row.key], [row for row in group.rows if not row.key]


def correction(report: Report) -> str:
    """What was done about the number of rows, as a sentence."""
    rows = [row for claim in report.claims for group in claim.groups for row in group.rows]
    count = counted(sum(bool(r.published and r.ratio) for r in rows), "row")
    how = {
        "none": "are not corrected for their number",
        "bh": f"are corrected for {count} by Benjamini\u2013Hochberg",
        "holm": f"are corrected for {count} by Holm",
    }[report.correction]
    return f"Verdicts {how}; brackets are 95 % intervals."


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


def _filled(columns: Sequence[Column[T]], lines: Sequence[T]) -> list[Column[T]]:
    """The columns that any line has a text for."""
    return [(title, read) for title, read in columns if any(map(read, lines))]


_LOAD: tuple[Column[Load], ...] = (
    ("CPU, per operation", lambda load: fmt.duration(load.cpu) if load.cpu else ""),
    ("voluntary switches, per operation", lambda load: _count(load.voluntary)),
    ("involuntary switches, per operation", lambda load: _count(load.involuntary)),
)
_COLUMNS: tuple[Column[Place], ...] = (
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
_FILE: Column[Place] = ("file", lambda p: fmt.size(p.file) if p.file else "")
_THREADS: tuple[Column[ThreadPoint], ...] = tuple(
    (title, lambda p, read=read: read(p.load)) for title, read in _LOAD
)
