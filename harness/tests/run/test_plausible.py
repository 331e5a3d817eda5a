"""Which figures of a result can be, and which cannot: each bound is met from both sides."""

import re
from dataclasses import replace
from typing import Any

import pytest

from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.machine.proc import Writes
from sqlitmus.machine.system import Limits
from sqlitmus.run.processes.process import Timing, Turn
from sqlitmus.run.verify.bounds import Arrangement, contradiction
from sqlitmus.vocabulary import detail
from sqlitmus.vocabulary.contract import Result, Sequence
from tests.known import KNOWN
from tests.run.test_hyperfine import RESULT

MS, S = 10**6, 10**9
ALONE = Arrangement(workers=1, processes=1, resets=False, planned=False)
PLANNED = Arrangement(workers=1, processes=1, resets=False, planned=True)
TWO = Arrangement(workers=2, processes=2, resets=False, planned=False)
MACHINE = Limits(cores=4, memory=8 * 2**30, tick_ns=1)
TIMING = Timing(S, 800 * MS, 100 * MS, 0, 100 * 2**20)


def times(ns: int, count: int = 9) -> list[int]:
    return [ns + number for number in range(count)]


def problem(
    how: Arrangement = ALONE,
    timing: Timing = TIMING,
    machine: Limits = MACHINE,
    **changes: Any,
) -> str | None:
    honest = {
        "warmup_ns": times(50 * MS),
        "iterations_ns": times(50 * MS),
        "phases_ns": {"load": 40 * MS, "open": MS},
        "cpu_ns": 440 * MS,
        "peak_rss_bytes": 90 * 2**20,
        "page_faults": {"minor": 5000, "major": 0},
    }
    result = Result.model_validate({**RESULT, **honest, **changes})
    return contradiction(timing, result, how, machine)


def worker(iterations: list[int], operations: int = 36, **changes: Any) -> dict[str, Any]:
    figures = {"operations": operations, "rows": 2, "checksum": 1, "iterations_ns": iterations}
    return {**figures, **changes}


def counted(ns: int, count: int) -> dict[str, Any]:
    return {"buckets": [[detail.bucket(ns), count]]}


def test_honest_figures() -> None:
    assert problem() is None
    assert problem(cpu_ns=None, peak_rss_bytes=None, page_faults=None, phases_ns={}) is None
    assert problem(warmup_ns=[], iterations_ns=[]) is None


@pytest.mark.parametrize(
    ("warmup", "load", "fits"),
    [(450, 90, True), (560, 10, True), (600, 10, False), (450, 200, False)],
)
def test_iterations_and_phases_are_within_the_life_of_the_process(
    warmup: int, load: int, fits: bool
) -> None:
    reason = problem(warmup_ns=[warmup * MS], phases_ns={"load": load * MS})
    words = r"its iterations and phases add up to 1\.\d+ s, but its process lived 1 s: "
    words += "its clock or its times are wrong"
    assert reason is None if fits else re.fullmatch(words, reason or "")


def test_who_waits_for_a_disk_or_works_for_a_digest_is_not_accused() -> None:
    assert problem(ALONE, Timing(60 * S, 900 * MS, 0, 0), phases_ns={}) is None
    assert problem(ALONE, Timing(60 * S, 50 * S, 0, 0), phases_ns={}, digest="ab" * 32) is None


def test_who_waits_in_iterations_and_works_for_a_digest_is_not_accused() -> None:
    """Microsoft.Data.Sqlite sleeps between its tries to get a lock."""
    timing = Timing(12 * S, 10 * S, 0, 0)
    waits: dict[str, Any] = {"phases_ns": {}, "cpu_ns": 10 * MS, "iterations_ns": [2 * S]}
    assert problem(ALONE, timing, **waits, digest="ab" * 32) is None
    assert problem(ALONE, timing, **waits) is not None


@pytest.mark.parametrize(("ns", "tick", "can"), [(99, 1, False), (101, 1, True), (900, 100, False)])
def test_an_iteration_is_longer_than_what_a_clock_resolves(ns: int, tick: float, can: bool) -> None:
    reason = problem(iterations_ns=[ns, ns], cpu_ns=None, machine=Limits(4, None, tick))
    words = f"its iterations take {ns} ns on average, and no clock here "
    assert reason is None if can else (reason or "").startswith(words)


def test_iterations_that_all_take_the_same_time() -> None:
    def of(warmup: list[int], timed: list[int], machine: Limits = MACHINE) -> str | None:
        return problem(warmup_ns=warmup, iterations_ns=timed, cpu_ns=None, machine=machine)

    assert of([MS] * 300, [MS] * 3) == (
        "each of its 303 iterations took exactly 1000000 ns, which no clock shows that runs"
    )
    assert of([MS] * 300, [MS, MS + 1]) is None
    assert of([MS] * 6, [MS] * 3) is None  # by chance
    assert of([500] * 300, [500] * 3) is None  # short
    assert of([MS] * 300, [MS] * 3, Limits(4, None, 10_000)) is None


WHOLE = "its whole process used 0.9 s"


@pytest.mark.parametrize(
    ("ms", "reason"),
    [
        (900, None),
        (1000, f"it reports 1 s of CPU time; {WHOLE}"),
        (30, None),
        (24, f"it reports 0.024 s of CPU time in iterations of 0.45 s; {WHOLE} in 1 s"),
    ],
)
def test_cpu_time(ms: int, reason: str | None) -> None:
    assert problem(cpu_ns=ms * MS) == reason


READING = replace(ALONE, never_waits=True)
NEVER_WAITS = (
    "it reports {} s of CPU time in iterations of 0.4 s that never wait, and others took {} of "
    "these at most: its CPU clock or its times are wrong"
)


@pytest.mark.parametrize(
    ("cpu_ms", "lost_ms", "how", "reason"),
    [
        (389, 0, READING, None),  # 0.97 of eight iterations
        (387, 0, READING, NEVER_WAITS.format(0.387, "0 ns")),
        (292, 100, READING, None),
        (290, 100, READING, NEVER_WAITS.format(0.29, "0.1 s")),
        (100, 900, READING, None),
        (100, None, READING, None),
        (100, 0, ALONE, None),
    ],
)
def test_who_never_waits_works_all_the_time(
    cpu_ms: int, lost_ms: int | None, how: Arrangement, reason: str | None
) -> None:
    timing = replace(TIMING, lost_ns=None if lost_ms is None else lost_ms * MS)
    assert problem(how, timing, cpu_ns=cpu_ms * MS) == reason
    assert problem(how, timing, cpu_ns=None) is None


def test_who_was_stopped_in_an_iteration_or_disturbed_in_most_is_not_accused() -> None:
    timing = replace(TIMING, wall_ns=9 * S, lost_ns=0)
    stopped = [3 * S, *times(50 * MS, 8)]
    assert problem(READING, timing, iterations_ns=stopped, cpu_ns=440 * MS) is None
    disturbed = [*times(30 * MS, 4), *times(100 * MS, 5)]
    shared = replace(timing, lost_ns=350 * MS)
    assert problem(READING, shared, iterations_ns=disturbed, cpu_ns=270 * MS) is None


@pytest.mark.parametrize(
    ("scenario", "changes", "never"),
    [
        ("get-pk", {}, True),
        ("get-pk", {"workers": 2}, False),
        ("get-pk", {"processes": 1}, False),
        ("insert-transaction", {}, False),
        ("service-mixed", {}, False),
        ("service-event-loop", {}, False),
    ],
)
def test_one_thread_that_only_reads_never_waits(
    scenario: str, changes: dict[str, Any], never: bool
) -> None:
    case = PlannedCase.model_construct(None, **{"workers": 1, "processes": None, **changes})
    spec = KNOWN.scenarios[scenario]
    assert Arrangement.of(case, spec, KNOWN.runners["rust"]).never_waits == never
    assert not Arrangement.of(case, spec, KNOWN.runners["rust-sqlx"]).never_waits


def test_a_tick_of_a_coarse_cpu_clock_is_no_contradiction() -> None:
    assert problem(warmup_ns=times(100 * MS), iterations_ns=times(10 * MS, 3),
                cpu_ns=0) is None  # fmt: skip


@pytest.mark.parametrize(
    ("peak", "seen", "reason"),
    [
        (90, 100, None),
        (100, None, None),
        (113, 100, None),
        (114, 100, "it reports a peak memory of 114 MB; hyperfine saw 100 MB"),
        (88, 100, None),
        (87, 100, "it reports a peak memory of 87 MB; hyperfine saw 100 MB"),
        (9000, None, "it reports a peak memory of 9e+03 MB; this machine has 8.19e+03 MB"),
        (0, 400, None),  # unknown
    ],
)
def test_memory(peak: int, seen: int | None, reason: str | None) -> None:
    timing = Timing(S, 800 * MS, 100 * MS, 0, seen and seen * 2**20)
    assert problem(timing=timing, peak_rss_bytes=peak * 2**20) == reason


def test_memory_of_processes_adds_up_and_may_be_shared() -> None:
    huge = 15 * 2**30
    assert problem(TWO, Timing(S, 800 * MS, 100 * MS, 0), peak_rss_bytes=huge) is None


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("page faults", ("minor", "major")), ("switches", ("voluntary", "involuntary"))],
)
def test_events_take_time(name: str, kinds: tuple[str, str]) -> None:
    def of(count: int) -> str | None:
        figures: dict[str, Any] = {name.replace(" ", "_"): dict.fromkeys(kinds, count)}
        return problem(**figures)

    assert of(10**7) is None
    assert of(10**18) == f"it reports {2 * 10**18} {name}, but its process lived 1 s"


def late(ns: int, count: int) -> dict[str, Any]:
    """A worker whose operations have so many latencies of `ns`."""
    return worker(times(50 * MS), latencies=counted(ns, count))


BEYOND = worker(times(50 * MS), role="writer", pacing={"buckets": [[10**18, 1]]})


@pytest.mark.parametrize(
    ("figures", "how", "reason"),
    [
        (worker(times(50 * MS)), ALONE, None),
        (late(20 * MS, 18), ALONE, None),
        (worker(times(200 * MS)), ALONE, "1.8 s, but its process lived 1 s"),
        (worker(times(50 * MS, 8)), ALONE, "8 iterations; 9 were timed"),
        (late(20 * MS, 17), ALONE, "times of 17 operations; its iterations had 18"),
        (late(40 * MS, 18), ALONE, "operations of 0.717 s in iterations of 0.45 s"),
        (late(40 * MS, 18), PLANNED, None),
        (late(2 * S, 18), PLANNED, "an operation of 2 s, but its process lived 1 s"),
        (BEYOND, PLANNED, "an operation of 9,187,343,240 s, but its process lived 1 s"),
    ],
)
def test_workers(figures: dict[str, Any], how: Arrangement, reason: str | None) -> None:
    role = figures.get("role", "worker")
    assert problem(how, workers=[figures]) == (reason and f"its {role} 0 reports {reason}")


def test_a_timer_is_not_later_than_the_process_lived() -> None:
    assert problem(timer=counted(20 * MS, 9)) is None
    words = "it reports a timer that came 2 s late, but its process lived 1 s"
    assert problem(timer=counted(2 * S, 1)) == words


def test_a_worker_of_a_sequence_times_its_own_operations() -> None:
    # four operations in each of 18 iterations, of which the first worker has one in the last nine
    workers = [1] * 36 + [0, 1, 1, 1] * 9
    sequence = Sequence(groups=[1], order=[0] * 72, workers=workers)
    how = replace(PLANNED, sequence=sequence)

    def of(count: int) -> str | None:
        first = worker(times(50 * MS), 9, latencies=counted(MS, count))
        return problem(how, operations=72, workers=[first])

    assert of(9) is None
    assert of(5) == "its worker 0 reports times of 5 operations; its iterations had 9"


@pytest.mark.parametrize(
    ("checkpoints", "pages", "grown", "fits"),
    [(0, 3900, 900, False), (1, 3900, 900, True), (0, 1000, 300, True), (0, 3900, 0, True)],
    ids=["never begun anew", "begun anew", "short", "long once, by an earlier transaction"],
)
def test_a_log_that_grows_is_begun_anew(
    checkpoints: int, pages: int, grown: int, *, fits: bool
) -> None:
    """A file keeps the length that a VACUUM gave it, whatever the log in it is now."""
    timing = replace(TIMING, writes=Writes(4096 * 900, 900, checkpoints, pages, grown))
    told = problem(timing=timing, effective={"pragmas": {"wal_autocheckpoint": 1000}})
    assert (told is None) is fits
    assert fits or (told and "it makes no checkpoints" in told)


def in_turns(
    rate: float = 1.0, shown: float = 1.0, cpu: float | None = 1.0, stamps: int = 30
) -> str | None:
    """Three turns of ten iterations of a ms, a second apart, which need `cpu` of their time. The
    process's clock runs at `rate` times ours and begins elsewhere; it reports `shown` of it."""
    begins = [1e6 * turn + 1100.0 * number for turn in range(3) for number in range(10)]
    spans = [(77_777 + rate * at, 77_777 + rate * (at + 1000)) for at in begins]
    spent = [round(MS * rate * shown) + number for number in range(30)]
    used = None if cpu is None else round(10 * MS * cpu)
    turns = [Turn(10, 1e6 * n - 100, 1e6 * n + 11_000, used) for n in range(3)]
    workers = [worker(spent, spans_us=spans[:stamps])]
    timing = replace(TIMING, wall_ns=4 * S, turns=turns)
    return problem(timing=timing, iterations_ns=spent, cpu_ns=None, workers=workers)


@pytest.mark.parametrize(
    ("reported_ms", "used_ms", "fits"),
    [
        (900, 990, True),
        (900, 1155, True),  # a twentieth, 210 ms beside iterations, and a ms
        (900, 1158, False),
        (225, 990, False),
        (225, None, True),  # not known
    ],
)
def test_what_a_thread_used_in_its_turns_but_not_beside_iterations_is_in_the_process_s_cpu_time(
    reported_ms: int, used_ms: int | None, fits: bool
) -> None:
    used = None if used_ms is None else used_ms * MS // 3
    turns = [Turn(10, 1e6 * n - 100, 1e6 * n + 399_900, used) for n in range(3)]
    timing = Timing(4 * S, 1500 * MS, 0, 0, turns=turns)
    begins = [1e6 * turn + 35_000.0 * number for turn in range(3) for number in range(10)]
    spent = times(33 * MS, 30)
    workers = [worker(spent, spans_us=[(at, at + 33_000) for at in begins])]
    told = problem(
        timing=timing, iterations_ns=spent, cpu_ns=reported_ms * MS, workers=workers, phases_ns={}
    )
    assert (told is None) is fits
    assert fits or "of CPU time; its thread used " in str(told)


@pytest.mark.parametrize("cpu", [0.1, 1.0, 1.5, None])
def test_a_clock_that_agrees_in_turns(cpu: float | None) -> None:
    assert in_turns(cpu=cpu) is None
    assert in_turns(rate=1.002, shown=1.005, cpu=cpu) is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"shown": 0.97}, "its iterations add up to 0.0291 s, and from its stamps of their begin"),
        ({"shown": 2.0}, "its iterations add up to 0.06 s, and from its stamps of their begins "),
        ({"rate": 0.97}, "its stamps and the harness's drift apart by 0.0595 s or more in 2.01 s"),
        ({"rate": 1.03}, "its stamps and the harness's drift apart by 0.0601 s or more in 2.01 s"),
        ({"cpu": 2.0}, "its thread used 0.02 s of CPU time in a turn whose iterations took 0.01 s"),
        ({"stamps": 29}, "its worker 0 reports 29 spans_us; 30 iterations were timed"),
    ],
)
def test_a_clock_that_does_not_agree_in_turns(changes: dict[str, Any], reason: str) -> None:
    assert (in_turns(**changes) or "").startswith(reason)
