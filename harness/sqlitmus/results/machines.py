"""What a merged report shows: machines side by side; and reports as JSON (`summary.json`) and
back.
"""

from dataclasses import dataclass, field
from functools import cache

from pydantic import TypeAdapter

from sqlitmus.results.ranking import Contrast, Interval
from sqlitmus.results.report import Notice, Report, Statement
from sqlitmus.vocabulary.text import json_text
from sqlitmus.vocabulary.verdicts import HoldsWord, Scheme, Verdict

VERSION = 6


@dataclass(frozen=True, slots=True)
class Answer:
    """What one machine says of a pair. Without a contrast `said` is why there is none; `emulated`
    where one of the two runners is a process of another architecture than the machine's."""

    contrast: Contrast | None = None
    said: str = ""
    emulated: bool = False


@dataclass(frozen=True, slots=True)
class Pooled:
    """The mean ratio over `machines` of one kind by random effects; `next` is where the ratio on
    one more of them would lie."""

    kind: str
    machines: int
    ratio: Interval
    next: Interval


@dataclass(frozen=True, slots=True)
class Row:
    """`runner` against the report's reference in one case, on each machine in report order.

    `verdict` is what the machines agree on, None where they do not; `text` is the word with its
    counts and names, `beside` names the machines that contradict each other or do not count.
    """

    case: str
    scenario: str
    title: str
    group: str
    axes: dict[str, str]
    runner: str
    word: HoldsWord
    verdict: Verdict | None
    text: str
    beside: str
    answers: list[Answer]
    pooled: list[Pooled]


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine; `runs` names its one run. `sqlite` maps a version to the runners that have it,
    `headline` is what its own report says first, `scheme` how its cases were measured that can take
    turns."""

    name: str
    kind: str
    label: str
    facts: dict[str, str]
    sqlite: dict[str, list[str]]
    runs: list[str]
    created: str
    blocks: int
    blocks_planned: int
    detectable: float | None
    cases: int
    emulated: list[str]
    headline: list[Statement]
    notices: list[Notice]
    scheme: Scheme


@dataclass(frozen=True, slots=True)
class Refused:
    """A run that is not part of the report, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class MergedReport:
    """Everything that a renderer needs. `expected` are machines that did not arrive."""

    version: int
    title: str
    run: str
    created: str
    sqlitmus_version: str
    reference: str
    headline: list[Statement]
    machines: list[Machine]
    refused: list[Refused]
    expected: list[str]
    groups: list[str]
    rows: list[Row] = field(default_factory=list[Row])


@cache
def adapter() -> TypeAdapter[Report]:
    """The schema of a run's report."""
    return TypeAdapter(Report)


def render(report: Report | MergedReport) -> str:
    """The report as JSON, two spaces deep; numbers in full."""
    if isinstance(report, MergedReport):
        text = TypeAdapter(MergedReport).dump_json(report, indent=2)
    else:
        text = adapter().dump_json(report, indent=2)
    return f"{json_text(text.decode())}\n"


def load(text: str | bytes) -> Report:
    """A run's report from its JSON; raises pydantic's ValidationError with each fault's path."""
    return adapter().validate_json(text)
