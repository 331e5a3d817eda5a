"""The barrier of each runner, driven through its pipes."""

import contextlib
import subprocess
import threading
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.contract.jobs import CONTRACT, Json, database, of_vector, result_of, write_job
from tests.contract.started import each_program, installed, start

VECTOR = "latencies-measure"
LIMIT_S = 60
# By how much a fine clock that is set once by the clock of the day may have left it.
DRIFT_US = 50_000
# Another build of SQLite waits with the same code; it does the vectors with several workers.
each_count = pytest.mark.parametrize("workers", [1, 2])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The database of the vector."""
    script = (CONTRACT / "vectors" / VECTOR / "database.sql").read_text("utf-8")
    return database(tmp_path / "vector.db", script)


def job_on(file: Path, name: str, **measure: object) -> Path:
    """The job of the vector, otherwise measured; its result is NAME.result."""
    job = of_vector(VECTOR)
    # processes that open one file at once wait for each other from the first statement on
    pragmas: list[list[object]] = job["connection"]["pragmas"]
    pragmas.sort(key=lambda pragma: pragma[0] != "busy_timeout")
    output = str(file.with_name(f"{name}.result"))
    changes: Json = {"measure": {"operations_per_iteration": 10, **measure}, "output": output}
    changes["database"] = {**job["database"], "path": str(file)}
    return write_job(file.with_name(f"{name}.json"), **{**job, **changes})


@contextlib.contextmanager
def performing(name: str, jobs: list[Path]) -> Generator[list[subprocess.Popen[str]]]:
    """A process for each job; all are killed after a minute, which ends their pipes."""
    runner = installed(name)
    with contextlib.ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [*runner.command, "--job", job],
                    env=runner.environment,
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


def release(processes: list[subprocess.Popen[str]], jobs: list[Path]) -> float:
    """Wait until all processes are ready, then release them; when, in µs of Unix time."""
    for process, job in zip(processes, jobs, strict=True):
        assert process.stdout
        ended = [
            file for file in (job.with_suffix(s) for s in (".log", ".result")) if file.exists()
        ]
        assert process.stdout.readline() == "ready\n", [file.read_text("utf-8") for file in ended]
    released_us = time.time_ns() / 1000
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    return released_us


@each_count
@each_program
def test_two_processes_do_the_work_of_one(name: str, workers: int, file: Path) -> None:
    counts = {"warmup_iterations": 1, "iterations": 2}
    whole = job_on(file, "whole", workers=2 * workers, **counts)
    done = start(name, "--job", whole)
    assert done.returncode == 0, done.stderr
    shares = [{"first": first, "of": 2 * workers} for first in (0, workers)]
    jobs = [
        job_on(file, f"part{share['first']}", workers=workers, share=share, **counts)
        for share in shares
    ]
    with performing(name, jobs) as processes:
        released_us = [release(processes, jobs) for _ in range(3)]
        codes = [process.wait() for process in processes]
        ended_us = time.time_ns() / 1000
    parts, want = list(map(result_of, jobs)), result_of(whole)
    assert codes == [0, 0], parts
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


@each_count
@each_program
def test_no_iteration_starts_before_its_release(name: str, workers: int, file: Path) -> None:
    job = job_on(file, "held", workers=workers, share={"of": workers}, iterations=2)
    with performing(name, [job]) as processes:
        release(processes, [job])
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
