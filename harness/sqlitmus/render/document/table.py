"""Tables of a document: cells with value, text, symbol and style, in rows and columns."""

from dataclasses import dataclass
from typing import Literal

from sqlitmus.results.estimate import Interval, Speedup

# An `id` is never broken over lines; a `number` stands to the right; a `text` may wrap.
ColumnKind = Literal["id", "text", "number"]
# `strong` is a decided value, `aside` stands where there is no value and says why.
Emphasis = Literal["", "strong", "aside"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A symbol and the ASCII that stands in for it."""

    symbol: str
    ascii: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One place in a table: `mark`, `text`, `bounds` ("[0.74, 0.79]"), `note` in brackets.

    `value` is the figure before rounding, a `Speedup` in a claim. `style` is a style class, the
    same in all formats: a side (f, s, eq, un) with or without a shade step, or that of a claim's
    word; "bad" and "na" where there is no figure. `bar` is low, value and high as shares of the
    row's largest, for a format that draws.
    """

    text: str = ""
    bounds: str = ""
    mark: Mark | None = None
    note: str = ""
    style: str = ""
    emphasis: Emphasis = ""
    value: Interval | Speedup | float | None = None
    tooltip: str = ""
    bar: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """What a row is about: `name` and the `axes` ("rows=10") that tell it from its like.

    `title` is the name in words where there is one, `link` the id of the section with all of it.
    """

    name: str
    axes: tuple[str, ...] = ()
    title: str = ""
    link: str = ""
    grade: str = ""

    @property
    def text(self) -> str:
        """Name and axes on one line."""
        return " ".join((self.name, *self.axes))


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `id` is its name for scripts and style sheets. One that is `wide` is left out
    where the others leave it no room."""

    id: str
    title: str
    kind: ColumnKind = "number"
    wide: bool = False


# The heads of rows that are each about a case, or about a runner.
CASE = Column("case", "case", "id")
RUNNER = Column("runner", "runner", "id")


@dataclass(frozen=True, slots=True)
class Row:
    """A head and one cell per column. `rank` orders rows where not all have room: 0 stays longest.

    `key` is what the row is of for a script: a case's number, a runner's name.
    """

    head: Head
    cells: list[Cell]
    style: str = ""
    key: str = ""
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Folded:
    """Rows of less interest, and how many of which kind as a sentence part.

    A short format prints that count, with the rows, with their names or alone, as `brief` says.
    """

    count: str
    rows: list[Row]
    brief: Literal["rows", "names", "count"] = "count"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells. `head` is the column of the rows' heads.

    Columns of a `matrix` hold the same figure of several subjects, so that it may be turned where
    its columns have no room beside each other.
    """

    id: str
    head: Column
    columns: list[Column]
    rows: list[Row]
    folded: Folded | None = None
    title: str = ""
    matrix: bool = False

    def cell(self, row: Row, column: str) -> Cell:
        """The row's cell in the column of that id; an empty one for a row that ends before it."""
        place = [head.id for head in self.columns].index(column)
        return row.cells[place] if place < len(row.cells) else Cell()

    @property
    def every_row(self) -> list[Row]:
        """The folded ones too."""
        return self.rows + (self.folded.rows if self.folded else [])
