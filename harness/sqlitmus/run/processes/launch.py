"""Several processes of one runner as one invocation: split, released together, combined."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from sqlitmus.machine import system
from sqlitmus.run.processes import process
from sqlitmus.run.processes.barrier import Broken, ProcessGroup
from sqlitmus.run.processes.process import Invocation, Timing, collect
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.contract import Counts, Job, Measure, Model, Result, Share
from sqlitmus.vocabulary.errors import NotFit
from sqlitmus.vocabulary.figures import Launch, read


@dataclass(frozen=True, slots=True)
class Part:
    """The files of a process: the job it reads, the result it writes, its log."""

    job: Path
    output: Path
    log: Path


def share(job: Job, processes: int, folder: Path) -> tuple[Measure, list[Part]]:
    """Split `job`, whose workers are those of all processes, into one job per process in `folder`,
    where nothing is left of an earlier invocation: what each measures, except for its place.

    Raises ValueError for a job that cannot be split: its workers do not divide; it warms up by
    time, which could take different numbers of iterations; or it has statements (reset, a writer)
    that one process would run while others are measuring.
    """
    workers, rest = divmod(job.measure.workers, processes)
    if rest:
        raise ValueError(f"{job.measure.workers} workers cannot be shared by {processes} processes")
    if job.mode != "measure" or job.measure.warmup_ns or job.reset or job.writer:
        raise ValueError(
            "several processes measure only, warm up by iterations, have no reset and no writer"
        )
    measure = job.measure.model_copy(update={"workers": workers})
    process.clear(Path(job.output))
    made: list[Part] = []
    for number in range(processes):
        first = Share(first=number * workers, of=job.measure.workers)
        name = f"{Path(job.output).stem}.{number}"
        part = Part(*(folder / f"{name}.{kind}" for kind in ("job.json", "json", "log")))
        process.clear(part.output)
        part.log.unlink(missing_ok=True)
        place = measure.model_copy(update={"share": first})
        changes = {"measure": place, "output": str(part.output)}
        try:
            part.job.write_bytes(job.model_copy(update=changes).text().encode())
        except OSError as error:
            raise NotFit(f"{part.job}: job cannot be written: {error.strerror}") from error
        made.append(part)
    return measure, made


SAME = ("cell", "identity", "sqlite_version", "effective", "plans")


class Unlike(Exception):
    """Results that cannot be one; the message says which process and why."""


def merge(results: Sequence[Result], measure: Measure) -> Result:
    """One result of `ok` ones, process by process; `measure` is that of each process.

    Counts, checksum and the figures that runners report are sums: what processes share counts for
    each of them. An iteration lasts from the earliest start to the latest end of any worker,
    a warm-up iteration as long as that of the slowest process. Phases are not merged. The read-back
    is that of the process that ended last, the only one that saw all writes. Raises Unlike when
    they ran under different conditions or lack what a share asks for.
    """
    for number, result in enumerate(results):
        _check(number, result, results[0], measure)
    workers = [worker for result in results for worker in result.workers]
    spans = list(zip(*(worker.spans_us for worker in workers), strict=True))
    last = max(results, key=lambda r: max(worker.spans_us[-1][1] for worker in r.workers))
    return Result(
        contract=2,
        status="ok",
        **{name: getattr(results[0], name) for name in SAME},
        operations=sum(result.operations for result in results),
        rows=sum(result.rows for result in results),
        affected=sum(result.affected for result in results),
        checksum=sum(result.checksum for result in results) % 2**32,
        readback=last.readback,
        warmup_ns=[max(times) for times in zip(*(r.warmup_ns for r in results), strict=True)],
        iterations_ns=[
            round((max(end for _, end in span) - min(start for start, _ in span)) * 1000)
            for span in spans
        ],
        workers=workers,
        answers=[_added(each) for each in zip(*(r.answers for r in results), strict=True)],
        **_figures(results),
    )


def _added(answers: Sequence[Counts]) -> Counts:
    rows, affected, checksum = (sum(each) for each in zip(*answers, strict=True))
    return rows, affected, checksum % 2**32


def start_spread_us(result: Result) -> list[float]:
    """Microseconds from the first to the last worker's start, per measured iteration."""
    starts = zip(*([start for start, _ in w.spans_us] for w in result.workers), strict=True)
    return [max(times) - min(times) for times in starts]


def _check(number: int, result: Result, first: Result, measure: Measure) -> None:
    for name in SAME:
        if getattr(result, name) != getattr(first, name):
            raise Unlike(
                f"process {number} differs from process 0 in `{name}`: "
                f"{_difference(getattr(result, name), getattr(first, name))}"
            )
    for what, reported, planned in (
        ("workers", result.workers, measure.workers),
        ("warm-up iterations", result.warmup_ns, measure.warmup_iterations),
        ("timed iterations", result.iterations_ns, measure.iterations),
        ("answers", result.answers, measure.warmup_iterations + measure.iterations),
        *(
            (f"spans_us of its worker {place}", worker.spans_us, measure.iterations)
            for place, worker in enumerate(result.workers)
        ),
    ):
        if len(reported) != planned:
            raise Unlike(
                f"process {number} reports {len(reported)} {what}; {planned} were asked for"
            )


def _difference(got: object, first: object) -> str:
    """What differs, down to the key where both are models or mappings."""
    fields = [of.model_dump() if isinstance(of, Model) else of for of in (got, first)]
    if not all(isinstance(values, dict) for values in fields):
        return f"{got} and {first}"
    mine, theirs = cast("list[dict[str, object]]", fields)
    names = [name for name in {**theirs, **mine} if mine.get(name) != theirs.get(name)]
    return ", ".join(f"{n}: {_difference(mine.get(n), theirs.get(n))}" for n in names)


def _figures(results: Sequence[Result]) -> dict[str, Any]:
    """Fields of a Result with the sums over processes of what each reports of itself.

    A sum with an unknown part is unknown: it would look like the whole.
    """
    summed: dict[str, Any] = {}
    for path in figures.reported():
        values = [read(result, path) for result in results]
        if None not in values:
            field, _, part = path.partition(".")
            total = sum(value or 0 for value in values)
            if part:
                summed.setdefault(field, {})[part] = total
            else:
                summed[field] = total
    return summed


TOLD = 300  # characters of a log's last line
CLOCK_SET = (
    "the system's clock was set by {:+,.1f} ms while its processes ran, so their times of day "
    "cannot be put together"
)


def unsupported() -> str | None:
    """Why processes cannot be alive together on this system; None when they can."""
    if hasattr(os, "pidfd_open"):
        return None
    return f"several processes at once need Linux's pidfd_open; {sys.platform} has none"


class Launcher:
    """Starts processes behind a barrier, as Hyperfine starts a single one."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._group: ProcessGroup | None = None

    def launch(
        self,
        command: list[str],
        job: Job,
        *,
        processes: int,
        pins: list[int],
        environment: dict[str, str],
        log: Path,
        timeout_s: float,
    ) -> tuple[Invocation, Launch | None]:
        """Run `job` in `processes` of `command`; process p is pinned to `pins[p % len(pins)]`.

        The timing's wall time runs from the first start to the last end, its CPU time is the sum. A
        failure in a process becomes `problem`; a result that is not `ok` becomes the result of all;
        in both cases there is no Launch. Raises UsageError and NotFit for impossible pins,
        ValueError as `share` does.
        """
        if reason := unsupported():
            raise NotFit(f"{job.cell}: {reason}")
        system.check(pins)
        measure, parts = share(job, processes, self._scratch)
        chosen = [pins[number % len(pins)] for number in range(processes)] if pins else []
        invocation, launch = self._run(command, measure, parts, chosen, environment, timeout_s)
        sections = [
            f"process {number}:\n{process.output(part.log).strip()}\n"
            for number, part in enumerate(parts)
        ]
        log.write_bytes("".join(sections).encode())
        if invocation.result:
            Path(job.output).write_bytes(invocation.result.model_dump_json().encode())
        return invocation, launch

    def kill(self) -> None:
        if self._group:
            self._group.kill()

    def _run(
        self,
        command: list[str],
        measure: Measure,
        parts: list[Part],
        pins: list[int],
        environment: dict[str, str],
        timeout_s: float,
    ) -> tuple[Invocation, Launch | None]:
        watch = system.ClockWatch()
        group = self._group = ProcessGroup(
            measure.warmup_iterations + measure.iterations, timeout_s
        )
        try:
            with group:
                for part, pin in zip(parts, pins or [None] * len(parts), strict=True):
                    with system.pinned(pin):
                        group.start([*command, "--job", str(part.job)], environment, part.log)
                skew_us, cpus = _through(group)
        except Broken as error:
            return _broken(error, parts, group.timings), None
        except OSError as error:
            return Invocation(None, None, f"{error.filename}: {error.strerror}"), None
        finally:
            self._group = None
        timing = Timing(
            wall_ns=group.wall_ns(),
            user_ns=sum(each.user_ns for each in group.timings),
            system_ns=sum(each.system_ns for each in group.timings),
            exit_code=0,
        )
        if by := watch.set_by_ns():
            return Invocation(timing, None, CLOCK_SET.format(by / 1e6)), None
        merged = _merged(timing, measure, parts, group.timings)
        if merged.result is None or merged.result.status != "ok":
            return merged, None
        return merged, Launch(
            processes=len(parts),
            skew_us=skew_us[measure.warmup_iterations :],
            start_spread_us=start_spread_us(merged.result),
            cpus=cpus,
            pins=pins,
        )


def _through(group: ProcessGroup) -> tuple[list[float], dict[str, float]]:
    """Run every iteration; returns the skew of each release and the use of each processor."""
    group.wait_until_ready()
    before = system.ticks()
    skew_us = [group.release()]
    while group.left:
        group.wait_until_ready()
        skew_us.append(group.release())
    group.wait_until_ended()
    return skew_us, system.shares(before, system.ticks())


def _merged(
    timing: Timing, measure: Measure, parts: list[Part], timings: list[Timing]
) -> Invocation:
    results: list[Result] = []
    for number, (part, own_timing) in enumerate(zip(parts, timings, strict=True)):
        invocation = collect(own_timing, part.output)
        if invocation.result is None or invocation.result.status != "ok":
            return replace(
                invocation, problem=invocation.problem and f"process {number}: {invocation.problem}"
            )
        results.append(invocation.result)
    try:
        return Invocation(timing, merge(results, measure), None)
    except Unlike as error:
        return Invocation(timing, None, str(error))


def _broken(broken: Broken, parts: list[Part], timings: list[Timing]) -> Invocation:
    """The invocation of processes of which one did not keep to the barrier.

    If that process wrote a result that is not `ok`, it is the result of all.
    """
    number = broken.child.number
    invocation = collect(timings[number], parts[number].output)
    if invocation.result and invocation.result.status != "ok":
        return invocation
    last_lines = process.output(parts[number].log).strip().splitlines()[-1:]
    return Invocation(None, None, ": ".join([str(broken), *(line[:TOLD] for line in last_lines)]))
