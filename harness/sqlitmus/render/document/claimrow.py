"""A row of a published claim: its figure, the one from here, and its word."""

from collections import Counter
from collections.abc import Sequence
from math import log

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.model import Chart, Section
from sqlitmus.render.document.table import RUNNER, Cell, Column, Folded, Head, Mark, Table
from sqlitmus.render.document.table import Row as TableRow
from sqlitmus.results.claims import METRICS, Group, Row
from sqlitmus.results.estimate import Interval, Speedup
from sqlitmus.vocabulary.claimwords import ClaimWord
from sqlitmus.vocabulary.nouns import counted

NONE = "\u2013"
# More rows than these are folded by runner.
FOLD = 10
ROW = Column("row", "row", "text")
COLUMNS = [
    RUNNER,
    Column("published", "published", "text"),
    Column("here", "× as fast here [95 %]"),
    Column("times", "base \u2192 new", wide=True),
    Column("verdict", "verdict", "text"),
    Column("blocks", "blocks"),
]
DIFFERENCE = Column("difference", "less here [95 %]")
SIZE = Column("here", "× as small here [95 %]")
# Ratio and medians that are farther apart stand beside each other.
APART = 1.02


def rows_of(ident: str, group: Group) -> Section:
    """The rows of a group; of many, those that decide nothing are folded."""
    shown, folded = group.rows, list[Row]()
    if len(group.rows) > FOLD:
        shown = [row for row in group.rows if row.key]
        folded = [row for row in group.rows if not row.key]
    rest = None
    if folded:
        rest = Folded(tally(folded), [row_of(row, group) for row in folded], "rows")
    here = DIFFERENCE if group.compare == "difference" else SIZE if group.metric == "file" else None
    columns = [here if here and column.id == "here" else column for column in COLUMNS]
    table = Table(ident, ROW, columns, [row_of(row, group) for row in shown], rest)
    return Section(ident, group.title, [measured(group)], [Chart("forest", group), table])


def row_of(row: Row, group: Group) -> TableRow:
    """A row of a group: a ratio or a difference, and what was published."""
    word = row.verdict
    text = word or (f"no {group.compare} was published" if _here(row) else "not measured")
    why = "; ".join(filter(None, (row.reason, same_size(row), repeated(row))))
    return TableRow(
        Head(row.name),
        [
            Cell(row.runner),
            published(row),
            here(row),
            times(row, group),
            Cell(
                f"{text}: {why}" if why else text,
                mark=mark(word) if word else None,
                style=word.style if word else "na",
            ),
            Cell(str(row.blocks), value=row.blocks) if _here(row) else Cell(),
        ],
        style=word.style if word else "",
    )


def _here(row: Row) -> bool:
    """Whether the row has a figure of this machine."""
    return bool(row.ratio or row.difference)


def mark(word: ClaimWord) -> Mark:
    """The word's symbol."""
    return Mark(word.symbol, word.ascii)


def published(row: Row) -> Cell:
    """The published figure, and what the publication said."""
    if row.published is None:
        return Cell("", note=row.said)
    write = fmt.duration if row.saves else _ratio
    return Cell(write(row.published), note=row.said, value=row.published)


def here(row: Row) -> Cell:
    """The ratio or difference that was measured."""
    if row.ratio:
        return Cell(*fmt.speedup(row.ratio), emphasis="strong", value=row.ratio)
    if row.difference:
        return Cell(*fmt.time(row.difference), emphasis="strong", value=row.difference)
    return Cell(NONE)


def same_size(row: Row) -> str:
    """What counts as the published size, and the canary's noise, which draws out the interval."""
    if row.same is None or row.guard is None:
        return ""
    low, high = row.same
    if row.saves:
        guard = f", guard {fmt.duration(row.guard)}" if row.guard else ""
        return f"{fmt.duration(low)} to {fmt.duration(high)} counts as the same{guard}"
    guard = "" if row.guard == 1 else f", guard {row.guard:.3g}\u00d7"
    return f"{low:.3g} to {high:.3g} counts as the same{guard}"


def repeated(row: Row) -> str:
    """Which row is counted in the place of this one."""
    return f"shown and counted in \u201c{row.repeats}\u201d" if row.repeats else ""


def times(row: Row, group: Group) -> Cell:
    """Both medians; with their own ratio where it is not that of the row."""
    if row.base_time is None or row.new_time is None:
        return Cell()
    write = _size if group.metric == "file" else _short
    both = " \u2192 ".join(write(time) for time in (row.base_time, row.new_time))
    of_medians = row.base_time.value / row.new_time.value if row.new_time.value else None
    if not row.ratio or not of_medians or abs(log(of_medians / row.ratio.value)) < log(APART):
        return Cell(both)
    return Cell(both, note=f"ratio of these medians: {_ratio(of_medians)}")


def _ratio(value: float) -> str:
    return fmt.speedup(Speedup(value, None, None))[0]


def tally(rows: Sequence[Row]) -> str:
    """`41 rows: 38 reproduced, 3 not resolved`; a measurement that is shown twice counts once."""
    counts = Counter(row.verdict for row in rows if row.verdict and not row.repeats)
    parts = [f"{counts[word]} {word}" for word in ClaimWord if counts[word]]
    if repeats := sum(bool(row.repeats) for row in rows):
        parts.append(f"{repeats} shown before")
    count = counted(len(rows), "row")
    return f"{count}: {', '.join(parts)}" if parts else f"{count} without a published ratio"


def measured(group: Group) -> str:
    """What is compared, of what: `median latency per operation`."""
    if group.metric == "file":
        return METRICS[group.metric]
    saved = "; base less new" if group.compare == "difference" else ""
    return f"{METRICS[group.metric]} per {group.unit}{saved}"


def _short(value: Interval) -> str:
    return fmt.time(value)[0]


def _size(value: Interval) -> str:
    return fmt.size(round(value.value))
