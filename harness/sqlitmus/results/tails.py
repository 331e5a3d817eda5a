"""What operations under load took at most, and throughput over numbers of workers."""

from dataclasses import dataclass, field

from sqlitmus.results.ranking import Interval


@dataclass(frozen=True, slots=True)
class Tail:
    """One runner's latencies in ns; intervals are those of the median over the blocks.

    `rate` is units of work a second where nothing is planned, `most` the longest latency of all
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


# Throughput over numbers of workers.


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
