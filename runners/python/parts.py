"""What each worker, and the writer beside them, does in an iteration."""

import dataclasses
from typing import Literal

from job import Job, Measure, Sequence, Step
from recording import Manner


class Order:
    """Which steps each operation performs, from place to place of a sequence: `nth` is how often
    its group came before since the beginning, `mine` whether this worker performs it."""

    def __init__(self, sequence: Sequence, worker: int | None) -> None:
        ends = [sum(sequence.groups[: n + 1]) for n in range(len(sequence.groups))]
        pairs = zip(ends, sequence.groups, strict=True)
        self.steps = [range(end - size, end) for end, size in pairs]
        self.groups = sequence.order
        self.planned_us = sequence.planned_us
        self.nth: list[int] = []
        before = [0] * len(self.steps)
        for group in self.groups:
            self.nth.append(before[group])
            before[group] += 1
        self.mine: list[bool] = []
        if worker is not None and sequence.workers:
            self.mine = [each == worker for each in sequence.workers]

    def at(self, operation: int) -> tuple[range, int]:
        """The steps of an operation, by number, and how often they came before."""
        place = operation % len(self.groups)
        return self.steps[self.groups[place]], self.nth[place]


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
    order: Order | None = None

    def operations(self, iterations: int) -> int:
        """How many it performs in so many iterations."""
        if self.order is None or not self.order.mine:
            return (self.end - self.begin) * iterations
        mine, length = self.order.mine, len(self.order.mine)
        return sum(mine[n % length] for n in range(self.stride * iterations))


def parts(job: Job) -> list[Part]:
    """The parts of this process's workers, then the writer's if there is one."""
    asked, (first, of) = job.measure, _place(job.measure)

    def manner(rate: float | None, offset: float) -> Manner:
        recorded = rate is None and bool(asked.sequence and asked.sequence.planned_us)
        return Manner(asked.latencies, asked.tolerate_busy, rate, offset, recorded)

    sequence, cuts = asked.sequence, shares(asked)
    if sequence and sequence.workers:
        cuts = [(0, asked.operations_per_iteration)] * asked.workers
    made = [
        Part(
            *("worker", job.steps, job.transaction, begin, end, asked.operations_per_iteration),
            manner(asked.rate, number / of),
            Order(sequence, number) if sequence else None,
        )
        for number, (begin, end) in enumerate(cuts, first)
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
