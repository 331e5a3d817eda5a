"""The figures that a run has of each cell beside its primary time: the one table of them."""

from dataclasses import dataclass
from operator import attrgetter
from typing import Literal, get_args

from sqlitmus.vocabulary.verdicts import CaseMetric, Verdict

Unit = Literal["ns", "bytes", "count", "share"]
Alike = Literal["processes", "iterations", "neither"]
"""How far the runners of a case did the same: their whole processes, which then do not warm up by
time; only the timed iterations, after the same warm-up; or not even those."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What is measured, how it is combined, judged and written. Smaller is better.

    `heading` stands over a column of a table, `title` over a table, `meaning` in the documents.
    `source` names what is read of an invocation and summed: `timing` is hyperfine's wall clock of
    the whole process, `result` what the runner reports of itself, which of several processes that
    share a job is summed. `whole` is read instead for a figure per operation where a case is about
    the whole process; without it the figure is unknown there.

    With `share_of` it is the share that the source has of these; None where they are nothing.
    A figure per operation is the source over the timed iterations and their units of work, one per
    iteration that over the units of work of an iteration; one of the iterations is that of all that
    were timed, as it is. Over the blocks of a cell the `median` is shown, or the `mean`, which
    loses no rare count. A figure that is `judged` has a ratio to the reference's and a verdict
    where it is of equal work (`compared`); there less of it is called `smaller`. Of other work it
    stands as a plain value, or not at all if it is `of_equal_work` only. `zero` says what a 0 in
    the source is; only what is `signed` may be below it. What is seen `with_resets` is unknown in a
    case that has any while it is timed, since these are no part of its work.
    """

    name: str
    heading: str
    title: str
    meaning: str
    unit: Unit
    per: Literal["process", "operation", "iteration", "iterations"]
    source: tuple[str, ...]
    whole: tuple[str, ...] = ()
    share_of: tuple[str, ...] = ()
    over_blocks: Literal["median", "mean"] = "median"
    judged: bool = True
    of_equal_work: bool = False
    smaller: Literal["faster", "less"] = "less"
    zero: Literal["value", "unknown", "impossible"] = "value"
    signed: bool = False
    with_resets: bool = False

    @property
    def with_unit(self) -> str:
        """Its name and its unit, unless it is a number: `cpu_ns`."""
        return f"{self.name}_{self.unit}" if self.unit in ("ns", "bytes") else self.name

    @property
    def column(self) -> str:
        """Its column in exports: of a unit of work, or of a process."""
        return f"{self.with_unit}_per_unit" if self.per_unit else self.with_unit

    @property
    def per_unit(self) -> bool:
        """Whether it is of a unit of work, of which an iteration has several."""
        return self.per in ("operation", "iteration")

    @property
    def primary(self) -> bool:
        """Whether it is the primary time of some cases, and has an interval there."""
        return self.name in get_args(CaseMetric)

    def measured(self, invocation: object, iterations: int) -> float | None:
        """Its value in an invocation that has `timing` and `result`; None where a source is.

        `iterations` were timed, none in a case about the whole process.
        """
        source = self.whole if self.per == "operation" and not iterations else self.source
        values = [read(invocation, path) for path in source]
        numbers = [value for value in values if value is not None]
        if not numbers or len(numbers) < len(values):
            return None
        total = sum(numbers)
        if self.share_of:
            whole = sum(read(invocation, path) or 0 for path in self.share_of)
            return total / whole if whole else None
        return total / iterations if self.per == "operation" and iterations else total

    def shown(self, alike: Alike) -> bool:
        """Whether its values are shown of a case whose runners did so much of the same."""
        return alike == "processes" or not self.of_equal_work

    def compared(self, alike: Alike) -> bool:
        """Whether it has ratios and verdicts there: per process it is of all that a process did,
        per operation only of the timed iterations."""
        enough = {"processes"} if self.per == "process" else {"processes", "iterations"}
        return self.judged and alike in enough

    def said(self, verdict: Verdict) -> str:
        """The words for a verdict on this figure."""
        return verdict if self.smaller == "faster" else verdict.amount


def read(root: object, path: str) -> float | None:
    """The number at `path` below `root`, such as `switches.voluntary`; None where part of it is."""
    for name in path.split("."):
        if root is None:
            return None
        root = attrgetter(name)(root)
    assert root is None or isinstance(root, int | float)
    return root


# The figures of what single operations take: latencies, and how late timers come beside them.


def _latency(
    name: str,
    heading: str,
    title: str,
    meaning: str,
    zero: Literal["value", "impossible"] = "value",
) -> Figure:
    """The figure that `Tails` has under this name, in nanoseconds."""
    source = (f"tails.{name}",)
    return Figure(
        *(name, heading, title, meaning, "ns", "iterations", source), smaller="faster", zero=zero
    )


LATENCIES: tuple[Figure, ...] = (
    _latency(
        name="p99",
        heading="p99",
        title="Latency p99",
        meaning="the latency that 99 % of operations have at most, from their scheduled start "
        "where they have one; with an interval if `metric` is `p99`",
        zero="impossible",
    ),
    _latency(
        name="p50",
        heading="p50",
        title="Latency p50",
        meaning="the latency that half of the operations have at most",
    ),
    _latency(
        name="p999",
        heading="p99.9",
        title="Latency p99.9",
        meaning="the latency that 99.9 % of operations have at most, where a process has 1,000",
    ),
    _latency(
        name="longest",
        heading="Max",
        title="Max latency",
        meaning="the largest latency of any operation of a process",
    ),
    _latency(
        name="writer_p99",
        heading="Beside p99",
        title="Latency p99 of the background thread",
        meaning="the p99 of the writer, or what else works beside the workers",
    ),
    _latency(
        name="timer_p99",
        heading="Timer p99",
        title="Timer delay p99",
        meaning="how late 99 % of the times at which a timer is due come at most, beside "
        "operations that are tasks of an event loop; with an interval if `metric` is `timer_p99`",
        zero="impossible",
    ),
    _latency(
        name="timer_longest",
        heading="Timer max",
        title="Max timer delay",
        meaning="how late such a timer came at most",
    ),
)


FIGURES: tuple[Figure, ...] = (
    Figure(
        name="cold",
        heading="Cold",
        title="Cold: the whole process",
        meaning="wall time of a whole process, where all runners of the case did the same number "
        "of iterations; with an interval if `metric` is `cold`",
        unit="ns",
        per="process",
        source=("timing.wall_ns",),
        of_equal_work=True,
        smaller="faster",
        zero="impossible",
    ),
    Figure(
        name="cpu",
        heading="CPU",
        title="CPU time",
        meaning="user and system CPU time of one unit of work, or of a process if `metric` is "
        "`cold`",
        unit="ns",
        per="operation",
        source=("result.cpu_ns",),
        whole=("timing.user_ns", "timing.system_ns"),
    ),
    Figure(
        name="peak_rss",
        heading="Memory",
        title="Peak memory",
        meaning="the process's largest resident memory",
        unit="bytes",
        per="process",
        source=("result.peak_rss_bytes",),
        zero="unknown",
    ),
    Figure(
        name="allocated",
        heading="Allocated",
        title="Allocated memory",
        meaning="what the runtime's own heap gives out per unit of work, without SQLite's memory",
        unit="bytes",
        per="operation",
        source=("result.allocated_bytes",),
        judged=False,
    ),
    Figure(
        name="collections",
        heading="Collections",
        title="Garbage collections",
        meaning="garbage collections per unit of work, of any generation",
        unit="count",
        per="operation",
        source=("result.collections",),
        over_blocks="mean",
        judged=False,
    ),
    Figure(
        name="page_faults_minor",
        heading="Minor faults",
        title="Minor page faults",
        meaning="page faults per unit of work that were served from memory",
        unit="count",
        per="operation",
        source=("result.page_faults.minor",),
        over_blocks="mean",
        judged=False,
    ),
    Figure(
        name="page_faults_major",
        heading="Major faults",
        title="Major page faults",
        meaning="page faults per unit of work that waited for a disk",
        unit="count",
        per="operation",
        source=("result.page_faults.major",),
        over_blocks="mean",
        judged=False,
    ),
    Figure(
        name="switches_voluntary",
        heading="Voluntary switches",
        title="Voluntary context switches",
        meaning="context switches per unit of work of a thread that waited",
        unit="count",
        per="operation",
        source=("result.switches.voluntary",),
        over_blocks="mean",
        judged=False,
    ),
    Figure(
        name="switches_involuntary",
        heading="Involuntary switches",
        title="Involuntary context switches",
        meaning="context switches per unit of work of a thread that lost its processor to another",
        unit="count",
        per="operation",
        source=("result.switches.involuntary",),
        over_blocks="mean",
        judged=False,
    ),
    Figure(
        name="iteration_median",
        heading="Median iteration",
        title="Median of the timed iterations",
        meaning="the median timed iteration of a process over its units of work, by the runner's "
        "clock: far below the time where some iterations wait, as for a lock or a checkpoint",
        unit="ns",
        per="iteration",
        source=("spread.median",),
        judged=False,
    ),
    Figure(
        name="iteration_p99",
        heading="p99 iteration",
        title="p99 of the timed iterations",
        meaning="what 99 % of the timed iterations of a process take at most, over their units of "
        "work; not known of fewer than 100, where that is the longest",
        unit="ns",
        per="iteration",
        source=("spread.p99",),
        judged=False,
    ),
    Figure(
        name="iteration_longest",
        heading="Max iteration",
        title="Max of the timed iterations",
        meaning="the slowest timed iteration of a process over its units of work, with what others "
        "took from it",
        unit="ns",
        per="iteration",
        source=("spread.longest",),
        judged=False,
    ),
    Figure(
        name="drift",
        heading="Drift",
        title="Second half of the timed work over the first",
        meaning="the time of the second half of what a process timed over that of the first half: "
        "below 1 it was still becoming faster",
        unit="count",
        per="iterations",
        source=("drift",),
        judged=False,
    ),
    Figure(
        name="lost",
        heading="Taken by others",
        title="Time that others took",
        meaning="the share of the time of the laps that counted which other programs took from the "
        "thread; it is no part of the time",
        unit="share",
        per="iterations",
        source=("laps.lost",),
        over_blocks="mean",
        judged=False,
    ),
    Figure(
        name="left_out",
        heading="Left out",
        title="Rounds left out",
        meaning="the share of rounds that were left out for all runners of the case, since others "
        "took more than 20 % of somebody's lap",
        unit="share",
        per="iterations",
        source=("laps.left_out",),
        over_blocks="mean",
        judged=False,
    ),
    Figure(
        name="pages_read",
        heading="Pages read",
        title="Pages read from the file",
        meaning="pages per unit of work that SQLite did not find in its cache, where the runner "
        "can ask it; what is mapped into memory is not counted",
        unit="count",
        per="operation",
        source=("result.page_cache.misses",),
        over_blocks="mean",
        judged=False,
    ),
    Figure(
        name="cache_hits",
        heading="Cache hits",
        title="Share of pages found in SQLite's cache",
        meaning="the share of the pages that SQLite looked for which it found in its cache, where "
        "the runner can ask it",
        unit="share",
        per="iterations",
        source=("result.page_cache.hits",),
        share_of=("result.page_cache.hits", "result.page_cache.misses"),
        over_blocks="mean",
        judged=False,
    ),
    Figure(
        name="written",
        heading="Written",
        title="Bytes written",
        meaning="bytes that the process gave the system to write per unit of work, its share of "
        "checkpoints included, as the harness sees it on Linux of processes that take turns",
        unit="bytes",
        per="operation",
        source=("written",),
        over_blocks="mean",
        judged=False,
        with_resets=True,
    ),
    Figure(
        name="checkpoints",
        heading="Checkpoints",
        title="Checkpoints in the timed work",
        meaning="how often the write-ahead log began anew in the timed work of a process, as it "
        "does after a checkpoint, seen from outside until its last iteration",
        unit="count",
        per="iterations",
        source=("timing.writes.checkpoints",),
        over_blocks="mean",
        judged=False,
        with_resets=True,
    ),
    *LATENCIES,
    Figure(
        name="busy",
        heading="Busy",
        title="Busy operations",
        meaning="the share of operations that ended with SQLITE_BUSY, those of a writer too",
        unit="share",
        per="iterations",
        source=("tails.busy",),
        over_blocks="mean",
        judged=False,
    ),
    Figure(
        name="unfair",
        heading="Slowest over fastest",
        title="Slowest connection over fastest",
        meaning="the time of the slowest of several connections over that of the fastest, with the "
        "same number of operations each",
        unit="count",
        per="iterations",
        source=("tails.unfair",),
        judged=False,
    ),
    Figure(
        name="growth",
        heading="Memory growth",
        title="Memory growth per million operations",
        meaning="by how much the resident memory grows while a million operations are timed, where "
        "the harness looks at it",
        unit="bytes",
        per="process",
        source=("growth",),
        judged=False,
        signed=True,
    ),
    Figure(
        name="pacing",
        heading="Pacing",
        title="Pacing error p99",
        meaning="how late 99 % of the planned operations started at most, of those for which a "
        "thread waited: the machine's lateness, not the database's",
        unit="ns",
        per="iterations",
        source=("tails.pacing",),
        judged=False,
    ),
)


def named(name: str) -> Figure:
    """The figure of that name; KeyError for none."""
    return {figure.name: figure for figure in FIGURES}[name]


def reported() -> list[str]:
    """Paths in the contract's Result of what runners report, such as `switches.voluntary`."""
    paths = dict.fromkeys(path for figure in FIGURES for path in (*figure.source, *figure.whole))
    return [path.removeprefix("result.") for path in paths if path.startswith("result.")]
