"""The details of an invocation besides its times: latencies, workers, the launch. Pure."""

import statistics
from collections.abc import Sequence

from sqlitmus.vocabulary import histogram
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.contract.result import Result, Worker


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


class Latencies(Model):
    """Nanoseconds of operations, and the histogram they come from."""

    mean: float
    p50: float
    p99: float
    p999: float
    max: float
    buckets: list[tuple[int, int]]


class Detail(Model):
    """One line of `details.jsonl`, beside the sample of the same position and take.

    `loop_ns` is the median iteration from the earliest start to the latest end of a worker;
    `spread` the slowest worker's time over the fastest's; `busy` operations that ended with
    SQLITE_BUSY; `pacing_p99_ns` how late planned operations started; `wal` sizes
    of the write-ahead log as the harness saw them, (ms since the start of the process, bytes), and
    `resident` those of the process's memory.
    """

    position: int
    take: int = 0
    loop_ns: float
    operations: int
    latencies: Latencies | None = None
    writer: Latencies | None = None
    busy: int = 0
    writer_busy: int = 0
    pacing_p99_ns: float | None = None
    spread: float | None = None
    launch: Launch | None = None
    wal: list[tuple[float, int]] = []
    resident: list[tuple[float, int]] = []


def detail(
    position: int,
    take: int,
    result: Result,
    launch: Launch | None,
    *,
    wal: Sequence[tuple[float, int]] = (),
    resident: Sequence[tuple[float, int]] = (),
) -> Detail:
    """The details in `result`, `launch`, `wal` and `resident`."""
    workers = [w for w in result.workers if w.role == "worker"]
    writers = [w for w in result.workers if w.role == "writer"]
    medians = [statistics.median(w.iterations_ns) for w in workers if w.iterations_ns]
    paced = histogram.merged(w.pacing.buckets for w in result.workers if w.pacing)
    return Detail(
        position=position,
        take=take,
        loop_ns=statistics.median(result.iterations_ns) if result.iterations_ns else 0,
        operations=result.operations_each,
        latencies=_latencies(workers),
        writer=_latencies(writers),
        busy=sum(w.busy for w in workers),
        writer_busy=sum(w.busy for w in writers),
        pacing_p99_ns=histogram.quantile(paced, 0.99),
        spread=max(medians) / min(medians) if len(medians) > 1 and min(medians) else None,
        launch=launch,
        wal=list(wal),
        resident=list(resident),
    )


def _latencies(workers: list[Worker]) -> Latencies | None:
    buckets = histogram.merged(w.latencies.buckets for w in workers if w.latencies)
    if not buckets:
        return None
    p50, p99, p999 = (histogram.quantile(buckets, share) or 0 for share in (0.5, 0.99, 0.999))
    return Latencies(
        mean=histogram.mean(buckets) or 0,
        p50=p50,
        p99=p99,
        p999=p999,
        max=histogram.bounds(max(buckets))[1],
        buckets=sorted(buckets.items()),
    )
