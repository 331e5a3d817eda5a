"""The figures that a run has of each cell beside its primary time, and the details of a process;
`figures.toml` is the one table of the figures.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from statistics import linear_regression, median
from typing import Literal, get_args

from pydantic import TypeAdapter

from sqlitmus.vocabulary.contract import Model, Natural, Positive, Result, Worker
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
    def latency(self) -> bool:
        """Whether it is what single operations take, or timers beside them."""
        return self.smaller == "faster" and self.source[0].startswith("tails.")

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


_ROW = TypeAdapter(Figure)
FIGURES = tuple(
    _ROW.validate_python({"name": name, **of})
    for name, of in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
)


def named(name: str) -> Figure:
    """The figure of that name; KeyError for none."""
    return {figure.name: figure for figure in FIGURES}[name]


def reported() -> list[str]:
    """Paths in the contract's Result of what runners report, such as `switches.voluntary`."""
    paths = dict.fromkeys(path for figure in FIGURES for path in (*figure.source, *figure.whole))
    return [path.removeprefix("result.") for path in paths if path.startswith("result.")]


# The details of an invocation beside its figures: latencies, workers, growth, syncs.

Buckets = Mapping[int, int]


class DatabaseFacts(Model):
    """What a report tells of a user's database; `schema_hash` is a SHA-256, shortened."""

    bytes: int
    page_size: int
    encoding: str
    journal_mode: str
    user_version: int
    tables: int
    schema_hash: str


class UserDatabase(DatabaseFacts):
    """The same with its name."""

    name: str


def bucket(ns: int) -> int:
    """The bucket of `ns`: e * 128 + (ns >> e), e = max(0, floor(log2 ns) - 7)."""
    shift = max(0, ns.bit_length() - 8)
    return shift * 128 + (ns >> shift)


def bounds(number: int) -> tuple[int, int]:
    """The least and the greatest nanoseconds of a bucket."""
    shift = max(0, number // 128 - 1)
    low = (number - shift * 128) << shift
    return low, low + (1 << shift) - 1


def merged(many: Iterable[Iterable[tuple[int, int]]]) -> Counter[int]:
    """Several histograms as one."""
    together: Counter[int] = Counter()
    for buckets in many:
        for number, count in buckets:
            together[number] += count
    return together


def quantile(buckets: Buckets, share: float) -> float | None:
    """The value that `share` of all lie at or below: the middle of its bucket; None of nothing."""
    total = sum(buckets.values())
    seen = 0
    for number in sorted(buckets):
        seen += buckets[number]
        if seen >= share * total:
            low, high = bounds(number)
            return (low + high) / 2
    return None


# By how much a process's memory grows while its operations are timed. Pure.

LEAST = 8
"""Looks at the memory without which a slope says nothing."""
MILLION = 1_000_000


def growth(resident: Sequence[tuple[float, int]], result: Result) -> float | None:
    """Bytes per million operations: the slope of a line through the `resident` memory, (ms, bytes),
    by least squares, over the time of the timed iterations, which end as the connection is closed.

    None for fewer than `LEAST` looks in that time.
    """
    alive = [(ms, size) for ms, size in resident if size]
    operations = result.operations_each * len(result.iterations_ns)
    if not alive or not operations:
        return None
    spent = sum(result.iterations_ns) / 1e6
    end = alive[-1][0] - (result.phases_ns.close or 0) / 1e6
    timed = [(ms, size) for ms, size in alive if end - spent <= ms <= end]
    if len(timed) < LEAST:
        return None
    line = linear_regression([ms for ms, _ in timed], [size for _, size in timed])
    return line.slope * spent / operations * MILLION


# What the transactions of a write cell did to its file, as counted from outside the runner.


class Syncs(Model):
    """Calls of `fsync` and `fdatasync` that succeeded on the database's files or their folder, and
    bytes written to these files, by so many `transactions` alone.

    There were at most so many `commits`, by the locks taken and the writes to log or journal; None
    where these tell nothing.
    """

    transactions: Positive
    fsync: Natural
    fdatasync: Natural
    bytes: Natural
    commits: Natural | None = None

    @property
    def per_transaction(self) -> float:
        """Calls of either kind: SQLite was built to use the one or the other."""
        return (self.fsync + self.fdatasync) / self.transactions

    def calls(self) -> str:
        """`4 fsync`, `1 fdatasync`, `no sync`: those of one transaction."""
        counts = {"fsync": self.fsync, "fdatasync": self.fdatasync}
        calls = [f"{self._each(count)} {name}" for name, count in counts.items() if count]
        return " + ".join(calls) or "no sync"

    def words(self) -> str:
        """`4 fsync, 24.7 kB`: calls and bytes of one transaction."""
        return f"{self.calls()}, {self._each(self.bytes / 1000)} kB"

    def _each(self, total: float) -> str:
        share = total / self.transactions
        return f"{share:.3g}" if share < 1000 else f"{share:,.0f}"


def durability(syncs: Syncs | None, uncounted: str | None) -> str:
    """What a write cell makes durable, why that is not known, or nothing of one without either."""
    if syncs:
        return f"{syncs.words()} per transaction"
    return f"not counted: {uncounted}" if uncounted else ""


# What the operations of an invocation took at most, and which of them met a lock. Pure.

MANY = 1000
"""Operations without which 99.9 % of them are all of them."""


@dataclass(frozen=True, slots=True)
class Tails:
    """Quantiles of the workers' latencies in ns, of planned operations from their scheduled start.

    `p999` is None for fewer than `MANY` operations. `writer_p99` is that of the writer beside the
    workers. `busy` is the share of all operations, the writer's too, that ended with SQLITE_BUSY;
    `pacing` is how late in ns 99 % of the planned operations started at most, of those for which a
    thread waited. `unfair` is the slowest worker's time over the fastest's, who do the same number
    of operations. `timer_p99` and `timer_longest` are the delays of a timer beside them.
    """

    p50: float | None
    p99: float | None
    p999: float | None
    longest: float | None
    writer_p99: float | None
    busy: float
    pacing: float | None
    unfair: float | None
    timer_p99: float | None = None
    timer_longest: float | None = None


def tails(result: Result) -> Tails | None:
    """Those of a result; None where no worker recorded its latencies."""
    workers = [worker for worker in result.workers if worker.role == "worker"]
    buckets = _latencies(workers)
    if not buckets:
        return None
    paced = merged(w.pacing.buckets for w in result.workers if w.pacing)
    delays = merged([result.timer.buckets] if result.timer else [])
    typical = [median(worker.iterations_ns) for worker in workers if worker.iterations_ns]
    return Tails(
        p50=quantile(buckets, 0.5),
        p99=quantile(buckets, 0.99),
        p999=quantile(buckets, 0.999) if sum(buckets.values()) >= MANY else None,
        longest=bounds(max(buckets))[1],
        writer_p99=quantile(_latencies([w for w in result.workers if w.role == "writer"]), 0.99),
        busy=sum(w.busy for w in result.workers) / sum(_latencies(result.workers).values()),
        pacing=quantile(paced, 0.99),
        timer_p99=quantile(delays, 0.99),
        timer_longest=bounds(max(delays))[1] if delays else None,
        unfair=max(typical) / min(typical) if len(typical) > 1 and min(typical) else None,
    )


def _latencies(workers: Sequence[Worker]) -> Buckets:
    return merged(w.latencies.buckets for w in workers if w.latencies)


class Launch(Model):
    """The launcher's measurements of several processes.

    For each measured iteration, `skew_us` is the time between the first and the last release of a
    process from the barrier, which the launcher causes, and `start_spread_us` the time between the
    first and the last start of a worker. `cpus` is the share of each processor in use between the
    first release and the last end; `pins` has the processor of each process.
    """

    processes: int
    skew_us: list[float]
    start_spread_us: list[float] = []
    cpus: dict[str, float] = {}
    pins: list[int] = []


class Detail(Model):
    """What a process told beyond its figures.

    `latencies` are the buckets of its workers' operations with their counts; `wal` are sizes of the
    write-ahead log as the harness saw them, (ms since the start of the process, bytes), and
    `resident` those of the process's memory.
    """

    latencies: list[tuple[int, int]] = []
    launch: Launch | None = None
    wal: list[tuple[float, int]] = []
    resident: list[tuple[float, int]] = []


def detail(
    result: Result,
    launch: Launch | None,
    *,
    wal: Sequence[tuple[float, int]] = (),
    resident: Sequence[tuple[float, int]] = (),
) -> Detail | None:
    """The details in `result`, `launch`, `wal` and `resident`; None of a process that recorded no
    latencies and was not launched with others."""
    buckets = _latencies([worker for worker in result.workers if worker.role == "worker"])
    if not buckets and not launch:
        return None
    return Detail(
        latencies=sorted(buckets.items()), launch=launch, wal=list(wal), resident=list(resident)
    )
