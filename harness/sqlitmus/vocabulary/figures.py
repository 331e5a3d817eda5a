"""The figures that a run has of each cell beside its primary time: the one table of them.

Samples, analysis, reports and exports loop over `FIGURES`. A new figure is a row here or among the
latencies, and in the contract's Result if the runners report it. A figure named as a case's metric,
`cold`, is that case's primary time.
"""

from sqlitmus.vocabulary.figure import Figure
from sqlitmus.vocabulary.latencies import LATENCIES

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
        heading="Longest iteration",
        title="Longest of the timed iterations",
        meaning="the longest timed iteration of a process over its units of work, with what others "
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
