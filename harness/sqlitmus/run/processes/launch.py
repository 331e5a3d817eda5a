"""Launches several processes of one runner as one invocation: split, started, released together."""

import os
import sys
from dataclasses import replace
from pathlib import Path

from sqlitmus.machine import affinity, usage
from sqlitmus.machine.clockset import ClockWatch
from sqlitmus.run.finished import Invocation, Timing, collect
from sqlitmus.run.processes import combine, parts
from sqlitmus.run.processes.barrier import Broken, ProcessGroup
from sqlitmus.run.processes.parts import Shared
from sqlitmus.vocabulary.contract.job import Job
from sqlitmus.vocabulary.contract.result import Result
from sqlitmus.vocabulary.detail import Launch
from sqlitmus.vocabulary.errors import NotFit

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
        self._shared: dict[str, Shared] = {}

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
        ValueError as `parts.share` does.
        """
        if reason := unsupported():
            raise NotFit(f"{job.cell}: {reason}")
        affinity.check(pins)
        shared = self._share(job, processes)
        shared.clear()
        chosen = [pins[number % len(pins)] for number in range(processes)] if pins else []
        invocation, launch = self._run(command, shared, chosen, environment, timeout_s)
        shared.join_logs(log)
        if invocation.result:
            Path(job.output).write_bytes(invocation.result.model_dump_json().encode())
        return invocation, launch

    def kill(self) -> None:
        """Kill the processes under way, if any, with all their children."""
        if self._group:
            self._group.kill()

    def _share(self, job: Job, processes: int) -> Shared:
        """The parts of `job`, which are written at its first launch."""
        existing = self._shared.get(job.output)
        if existing and existing.job is job and len(existing.parts) == processes:
            return existing
        made = self._shared[job.output] = parts.share(job, processes, self._scratch)
        return made

    def _run(
        self,
        command: list[str],
        shared: Shared,
        pins: list[int],
        environment: dict[str, str],
        timeout_s: float,
    ) -> tuple[Invocation, Launch | None]:
        measure = shared.measure
        watch = ClockWatch()
        group = self._group = ProcessGroup(
            measure.warmup_iterations + measure.iterations, timeout_s
        )
        try:
            with group:
                for part, pin in zip(shared.parts, pins or [None] * len(shared.parts), strict=True):
                    with affinity.pinned(pin):
                        group.start([*command, "--job", str(part.job)], environment, part.log)
                skew_us, cpus = _through(group)
        except Broken as error:
            return _broken(error, shared, group.timings), None
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
        merged = _merged(timing, shared, group.timings)
        if merged.result is None or merged.result.status != "ok":
            return merged, None
        return merged, Launch(
            processes=len(shared.parts),
            skew_us=skew_us[measure.warmup_iterations :],
            start_spread_us=combine.start_spread_us(merged.result),
            cpus=cpus,
            pins=pins,
        )


def _through(group: ProcessGroup) -> tuple[list[float], dict[str, float]]:
    """Run every iteration; returns the skew of each release and the use of each processor."""
    group.wait_until_ready()
    before = usage.ticks()
    skew_us = [group.release()]
    while group.left:
        group.wait_until_ready()
        skew_us.append(group.release())
    group.wait_until_ended()
    return skew_us, usage.shares(before, usage.ticks())


def _merged(timing: Timing, shared: Shared, timings: list[Timing]) -> Invocation:
    results: list[Result] = []
    for number, (part, own_timing) in enumerate(zip(shared.parts, timings, strict=True)):
        invocation = collect(own_timing, part.output)
        if invocation.result is None or invocation.result.status != "ok":
            return replace(
                invocation, problem=invocation.problem and f"process {number}: {invocation.problem}"
            )
        results.append(invocation.result)
    try:
        return Invocation(timing, combine.merge(results, shared.measure), None)
    except combine.Unlike as error:
        return Invocation(timing, None, str(error))


def _broken(broken: Broken, shared: Shared, timings: list[Timing]) -> Invocation:
    """The invocation of processes of which one did not keep to the barrier.

    If that process wrote a result that is not `ok`, it is the result of all.
    """
    number = broken.child.number
    invocation = collect(timings[number], shared.parts[number].output)
    if invocation.result and invocation.result.status != "ok":
        return invocation
    last_lines = parts.text(shared.parts[number].log).strip().splitlines()[-1:]
    return Invocation(None, None, ": ".join([str(broken), *(line[:TOLD] for line in last_lines)]))
