"""What goes on beside us, from two looks."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.machine.conditions import Conditions
from sqlitmus.machine.readiness import ProcessCounters, ProcessShare, Snapshot, between, snapshot
from tests.machine.linux import build


def at(
    seconds: int,
    *,
    cpu_s: tuple[float, float] | None = None,
    disk_bytes: int | None = None,
    swapped_bytes: int | None = None,
    processes: dict[tuple[int, float], ProcessCounters] | None = None,
) -> Snapshot:
    """A look at that time."""
    now = Conditions(monotonic_ns=seconds * 10**9)
    return Snapshot(now, cpu_s, disk_bytes, swapped_bytes, processes or {})


def test_rates_and_who_causes_them() -> None:
    before = {(n, 1.0): ProcessCounters(f"p{n}", 10.0, 1_000) for n in range(6)}
    after = {(n, 1.0): ProcessCounters(f"p{n}", 10.0 + n, 1_000 + 200 * n) for n in range(6)}
    # The same id again for another process, one that may not be asked, and a new one.
    after[5, 2.0] = after.pop((5, 1.0))
    after[4, 1.0] = ProcessCounters("p4", 14.0, None)
    after[9, 1.0] = ProcessCounters("new", 99.0, 99)
    found = between(
        at(0, cpu_s=(100.0, 200.0), disk_bytes=5_000, swapped_bytes=0, processes=before),
        at(2, cpu_s=(101.0, 204.0), disk_bytes=9_000, swapped_bytes=4_096, processes=after),
    )
    assert found.busy == 0.25
    assert found.disk_bytes_per_s == 2_000.0
    assert found.swapped_bytes == 4_096
    assert found.busiest == [
        ProcessShare("p4", 4, 2.0),
        ProcessShare("p3", 3, 1.5),
        ProcessShare("p2", 2, 1.0),
    ]
    assert found.writers == [
        ProcessShare("p3", 3, 300.0),
        ProcessShare("p2", 2, 200.0),
        ProcessShare("p1", 1, 100.0),
    ]


def test_counters_that_fell_count_as_nothing() -> None:
    found = between(at(0, disk_bytes=9, swapped_bytes=9), at(1, disk_bytes=5, swapped_bytes=5))
    assert (found.disk_bytes_per_s, found.swapped_bytes) == (0.0, 0)


def test_what_is_not_told_stays_so() -> None:
    found = between(at(0), at(1))
    assert (found.busy, found.disk_bytes_per_s, found.swapped_bytes) == (None, None, None)
    assert (found.busiest, found.writers) == ([], [])


COUNT = st.none() | st.integers(0, 2**64)
SECONDS = st.floats(0, 1e9)
PROCESS = st.builds(ProcessCounters, name=st.text(max_size=3), cpu_s=SECONDS, written=COUNT)
ANY = st.builds(
    Snapshot,
    conditions=st.builds(Conditions, monotonic_ns=st.integers(0, 3)),
    cpu_s=st.none() | st.tuples(SECONDS, SECONDS),
    disk_bytes=COUNT,
    swapped_bytes=COUNT,
    processes=st.dictionaries(st.tuples(st.integers(1, 3), st.just(0.0)), PROCESS),
)


@given(ANY, ANY)
def test_any_two_looks_have_a_difference(before: Snapshot, after: Snapshot) -> None:
    found = between(before, after)
    assert found.busy is None or 0 <= found.busy <= 1
    assert found.disk_bytes_per_s is None or found.disk_bytes_per_s >= 0
    for shares in (found.busiest, found.writers):
        rates = [share.rate for share in shares]
        assert rates == sorted(rates, reverse=True)
        assert all(rate > 0 for rate in rates)


def test_a_real_look_sees_others_and_neither_itself_nor_the_shell_above_it() -> None:
    waits = [sys.executable, "-c", "input()"]
    with subprocess.Popen(waits, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as other:
        now = snapshot()
        other.communicate()
    pids = {pid for pid, _ in now.processes}
    assert other.pid in pids
    own = psutil.Process()
    assert own.parents()
    assert not pids & {own.pid, *(above.pid for above in own.parents())}
    assert now.cpu_s is not None
    assert 0 < now.cpu_s[0] < now.cpu_s[1]


def test_time_of_guests_and_stolen_time_is_not_busy_twice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    times = {"user": 5.0, "guest": 2.0, "idle": 10.0, "iowait": 1.0, "steal": 4.0}

    class Times:
        def _asdict(self) -> dict[str, float]:
            return times

    monkeypatch.setattr(psutil, "cpu_times", Times)
    assert snapshot(tmp_path).cpu_s == (5.0, 20.0)


def _raise(*_: Any, **__: Any) -> Any:
    raise KeyError("garbage")


@pytest.mark.parametrize("failing", [_raise, lambda *_, **__: None])
def test_a_psutil_that_fails_is_unknown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, failing: Callable[..., Any]
) -> None:
    for name in ("cpu_times", "disk_io_counters", "swap_memory", "process_iter"):
        monkeypatch.setattr(psutil, name, failing)
    found = snapshot(tmp_path)
    assert (found.cpu_s, found.disk_bytes, found.swapped_bytes) == (None, None, None)
    assert found.processes == {}


@pytest.mark.skipif(not hasattr(psutil, "PROCFS_PATH"), reason="psutil reads /proc on Linux")
@pytest.mark.parametrize("content", [b"", b"\xff\0\n", b"cpu x y\n", b"a: b\n c d e f\n"])
def test_garbage_in_proc_is_unknown_to_psutil_as_well(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes
) -> None:
    names = ("stat", "meminfo", "vmstat", "diskstats", "3999999/stat", "3999999/io")
    build(tmp_path, {f"proc/{name}": content for name in names})
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(tmp_path / "proc"))
    found = snapshot(tmp_path)
    assert (found.cpu_s, found.processes) == (None, {})
