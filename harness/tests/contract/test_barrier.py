"""The barrier of each runner, driven through its pipes."""

import contextlib
import json
import sqlite3
import subprocess
import threading
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.contract.performed import TWINS
from tests.contract.started import CONTRACT, RUNNERS, Json, command, of_runners, start

VECTORS = CONTRACT / "vectors"
LIMIT_S = 60
# By how much a fine clock that is set once by the clock of the day may have left it.
DRIFT_US = 50_000
# Another build of SQLite waits with the same code; it does the vectors with several workers.
each_program = of_runners([name for name in RUNNERS if name not in TWINS])


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The database of the vectors."""
    file = tmp_path / "vector.db"
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.executescript((VECTORS / "latencies-measure/database.sql").read_text("utf-8"))
    return file


def write_job(folder: Path, database: Path, name: str, **measure: object) -> Path:
    """The job of the vector `latencies-measure`, otherwise measured; its result is NAME.result."""
    job = json.loads((VECTORS / "latencies-measure/job.json").read_text("utf-8"))
    job["database"]["path"] = str(database)
    # processes that open one file at once wait for each other from the first statement on
    pragmas: list[list[object]] = job["connection"]["pragmas"]
    pragmas.sort(key=lambda pragma: pragma[0] != "busy_timeout")
    job["measure"] = {"operations_per_iteration": 10, **measure}
    job["output"] = str(folder / f"{name}.result")
    file = folder / f"{name}.json"
    file.write_text(json.dumps(job), "utf-8")
    return file


def result_of(job: Path) -> Json:
    return json.loads(job.with_suffix(".result").read_text("utf-8"))


@contextlib.contextmanager
def performing(name: str, jobs: list[Path]) -> Generator[list[subprocess.Popen[str]]]:
    """A process for each job; all are killed after a minute, which ends their pipes."""
    line, environment = command(name)
    with contextlib.ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [*line, "--job", str(job)],
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stack.enter_context(job.with_suffix(".log").open("w")),
                    text=True,
                )
            )
            for job in jobs
        ]
        killers = [threading.Timer(LIMIT_S, process.kill) for process in processes]
        for killer in killers:
            killer.start()
        try:
            yield processes
        finally:
            for killer, process in zip(killers, processes, strict=True):
                process.kill()
                killer.cancel()


def told(log: Path) -> str:
    """What a process that ended too early wrote."""
    result = log.with_suffix(".result")
    return log.read_text("utf-8") + (result.read_text("utf-8") if result.exists() else "")


def release(processes: list[subprocess.Popen[str]], logs: list[Path]) -> float:
    """Wait until all processes are ready, then release them; when, in µs of Unix time."""
    for process, log in zip(processes, logs, strict=True):
        assert process.stdout
        assert process.stdout.readline() == "ready\n", told(log)
    released_us = time.time_ns() / 1000
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    return released_us


@pytest.mark.parametrize("workers", [1, 2])
@each_program
def test_two_processes_do_the_work_of_one(
    name: str, workers: int, database: Path, tmp_path: Path
) -> None:
    counts = {"warmup_iterations": 1, "iterations": 2}
    whole = write_job(tmp_path, database, "whole", workers=2 * workers, **counts)
    done = start(name, "--job", str(whole))
    assert done.returncode == 0, done.stderr
    jobs = [
        write_job(
            tmp_path,
            database,
            f"part{number}",
            workers=workers,
            share={"first": number * workers, "of": 2 * workers},
            **counts,
        )
        for number in range(2)
    ]
    logs = [job.with_suffix(".log") for job in jobs]
    with performing(name, jobs) as processes:
        released_us = [release(processes, logs) for _ in range(3)]
        codes = [process.wait() for process in processes]
        ended_us = time.time_ns() / 1000
    parts = [result_of(job) for job in jobs]
    assert codes == [0, 0], parts
    want = result_of(whole)
    assert sum(part["checksum"] for part in parts) % 2**32 == want["checksum"]
    for key in ("operations", "rows"):
        assert sum(part[key] for part in parts) == want[key]
    told = [worker for part in parts for worker in part["workers"]]
    assert [w["checksum"] for w in told] == [w["checksum"] for w in want["workers"]]
    for worker in told:
        check_spans(worker["spans_us"], released_us[1:], ended_us)


def check_spans(spans: list[list[float]], released_us: list[float], ended_us: float) -> None:
    """Each measured iteration starts after its release, and all are over when the process is."""
    assert len(spans) == len(released_us)
    for (begin, end), released in zip(spans, released_us, strict=True):
        assert released - DRIFT_US <= begin <= end <= ended_us + DRIFT_US


@pytest.mark.parametrize("workers", [1, 2])
@each_program
def test_no_iteration_starts_before_its_release(
    name: str, workers: int, database: Path, tmp_path: Path
) -> None:
    share = {"of": workers}
    job = write_job(tmp_path, database, "held", workers=workers, share=share, iterations=2)
    with performing(name, [job]) as processes:
        release(processes, [job.with_suffix(".log")])
        stdin, stdout = processes[0].stdin, processes[0].stdout
        assert stdin
        assert stdout
        assert stdout.readline() == "ready\n"
        stdin.close()
        assert stdout.read() == ""
        assert processes[0].wait() == 1
    failed = result_of(job)
    assert failed["status"] == "failed"
    assert "stdin" in failed["error"]["message"]
