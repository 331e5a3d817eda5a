"""What a report shows of published claims: made once by `analysis`, read by every renderer.

Ratios are base / new, unlike all others of a report: how many times as fast the new one is.
Differences, which it saves, and times are in nanoseconds.
`problems` say which cells have no figure, and why.
"""

from dataclasses import dataclass, field
from math import inf
from typing import Literal

from sqlitmus.results.ranking import Interval
from sqlitmus.vocabulary.verdicts import ClaimMetric, ClaimWord, Ends, PublishedKind

Unit = Literal["operation", "row", "process"]
Compare = Literal["ratio", "difference"]
# Intervals of ours and of the authors' program that are farther apart are of different work.
AGREE = 1.1
# None is no end.
Band = tuple[float, float | None]


@dataclass(frozen=True, slots=True)
class Row:
    """One published figure and the own one, of the pair of cells `base` and `new`.

    `runner` is empty where the row says it of all. `verdict` is None for a row that the publication
    gives no figure for; `reason` is a sentence part. A row that `saves` time has a `difference`,
    and was `published` as one in ns, others have a `ratio`; what there is none of is None. Times
    are medians over the blocks; `blocks` are those that both cells have.

    As ratios or differences: `ends` are between what it was published, `same` those of what counts
    as that, `judged` those of the interval held against it, which the correction drew out, and
    `allowed` what another machine may make of it, which decides nothing. `against` is the ratio
    here over the published one, from least / most to most / least: both uncertainties are in it.
    `theirs` is what the authors' own programs gave here, `no_theirs` why nothing. `needed` is about
    how many blocks would settle an open row. `repeats` names the row of the claim that shows the
    same measurement, and is counted in its place."""

    name: str
    runner: str
    base: str
    new: str
    said: str
    published: float | None
    verdict: ClaimWord | None
    reason: str
    key: bool = False
    ratio: Interval | None = None
    base_time: Interval | None = None
    new_time: Interval | None = None
    blocks: int = 0
    difference: Interval | None = None
    saves: bool = False
    kind: PublishedKind = "ratio"
    ends: Ends | None = None
    same: Band | None = None
    allowed: Band | None = None
    against: Interval | None = None
    judged: Ends | None = None
    theirs: Interval | None = None
    no_theirs: str = ""
    needed: int | None = None
    repeats: str = ""

    @property
    def figure(self) -> Interval | None:
        """The ratio or difference that was measured."""
        return self.difference if self.saves else self.ratio

    @property
    def disagrees(self) -> bool:
        """Whether the authors' programs gave another figure here: more than 10 % of time lies
        between the two intervals."""
        ours, theirs = self.ratio, self.theirs
        if not (ours and ours.low and ours.high and theirs and theirs.low and theirs.high):
            return False
        return max(ours.low / theirs.high, theirs.low / ours.high) > AGREE

    @property
    def expects_effect(self) -> bool:
        """Whether an effect was published: none does not count as the same."""
        none = 0 if self.saves else 1
        if self.same is None or self.same[1] is None or self.kind == "at most":
            return True
        return not self.same[0] < none < self.same[1]

    @property
    def allowance(self) -> str:
        """How the judged interval lies to what is `allowed`: within it, beyond or partly; "" for
        none of them."""
        if not self.judged or not self.allowed:
            return ""
        (low, high), (least, most) = self.judged, self.allowed
        most = inf if most is None else most
        if least <= low and high <= most:
            return "within"
        return "beyond" if high < least or most < low else "partly within"


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of one kind: times per `unit`, of the metric `file` bytes, and ratios or differences."""

    title: str
    metric: ClaimMetric
    unit: Unit
    rows: list[Row]
    compare: Compare = "ratio"


@dataclass(frozen=True, slots=True)
class Load:
    """What an operation costs beside its time: CPU time of all threads, and context switches, which
    are voluntary where threads wait for a lock."""

    cpu: float | None = None
    voluntary: float | None = None
    involuntary: float | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A cell in a ranking; times are per operation, but `wall`, which is the process's.

    `cpus` are the shares of each processor in use (1 = whole); `spread` the
    slowest worker's time over the fastest's, `skew` between the first and the last process's start;
    `busy` the share of operations that SQLITE_BUSY ended, the mean over the
    blocks; `pacing` how late 99 % of planned operations started at most, `file` bytes on disk."""

    label: str
    runner: str
    wall: Interval | None = None
    loop: Interval | None = None
    p50: Interval | None = None
    p99: Interval | None = None
    p999: Interval | None = None
    load: Load = field(default_factory=Load)
    cpus: dict[str, float] = field(default_factory=dict[str, float])
    spread: float | None = None
    skew: float | None = None
    writer_p99: Interval | None = None
    busy: float | None = None
    pacing: float | None = None
    file: int | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Cells, fastest first by `metric`; `times` are the ns of as many first ones as have one."""

    title: str
    metric: ClaimMetric
    times: list[float]
    places: list[Place]
    problems: list[str]


@dataclass(frozen=True, slots=True)
class ThreadPoint:
    """A figure at a number of threads; `over` where those are more than the machine's cores."""

    threads: int
    value: Interval
    over: bool
    load: Load = field(default_factory=Load)


@dataclass(frozen=True, slots=True)
class ThreadLine:
    """One option on one runner over numbers of threads."""

    label: str
    points: list[ThreadPoint]


@dataclass(frozen=True, slots=True)
class Threads:
    """Lines over threads: operations per second if `rates`, else the times of `metric`."""

    title: str
    metric: ClaimMetric
    rates: bool
    lines: list[ThreadLine]
    problems: list[str]


@dataclass(frozen=True, slots=True)
class Latencies:
    """All of a cell's operations: (least ns, greatest ns, count) of each bucket."""

    label: str
    runner: str
    buckets: list[tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class Histograms:
    """Latencies of several cells on one axis: logarithmic, or linear in steps of `step` ns."""

    title: str
    step: float | None
    cells: list[Latencies]
    problems: list[str]


@dataclass(frozen=True, slots=True)
class Claim:
    """A publication, what came out here, and what differs between there and here.

    `strip` has the words of the deciding rows in their order, `lessons` the advice for each. Of
    those rows `decisive` is the first of the word that weighs most, and stands in the group of the
    title `place`; `absent` is why others of them are not testable here. `contradicts` names a claim
    whose publication says otherwise, "" if none; `evidence` has what the claim pins, and what its
    cases were checked to do as published."""

    name: str
    title: str
    source: str
    published_on: str
    hypothesis: str
    strip: list[ClaimWord]
    decisive: Row
    place: str
    absent: list[str]
    lessons: list[tuple[ClaimWord, str]]
    here: list[str]
    differences: list[str]
    untestable: list[str]
    groups: list[Group]
    rankings: list[Ranking]
    threads: list[Threads]
    histograms: list[Histograms]
    evidence: list[str]
    contradicts: str = ""

    @property
    def other_work(self) -> list[Row]:
        """The rows whose figure here is not that of the authors' own programs."""
        return [row for group in self.groups for row in group.rows if row.disagrees]

    @property
    def counts(self) -> dict[ClaimWord, int]:
        """How many of the deciding rows have which word."""
        return {word: number for word in ClaimWord if (number := self.strip.count(word))}
