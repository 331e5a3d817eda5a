"""A report as titled sections of tables, texts and charts: built once, printed by every format."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sqlitmus.results.claims import Group, Histograms, Threads
from sqlitmus.results.machines import MergedReport
from sqlitmus.results.ranking import Interval
from sqlitmus.results.report import Report, Runner, Scaling, Tails

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

    `value` is the figure before rounding. `style` is a style class, the same in all formats: a
    side (f, s, eq, un) with or without a shade step, or that of a claim's word; "bad" and "na"
    where there is no figure. `bar` is low, value and high as shares of the row's largest, for a
    format that draws.
    """

    text: str = ""
    bounds: str = ""
    mark: Mark | None = None
    note: str = ""
    style: str = ""
    emphasis: Emphasis = ""
    value: Interval | float | None = None
    tooltip: str = ""
    bar: list[float] | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """What a row is about: `name` and the `axes` ("rows=10") that tell it from its like.

    `title` is the name in words where there is one, `link` the id of the section with all of it.
    """

    name: str
    axes: tuple[str, ...] = ()
    title: str = ""
    link: str = ""

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

    @property
    def names(self) -> list[str]:
        """What its rows are about."""
        return [row.head.text for row in self.rows]


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

    def cells(self, row: Row) -> list[Cell]:
        """The row's cells, one per column: empty ones where it ends before."""
        return [*row.cells, *(Cell() for _ in range(len(self.columns) - len(row.cells)))]

    def cell(self, row: Row, column: str) -> Cell:
        """The row's cell in the column of that id."""
        return self.cells(row)[[each.id for each in self.columns].index(column)]

    @property
    def every_row(self) -> list[Row]:
        """The folded ones too."""
        return self.rows + (self.folded.rows if self.folded else [])


ChartKind = Literal[
    "cases",
    "conditions",
    "forest",
    "histogram",
    "loads",
    "machines",
    "matrix",
    "resident",
    "scaling",
    "scatter",
    "tails",
    "threads",
    "wal",
]
ChartData = Report | MergedReport | Group | Threads | Histograms | Tails | Scaling


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence on what may mislead, on what is not here, or on what to know about the figures."""

    text: str
    level: Literal["caution", "absent", "note"] = "caution"

    @property
    def gist(self) -> str:
        """Its first clause."""
        return re.split(r"(?:[.:;]|(?<!\d),)(?:\s|$)", self.text, maxsplit=1)[0]


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A mark, the word that it stands for and what that means."""

    mark: Mark
    word: str
    meaning: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Legend:
    """Marks of a section's tables; short formats print marks and words only."""

    entries: list[LegendEntry]


@dataclass(frozen=True, slots=True)
class Definitions:
    """Names with their texts."""

    items: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence or more; `problem` where it says what went wrong.

    `link` is the id of the section that it is about.
    """

    text: str
    style: Literal["", "dim", "problem"] = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list of sentences."""

    texts: list[str]


@dataclass(frozen=True, slots=True)
class Code:
    """SQL or a command, with what it is for."""

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart by its kind and data; formats that cannot draw leave it out.

    What it shows also stands in a table or a sentence of the same section.
    """

    kind: ChartKind
    data: ChartData


Block = Table | Legend | Definitions | Paragraph | Items | Code | Chart


@dataclass(frozen=True, slots=True)
class Section:
    """A name, sentences that lead in, blocks, and sections below it.

    `finding` is what it comes to, for who does not open it. `detail` goes beyond a summary: short
    formats leave it out. `folded` sections are closed at first. `nav` is the name in a list of
    contents, "" for its own; None keeps it out of there.
    """

    id: str
    name: str
    lead: list[str] = field(default_factory=list[str])
    blocks: list[Block] = field(default_factory=list[Block])
    sections: list["Section"] = field(default_factory=list["Section"])
    detail: bool = False
    folded: bool = False
    nav: str | None = ""
    finding: str = ""

    @property
    def title(self) -> str:
        """Its name, and what it comes to."""
        return titled(self.name, self.finding)

    @property
    def charts(self) -> list[Chart]:
        """Its own."""
        return [block for block in self.blocks if isinstance(block, Chart)]

    def tables(self) -> Iterator[Table]:
        """All tables, those of the sections below too."""
        yield from (block for block in self.blocks if isinstance(block, Table))
        for section in self.sections:
            yield from section.tables()


def titled(name: str, finding: str) -> str:
    """A name with what it comes to, if that is known."""
    return f"{name}: {finding}" if finding else name


SUMMARY = "summary"  # the section of means by group


@dataclass(frozen=True, slots=True)
class Content:
    """What a report of one kind says of its own, for its `Document`.

    `reading` says how to read its sections, `finding` what came out, where no sentence of the
    headline alone does; `lead` comes before the definition of its times. `answer` are sentences, or
    how many of the headline's first.
    """

    facts: list[tuple[str, str]]
    sections: list[Section]
    reading: list[Block]
    finding: str = ""
    lead: Sequence[str] = ()
    notices: Sequence[Notice] = ()
    answer: list[str] | int = 0
    answers: Table | None = None
    picture: Chart | None = None
    brief: list[Table] = field(default_factory=list[Table])


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report.

    It was `created` of a run, by a `version`; `label` is what the user called it. `facts` stand
    below the title, `trust` says how far its numbers can be believed, `foot` how to make it again.
    `whole` is a sentence on where all of it is when a format leaves rows out. `answers` is a table
    that belongs to the headline and `picture` a chart, if there is one; `definition` says what
    their times are. `runners` are those that its tables and charts name. `answer` and the tables
    in `brief`, or else `answers`, stand for all in a brief text.
    """

    title: str
    created: str
    version: str
    headline: list[str]
    facts: list[tuple[str, str]]
    notices: list[Notice]
    trust: list[str]
    sections: list[Section]
    foot: list[Block]
    whole: str
    label: str = ""
    answers: Table | None = None
    picture: Chart | None = None
    definition: str = ""
    machine: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    runners: list[Runner] = field(default_factory=list[Runner])
    answer: list[str] = field(default_factory=list[str])
    brief: list[Table] = field(default_factory=list[Table])

    def tables(self) -> Iterator[Table]:
        """Every table, in order."""
        if self.answers:
            yield self.answers
        for section in self.sections:
            yield from section.tables()
