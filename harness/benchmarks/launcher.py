"""What the launcher of several processes adds: skew of their start, and time from end to end.

`./just bench-launcher [-r RUNNER]… [--rounds N]`. Point reads, a fixed total per iteration, split
over processes × workers, process p pinned to processor p mod all. `skew` is the time between the
first and the last release from the barrier, the launcher's own; `start spread` that between the
first and the last start of a worker, which holds the scheduler's part, too. `own` is what a launch
takes beyond the life of its processes: job files, results, merging. The last line of a runner holds
one process behind the barrier against the same job started alone by hyperfine, in turns.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from benchmarks.asked import job_of
from sqlitmus.catalog import cases, definitions, runners
from sqlitmus.catalog.runners import Installed
from sqlitmus.machine import affinity, priority
from sqlitmus.run.finished import Invocation
from sqlitmus.run.hyperfine import Hyperfine, invoke
from sqlitmus.run.processes.launch import Launcher, unsupported
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract.job import Job

RUNNERS = ("rust", "node")
SHAPES = ((1, 1), (2, 1), (2, 2), (2, 4), (2, 8), (16, 1))
CASE = "parallel-get-pk"
TIMEOUT_S = 60.0


def main(
    runner: Annotated[list[str] | None, typer.Option("-r", "--runner")] = None,
    rounds: Annotated[int, typer.Option(min=1)] = 5,
    iterations: Annotated[int, typer.Option(min=1)] = 40,
) -> None:
    """Print one line per runner and processes × workers."""
    if reason := unsupported():
        raise SystemExit(reason)
    with priority.first() as granted:
        pass
    print(f"real-time priority for the release: {'granted' if granted else 'not granted'}")
    print("figures of skew and start spread: median / 99th percentile / maximum")
    known, tools = definitions.load(), paths.tools()
    for installed in runners.discover(known, runner or list(RUNNERS), tools):
        if installed.missing:
            print(f"{installed.spec.name}: {installed.missing}")
            continue
        with tempfile.TemporaryDirectory(dir=paths.cache("work")) as folder:
            scratch = Path(folder)
            job = _job(known, installed, iterations, scratch)
            hyperfine = Hyperfine(tools.need("hyperfine"), scratch)
            for processes, workers in SHAPES:
                _shape(installed, job, processes, workers, rounds, scratch)
            _alone(installed, job, hyperfine, rounds, scratch)


def _job(known: definitions.Catalog, installed: Installed, iterations: int, scratch: Path) -> Job:
    name, axes = cases.parse_case(CASE, known)
    case = cases.make_case(name, axes, known, known.modes["quick"])
    case = case.model_copy(update={"iterations": iterations, "warmup_ms": 0})
    return job_of(known, case, installed, scratch)


def _shape(
    installed: Installed, job: Job, processes: int, workers: int, rounds: int, scratch: Path
) -> None:
    measure = job.measure.model_copy(update={"workers": processes * workers})
    shaped = job.model_copy(update={"measure": measure})
    pins = affinity.allowed()
    skew: list[float] = []
    spread: list[float] = []
    own: list[float] = []
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        done, seen = Launcher(scratch).launch(
            installed.command,
            shaped,
            processes=processes,
            pins=pins,
            environment=installed.environment,
            log=scratch / "log",
            timeout_s=TIMEOUT_S,
        )
        spent = time.perf_counter_ns() - begin
        wall = _wall_ns(done)
        if seen is None or wall is None:
            print(f"{installed.spec.name:20} {processes:2} × {workers}: {_why(done)}")
            return
        skew += seen.skew_us
        spread += seen.start_spread_us
        own.append((spent - wall) / 1e6)
    print(
        f"{installed.spec.name:20} {processes:2} × {workers}: skew {_told(skew)}, "
        f"start spread {_told(spread)}, own {statistics.median(own):.1f} ms",
        flush=True,
    )


def _alone(
    installed: Installed, job: Job, hyperfine: Hyperfine, rounds: int, scratch: Path
) -> None:
    """One process behind the barrier, and the same job without one under hyperfine."""
    file, log, output = scratch / "alone.job", scratch / "log", Path(job.output)
    file.write_text(job.text(), encoding="utf-8")
    command, environment = installed.command, installed.environment

    def launched() -> Invocation:
        return Launcher(scratch).launch(
            command,
            job,
            processes=1,
            pins=[],
            environment=environment,
            log=log,
            timeout_s=TIMEOUT_S,
        )[0]

    def alone() -> Invocation:
        line = [*command, "--job", str(file)]
        return invoke(hyperfine, line, environment, output, log, TIMEOUT_S)

    ways: list[Callable[[], Invocation]] = [launched, alone]
    walls: dict[Callable[[], Invocation], list[float]] = {way: [] for way in ways}
    for _ in range(4 * rounds):
        ways.reverse()
        for way in ways:
            done = way()
            wall = _wall_ns(done)
            if wall is None:
                print(f"{installed.spec.name:20} alone: {_why(done)}")
                return
            walls[way].append(wall / 1e6)
    here, there = statistics.median(walls[launched]), statistics.median(walls[alone])
    print(
        f"{installed.spec.name:20} end to end: {here:.1f} ms behind the barrier, "
        f"{there:.1f} ms alone: {here - there:+.1f} ms"
    )


def _wall_ns(done: Invocation) -> int | None:
    right = done.result is not None and done.result.status == "ok" and done.timing is not None
    return done.timing.wall_ns if right and done.timing else None


def _why(done: Invocation) -> str:
    result = done.result
    return done.problem or str(result and (result.reason or result.error))


def _told(values: list[float]) -> str:
    median, most = np.percentile(values, [50, 99])
    return f"{median:.0f} / {most:.0f} / {max(values):.0f} µs"


if __name__ == "__main__":
    typer.run(main)
