"""Whether latencies count from planned times, and iterations last as long as these: the harness
stops a process under an open loop.
"""

import subprocess
import time
from collections.abc import Container, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sqlitmus.catalog import jobs
from sqlitmus.catalog.cases import PlannedCase, override_of
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import RunnerSpec
from sqlitmus.machine import process_tree
from sqlitmus.run.processes.process import Invocation
from sqlitmus.run.processes.turns import lone
from sqlitmus.run.verify import bounds
from sqlitmus.run.verify.prober import Act, Life, Stop, Verdict, unanswered
from sqlitmus.vocabulary import contract, figures
from sqlitmus.vocabulary.contract import Histogram, Job, Level, Measure, Result, Step

RATE = 1000  # operations a second of each worker
OPERATIONS = 500  # of each worker: half a second, in which the process is stopped twice or more
TIMER_MS = 2
RUN_S, STOP_S = 0.1, 0.1
EDGE_S = 0.001
"""By how much later a thread may stop than a process does: on Linux not at all."""
LATE_S = tuple(n / 100 for n in range(1, 10))
HALF_S = STOP_S / 2
SHORT = 0.99
"""Of the planned time, that an iteration reports at least."""
LEAST = 20
"""Operations that must come that late, or nothing is proven."""


class Loop(NamedTuple):
    """An open loop: operations of workers planned by a `rate`, by the times of a sequence, or not;
    as tasks of an event loop of this `thread`, if of any; whether a writer beside them is planned;
    whether there are several workers."""

    planned: str
    thread: str | None
    writer: bool
    together: bool

    def __str__(self) -> str:
        by = {"rate": "a rate", "sequence": "the times of a sequence", "": "no plan of its workers"}
        more = [
            *([f"tasks of the {self.thread} thread's event loop"] if self.thread else []),
            *(["a writer with a rate"] if self.writer else []),
            *(["two workers"] if self.together else []),
        ]
        return ", ".join([f"an open loop by {by[self.planned]}", *more])


@dataclass(frozen=True, slots=True)
class Stalls:
    """The probe of a loop, with the engine options of the runner's cells."""

    loop: Loop
    engine: dict[str, str | int]

    name = "stalls"
    asks = "whether its latencies count from planned times"

    def job(self, _: str, output: str) -> Job:
        """One iteration, in which a worker does an operation each millisecond."""
        workers = 1 + self.loop.together
        count = OPERATIONS * workers
        step = Step.model_validate(
            {
                "operation": "get",
                "sql": "SELECT ? AS number",
                "parameters": {"types": ["integer"], "rows": [["1"]]},
                "columns": jobs.columns({"number": "integer"}),
            }
        )
        sequence = contract.Sequence(
            groups=[1],
            order=[0] * count,
            workers=[n % workers for n in range(count)],
            planned_us=[n // workers * 1_000_000 // RATE for n in range(count)],
        )
        thread = self.loop.thread
        return Job(
            mode="measure",
            cell=self.name,
            database=contract.Database(path=":memory:"),
            connection=contract.Connection(engine=self.engine),
            steps=[step],
            writer=contract.Writer(steps=[step], operations=OPERATIONS, rate=RATE)
            if self.loop.writer
            else None,
            inspect=False,
            measure=Measure(
                operations_per_iteration=count,
                workers=workers,
                latencies=True,
                rate=RATE if self.loop.planned == "rate" else None,
                sequence=sequence if self.loop.planned == "sequence" else None,
                event_loop=contract.EventLoop.model_validate(
                    {"timer_ms": TIMER_MS, "thread": thread}
                )
                if thread
                else None,
            ),
            output=output,
        )

    def facts(self) -> str:
        return repr((RUN_S, STOP_S, EDGE_S, LATE_S))

    @contextmanager
    def beside(self, _: Path) -> Generator[Act]:
        """Stop the process again and again, from its start to its end."""

        def act(process: subprocess.Popen[bytes], messages: BinaryIO) -> list[Stop]:
            assert process.stdout
            stops: list[Stop] = []
            while not process_tree.ended(process, RUN_S):
                process_tree.stop(process)
                begun = time.monotonic()
                process_tree.ended(process, STOP_S)
                stops.append((begun + EDGE_S, time.monotonic()))
                process_tree.go_on(process)
            messages.write(process.stdout.read())
            return stops

        yield act

    def judged(self, invocation: Invocation, life: Life) -> Verdict:
        """What becomes of the runner; None on a machine so busy that its process was hardly
        stopped in the time of its operations."""
        result = unanswered(invocation, self.asks)
        if not isinstance(result, Result):
            return result
        planned_s = (OPERATIONS - 1) / RATE
        if error := self._times(result, life, planned_s):
            return "failed", error
        for name, rate, histogram in self._recorded(result):
            if histogram is None:
                return "failed", f"{name} reports no latencies, which were asked for"
            if least_late(life, planned_s, HALF_S, RATE) < LEAST:
                return None, f"the machine is too busy to see {self.asks} ({self.loop})"
            for late_s in LATE_S:
                least = least_late(life, planned_s, late_s, rate)
                late = sum(n for b, n in histogram.buckets if figures.bounds(b)[1] >= 1e9 * late_s)
                if late < least:
                    return "failed", _words(name, len(life.stops), late_s, least, late)
        return "ok", None

    def _times(self, result: Result, life: Life, planned_s: float) -> str | None:
        """What is wrong with the times of an iteration, which waits for its last operation."""
        if life.ended - life.begun < planned_s:
            lived = f"{life.ended - life.begun:.2g} s"
            return f"its process lived {lived}; {planned_s:.2g} s were planned"
        workers = enumerate(result.workers)
        times = {
            "its iteration": result.iterations_ns,
            **{
                f"its {worker.role} {number}": worker.iterations_ns
                for number, worker in workers
                if self.loop.planned or worker.role == "writer"
            },
        }
        for name, iterations in times.items():
            if sum(iterations) < SHORT * planned_s * 1e9:
                return (
                    f"{name} reports {bounds.seconds(sum(iterations))} for operations that were "
                    f"planned over {planned_s:.3g} s: its clock or its times are wrong"
                )
        return None

    def _recorded(self, result: Result) -> list[tuple[str, float, Histogram | None]]:
        """What is planned: its name, how many a second, and what was recorded of it."""
        recorded: list[tuple[str, float, Histogram | None]] = [
            (f"its {worker.role} {number}", RATE, worker.latencies)
            for number, worker in enumerate(result.workers)
            if self.loop.planned or worker.role == "writer"
        ]
        if self.loop.thread:
            recorded.append(("its timer", 1000 / TIMER_MS, result.timer))
        expected = (1 + self.loop.together) * bool(self.loop.planned) + self.loop.writer
        missing = [("its result", RATE, None)] * (expected + bool(self.loop.thread) - len(recorded))
        return [*recorded, *missing]


def _words(name: str, stops: int, late_s: float, least: int, late: int) -> str:
    return (
        f"its process was stopped {stops} times for {1e3 * STOP_S:g} ms, so at least {least} "
        f"planned operations came {1e3 * late_s:g} ms late, and {name} reports {late} of these: is "
        "latency counted from the actual start?"
    )


def least_late(life: Life, planned_s: float, late_s: float, rate: float) -> int:
    """How many of the operations that are planned at `rate` over `planned_s`, somewhere in the life
    of their process, end `late_s` or more after their time at least, since it was stopped.

    An operation planned in a stop ends after it, so one planned until `late_s` before the end is so
    late: in every stop those of a stretch of time. How much of the stretches lies within the plan
    is piecewise linear in when that begins, so it is least where a stretch begins or ends. A
    stretch has less than one operation fewer than its length says, and one that the plan begins in
    another one less, since its first operation may come a gap later.
    """
    stretches = [(begin, end - late_s) for begin, end in life.stops if end - late_s > begin]
    latest = life.ended - planned_s
    edges = [edge - shift for of in stretches for edge in of for shift in (0.0, planned_s)]
    begins = [life.begun, latest, *(edge for edge in edges if life.begun < edge < latest)]
    inside = [[min(begin + planned_s, b) - max(begin, a) for a, b in stretches] for begin in begins]
    least_s = min(sum(max(length, 0.0) for length in lengths) for lengths in inside)
    touched = max(sum(length >= 0 for length in lengths) for lengths in inside)
    return max(floor(rate * least_s) - touched - 1, 0)


def loops_of(
    cases: Iterable[PlannedCase],
    catalog: Catalog,
    levels: Container[Level],
    runners: Sequence[RunnerSpec] = (),
) -> dict[Loop, list[PlannedCase]]:
    """The open loops that prove the clocks of those cases that take no turns, and the latencies of
    those that are planned; none for a runner without that level.

    A case that plans nothing is asked under a rate, with as many threads.
    """
    loops: dict[Loop, list[PlannedCase]] = {}
    if "load" not in levels:
        return loops
    for case in cases:
        spec = catalog.scenarios[case.scenario]
        if case.metric == "cold" or not lone(case, spec, runners):
            continue
        pace = override_of(spec, case.axes)
        writer = pace.writer_rate is not None
        unplanned = "" if writer else "rate"
        loop = Loop(
            "sequence"
            if spec.sequence and spec.sequence.planned_us
            else "rate"
            if pace.rate or spec.timer_ms
            else unplanned,
            case.axes.get("thread", "main") if spec.timer_ms else None,
            writer=writer,
            together=case.threads > 1,
        )
        loops.setdefault(loop, []).append(case)
    return loops
