"""How far the runners of a case did the same work, by the counts of the plan. Pure.

Warm-up by time is no fixed work: in it a faster process does more iterations, and in a longer
warm-up every process does.
"""

from sqlitmus.analysis.data import Counts, Plan, PlannedCase
from sqlitmus.vocabulary.figures import Alike


def alike(plan: Plan, case: PlannedCase) -> Alike:
    """How far all processes of `case` do the same.

    Runners without counts in the plan have those of the case.
    """
    counts = {
        (of.operations, of.iterations, of.warmup_iterations, of.warmup_ms)
        for of in plan.counts.get(case.id, {}).values()
    }
    if len(counts) > 1:
        return "neither"
    by_time = any(warmup_ms for *_, warmup_ms in counts) if counts else case.warmup_ms
    return "iterations" if by_time else "processes"


def whole(case: PlannedCase, counts: Counts | None) -> int | None:
    """Operations of a whole process, warm-up included; None where it warms up by time.

    Without counts they are those of one iteration.
    """
    if counts is None:
        return None if case.warmup_ms else case.operations
    if counts.warmup_ms:
        return None
    return counts.operations * (counts.warmup_iterations + counts.iterations)
