"""What each worker, and the writer beside them, does in an iteration."""

import dataclasses
from typing import Literal

from job import Job, Measure, Step
from recording import Manner


@dataclasses.dataclass(frozen=True)
class Part:
    """One thread's work: operations [begin, end) of its steps in the first iteration, `stride`
    further in each next one."""

    role: Literal["worker", "writer"]
    steps: list[Step]
    transaction: str
    begin: int
    end: int
    stride: int
    manner: Manner


def parts(job: Job) -> list[Part]:
    """The parts of this process's workers, then the writer's if there is one."""
    asked, (first, of) = job.measure, _place(job.measure)

    def manner(rate: float | None, offset: float) -> Manner:
        return Manner(asked.latencies, asked.tolerate_busy, rate, offset)

    made = [
        Part(
            *("worker", job.steps, job.transaction, begin, end, asked.operations_per_iteration),
            manner(asked.rate, number / of),
        )
        for number, (begin, end) in enumerate(shares(asked), first)
    ]
    if writer := job.writer:
        count, own = writer.operations, manner(writer.rate, 0)
        made.append(Part("writer", writer.steps, writer.transaction, 0, count, count, own))
    return made


def shares(measure: Measure) -> list[tuple[int, int]]:
    """Operation numbers [begin, end) of each worker of this process in the first iteration."""
    total, first, of = measure.operations_per_iteration, *_place(measure)
    numbers = range(first, first + measure.workers)
    return [(total * w // of, total * (w + 1) // of) for w in numbers]


def _place(measure: Measure) -> tuple[int, int]:
    """The number of this process's first worker, and how many there are in all processes."""
    share = measure.share
    return (share.first, share.of) if share else (0, measure.workers)
