"""What is kept of an invocation: its sample, and its iterations."""

import statistics

from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.run.attempt import Attempt
from sqlitmus.run.lines import Iterations, Sample
from sqlitmus.run.schedule import Slot
from sqlitmus.run.sets import Turned
from sqlitmus.vocabulary import figures


def witnesses(slot: Slot, take: int, case: PlannedCase) -> bool:
    """Whether an invocation also gives a digest: the first of each cell that iterates."""
    first = slot.block == 0 and take == 0 and slot.label == slot.runner
    return first and case.metric != "cold" and not case.processes and not case.writes


def to_sample(
    slot: Slot, take: int, attempt: Attempt, *, digest: bool = False, turned: Turned | None = None
) -> tuple[Sample, Iterations | None]:
    """What is kept of an invocation, of a set where it is `turned`.

    A process that gave a digest did more than the others of its cell: it has no figures of the
    whole process. The wall time of one that took turns is that of the others, too.
    """
    timing, result = attempt.invocation.timing, attempt.invocation.result
    sample = Sample(
        block=slot.block,
        take=take,
        position=slot.position,
        case=slot.case,
        runner=slot.runner,
        label=slot.label,
        outcome=attempt.outcome,
        reason=attempt.reason,
        log=attempt.log,
    )
    # A wrong or failed invocation has no figures: they must never look like a result.
    if attempt.outcome != "ok" or result is None or timing is None:
        return sample, None
    iterations = result.iterations_ns
    figured = {
        figure.name: figure.measured(attempt.invocation, len(iterations))
        for figure in figures.FIGURES
        if not (digest and figure.per == "process")
        if not (turned and figure.primary)
    }
    measured: dict[str, object] = {"figures": figured}
    if not iterations:
        return sample.model_copy(update=measured), None
    measured["steady_ns"] = turned.steady_ns if turned else statistics.fmean(iterations)
    series = Iterations(
        position=slot.position,
        take=take,
        warmup_ns=result.warmup_ns,
        iterations_ns=iterations,
        lost_ns=turned.lost_ns if turned else [],
        counted=turned.counted if turned else [],
    )
    return sample.model_copy(update=measured), series
