"""How far the runners of a case did the same work, by the counts of the plan. Pure.

Runners warm up for as long as each needs, and time the same operations after it. A process that
takes turns waits for the others, so its whole time is not its own.
"""

from sqlitmus.catalog.plan import Plan
from sqlitmus.catalog.planned import Counts, PlannedCase
from sqlitmus.vocabulary.figure import Alike


def alike(plan: Plan, case: PlannedCase) -> Alike:
    """How far all processes of `case` do the same.

    Runners without counts in the plan have those of the case.
    """
    planned = plan.counts.get(case.id, {}).values()
    if len({(of.operations, of.iterations, of.lead_in) for of in planned}) > 1:
        return "neither"
    warmups = {(of.warmup_iterations, of.warmup_ms) for of in planned}
    if any(of.rounds for of in planned) or len(warmups) > 1:
        return "iterations"
    by_time = any(of.warmup_ms for of in planned) if planned else case.warmup_ms
    return "iterations" if by_time else "processes"


def sentences(plan: Plan, case: PlannedCase) -> str:
    """What a process of `case` does: the operations that it times and those before them, and how
    many of its parameters it binds; the least of all runners where they differ."""
    planned = list(plan.counts.get(case.id, {}).values())
    if not planned or not case.operations or any(counts.warmup_ms for counts in planned):
        return ""
    timed = min(c.operations * (c.iterations - c.rounds * c.lead_in) for c in planned)
    warmups = [c.operations * c.warmup_iterations for c in planned]
    bound = min(c.operations * (c.warmup_iterations + c.iterations) for c in planned)
    warmup = " to ".join(dict.fromkeys(f"{many:,}" for many in (min(warmups), max(warmups))))
    sentence = f"A process times {_counted(timed)} after a warm-up of {warmup}."
    if case.walk == 1:
        return sentence
    walk = _counted(case.walk)
    if bound >= case.walk:
        return f"{sentence} It binds all parameters, which begin again after {walk}."
    return f"{sentence} It binds {bound / case.walk:.0%} of the parameters, which are for {walk}."


def _counted(operations: int) -> str:
    return f"{operations:,} operation{'' if operations == 1 else 's'}"


def whole(case: PlannedCase, counts: Counts | None) -> int | None:
    """Operations of a whole process, warm-up included; None where it warms up by time.

    Without counts they are those of one iteration.
    """
    if counts is None:
        return None if case.warmup_ms else case.operations
    if counts.warmup_ms or counts.rounds:
        return None
    return counts.operations * (counts.warmup_iterations + counts.iterations)
