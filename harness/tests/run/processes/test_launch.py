"""Processes behind a barrier: what comes of them together, and of every accident."""

import json
import os
import selectors
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.run.processes import launch
from sqlitmus.run.processes.launch import Launcher, Unlike, merge, start_spread_us
from sqlitmus.vocabulary.contract import Job, Result
from tests.fakes.clone import long_enough, running, until
from tests.known import RUNNERS
from tests.refusals import refused
from tests.run import made

pytestmark = pytest.mark.skipif(launch.unsupported() is not None, reason="no processes together")

ORACLE = [sys.executable, "-X", "utf8", str(RUNNERS / "python" / "main.py")]
FAKE = Path(__file__).parents[2] / "fakes" / "shared.py"


def job(folder: Path, given: dict[str, Any] | None = None, **measure: Any) -> Job:
    asked = {"operations_per_iteration": 10, "warmup_iterations": 1, "iterations": 3, "workers": 2}
    usual = {"mode": "measure", "cell": "a/fake", "output": str(folder / "result.json")}
    return Job.model_validate({**usual, "measure": {**asked, **measure}, **(given or {})})


def go(
    folder: Path,
    act: str = "",
    *,
    launcher: Launcher | None = None,
    command: list[str] | None = None,
    asked: Job | None = None,
    **given: Any,
) -> tuple[Any, Any]:
    """The invocation of fakes together, and how they were launched."""
    usual: dict[str, Any] = {"processes": 2, "pins": [], "timeout_s": 60}
    return (launcher or Launcher(folder)).launch(
        command or [sys.executable, "-I", "-S", str(FAKE), act],
        asked or job(folder),
        environment={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
        log=folder / "log",
        **usual | given,
    )


def test_processes_become_one_result(tmp_path: Path) -> None:
    done, seen = go(tmp_path, asked=job(tmp_path, workers=4))
    assert (done.problem, done.timing.exit_code) == (None, 0)
    assert done.timing.wall_ns > 0
    assert done.timing.user_ns + done.timing.system_ns > 0
    assert (done.result.operations, done.result.rows) == (40, 40)
    # Each process adds 2³² − 1 − the number of its first worker.
    assert done.result.checksum == 2**32 - 4
    assert [worker.operations for worker in done.result.workers] == [8, 12, 8, 12]
    # From the start of worker 0 to the end of worker 3, which starts 30 µs later and takes 203.
    assert done.result.iterations_ns == [233_000] * 3
    assert (done.result.warmup_ns, done.result.peak_rss_bytes) == ([200_002], 2000)
    assert (seen.processes, seen.start_spread_us, len(seen.skew_us)) == (2, [30.0] * 3, 3)
    assert min(seen.skew_us) > 0
    assert json.loads((tmp_path / "result.json").read_bytes())["rows"] == 40
    # the same job but for its share
    given = [json.loads(f.read_bytes()) for f in sorted(tmp_path.glob("result.?.job.json"))]
    measures = [one["measure"] for one in given]
    assert [measure.pop("share") for measure in measures] == [{"of": 4}, {"first": 2, "of": 4}]
    same = {"operations_per_iteration": 10, "warmup_iterations": 1, "iterations": 3, "workers": 2}
    assert measures == [same] * 2
    # the results of an earlier launch never count
    done, _ = go(tmp_path, "speechless@1")
    assert done.problem == "process 1: ended with exit code 0 and wrote no result"
    assert not (tmp_path / "result.json").exists()


@pytest.mark.parametrize("by_ns", [3_600_000_000_000, -5_000_000])
def test_a_clock_that_jumps_voids_what_several_processes_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_ns: int
) -> None:
    calls = iter([0, by_ns])
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + next(calls))
    invocation, told = go(tmp_path)
    assert (told, invocation.result) == (None, None)
    assert f"was set by {by_ns / 1e6:+,.1f} ms" in invocation.problem


def test_processes_of_a_real_runner_answer_as_one_process_does(tmp_path: Path) -> None:
    database = tmp_path / "a.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT)")
        rows = [(number, f"word {number}") for number in range(64)]
        connection.executemany("INSERT INTO t VALUES(?, ?)", rows)
        connection.commit()
    step = {
        "operation": "get",
        "sql": "SELECT id, word FROM t WHERE id = ?",
        "parameters": {"types": ["integer"], "rows": [[7 * n % 64] for n in range(64)]},
        "columns": [{"name": "id", "type": "integer"}, {"name": "word", "type": "text"}],
    }
    given = {"database": {"path": str(database)}, "steps": [step]}
    output, file = tmp_path / "one.json", tmp_path / "one.job.json"
    alone = given | {"mode": "verify", "output": str(output)}
    whole = job(tmp_path, alone, workers=4, operations_per_iteration=4 * 101)
    file.write_text(whole.text(), "utf-8")
    subprocess.run([*ORACLE, "--job", str(file)], check=True)
    one = Result.model_validate_json(output.read_bytes())
    asked = job(tmp_path, given, workers=4, operations_per_iteration=101)
    done, seen = go(tmp_path, command=ORACLE, asked=asked)
    together = done.result
    assert (together.operations, together.rows) == (404, 404)
    assert together.checksum == one.checksum
    each = [one.answers[first : first + 101] for first in range(0, 404, 101)]
    assert [answer[2] for answer in together.answers] == [
        sum(answer[2] for answer in iteration) % 2**32 for iteration in each
    ]
    assert [worker.operations for worker in together.workers] == [100, 100, 100, 104]
    spreads = zip(together.iterations_ns, seen.start_spread_us, strict=True)
    assert [time_ns >= spread_us * 1000 for time_ns, spread_us in spreads] == [True] * 3


BEFORE = "before iteration 3 of 4"


@pytest.mark.parametrize(
    ("act", "told"),
    [
        ("crash@1", f"process 1 of 2: ended with exit code 1 {BEFORE}: out of luck"),
        ("signal@0", f"process 0 of 2: was killed by SIGSEGV (exit code 139) {BEFORE}: pinned"),
        ("quit@1", f"process 1 of 2: ended with exit code 0 {BEFORE}: pinned to"),
        ("eager@1", "process 1 of 2: says `ready` once more before iteration 2 of 4: pinned to"),
        ("endless@0", "process 0 of 2: says `ready` once more after iteration 4, the last: pinned"),
        ("late crash@1", "process 1 of 2: ended with exit code 4 after iteration 4, the last: pin"),
        ("unlike@1", "process 1 differs from process 0 in `effective`: pragmas: cache_size: 1 and"),
        ("spanless@1", "process 1 reports 2 spans_us of its worker 0; 3 were asked for"),
        # a result that is not ok is the answer of all
        ("unsupported@1", "unsupported: no such shape"),
        ("failed@0", "failed: database is locked"),
    ],
)
def test_an_accident_of_one_is_told_and_ends_all(tmp_path: Path, act: str, told: str) -> None:
    done, seen = go(tmp_path, act)
    result = done.result
    words = result and f"{result.status}: {result.reason or result.error.message}"
    assert (words or done.problem).startswith(told)
    assert seen is None
    assert (tmp_path / "result.json").exists() == bool(result)


@pytest.mark.parametrize(
    ("act", "who", "told"),
    [
        ("silent@1", "process 1 of 2: not ready for iteration 2 of 4", ": waits for a lock"),
        ("lingering@0", "process 0 of 2: no end after iteration 4, the last", ""),
    ],
)
def test_a_process_that_does_not_go_on_is_bounded(
    tmp_path: Path, act: str, who: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken_by: list[object] = []

    class Watched(selectors.DefaultSelector):
        def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            woken_by.append(events := super().select(timeout))
            return events

    monkeypatch.setattr(selectors, "DefaultSelector", Watched)

    def attempt(timeout_s: float) -> tuple[float, Any, Any] | None:
        woken_by.clear()
        done, seen = go(tmp_path, act, timeout_s=timeout_s)
        return (timeout_s, done, seen) if (done.problem or "").startswith(who) else None

    timeout_s, done, seen = long_enough(attempt)
    within = f"{who} within {timeout_s:g} s; all are killed{told}"
    assert done.problem.startswith(within)
    assert (done.timing, done.result, seen) == (None, None, None)
    # between events the harness sleeps
    assert all(woken_by[:-1])
    assert not woken_by[-1]


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "gone")
    done, _ = go(tmp_path, command=[nowhere])
    told = (done.timing, done.result, done.problem)
    assert told == (None, None, f"{nowhere}: No such file or directory")


def test_kill_ends_all_with_what_they_started(tmp_path: Path) -> None:
    launcher = Launcher(tmp_path)
    launcher.kill()  # with nothing under way it does nothing
    ended: list[Any] = []

    def run() -> None:
        ended.append(go(tmp_path, "stubborn@1", launcher=launcher)[0])

    thread = threading.Thread(target=run)
    thread.start()
    file = tmp_path / "result.1.pids"
    until(lambda: file.exists() and " " in file.read_text(), "the process did not start")
    launcher.kill()
    thread.join(30)
    assert not thread.is_alive()
    assert "was killed by SIGKILL (exit code 137) before iteration 1 of 4" in ended[0].problem
    for pid in map(int, file.read_text().split()):
        until(lambda pid=pid: not running(pid), "a process lives on")


def test_pins_go_round_and_leave_the_harness_where_it_was(tmp_path: Path) -> None:
    """And what is said beside the barrier is in the log."""
    here = sorted(os.sched_getaffinity(0))
    pins = [here[-1], here[0]]
    done, seen = go(tmp_path, "chatter@1", asked=job(tmp_path, workers=3), processes=3, pins=pins)
    assert done.result
    assert seen.pins == [here[-1], here[0], here[-1]]
    assert sorted(os.sched_getaffinity(0)) == here
    first, talks, last = (f"pinned to {pin}" for pin in seen.pins)
    said = ["process 0:", first, "process 1:", talks, *["a line", "another"] * 4]
    assert (tmp_path / "log").read_text("utf-8").splitlines() == [*said, "process 2:", last]
    alone, seen = go(tmp_path, asked=job(tmp_path, workers=1), processes=1)
    assert alone.result
    assert (seen.skew_us, seen.start_spread_us, seen.pins) == ([0.0] * 3, [0.0] * 3, [])


def test_a_pin_to_no_processor_starts_nothing(tmp_path: Path) -> None:
    with refused(r"pin 4096: there is no such processor.*usable are \d"):
        go(tmp_path, pins=[min(os.sched_getaffinity(0)), 4096])
    assert not list(tmp_path.iterdir())


WRITER = {"steps": [{"operation": "run", "sql": "x"}], "operations": 1}


@pytest.mark.parametrize(
    ("given", "measure", "why"),
    [
        ({}, {"workers": 3}, "3 workers cannot be shared"),
        ({}, {"warmup_ns": 1}, "warm up by"),
        ({"mode": "verify"}, {}, "measure only"),
        ({"reset": ["DELETE FROM t"], "reset_every": 10}, {}, "no reset"),
        ({"writer": WRITER}, {}, "no writer"),
    ],
)
def test_a_job_that_cannot_be_shared(
    tmp_path: Path, given: dict[str, Any], measure: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        go(tmp_path, asked=job(tmp_path, given, **measure))


MEASURE = job(Path(), operations_per_iteration=9, iterations=2, workers=1).measure


def workers(*spans: Sequence[tuple[float, float]]) -> list[dict[str, Any]]:
    each = {"operations": 1, "rows": 1, "checksum": 1, "iterations_ns": [1, 1]}
    return [{**each, "spans_us": of} for of in spans]


def result(*spans: Sequence[tuple[float, float]], **other: Any) -> Result:
    """A process's result; by default of one worker, from 0 to 1 µs and from 10 to 11 µs."""
    times = {"answers": [[1, 0, 1]] * 3, "warmup_ns": [5], "iterations_ns": [1, 1]}
    each = workers(*(spans or [[(0, 1), (10, 11)]]))
    return made.result(**{**times, "workers": each, **other})


def test_counts_and_costs_add_up_and_the_checksum_wraps() -> None:
    one = result(
        [(100.5, 200), (1000, 1100)],
        [(110, 150), (1001, 1200.25)],
        operations=4,
        rows=8,
        affected=2,
        checksum=2**32 - 1,
        readback={"rows": 1, "checksum": 1},
        warmup_ns=[9],
        cpu_ns=11,
        switches={"voluntary": 3, "involuntary": 1},
        peak_rss_bytes=100,
        answers=[(3, 1, 2**32 - 1), (3, 1, 0), (2, 0, 0)],
    )
    two = result(
        [(90, 210.5), (1050, 1060)],
        [(130, 140), (990, 1000)],
        operations=5,
        rows=10,
        affected=3,
        checksum=7,
        readback={"rows": 2, "checksum": 2},
        cpu_ns=22,
        switches={"voluntary": 4, "involuntary": 0},
        peak_rss_bytes=50,
        answers=[(4, 1, 2), (3, 1, 3), (3, 1, 2)],
    )
    measure = MEASURE.model_copy(update={"workers": 2})
    costs = {"cpu_ns": 33, "switches": {"voluntary": 7, "involuntary": 1}, "peak_rss_bytes": 150}
    expected = {
        "operations": 9,
        "rows": 18,
        "affected": 5,
        "checksum": 6,
        "readback": {"rows": 1, "checksum": 1},  # of who ended last
        "warmup_ns": [9],  # of the slowest
        # from the first start to the last end of any worker
        "iterations_ns": [120_500, 210_250],
        "answers": [(7, 2, 1), (6, 2, 3), (5, 1, 2)],
        **costs,
    }
    for order in ([one, two], [two, one]):
        both = merge(order, measure)
        assert both.model_dump(include={*expected}) == expected
        assert both.workers == [*order[0].workers, *order[1].workers]
        assert start_spread_us(both) == [40.0, 60.0]
    for name in costs:  # a sum with an unknown part is unknown
        both = merge([one, two.model_copy(update={name: None})], measure)
        assert both.model_dump(include={*costs}) == {**costs, name: None}


def under(**pragmas: str | int) -> dict[str, Any]:
    return {"effective": {"pragmas": pragmas}}


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (under(cache_size=9, encoding="UTF-8"), "`effective`: pragmas: cache_size: 9 and -2000"),
        (under(cache_size=-2000), "`effective`: pragmas: encoding: None and UTF-8"),
        ({"sqlite_version": "3.1"}, "`sqlite_version`: 3.1 and None"),
        ({"plans": [["SCAN t"]]}, "`plans`: [['SCAN t']] and []"),
        ({"warmup_ns": []}, "0 warm-up iterations; 1 were asked for"),
        ({"iterations_ns": [1]}, "1 timed iterations; 2 were asked for"),
        ({"answers": []}, "0 answers; 3 were asked for"),
        ({"workers": []}, "0 workers; 1 were asked for"),
        ({"workers": workers([(0, 1)])}, "1 spans_us of its worker 0; 2 were asked for"),
    ],
)
def test_processes_under_other_conditions_are_not_one(other: dict[str, Any], why: str) -> None:
    same = under(cache_size=-2000, encoding="UTF-8")
    with pytest.raises(Unlike) as told:
        merge([result(**same), result(**{**same, **other})], MEASURE)
    differs = "process 1 differs from process 0 in"
    assert str(told.value) == f"{differs if why[0] == '`' else 'process 1 reports'} {why}"
