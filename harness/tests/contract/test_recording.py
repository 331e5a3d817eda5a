"""The oracle's loops that record: buckets, planned times, busy databases, and who cannot start."""

# pyright: reportUnknownMemberType=false

import importlib
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.vocabulary import figures
from tests.contract.jobs import Json, result_of, write_job
from tests.known import RUNNERS

ORACLE = RUNNERS / "python"
WRITE = "INSERT INTO t DEFAULT VALUES"
MS = 1_000_000


class Clock:
    """A clock that only work and sleep move, apart from a `step` in ns for each look at it."""

    def __init__(self) -> None:
        self.now = 10**12
        self.step = 1
        self.slept: list[float] = []

    def look(self) -> int:
        self.now += self.step
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += round(seconds * 1e9)


class Works:
    """A connection whose executions take the given times; a negative one ends as busy."""

    in_transaction = False

    def __init__(self, clock: Clock, times_ns: list[int]) -> None:
        self._clock = clock
        self._times = iter(times_ns)
        self.said: list[str] = []

    @property
    def rowcount(self) -> int:
        return 1

    def execute(self, sql: str, _row: tuple[object, ...] = ()) -> "Works":
        self.said.append(sql)
        self.in_transaction = sql.startswith("BEGIN") or (
            self.in_transaction and sql not in ("COMMIT", "ROLLBACK")
        )
        if sql == WRITE:
            time = next(self._times)
            self._clock.now += abs(time)
            if time < 0:
                error = sqlite3.OperationalError("database is locked")
                error.sqlite_errorcode = 5 | 2 << 8  # SQLITE_BUSY_SNAPSHOT
                raise error
        return self


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the oracle's modules, which can be imported."""
    clock = Clock()
    monkeypatch.syspath_prepend(ORACLE)
    monkeypatch.setattr("time.perf_counter_ns", clock.look)
    monkeypatch.setattr("time.sleep", clock.sleep)
    return clock


def perform(
    works: Works,
    operations: int,
    transaction: str = "none",
    around: tuple[str, ...] = (),
    sequence: dict[str, list[int]] | None = None,
    worker: int = 0,
    **manner: Any,
) -> Any:
    """Counts and the recording of a loop over writes, each between two that are executed."""
    names = ("loops", "job", "histogram", "recording", "parts")
    loops, job, histogram, recording, parts = map(importlib.import_module, names)
    asked = recording.Manner(**manner)
    steps = [job.Step("run", WRITE)]
    if around:
        steps = [job.Step("execute", around[0]), *steps, job.Step("execute", around[1])]
    order = parts.Order(job.Sequence(**sequence), worker) if sequence else None
    part = parts.Part("worker", steps, transaction, 0, operations, operations, asked, order)
    notes = recording.Recording()
    counts = loops.compile_loop(part, works)(part.begin, part.end, notes)
    latencies, pacing = (
        dict(histogram.pairs(counted)["buckets"]) for counted in (notes.latencies, notes.pacing)
    )
    return counts, latencies, pacing


def test_the_plain_loop_does_not_look_at_the_clock(clock: Clock) -> None:
    assert perform(Works(clock, [0, 0]), 2) == ((0, 2, 1 + 1, 0), {}, {})
    assert clock.now == 10**12


def test_latencies_fall_into_the_buckets_of_the_contract(clock: Clock) -> None:
    # One nanosecond more each, for the second look at the clock.
    want = {
        0: 1,  # below 256, e = 0: one bucket for each nanosecond
        254: 255,
        255: 1 * 128 + 128,  # 256: e = 1, 256 >> 1 = 128
        510: 1 * 128 + 255,  # 511: e = 1, 511 >> 1 = 255
        1_000_000 - 1: 12 * 128 + 244,  # 1,000,000: e = 19 - 7 = 12, >> 12 = 244
        2**31 - 1: 24 * 128 + 128,  # 2^31: e = 31 - 7 = 24
        2**62: 55 * 128 + 128,  # 2^62: e = 62 - 7 = 55
    }
    _, latencies, _ = perform(Works(clock, [*want]), len(want), latencies=True)
    assert latencies == dict.fromkeys(want.values(), 1)
    assert [*want.values()] == [figures.bucket(time + 1) for time in want]
    works = Works(clock, [500])
    _, latencies, _ = perform(works, 1, "immediate", latencies=True)
    assert works.said == ["BEGIN immediate", WRITE, "COMMIT"]
    assert latencies == {figures.bucket(501): 1}, "it holds the transaction"


def test_a_stall_shows_in_all_that_had_to_wait(clock: Clock) -> None:
    # Planned at 0, 1, 2, 3 ms. The first takes 2.5 ms, the others 0.1 ms.
    works = Works(clock, [5 * MS // 2, MS // 10, MS // 10, MS // 10])
    _, latencies, pacing = perform(works, 4, latencies=True, rate=1000)
    told = [figures.bucket(round(ms * MS)) for ms in (2.5, 1.6, 0.7, 0.1)]
    assert sorted(latencies, reverse=True) == [pytest.approx(b, abs=1) for b in told]
    # Only the last one waited; it slept until 0.2 ms before its time and spun for the rest.
    assert len(clock.slept) == 1
    assert clock.slept[0] == pytest.approx((3 - 2.7 - 0.2) / 1000, rel=1e-3)
    assert sum(pacing.values()) == 1
    assert max(pacing) <= 2


def test_a_stall_of_100_ms_is_in_the_tail_by_the_right_amount(clock: Clock) -> None:
    # 2,000 operations of 0.1 ms, one every millisecond; one of them takes 100 ms more. Those
    # planned meanwhile wait for the rest of it, and make up 0.9 ms each.
    clock.step = 100  # who waits for the last 0.2 ms looks all the time
    times = [MS // 10] * 2000
    times[500] += 100 * MS
    planned = perform(Works(clock, list(times)), 2000, latencies=True, rate=1000)[1]
    assert figures.bounds(max(planned))[1] == pytest.approx(100.1 * MS, rel=0.01)
    # of 2,000 the third longest: two operations behind the stalled one
    assert figures.quantile(planned, 0.999) == pytest.approx((100.1 - 2 * 0.9) * MS, rel=0.01)
    assert figures.quantile(planned, 0.99) == pytest.approx((100.1 - 20 * 0.9) * MS, rel=0.01)
    assert figures.quantile(planned, 0.5) == pytest.approx(0.1 * MS, rel=0.01)
    # one after the other, a single operation shows the same stall
    unplanned = perform(Works(clock, list(times)), 2000, latencies=True)[1]
    assert figures.quantile(unplanned, 0.999) == pytest.approx(0.1 * MS, rel=0.01)
    assert figures.bounds(max(unplanned))[1] == pytest.approx(100.1 * MS, rel=0.01)


def test_workers_are_planned_side_by_side(clock: Clock) -> None:
    # The second of four workers at 1000 a second starts a quarter of a millisecond late.
    _, _, pacing = perform(Works(clock, [0, 0]), 2, rate=1000, offset=0.25)
    assert clock.now - 10**12 == pytest.approx(1.25 * MS, rel=1e-3)
    assert sum(pacing.values()) == 2


def test_operations_at_recorded_times_wait_for_these_and_for_nobody_else(clock: Clock) -> None:
    # The other worker's, at 1 ms, is nothing to this one; that of 0.3 ms waits for the first.
    times = {"planned_us": [0, 300, 1000, 2000], "workers": [0, 0, 1, 0]}
    works = Works(clock, [MS // 2, MS // 10, MS // 10])
    sequence = {"groups": [1], "order": [0] * 4, **times}
    counts, latencies, pacing = perform(works, 4, latencies=True, recorded=True, sequence=sequence)
    assert counts[1] == 3
    told = [figures.bucket(round(ms * MS)) for ms in (0.5, 0.3, 0.1)]
    assert sorted(latencies, reverse=True) == [pytest.approx(b, abs=1) for b in told]
    assert sum(pacing.values()) == 1
    assert clock.slept == [pytest.approx((2 - 0.6 - 0.2) / 1000, rel=1e-3)]


def test_a_busy_operation_is_rolled_back_and_counted(clock: Clock) -> None:
    works = Works(clock, [0, -700, 0])
    counts, latencies, _ = perform(works, 3, "deferred", latencies=True, tolerate_busy=True)
    assert counts == (0, 2, 1 + 1, 1)
    assert works.said.count("ROLLBACK") == 1
    assert sum(latencies.values()) == 3
    assert figures.bucket(701) in latencies
    works = Works(clock, [0, -700, 0])  # which begins a transaction itself
    counts, _, _ = perform(works, 3, around=("BEGIN", "COMMIT"), tolerate_busy=True)
    assert counts == (0, 2, 1 + 1, 1)
    whole = ["BEGIN", WRITE, "COMMIT"]
    assert works.said == [*whole, "BEGIN", WRITE, "ROLLBACK", *whole]
    with pytest.raises(sqlite3.OperationalError, match="locked"):  # where it is not tolerated
        perform(Works(clock, [-700]), 1, latencies=True)


LIMITED = """
import runpy, sys, threading
started = threading.Thread.start
left = [3]
def start(thread):
    left[0] -= 1
    if left[0] < 0:
        raise RuntimeError("can't start new thread")
    started(thread)
threading.Thread.start = start
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def failure(folder: Path, start: list[str], **changes: Any) -> str:
    """Why the oracle says that it failed: the fourth row to insert is there."""
    rows = {"types": ["integer"], "rows": [[1], [2], [3], [1]]}
    asked: Json = {
        "database": {"path": ":memory:"},
        "connection": {"setup": ["CREATE TABLE own(id INTEGER PRIMARY KEY)"]},
        "measure": {"operations_per_iteration": 8, "workers": 8},
        **changes,
    }
    step = {"operation": "run", "sql": "INSERT INTO own VALUES (?)", "parameters": rows}
    file = write_job(folder / "job.json", step, **asked)
    command = [sys.executable, *start, str(ORACLE / "main.py"), "--job", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    assert result_of(file)["status"] == "failed"
    return result_of(file)["error"]["message"]


def test_workers_that_cannot_be_started_are_told(tmp_path: Path) -> None:
    told = failure(tmp_path, ["-c", LIMITED])
    assert told == "3 of 8 threads could be started: can't start new thread; ask for fewer workers"


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("writer", [False, True])
def test_a_worker_that_fails_leaves_nobody_waiting(
    tmp_path: Path, workers: int, writer: bool
) -> None:
    changes: Json = {"measure": {"operations_per_iteration": 8, "workers": workers}}
    if writer:
        step = {"operation": "run", "sql": "INSERT INTO own DEFAULT VALUES"}
        changes["writer"] = {"steps": [step], "operations": 1}
    assert failure(tmp_path, [], **changes) == "UNIQUE constraint failed: own.id"
