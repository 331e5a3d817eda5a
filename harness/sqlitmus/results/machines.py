"""What a merged report shows: machines side by side, each with verdicts of its own.

Every ratio is of two runners on one machine. Texts from runs are untrusted, as in `model`.
"""

from dataclasses import dataclass, field

from sqlitmus.results.headline import Statement
from sqlitmus.results.notices import Notice
from sqlitmus.results.report import Interval
from sqlitmus.vocabulary.terms import Grade, HoldsWord, Scheme
from sqlitmus.vocabulary.verdicts import Verdict

VERSION = 4


@dataclass(frozen=True, slots=True)
class Answer:
    """What one machine says of a pair. Without a verdict `said` is why there is none; `emulated`
    where one of the two runners is a process of another architecture than the machine's. `p` is
    that of no difference, corrected on that machine; None where it is not known."""

    ratio: Interval | None = None
    verdict: Verdict | None = None
    said: str = ""
    emulated: bool = False
    p: float | None = None


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
    """A machine and its runs. `sqlite` maps a version to the runners that have it, `headline` is
    what its own report says first, `scheme` how its cases were measured that can take turns."""

    name: str
    kind: str
    label: str
    facts: dict[str, str]
    sqlite: dict[str, list[str]]
    runs: list[str]
    created: str
    blocks: int
    blocks_planned: int
    grade: Grade | None
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
