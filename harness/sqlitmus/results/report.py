"""What a report shows: made once by `analysis`, read by every renderer."""

from dataclasses import dataclass, field
from statistics import median
from typing import Annotated, Literal

from pydantic import Field

from sqlitmus.results.claims import Claim
from sqlitmus.results.ranking import Comparisons, Contrast, Interval, Ranking
from sqlitmus.results.recommendation import Advice, Recommendation, Weighed, Weighing
from sqlitmus.vocabulary import figures, verdicts
from sqlitmus.vocabulary.figures import Figure, Syncs


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of provenance: a fact for each runner; `differs` when they are not all equal."""

    group: str
    name: str
    values: dict[str, str]
    differs: bool


@dataclass(frozen=True, slots=True)
class Block:
    """What was read of the machine around a block, in the order in which blocks were measured.

    `number` is the block's (0 = first). `probe_ns` is the time of the fixed work around it; shares
    are of the block's wall time, None where the system does not tell.
    """

    number: int
    probe_ns: int | None
    steal: float | None
    cpu_pressure: float | None
    io_pressure: float | None
    load: float | None
    throttled: bool | None


@dataclass(frozen=True, slots=True)
class Taken:
    """What others took from processes that took turns, where that was looked at: as a share of the
    laps of a process that count, the median process and the most; and the share of rounds that do
    not count for it."""

    median: float
    most: float
    left_out: float


@dataclass(frozen=True, slots=True)
class SelfTest:
    """A self-test on this machine, as sentences: when, what was found, whether it holds, and how
    its processes were measured."""

    created: str
    lines: list[str]
    passed: bool
    scheme: verdicts.Scheme


NoticeKind = Literal[
    "unfinished",
    "under way",
    "control",
    "settled",
    "shared",
    "ended",
    "holes",
    "late",
    "left out",
    "few blocks",
    "flat",
    "sqlite",
    "durability",
    "journal",
    "fewer syncs",
    "other syncs",
    "plans",
    "answers",
    "against oracle",
    "cores unknown",
    "oversubscribed",
    "not warm",
    "not steady",
    "restless",
    "warming up",
    "refused",
    "other work",
    "below floor",
    "governor",
    "emulated",
]


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice: `count` of `of`, the `names` that it is about (cases, a governor, numbers of
    blocks), or the `values` by runner. `level` and `looks` are those of a run that its gate
    settled, `run` is the run where there are two.
    """

    kind: NoticeKind
    count: int = 0
    of: int = 0
    names: list[str] = field(default_factory=list[str])
    values: dict[str, str] = field(default_factory=dict[str, str])
    level: float = 0.0
    looks: int = 0
    run: str = ""


@dataclass(frozen=True, slots=True)
class CanarySummary:
    """The reference against itself: `runner` is None where each case has another one.

    In `alarms` of `tested` cases the two differ at 1 %; `many` where chance does not explain it.
    `furthest` is the ratio furthest from 1, None where nothing was tested.
    """

    runner: str | None
    tested: int
    alarms: int
    furthest: Interval | None
    many: bool


@dataclass(frozen=True, slots=True)
class Broken:
    """`runner` answered wrongly or failed in these `cases`, of as many as `of`."""

    runner: str
    outcome: Literal["wrong", "failed"]
    cases: list[str]
    of: int
    kind: Literal["broken"] = "broken"


@dataclass(frozen=True, slots=True)
class Missing:
    """`runner` is not on this machine, for that reason."""

    runner: str
    reason: str
    kind: Literal["missing"] = "missing"


@dataclass(frozen=True, slots=True)
class FewBlocks:
    """Too few `blocks` for a verdict, which needs `least`."""

    blocks: int
    least: int
    kind: Literal["few blocks"] = "few blocks"


@dataclass(frozen=True, slots=True)
class Group:
    """The order of the runners over the `cases` of a group."""

    group: str
    cases: int
    ranking: Ranking
    kind: Literal["group"] = "group"


@dataclass(frozen=True, slots=True)
class NoOrder:
    """Nothing orders the runners: what was `measured` were controls, which choose no runtime, or
    there are no two runners to compare; or it was nothing at all."""

    measured: Literal["controls", "no two", "nothing"]
    kind: Literal["no order"] = "no order"


@dataclass(frozen=True, slots=True)
class ClaimOutcomes:
    """How many `claims` were measured, and how many of the rows that decide them have which
    word."""

    claims: int
    counts: dict[verdicts.ClaimWord, int]
    kind: Literal["claims"] = "claims"


@dataclass(frozen=True, slots=True)
class Unpaired:
    """Two runs were compared that shared no blocks; `controls` are the runners in both that did not
    change."""

    controls: list[str]
    kind: Literal["unpaired"] = "unpaired"


@dataclass(frozen=True, slots=True)
class Holding:
    """How many of `of` comparisons with `reference` have which word over the machines."""

    reference: str
    of: int
    counts: dict[verdicts.HoldsWord, int]
    kind: Literal["holding"] = "holding"


@dataclass(frozen=True, slots=True)
class Agreed:
    """Of a group's `cases`, in how many each runner is on which side on all or most machines."""

    group: str
    cases: int
    sides: dict[str, dict[verdicts.Side, int]]
    kind: Literal["agreed"] = "agreed"


@dataclass(frozen=True, slots=True)
class Contradicted:
    """(runner, case) of the comparisons on which machines contradict each other."""

    pairs: list[tuple[str, str]]
    kind: Literal["contradicted"] = "contradicted"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A sentence that the run itself recorded, such as what its gate came to."""

    text: str
    kind: Literal["recorded"] = "recorded"


Statement = Annotated[
    Broken
    | Missing
    | FewBlocks
    | Group
    | NoOrder
    | ClaimOutcomes
    | Unpaired
    | Holding
    | Agreed
    | Contradicted
    | Recorded
    | Recommendation
    | Weighed
    | Advice,
    Field(discriminator="kind"),
]


VERSION = 7


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of a cell beside its primary time: its value over the blocks, and how that compares
    with the report's reference's; None for the reference itself, for a figure that is not judged or
    not of equal work, and where one of the two is unknown or 0."""

    value: float
    contrast: Contrast | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One runner in one case.

    `time` is None unless `outcome` is ok; `apart` is then why it is compared with nothing, if so,
    and `reason` says it with the figure. `samples` holds one steady (or cold) value per block in
    block order, None where that invocation failed. `positions` is the place of each of those
    invocations in the run (0 = first), for the drift strip. `overhead` is time minus the floor,
    with the verdict of the cell against the floor. `figures` are those of `vocabulary.figures` by
    name; one that is unknown or the primary time is not there. `steadiness` is how its times moved
    while the pilot warmed it up, None without a pilot; `operations` and `iterations` what the plan
    gave it, and the least warm-up before them. `syncs` is what a write cell's transactions make
    durable, `uncounted` why that is not known; runs made before it was counted have neither.
    """

    runner: str
    outcome: verdicts.CellOutcome
    reason: str | None = None
    apart: verdicts.Apart | None = None
    time: Interval | None = None
    samples: list[float | None] = field(default_factory=list[float | None])
    positions: list[int] = field(default_factory=list[int])
    overhead: Interval | None = None
    overhead_verdict: verdicts.Verdict | None = None
    figures: dict[str, Measure] = field(default_factory=dict[str, Measure])
    steadiness: verdicts.Steadiness | None = None
    operations: int = 0
    iterations: int = 0
    warmup_iterations: int = 0
    warmup_ms: float = 0
    plans: list[list[str]] = field(default_factory=list[list[str]])
    syncs: Syncs | None = None
    uncounted: str | None = None
    command: str = ""
    log: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario with every axis fixed, and each runner's cell in it.

    `comparisons` holds every pair of runners that are ok: any of them can be the reference.
    `checks` says in words what was proven equal (rows, affected rows, checksum, read-back), `work`
    what a process does: operations timed, warm-up, parameters bound.
    `rate` is there in a report of kind `compare` where both subjects are ok. `detectable` is the
    difference, as a share of the time, that half of the comparisons find with 80 % power.
    """

    id: str
    scenario: str
    title: str
    question: str
    group: str
    bound_by: str
    axes: dict[str, str]
    metric: verdicts.CaseMetric
    unit: str
    sql: list[str]
    pragmas: list[tuple[str, str]]
    operations: int
    checks: str
    cells: list[Cell]
    comparisons: Comparisons
    canary: Contrast | None
    notes: list[str] = field(default_factory=list[str])
    detectable: float | None = None
    work: str = ""

    @property
    def measured(self) -> list[Figure]:
        """The figures beside the primary time that a cell has here: the others need no column."""
        names = {name for cell in self.cells for name in cell.figures}
        return [figure for figure in figures.FIGURES if figure.name in names]


@dataclass(frozen=True, slots=True)
class Runner:
    """A runner and the SQLite inside it; `missing` says why it did not run."""

    name: str
    title: str
    runtime: str
    driver: str
    role: verdicts.Role
    missing: str | None = None
    runtime_version: str | None = None
    driver_version: str | None = None
    sqlite_version: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A runner against one reference over all cases of `group` that both can do.

    `contrast` is the geometric mean over those cases, of which there are `cases`; None without
    any. The intervals of all of a report's standings hold together with 95 %; the counts are what
    each case says by itself.
    """

    runner: str
    reference: str
    group: str
    contrast: Contrast | None
    cases: int
    faster: int
    slower: int
    equivalent: int
    unresolved: int
    not_ok: int


@dataclass(frozen=True, slots=True)
class Tail:
    """One runner's latencies in ns; intervals are those of the median over the blocks.

    `rate` is the units of work a second that were carried, `most` the longest latency of all
    blocks, `busy` the share of a block's operations that ended with SQLITE_BUSY, and `unfair` the
    slowest connection's time over the fastest's. `late` says that the machine started planned
    operations so late (`pacing`) that the cell is in no comparison. `buckets` are all blocks'
    operations: (least ns, greatest ns, count). `wal` is the size of the write-ahead log over time
    in the block whose largest is the median one, (ms, bytes), `wal_most` the largest of a block.
    `timer_p99` and `timer_longest` are the delays of a timer beside tasks of an event loop.
    `resident` is the process's memory likewise, `growth` bytes more of it per million operations.
    """

    runner: str
    p50: Interval | None
    p99: Interval | None
    p999: Interval | None
    longest: Interval | None
    most: float | None
    writer_p99: Interval | None = None
    rate: Interval | None = None
    busy: float = 0
    unfair: Interval | None = None
    pacing: float | None = None
    late: bool = False
    buckets: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    wal: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])
    wal_most: Interval | None = None
    timer_p99: Interval | None = None
    timer_longest: Interval | None = None
    growth: Interval | None = None
    resident: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])


@dataclass(frozen=True, slots=True)
class Tails:
    """One case: `planned` where its operations start at planned times, `threads` its workers and
    its writer, `cores` those of the machine, None where it did not say."""

    case: str
    title: str
    question: str
    axes: dict[str, str]
    unit: str
    planned: bool
    threads: int
    cores: int | None
    cells: list[Tail]

    @property
    def offered(self) -> float | None:
        """The load in operations a second: what the runner that kept up best carried. None for one
        that no cell shows with a p99."""
        rates = [cell.rate.value for cell in self.cells if cell.rate and cell.p99]
        return max(rates, default=None) if self.planned else None

    @property
    def axes_text(self) -> str:
        """`mix=95-5`: all of its axes but the profile."""
        return " ".join(f"{axis}={of}" for axis, of in self.axes.items() if axis != "profile")


@dataclass(frozen=True, slots=True)
class Point:
    """Throughput at a number of workers, operations per second."""

    workers: int
    rate: Interval


@dataclass(frozen=True, slots=True)
class Curve:
    """One runner's throughput over numbers of workers in one parallel scenario."""

    runner: str
    points: list[Point]


@dataclass(frozen=True, slots=True)
class Scaling:
    """Curves of one parallel scenario with its other axes fixed."""

    scenario: str
    title: str
    axes: dict[str, str]
    cores: int
    curves: list[Curve]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a renderer needs. `headline` is the verdict strip, best first.

    A report of kind `compare` has two subjects: `reference` is the base and the other runner the
    new one; one of kind `claims` has `claims`, whose cells are those of its cases. `sessions` is
    how many parts its blocks are divided into, in so many `sittings`. `weighing` is there where a
    suite was decided by weights, `tails` what is known of cases whose latencies were recorded. A
    steady time is the `level` of a process, `taken` is what others took from them all.
    """

    version: int
    kind: verdicts.RunKind
    title: str
    run: str
    label: str
    suite: str
    created: str
    sqlitmus_version: str
    seed: int
    blocks_planned: int
    blocks_complete: int
    sessions: int
    margin: float
    correction: verdicts.Correction
    reference: str
    floor: str | None
    headline: list[Statement]
    notices: list[Notice]
    canary: CanarySummary | None
    blocks: list[Block]
    selftest: SelfTest | None
    runners: list[Runner]
    groups: list[str]
    standings: list[Standing]
    cases: list[Case]
    scaling: list[Scaling]
    provenance: list[Fact]
    machine: dict[str, str]
    method: list[str]
    rerun: str
    claims: list[Claim] = field(default_factory=list[Claim])
    weighing: Weighing | None = None
    tails: list[Tails] = field(default_factory=list[Tails])
    taken: Taken | None = None
    sittings: int = 1

    def means(self) -> dict[tuple[str, str], Standing]:
        """Against its reference, by group and runner; a case by itself has its own figure."""
        return {
            (s.group, s.runner): s
            for s in self.standings
            if s.reference == self.reference and s.cases > 1
        }

    @property
    def detectable(self) -> tuple[float, float, float] | None:
        """Median, least and greatest of the differences that its cases find; None without any."""
        shares = [case.detectable for case in self.cases if case.detectable is not None]
        return (median(shares), min(shares), max(shares)) if shares else None
