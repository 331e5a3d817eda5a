"""A report as titled sections of tables, texts and charts: built once, printed by every format.

All texts are ready to read: numbers are written by `render.document.format`, verdicts by their
words. Texts may hold what a run or a machine said, so every format escapes them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from sqlitmus.render.document.table import Mark, Table
from sqlitmus.results.claims import Group, Histograms, Threads
from sqlitmus.results.curves import Scaling
from sqlitmus.results.machines import MergedReport
from sqlitmus.results.report import Report, Runner
from sqlitmus.results.tails import Tails
from sqlitmus.vocabulary.terms import Grade

ChartKind = Literal[
    "cases",
    "conditions",
    "forest",
    "histogram",
    "machines",
    "matrix",
    "resident",
    "scaling",
    "scatter",
    "summary",
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
        return re.split(r"[.,:;](?:\s|$)", self.text, maxsplit=1)[0]


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
    """A title, sentences that lead in, blocks, and sections below it.

    `detail` goes beyond a summary: short formats leave it out. `folded` sections are closed at
    first. `nav` is its name in a list of contents, "" for the title; None keeps it out of there.
    """

    id: str
    title: str
    lead: list[str] = field(default_factory=list[str])
    blocks: list[Block] = field(default_factory=list[Block])
    sections: list["Section"] = field(default_factory=list["Section"])
    detail: bool = False
    folded: bool = False
    nav: str | None = ""

    @property
    def charts(self) -> list[Chart]:
        """Its own."""
        return [block for block in self.blocks if isinstance(block, Chart)]

    def tables(self) -> Iterator[Table]:
        """All tables, those of the sections below too."""
        yield from (block for block in self.blocks if isinstance(block, Table))
        for section in self.sections:
            yield from section.tables()


@dataclass(frozen=True, slots=True)
class Origin:
    """When a report was made of a run, by which version; `label` is what the user called it."""

    created: str = ""
    version: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report.

    `facts` stand below the title, `trust` says how far its numbers can be believed, `foot` how to
    make it again. `whole` is a sentence on where all of it is when a format leaves rows out.
    `answers` is a table that belongs to the headline, if there is one; `definition` says what their
    times are. `runners` are those that
    its tables and charts name.
    """

    title: str
    headline: list[str]
    facts: list[tuple[str, str]]
    notices: list[Notice]
    trust: list[str]
    sections: list[Section]
    foot: list[Block]
    whole: str
    origin: Origin = field(default_factory=Origin)
    answers: Table | None = None
    definition: str = ""
    grade: Grade | None = None
    machine: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    runners: list[Runner] = field(default_factory=list[Runner])

    def tables(self) -> Iterator[Table]:
        """Every table, in order."""
        if self.answers:
            yield self.answers
        for section in self.sections:
            yield from section.tables()
