"""Whether a result's times and use can be, by what hyperfine saw of the same process. Pure.

The bounds are several times beyond the most extreme honest cell (`./just bench-plausible`), so
that none fails that is merely slow: `docs/trust.md` says what they do not see.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlitmus.machine.limits import Limits
from sqlitmus.run.hyperfine import Timing
from sqlitmus.vocabulary import histogram
from sqlitmus.vocabulary.contract import Job, Result, Worker

CLOCKS_NS, CLOCKS = 20e6, 1.01
"""How far two clocks of one process may differ: a start in ticks of 10 ms, and a share."""
START_NS = 2e9
"""Start, compilation, read-back, inspection and end of a process beyond its phases."""
WORKER_NS = 250e6
"""The same of each further worker."""
TURN_NS = 200e3
"""Between two iterations, for each worker: the meeting of threads, transactions, sampling."""
BESIDE, RESETS = 0.7, 2.5
"""What else lies between iterations, as a share of their time: in general, and with a reset."""
CPU_NS, CPU, HELPERS = 50e6, 1.5, 4
"""A tick of CPU clocks on each side; the share of helping threads, and how many there are."""
CPU_SEEN_NS, CPU_UNSEEN = 50e6, 30
"""How much CPU time iterations must be expected to use, and by how much less they may report."""
BYTES, MEMORY = 64 * 2**20, 4
"""How far peaks of memory may differ that were read at different moments."""
LEAST_NS, TICKS = 100, 10
"""An iteration holds two looks at the clock and a call of SQLite, and 10 steps of its clock."""
STILL_NS, STILL = 100e3, 10
"""Iterations at least so long, so many of them, are never all equal to the nanosecond."""
LAST_BUCKET = histogram.bucket(2**63 - 1)
EVENT_NS = 10
"""No page fault and no switch of threads takes less."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How a job was done: workers in all of the processes, whether it resets between iterations,
    and whether operations have planned times.
    """

    workers: int
    processes: int
    resets: bool
    planned: bool

    @classmethod
    def of(cls, job: Job, processes: int | None) -> "Arrangement":
        """How `job` is done by so many processes, None being one that is started alone."""
        return cls(
            workers=job.measure.workers,
            processes=processes or 1,
            resets=bool(job.reset),
            planned=bool(job.measure.rate or (job.writer and job.writer.rate)),
        )


def contradiction(
    timing: Timing, result: Result, how: Arrangement, limits: Limits
) -> str | None:
    """Why the figures of an `ok` result in measure mode cannot be, with both numbers, or None."""
    return next(
        (
            problem
            for check in (_fits, _workers, _clock, _rest, _cpu, _memory, _events)
            for problem in check(timing, result, how, limits)
        ),
        None,
    )


def _fits(timing: Timing, result: Result, _how: Arrangement, _limits: Limits) -> Iterator[str]:
    spent = timed_ns(result) + phases_ns(result)
    if spent > CLOCKS * timing.wall_ns + CLOCKS_NS:
        yield (
            f"its iterations and phases add up to {_s(spent)}, but its process lived "
            f"{_s(timing.wall_ns)}: its clock or its times are wrong"
        )


def _workers(timing: Timing, result: Result, how: Arrangement, _limits: Limits) -> Iterator[str]:
    for number, worker in enumerate(result.workers):
        name = f"its {worker.role} {number}"
        spent = sum(worker.iterations_ns)
        if spent > CLOCKS * timing.wall_ns + CLOCKS_NS:
            yield f"{name} reports {_s(spent)}, but its process lived {_s(timing.wall_ns)}"
        if len(worker.iterations_ns) != len(result.iterations_ns):
            yield (
                f"{name} reports {len(worker.iterations_ns)} iterations of "
                f"{len(result.iterations_ns)}"
            )
        yield from _latencies(name, worker, timing, how)


def _latencies(name: str, worker: Worker, timing: Timing, how: Arrangement) -> Iterator[str]:
    for series in filter(None, (worker.latencies, worker.pacing)):
        last = max((bucket for bucket, _ in series.buckets), default=0)
        longest = histogram.bounds(min(last, LAST_BUCKET))[0]
        if longest > CLOCKS * timing.wall_ns + CLOCKS_NS:
            yield (
                f"{name} reports an operation of {_s(longest)}, but its process lived "
                f"{_s(timing.wall_ns)}"
            )
    if worker.latencies is None:
        return
    buckets = worker.latencies.buckets
    count, done = sum(n for _, n in buckets), worker.operations * len(worker.iterations_ns)
    if count != done:
        yield f"{name} reports times of {count} operations; its iterations had {done}"
    spent, timed = sum(histogram.bounds(b)[0] * n for b, n in buckets), sum(worker.iterations_ns)
    if not how.planned and spent > CLOCKS * timed + CLOCKS_NS:
        yield f"{name} reports operations of {_s(spent)} in iterations of {_s(timed)}"


def _clock(_timing: Timing, result: Result, _how: Arrangement, limits: Limits) -> Iterator[str]:
    times = [*result.warmup_ns, *result.iterations_ns]
    least = max(LEAST_NS, TICKS * limits.tick_ns)
    mean = sum(result.iterations_ns) / max(len(result.iterations_ns), 1)
    if times and mean < least:
        yield (
            f"its iterations take {mean:.3g} ns on average, and no clock here measures less than "
            f"{least:.3g} ns: let an iteration do more operations"
        )
    if len(times) >= STILL and min(times) == max(times) >= max(STILL_NS, 1000 * limits.tick_ns):
        yield (
            f"each of its {len(times)} iterations took exactly {times[0]} ns: no clock that runs "
            "shows that"
        )


def _rest(timing: Timing, result: Result, how: Arrangement, _limits: Limits) -> Iterator[str]:
    timed = timed_ns(result)
    rest = timing.wall_ns - phases_ns(result) - timed
    if timed and how.processes == 1 and rest > most_beside_ns(result, how):
        yield (
            f"its iterations add up to {_s(timed)}, and {_s(rest)} of its process's "
            f"{_s(timing.wall_ns)} remain: its clock or its times are wrong"
        )


def _cpu(timing: Timing, result: Result, how: Arrangement, limits: Limits) -> Iterator[str]:
    if result.cpu_ns is None or not result.iterations_ns:
        return
    used, timed = result.cpu_ns.user + result.cpu_ns.system, sum(result.iterations_ns)
    whole = timing.user_ns + timing.system_ns
    if used > CLOCKS * whole + CPU_NS:
        yield f"it reports {_s(used)} of CPU time; its whole process used {_s(whole)}"
    threads = min(limits.cores, how.workers + HELPERS * how.processes)
    if used > CPU * threads * timed + CPU_NS:
        yield (
            f"it reports {_s(used)} of CPU time in iterations of {_s(timed)}, which is more than "
            f"{threads} threads can use: its clock or its times are wrong"
        )
    share = whole * timed / timing.wall_ns
    if share > CPU_SEEN_NS and used * CPU_UNSEEN < share:
        yield (
            f"it reports {_s(used)} of CPU time in iterations of {_s(timed)}; its whole process "
            f"used {_s(whole)} in {_s(timing.wall_ns)}"
        )


def _memory(timing: Timing, result: Result, how: Arrangement, limits: Limits) -> Iterator[str]:
    peak, seen = result.peak_rss_bytes, timing.peak_bytes
    if not peak:
        return
    if limits.memory is not None and peak > limits.memory * how.processes:
        yield f"it reports a peak memory of {_mb(peak)}; this machine has {_mb(limits.memory)}"
    if seen is not None and not seen / MEMORY - BYTES <= peak <= seen * MEMORY + BYTES:
        yield f"it reports a peak memory of {_mb(peak)}; hyperfine saw {_mb(seen)}"


def _events(timing: Timing, result: Result, _how: Arrangement, limits: Limits) -> Iterator[str]:
    most = timing.wall_ns * limits.cores / EVENT_NS
    for name, events in (("page faults", result.page_faults), ("switches", result.switches)):
        count = sum(events.model_dump().values()) if events else 0
        if count > most:
            yield f"it reports {count} {name}; its process lived {_s(timing.wall_ns)}"


def timed_ns(result: Result) -> int:
    """All that was timed, warm-up included."""
    return sum(result.warmup_ns) + sum(result.iterations_ns)


def phases_ns(result: Result) -> int:
    """The phases that are known."""
    return sum(ns or 0 for ns in result.phases_ns.model_dump().values())


def most_beside_ns(result: Result, how: Arrangement) -> float:
    """How much of a process's life may lie beside its iterations and known phases."""
    turns = (len(result.warmup_ns) + len(result.iterations_ns)) * how.workers
    share = RESETS if how.resets else BESIDE
    start = START_NS + WORKER_NS * (how.workers - 1)
    return start + TURN_NS * turns + share * timed_ns(result)


def _s(ns: float) -> str:
    if ns < 1e6:
        return f"{ns:,.0f} ns"
    return f"{ns / 1e9:,.0f} s" if ns >= 1e12 else f"{ns / 1e9:.3g} s"


def _mb(count: float) -> str:
    return f"{count / 2**20:.3g} MB"
