"""CPU time, memory and events: no more than the process and the machine have, and no less. Pure."""

from collections.abc import Iterator
from statistics import median

from sqlitmus.machine.limits import Limits
from sqlitmus.run.bounds.terms import CLOCKS, Arrangement, Held, megabytes, seconds
from sqlitmus.run.finished import Timing
from sqlitmus.vocabulary.contract.result import Result
from sqlitmus.vocabulary.nouns import counted

CPU_NS, CPU, HELPERS = 50e6, 1.5, 4
"""A tick of CPU clocks on each side; the share of helping threads, and how many there are."""
TICK_NS, UNEVEN = 16e6, 10
"""A tick of the coarsest CPU clock, which may pass unseen; how much more of its CPU time than of
its wall time a process may spend beside its iterations, as where these wait for a disk."""
BUSY = 0.97
"""The share of its time that a thread which never waits must have used, less what others took."""
LOG_PAGES = 64
"""More pages than a log may have, of what begins and ends a transaction."""
BYTES, MEMORY = 64 * 2**20, 4
"""How far peaks of memory may differ that were read at different moments."""
EVENT_NS = 10
"""No page fault and no switch of threads takes less."""


def cpu(timing: Timing, result: Result, how: Arrangement, limits: Limits) -> Iterator[Held]:
    """CPU time of the iterations, against the whole process and the threads."""
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
    threads = min(limits.cores, how.workers + HELPERS * how.processes)
    yield Held(
        "CPU time within iterations times threads",
        used,
        CPU * threads * timed + CPU_NS,
        f"it reports {seconds(used)} of CPU time in iterations of {seconds(timed)}, more than "
        f"{counted(threads, 'thread')} can use: its clock or its times are wrong",
    )
    share = whole * timed / max(timing.wall_ns, 1)
    yield Held(
        "CPU time that iterations must have used",
        share,
        UNEVEN * (used + TICK_NS),
        f"it reports {seconds(used)} of CPU time in iterations of {seconds(timed)}; its whole "
        f"process used {seconds(whole)} in {seconds(timing.wall_ns)}",
    )


def busy(timing: Timing, result: Result, how: Arrangement, _limits: Limits) -> Iterator[Held]:
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
        f"wait, of which others took {seconds(timing.lost_ns)} at most: its CPU clock or its times "
        "are wrong",
    )


def log(timing: Timing, result: Result, how: Arrangement, _limits: Limits) -> Iterator[Held]:
    """The write-ahead log, against the pragma that says how long it may become.

    SQLite makes a checkpoint at the commit that finds so many pages in it: a log that did not begin
    anew has these and one more transaction, whose pages are those that an operation brought.
    """
    most, writes = result.effective.pragmas.get("wal_autocheckpoint"), timing.writes
    if not isinstance(most, int) or most <= 0:
        return
    if how.workers > 1 or writes is None or writes.checkpoints:
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
        yield Held("hyperfine's by the peak memory", seen, MEMORY * peak + BYTES, problem)


def events(timing: Timing, result: Result, _how: Arrangement, limits: Limits) -> Iterator[Held]:
    """Page faults and switches, which take time."""
    for name, events in (("page faults", result.page_faults), ("switches", result.switches)):
        count = sum(events.model_dump().values()) if events else 0
        yield Held(
            f"number of {name}",
            count,
            timing.wall_ns * limits.cores / EVENT_NS,
            f"it reports {count} {name}, but its process lived {seconds(timing.wall_ns)}",
        )
