"""What the figures of a result can be, by what hyperfine and the machine say of the process.
Pure.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.catalog.scenario import RunnerSpec, Scenario
from sqlitmus.machine.system import Limits
from sqlitmus.run.processes.process import Timing
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.contract import Histogram, Result, Sequence, Worker
from sqlitmus.vocabulary.text import counted

CLOCKS_NS, CLOCKS = 20e6, 1.01
"""How far two clocks of one process may differ: a start in ticks of 10 ms, and a share."""


class Held(NamedTuple):
    """A value held against the most that it can be; `problem` says what is wrong beyond that."""

    bound: str
    value: float
    most: float
    problem: str


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How a job was done: workers in all of the processes, whether it resets between iterations,
    whether operations have planned times, or a `sequence`, and whether it never waits: one thread
    that only reads what is in memory, one operation after the other.
    """

    workers: int
    processes: int
    resets: bool
    planned: bool
    never_waits: bool = False
    sequence: Sequence | None = None

    @classmethod
    def of(cls, case: PlannedCase, spec: Scenario, runner: RunnerSpec) -> "Arrangement":
        planned = bool(spec.rate or (spec.writer and spec.writer.rate))
        planned |= bool(spec.sequence and spec.sequence.planned_us)
        waits = case.together or runner.worker_thread
        return cls(
            workers=case.threads,
            processes=case.processes or 1,
            resets=bool(spec.reset),
            planned=planned,
            never_waits=not (waits or planned or spec.writes or spec.timer_ms),
            sequence=spec.sequence,
        )


def life_ns(timing: Timing) -> float:
    """The longest that anything in a process can have taken by another clock than hyperfine's."""
    return CLOCKS * timing.wall_ns + CLOCKS_NS


def seconds(ns: float) -> str:
    """A time in words; small ones in nanoseconds."""
    if ns < 1e6:
        return f"{ns:,.0f} ns"
    return f"{ns / 1e9:,.0f} s" if ns >= 1e12 else f"{ns / 1e9:.3g} s"


def megabytes(count: float) -> str:
    return f"{count / 2**20:.3g} MB"


LEAST_NS, TICKS = 100, 10
"""An iteration holds two looks at the clock and a call of SQLite, and 10 steps of its clock."""
STILL_NS, STILL = 100e3, 10
"""Iterations at least so long, so many of them, are never all equal to the nanosecond."""
LAST_BUCKET = figures.bucket(2**63 - 1)


def fits(timing: Timing, result: Result) -> Iterator[Held]:
    phases = result.phases_ns.model_dump().values()
    spent = sum(result.warmup_ns) + sum(result.iterations_ns) + sum(ns or 0 for ns in phases)
    yield Held(
        "iterations and phases within wall time",
        spent,
        life_ns(timing),
        f"its iterations and phases add up to {seconds(spent)}, but its process lived "
        f"{seconds(timing.wall_ns)}: its clock or its times are wrong",
    )


def of_workers(timing: Timing, result: Result, how: Arrangement) -> Iterator[Held]:
    for number, worker in enumerate(result.workers):
        name = f"its {worker.role} {number}"
        spent, count = sum(worker.iterations_ns), len(worker.iterations_ns)
        yield _lived("a worker's iterations", spent, timing, f"{name} reports {seconds(spent)}")
        yield Held(
            "a worker's number of iterations",
            abs(count - len(result.iterations_ns)),
            0,
            f"{name} reports {count} iterations; {len(result.iterations_ns)} were timed",
        )
        share = count / max(len(result.warmup_ns) + count, 1)
        done = round(worker.operations * share)
        if how.sequence and how.sequence.workers:
            each, before = result.operations_each, len(result.warmup_ns)
            done = how.sequence.performed(number, before * each, (before + count) * each)
        yield from _latencies(name, worker, done, timing, how)
    if result.timer:
        _, longest = _longest(result.timer)
        words = f"it reports a timer that came {seconds(longest)} late"
        yield _lived("largest timer delay", longest, timing, words)


def _lived(what: str, spent: float, timing: Timing, words: str) -> Held:
    """Nothing lasts longer than the process."""
    problem = f"{words}, but its process lived {seconds(timing.wall_ns)}"
    return Held(f"{what} within wall time", spent, life_ns(timing), problem)


def _longest(series: Histogram) -> tuple[int, int]:
    """The last bucket, and the least that is in it, or in the last one that there can be."""
    last = max((bucket for bucket, _ in series.buckets), default=0)
    return last, figures.bounds(min(last, LAST_BUCKET))[0]


def _latencies(
    name: str, worker: Worker, done: int, timing: Timing, how: Arrangement
) -> Iterator[Held]:
    for series in filter(None, (worker.latencies, worker.pacing)):
        last, longest = _longest(series)
        words = f"{name} reports an operation of {seconds(longest)}"
        yield _lived("largest latency", longest, timing, words)
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
    spent, timed = sum(figures.bounds(b)[0] * n for b, n in buckets), sum(worker.iterations_ns)
    yield Held(
        "latencies within a worker's iterations",
        spent,
        CLOCKS * timed + CLOCKS_NS,
        f"{name} reports operations of {seconds(spent)} in iterations of {seconds(timed)}",
    )


def clock(result: Result, limits: Limits) -> Iterator[Held]:
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


STAMP_NS, STAMPS = 2e3, 0.01
"""How far an iteration's time may be from that between its stamps: two rounded stamps, a share."""
DRIFT_US, DRIFT = 6e3, 0.01
"""How far a process's clock may drift from the harness's: a moment, and a share of the time."""
SEEN, SEEN_NS = 1.05, 1e6
"""CPU time of a thread's iterations: a share of what its process reports, and a moment."""
OWN, TURN_NS, WAKING_NS = 1.25, 200e3, 1e6
"""CPU time of a turn's thread: a share of its iterations, what lies between two of them (a
transaction, sampling), and being woken and waiting again."""


def turns(timing: Timing, result: Result, how: Arrangement) -> Iterator[Held]:
    """The clock of a process that took turns, against the harness's, which saw each of them.

    Only the length of stamps counts and how they lie in the turns, for they may all be off by the
    same: a process learns the time of day once.
    """
    if not timing.turns or len(result.workers) != 1:
        return
    spans, times = result.workers[0].spans_us, result.iterations_ns
    yield Held(
        "a worker's number of stamps",
        abs(len(spans) - len(times)),
        0,
        f"its worker 0 reports {len(spans)} spans_us; {len(times)} iterations were timed",
    )
    if len(spans) != len(times) or len(times) % len(timing.turns):
        return
    stamped, spent = sum(end - begin for begin, end in spans) * 1e3, sum(times)
    yield Held(
        "times of iterations by their stamps",
        abs(spent - stamped),
        STAMPS * stamped + STAMP_NS * len(times),
        f"its iterations add up to {seconds(spent)}, and from its stamps of their begins and ends "
        f"to {seconds(stamped)}: its times are not those of its clock",
    )
    each = len(times) // len(timing.turns)
    seen = [(turn, number * each) for number, turn in enumerate(timing.turns) if turn.iterations]
    if not seen:
        return
    early = min(spans[first][0] - turn.begin_us for turn, first in seen)
    late = max(spans[first + turn.iterations - 1][1] - turn.end_us for turn, first in seen)
    whole = seen[-1][0].end_us - seen[0][0].begin_us
    yield Held(
        "drift of two clocks",
        late - early,
        DRIFT * whole + DRIFT_US,
        f"its stamps and the harness's drift apart by {seconds(1e3 * (late - early))} or more in "
        f"{seconds(1e3 * whole)}: its clock is wrong",
    )
    used = [
        (turn, turn.cpu_ns, sum(times[first : first + turn.iterations]))
        for turn, first in seen
        if turn.cpu_ns is not None
    ]
    if used and result.cpu_ns is not None:
        beside = sum((turn.end_us - turn.begin_us) * 1e3 - spent for turn, _, spent in used)
        least = sum(cpu_ns for _, cpu_ns, _ in used) - beside
        yield Held(
            "CPU time in turns by the process's",
            least,
            SEEN * result.cpu_ns + SEEN_NS,
            f"it reports {seconds(result.cpu_ns)} of CPU time; its thread used {seconds(least)}",
        )
    if used and not how.resets:
        turn, cpu_ns, spent = min(used, key=lambda of: of[1] / max(of[2], 1))
        yield Held(
            "CPU time of a turn",
            cpu_ns,
            OWN * spent + TURN_NS * turn.iterations + WAKING_NS,
            f"its thread used {seconds(cpu_ns)} of CPU time in a turn whose iterations took "
            f"{seconds(spent)}, and no less in any other: its clock or its times are wrong",
        )


CPU_NS = 50e6
"""A tick of CPU clocks on each side."""
TICK_NS, UNEVEN = 16e6, 10
"""A tick of the coarsest CPU clock, which may pass unseen; how much more of its CPU time than of
its wall time a process may spend beside its iterations, as where these wait for a disk."""
BUSY = 0.97
"""The share of its time that a thread which never waits must have used, less what others took."""
LOG_PAGES = 64
"""More pages than a log may have, of what begins and ends a transaction."""
BYTES, MEMORY = 8 * 2**20, 1.05
"""How far peaks of memory may differ: the kernel counts pages in batches for each processor."""
WRITTEN = 1024
"""Memory that an iteration takes in the text of the result, which is made after the last look."""
EVENT_NS = 10
"""No page fault and no switch of threads takes less."""


def cpu(timing: Timing, result: Result) -> Iterator[Held]:
    if result.cpu_ns is None or not result.iterations_ns:
        return
    used, timed = result.cpu_ns, sum(result.iterations_ns)
    whole = timing.user_ns + timing.system_ns
    yield Held(
        "CPU time within the whole process's",
        used,
        CLOCKS * whole + CPU_NS,
        f"it reports {seconds(used)} of CPU time; its whole process used {seconds(whole)}",
    )
    if result.digest is not None:  # it works for its digest, and waits for locks in its iterations
        return
    share = whole * timed / max(timing.wall_ns, 1)
    yield Held(
        "CPU time that iterations must have used",
        share,
        UNEVEN * (used + TICK_NS),
        f"it reports {seconds(used)} of CPU time in iterations of {seconds(timed)}; its whole "
        f"process used {seconds(whole)} in {seconds(timing.wall_ns)}",
    )


def busy(timing: Timing, result: Result, how: Arrangement) -> Iterator[Held]:
    """CPU time of iterations that never wait, against their time less what others took of it.

    What others took is known up to the last iteration, which is left out therefore. The others
    count as the median one where that is less: a few may have been held up by what nobody counts,
    as when the process was stopped.
    """
    if not how.never_waits or timing.lost_ns is None or result.cpu_ns is None:
        return
    used, times = result.cpu_ns, result.iterations_ns
    if not times:
        return
    timed = min(sum(times[:-1]), median(times) * (len(times) - 1))
    yield Held(
        "CPU time of iterations that never wait",
        BUSY * (timed - timing.lost_ns),
        used,
        f"it reports {seconds(used)} of CPU time in iterations of {seconds(timed)} that never "
        f"wait, and others took {seconds(timing.lost_ns)} of these at most: its CPU clock or its "
        "times are wrong",
    )


def log(timing: Timing, result: Result, how: Arrangement) -> Iterator[Held]:
    """The write-ahead log, against the pragma that says how long it may become.

    SQLite makes a checkpoint at the commit that finds so many pages in it: a log that did not begin
    anew has these and one more transaction, whose pages are those that an operation brought. Its
    file keeps the length that it once had, so only one that still grew tells how long the log is.
    """
    most, writes = result.effective.pragmas.get("wal_autocheckpoint"), timing.writes
    if not isinstance(most, int) or most <= 0:
        return
    if how.workers > 1 or writes is None or writes.checkpoints or writes.grown <= 0:
        return
    operations = max(writes.iterations * result.operations_each, 1)
    yield Held(
        "pages of a log without a checkpoint",
        writes.pages,
        most + LOG_PAGES + 2 * writes.grown / operations,
        f"its write-ahead log has {counted(writes.pages, 'page')} and was never begun anew, "
        f"though its wal_autocheckpoint is {most}: it makes no checkpoints",
    )


def memory(timing: Timing, result: Result, how: Arrangement, limits: Limits) -> Iterator[Held]:
    """Peak memory, against the machine's and what hyperfine saw."""
    peak, seen = result.peak_rss_bytes, timing.peak_bytes
    if not peak:
        return
    if limits.memory is not None:
        yield Held(
            "peak memory within the machine's",
            peak,
            limits.memory * how.processes,
            f"it reports a peak memory of {megabytes(peak)}; this machine has "
            f"{megabytes(limits.memory)}",
        )
    if seen is not None:
        problem = f"it reports a peak memory of {megabytes(peak)}; hyperfine saw {megabytes(seen)}"
        yield Held("peak memory by hyperfine's", peak, MEMORY * seen + BYTES, problem)
        written = WRITTEN * (len(result.warmup_ns) + len(result.iterations_ns)) * how.workers
        most = MEMORY * peak + BYTES + written
        yield Held("hyperfine's by the peak memory", seen, most, problem)


def events(timing: Timing, result: Result, limits: Limits) -> Iterator[Held]:
    for name, events in (("page faults", result.page_faults), ("switches", result.switches)):
        count = sum(events.model_dump().values()) if events else 0
        yield Held(
            f"number of {name}",
            count,
            timing.wall_ns * limits.cores / EVENT_NS,
            f"it reports {count} {name}, but its process lived {seconds(timing.wall_ns)}",
        )


def contradiction(timing: Timing, result: Result, how: Arrangement, limits: Limits) -> str | None:
    """Why the figures of an `ok` result in measure mode cannot be, with both numbers, or None."""
    bounds = held(timing, result, how, limits)
    return next((bound.problem for bound in bounds if bound.value > bound.most), None)


def held(timing: Timing, result: Result, how: Arrangement, limits: Limits) -> Iterator[Held]:
    yield from fits(timing, result)
    yield from of_workers(timing, result, how)
    yield from clock(result, limits)
    yield from turns(timing, result, how)
    yield from cpu(timing, result)
    yield from busy(timing, result, how)
    yield from log(timing, result, how)
    yield from memory(timing, result, how, limits)
    yield from events(timing, result, limits)
