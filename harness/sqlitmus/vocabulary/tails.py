"""What the operations of an invocation took at most, and which of them met a lock. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from sqlitmus.vocabulary import histogram
from sqlitmus.vocabulary.contract.result import Result, Worker

MANY = 1000
"""Operations without which 99.9 % of them are all of them."""


@dataclass(frozen=True, slots=True)
class Tails:
    """Quantiles of the workers' latencies in ns, of planned operations from their planned start.

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
    paced = histogram.merged(w.pacing.buckets for w in result.workers if w.pacing)
    delays = histogram.merged([result.timer.buckets] if result.timer else [])
    typical = [median(worker.iterations_ns) for worker in workers if worker.iterations_ns]
    return Tails(
        p50=histogram.quantile(buckets, 0.5),
        p99=histogram.quantile(buckets, 0.99),
        p999=histogram.quantile(buckets, 0.999) if sum(buckets.values()) >= MANY else None,
        longest=histogram.bounds(max(buckets))[1],
        writer_p99=histogram.quantile(
            _latencies([w for w in result.workers if w.role == "writer"]), 0.99
        ),
        busy=sum(w.busy for w in result.workers) / sum(_latencies(result.workers).values()),
        pacing=histogram.quantile(paced, 0.99),
        timer_p99=histogram.quantile(delays, 0.99),
        timer_longest=histogram.bounds(max(delays))[1] if delays else None,
        unfair=max(typical) / min(typical) if len(typical) > 1 and min(typical) else None,
    )


def _latencies(workers: Sequence[Worker]) -> histogram.Buckets:
    return histogram.merged(w.latencies.buckets for w in workers if w.latencies)
