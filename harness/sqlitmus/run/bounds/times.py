"""Iterations, phases and latencies: they fit into the life of their process, and fill it. Pure."""

from collections.abc import Iterator

from sqlitmus.machine.limits import Limits
from sqlitmus.run.bounds.terms import (
    CLOCKS,
    CLOCKS_NS,
    Arrangement,
    Held,
    life_ns,
    phases_ns,
    seconds,
    timed_ns,
)
from sqlitmus.run.finished import Timing
from sqlitmus.vocabulary import histogram
from sqlitmus.vocabulary.contract.result import Result, Worker

START_NS = 2e9
"""CPU time of start, compilation, read-back, inspection and end of a process."""
WORKER_NS = 500e6
"""The same of each further worker."""
TURN_NS = 200e3
"""Between two iterations, for each worker: the meeting of threads, transactions, sampling."""
BESIDE, RESETS = 1.5, 3.5
"""What else is done beside iterations, helping threads included, as a share of their time: in
general, and with a reset."""
LEAST_NS, TICKS = 100, 10
"""An iteration holds two looks at the clock and a call of SQLite, and 10 steps of its clock."""
STILL_NS, STILL = 100e3, 10
"""Iterations at least so long, so many of them, are never all equal to the nanosecond."""
LAST_BUCKET = histogram.bucket(2**63 - 1)


def fits(timing: Timing, result: Result, _how: Arrangement, _limits: Limits) -> Iterator[Held]:
    """Iterations and phases follow one another in the process."""
    spent = timed_ns(result) + phases_ns(result)
    yield Held(
        "iterations and phases within wall time",
        spent,
        life_ns(timing),
        f"its iterations and phases add up to {seconds(spent)}, but its process lived "
        f"{seconds(timing.wall_ns)}: its clock or its times are wrong",
    )


def of_workers(timing: Timing, result: Result, how: Arrangement, _limits: Limits) -> Iterator[Held]:
    """What each worker reports of its own iterations and operations."""
    for number, worker in enumerate(result.workers):
        name = f"its {worker.role} {number}"
        spent, count = sum(worker.iterations_ns), len(worker.iterations_ns)
        yield Held(
            "a worker's iterations within wall time",
            spent,
            life_ns(timing),
            f"{name} reports {seconds(spent)}, but its process lived {seconds(timing.wall_ns)}",
        )
        yield Held(
            "a worker's number of iterations",
            abs(count - len(result.iterations_ns)),
            0,
            f"{name} reports {count} iterations; {len(result.iterations_ns)} were timed",
        )
        share = count / max(len(result.warmup_ns) + count, 1)
        yield from _latencies(name, worker, round(worker.operations * share), timing, how)
    if result.timer:
        last = max((bucket for bucket, _ in result.timer.buckets), default=0)
        longest = histogram.bounds(min(last, LAST_BUCKET))[0]
        yield Held(
            "longest timer delay within wall time",
            longest,
            life_ns(timing),
            f"it reports a timer that came {seconds(longest)} late, but its process lived "
            f"{seconds(timing.wall_ns)}",
        )


def _latencies(
    name: str, worker: Worker, done: int, timing: Timing, how: Arrangement
) -> Iterator[Held]:
    for series in filter(None, (worker.latencies, worker.pacing)):
        last = max((bucket for bucket, _ in series.buckets), default=0)
        longest = histogram.bounds(min(last, LAST_BUCKET))[0]
        yield Held(
            "longest latency within wall time",
            longest,
            life_ns(timing),
            f"{name} reports an operation of {seconds(longest)}, but its process lived "
            f"{seconds(timing.wall_ns)}",
        )
        if last > LAST_BUCKET:
            return
    if worker.latencies is None:
        return
    buckets = worker.latencies.buckets
    count = sum(n for _, n in buckets)
    yield Held(
        "number of latencies",
        abs(count - done),
        0,
        f"{name} reports times of {count} operations; its iterations had {done}",
    )
    if how.planned:  # from the planned time on, which may be long before the operation
        return
    spent, timed = sum(histogram.bounds(b)[0] * n for b, n in buckets), sum(worker.iterations_ns)
    yield Held(
        "latencies within a worker's iterations",
        spent,
        CLOCKS * timed + CLOCKS_NS,
        f"{name} reports operations of {seconds(spent)} in iterations of {seconds(timed)}",
    )


def clock(_timing: Timing, result: Result, _how: Arrangement, limits: Limits) -> Iterator[Held]:
    """Iterations are long enough for a clock, and differ."""
    if not result.iterations_ns:
        return
    times = [*result.warmup_ns, *result.iterations_ns]
    least = max(LEAST_NS, TICKS * limits.tick_ns)
    mean = sum(result.iterations_ns) / len(result.iterations_ns)
    yield Held(
        "the clock's resolution below an iteration",
        least,
        mean,
        f"its iterations take {mean:.3g} ns on average, and no clock here measures less than "
        f"{least:.3g} ns: let an iteration do more operations",
    )
    if len(times) >= STILL and min(times) >= max(STILL_NS, 1000 * limits.tick_ns):
        yield Held(
            "iterations that are not all equal",
            min(times),
            max(times) - 1,
            f"each of its {len(times)} iterations took exactly {times[0]} ns, which no clock "
            "shows that runs",
        )


def rest(timing: Timing, result: Result, how: Arrangement, _limits: Limits) -> Iterator[Held]:
    """What the process did beside its iterations is no more than what there is to do.

    In CPU time: an overloaded machine and a slow disk stretch the wall time, without a bound.
    """
    timed = timed_ns(result)
    # several processes wait for one another, and a digest takes many times its iteration
    if timed and how.processes == 1 and result.digest is None:
        used = timing.user_ns + timing.system_ns
        yield Held(
            "CPU time beside iterations",
            used - timed * how.workers,
            _most_beside_ns(result, how),
            f"its iterations add up to {seconds(timed)}, and its process used {seconds(used)} of "
            "CPU time: its clock or its times are wrong",
        )


def _most_beside_ns(result: Result, how: Arrangement) -> float:
    """How much CPU time a process may use beside its iterations."""
    turns = (len(result.warmup_ns) + len(result.iterations_ns)) * how.workers
    share = RESETS if how.resets else BESIDE
    start = START_NS + WORKER_NS * (how.workers - 1)
    return start + TURN_NS * turns + share * timed_ns(result)
