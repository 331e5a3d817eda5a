"""Which figures of a result can be, and which cannot: each bound is met from both sides."""

from collections.abc import Mapping
from typing import Any

import pytest

from sqlitmus.run.verify.bounds import Arrangement
from tests.known import KNOWN, case_of
from tests.run import made
from tests.run.made import histogram, result, timing, verdict

MS, S, MIB = 10**6, 10**9, 2**20


def times(ns: int, count: int = 9) -> list[int]:
    return [ns + number for number in range(count)]


def told(
    life: Mapping[str, Any] = made.NOTHING,
    how: Mapping[str, Any] = made.NOTHING,
    limits: Mapping[str, Any] = made.NOTHING,
    **changes: Any,
) -> str:
    """What is made of honest figures with `changes`, of a process that lived like this."""
    honest = {
        "warmup_ns": times(50 * MS),
        "iterations_ns": times(50 * MS),
        "phases_ns": {"load": 40 * MS, "open": MS},
        "cpu_ns": 440 * MS,
        "peak_rss_bytes": 90 * MIB,
        "page_faults": {"minor": 5000, "major": 0},
    }
    given = result(**{**honest, **changes})
    return verdict(given, timing=timing(**life), how=how, limits=limits)


def workers(iterations: list[int], operations: int = 36, **changes: Any) -> dict[str, Any]:
    """A result of one worker."""
    figures = {"operations": operations, "rows": 2, "checksum": 1, "iterations_ns": iterations}
    return {"workers": [{**figures, **changes}]}


def late(ns: int, count: int) -> dict[str, Any]:
    """A worker whose operations have so many latencies of `ns`."""
    return workers(times(50 * MS), latencies=histogram(*[ns / S] * count))


def steady(warmup: list[int], timed: list[int]) -> dict[str, Any]:
    return {"warmup_ns": warmup, "iterations_ns": timed, "cpu_ns": None}


NOTHING: dict[str, Any] = dict.fromkeys(("cpu_ns", "peak_rss_bytes", "page_faults"), None) | {
    "phases_ns": {}
}
LONG = {"wall_ns": 60 * S}
WAITS: dict[str, Any] = {"phases_ns": {}, "cpu_ns": 10 * MS, "iterations_ns": [2 * S]}
WAITED = {"wall_ns": 12 * S, "user_ns": 10 * S, "system_ns": 0}
UNBOUNDED = {"memory": None, "tick_ns": 100}
PLANNED, READING = {"planned": True}, {"never_waits": True}
# four operations in each of 18 iterations, of which the first worker has one in the last nine
SHARED = {"groups": [1], "order": [0] * 72, "workers": [1] * 36 + [0, 1, 1, 1] * 9}
LIFE, CLOCK = "but its process lived 1 s", "its clock or its times are wrong"
WHOLE = "its whole process used 0.9 s"
NEVER_WAITS = (
    "it reports {} s of CPU time in iterations of 0.4 s that never wait, and others took {} of "
    "these at most: its CPU clock or its times are wrong"
)
LEAST = "its iterations take {} ns on average, and no clock here measures less than {} ns: "
MORE = "let an iteration do more operations"
LOG = (
    "its write-ahead log has 3,900 pages and was never begun anew, though its wal_autocheckpoint "
    "is 1000: it makes no checkpoints"
)


def of_log(checkpoints: int, pages: int, grown: int, most: int = 1000) -> dict[str, Any]:
    return {
        "life": {"writes": (4096 * 900, 900, checkpoints, pages, grown)},
        "effective": {"pragmas": {"wal_autocheckpoint": most}},
    }


def peak(mib: int, seen: int | None, **more: Any) -> dict[str, Any]:
    return {"peak_rss_bytes": mib * MIB, "life": {"peak_bytes": seen and seen * MIB}, **more}


@pytest.mark.parametrize(
    ("figures", "reason"),
    [
        (made.NOTHING, None),
        (NOTHING, None),
        ({"warmup_ns": [], "iterations_ns": []}, None),
        # iterations and phases are within the life of the process
        ({"warmup_ns": [560 * MS], "phases_ns": {"load": 10 * MS}}, None),
        ({"warmup_ns": [600 * MS], "phases_ns": {"load": 10 * MS}},
         f"its iterations and phases add up to 1.06 s, {LIFE}: {CLOCK}"),
        ({"warmup_ns": [450 * MS], "phases_ns": {"load": 200 * MS}},
         f"its iterations and phases add up to 1.1 s, {LIFE}: {CLOCK}"),
        # who waits for a disk, or works for a digest, is not accused
        ({"life": LONG, "phases_ns": {}}, None),
        ({"life": LONG | {"user_ns": 50 * S}, "phases_ns": {}, "digest": "ab" * 32}, None),
        # Microsoft.Data.Sqlite sleeps between its tries to get a lock
        ({"life": WAITED, **WAITS, "digest": "ab" * 32}, None),
        ({"life": WAITED, **WAITS},
         "it reports 0.01 s of CPU time in iterations of 2 s; its whole process used 10 s in 12 s"),
        # an iteration is longer than what a clock resolves
        (steady([], [99, 99]), LEAST.format(99, 100) + MORE),
        (steady([], [101, 101]), None),
        (steady([], [900, 900]) | {"limits": UNBOUNDED}, LEAST.format(900, "1e+03") + MORE),
        # all the same to the nanosecond
        (steady([MS] * 300, [MS] * 3),
         "each of its 303 iterations took exactly 1000000 ns, which no clock shows that runs"),
        (steady([MS] * 300, [MS, MS + 1]), None),
        (steady([MS] * 6, [MS] * 3), None),  # by chance
        (steady([500] * 300, [500] * 3), None),  # short
        (steady([MS] * 300, [MS] * 3) | {"limits": {"tick_ns": 10_000}}, None),
        # CPU time, but for a tick of a coarse clock
        ({"cpu_ns": 900 * MS}, None),
        ({"cpu_ns": S}, f"it reports 1 s of CPU time; {WHOLE}"),
        ({"cpu_ns": 30 * MS}, None),
        ({"cpu_ns": 24 * MS},
         f"it reports 0.024 s of CPU time in iterations of 0.45 s; {WHOLE} in 1 s"),
        (steady(times(100 * MS), times(10 * MS, 3)) | {"cpu_ns": 0}, None),
        # who never waits works 0.97 of eight iterations, less what others took
        ({"cpu_ns": 389 * MS, "life": {"lost_ns": 0}, "how": READING}, None),
        ({"cpu_ns": 387 * MS, "life": {"lost_ns": 0}, "how": READING},
         NEVER_WAITS.format(0.387, "0 ns")),
        ({"cpu_ns": 292 * MS, "life": {"lost_ns": 100 * MS}, "how": READING}, None),
        ({"cpu_ns": 290 * MS, "life": {"lost_ns": 100 * MS}, "how": READING},
         NEVER_WAITS.format(0.29, "0.1 s")),
        ({"cpu_ns": 100 * MS, "how": READING}, None),
        ({"cpu_ns": None, "life": {"lost_ns": 0}, "how": READING}, None),
        ({"cpu_ns": 100 * MS, "life": {"lost_ns": 0}}, None),
        # stopped in an iteration, or disturbed in most
        ({"life": {"wall_ns": 9 * S, "lost_ns": 0}, "how": READING,
          "iterations_ns": [3 * S, *times(50 * MS, 8)]}, None),
        ({"life": {"wall_ns": 9 * S, "lost_ns": 350 * MS}, "how": READING, "cpu_ns": 270 * MS,
          "iterations_ns": [*times(30 * MS, 4), *times(100 * MS, 5)]}, None),
        # memory, which adds up over processes
        (peak(113, 100), None),
        (peak(114, 100), "it reports a peak memory of 114 MB; hyperfine saw 100 MB"),
        (peak(88, 100), None),
        (peak(87, 100), "it reports a peak memory of 87 MB; hyperfine saw 100 MB"),
        (peak(9000, None),
         "it reports a peak memory of 9e+03 MB; this machine has 8.19e+03 MB"),
        (peak(15 * 1024, None, how={"workers": 2, "processes": 2}), None),
        (peak(0, 400), None),  # unknown
        # events take time
        ({"page_faults": {"minor": 10**7, "major": 10**7}}, None),
        ({"page_faults": {"minor": 10**18, "major": 10**18}},
         f"it reports {2 * 10**18} page faults, {LIFE}"),
        ({"switches": {"voluntary": 10**18, "involuntary": 10**18}},
         f"it reports {2 * 10**18} switches, {LIFE}"),
        # of a worker
        (workers(times(50 * MS)), None),
        (late(20 * MS, 18), None),
        (workers(times(200 * MS)), f"its worker 0 reports 1.8 s, {LIFE}"),
        (workers(times(50 * MS, 8)), "its worker 0 reports 8 iterations; 9 were timed"),
        (late(20 * MS, 17),
         "its worker 0 reports times of 17 operations; its iterations had 18"),
        (late(40 * MS, 18),
         "its worker 0 reports operations of 0.717 s in iterations of 0.45 s"),
        (late(40 * MS, 18) | {"how": PLANNED}, None),
        (late(2 * S, 18) | {"how": PLANNED}, f"its worker 0 reports an operation of 2 s, {LIFE}"),
        (workers(times(50 * MS), role="writer", pacing={"buckets": [[10**18, 1]]}),
         f"its writer 0 reports an operation of 9,187,343,240 s, {LIFE}"),
        # of a sequence it times its own operations
        (workers(times(50 * MS), 9, latencies=histogram(*[1e-3] * 9))
         | {"how": {"planned": True, "sequence": SHARED}, "operations": 72}, None),
        (workers(times(50 * MS), 9, latencies=histogram(*[1e-3] * 5))
         | {"how": {"planned": True, "sequence": SHARED}, "operations": 72},
         "its worker 0 reports times of 5 operations; its iterations had 9"),
        ({"timer": histogram(0.02)}, None),
        ({"timer": histogram(2)}, f"it reports a timer that came 2 s late, {LIFE}"),
        # a log that grows is begun anew; its file keeps the length that it once had
        (of_log(0, 3900, 900), LOG),
        (of_log(0, 3900, 900, 0), None),
        (of_log(1, 3900, 900), None),
        (of_log(0, 1000, 300), None),
        (of_log(0, 3900, 0), None),
    ],
)  # fmt: skip
def test_each_figure_has_its_bounds(figures: Mapping[str, Any], reason: str | None) -> None:
    assert told(**figures) == (f"failed: {reason}" if reason else "ok")


@pytest.mark.parametrize(
    ("case", "never"),
    [
        ("get-pk", True),
        ("threads@workers=2", False),
        ("icons@processes=1", False),
        ("insert-transaction", False),
        ("service-mixed", False),
        ("service-event-loop", False),
    ],
)
def test_one_thread_that_only_reads_never_waits(case: str, never: bool) -> None:
    planned = case_of(case)
    spec = KNOWN.scenarios[planned.scenario]
    assert Arrangement.of(planned, spec, KNOWN.runners["rust"]).never_waits == never
    assert not Arrangement.of(planned, spec, KNOWN.runners["rust-sqlx"]).never_waits


def in_turns(
    rate: float = 1.0,
    shown: float = 1.0,
    cpu: float | None = 1.0,
    stamps: int = 30,
    each: int = MS,
    cpu_ns: int | None = None,
) -> str:
    """Three turns of ten iterations, a second apart, which need `cpu` of their time. The process's
    clock runs at `rate` times ours and begins elsewhere; it reports `shown` of it, and `cpu_ns`."""
    us = each / 1e3
    begins = [1e6 * turn + 1.1 * us * number for turn in range(3) for number in range(10)]
    spans = [(77_777 + rate * at, 77_777 + rate * (at + us)) for at in begins]
    spent = [round(each * rate * shown) + number for number in range(30)]
    used = None if cpu is None else round(10 * each * cpu)
    turns = [(10, 1e6 * n - 100, 1e6 * n + 11 * us, used) for n in range(3)]
    life = {"wall_ns": 4 * S, "turns": turns}
    return told(life, iterations_ns=spent, cpu_ns=cpu_ns, **workers(spent, spans_us=spans[:stamps]))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        *(({"cpu": cpu}, None) for cpu in (0.1, 1.0, 1.5, None)),
        ({"rate": 1.002, "shown": 1.005}, None),
        ({"shown": 0.97}, "its iterations add up to 0.0291 s, and from its stamps of their begin"),
        ({"shown": 2.0}, "its iterations add up to 0.06 s, and from its stamps of their begins "),
        ({"rate": 0.97}, "its stamps and the harness's drift apart by 0.0595 s or more in 2.01 s"),
        ({"rate": 1.03}, "its stamps and the harness's drift apart by 0.0601 s or more in 2.01 s"),
        ({"cpu": 2.0}, "its thread used 0.02 s of CPU time in a turn whose iterations took 0.01 s"),
        ({"stamps": 29}, "its worker 0 reports 29 spans_us; 30 iterations were timed"),
        # its process used what its thread did, but for what lies beside iterations: a twentieth,
        # 99 ms, and a ms
        ({"each": 33 * MS, "cpu_ns": 900 * MS, "cpu": 1.054}, None),
        ({"each": 33 * MS, "cpu_ns": 900 * MS, "cpu": 1.057},
         "it reports 0.9 s of CPU time; its thread used 0.947 s"),
        ({"each": 33 * MS, "cpu_ns": 225 * MS},
         "it reports 0.225 s of CPU time; its thread used 0.891 s"),
        ({"each": 33 * MS, "cpu_ns": 225 * MS, "cpu": None}, None),
    ],
)  # fmt: skip
def test_a_clock_agrees_with_the_harnesss_in_turns(
    changes: dict[str, Any], reason: str | None
) -> None:
    assert in_turns(**changes).startswith(f"failed: {reason}" if reason else "ok")
