"""Whether two runs can be compared: the same machine, the same work."""

from collections.abc import Sequence

from sqlitmus.analysis.data import RunData
from sqlitmus.catalog.same_work import differences, facts
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.nouns import listed, some

SHOWN = 3
_SAME = ("cpu", "cores", "architecture", "memory", "os", "kernel")


def same_machine(base: RunData, new: RunData) -> None:
    """Raise UsageError for runs of different machines."""
    for fact in _SAME:
        one, other = base.machine.get(fact), new.machine.get(fact)
        if one != other:
            raise UsageError(
                f"the runs are of different machines: {fact} is {one or 'unknown'} in "
                f"{base.plan.run} and {other or 'unknown'} in {new.plan.run}. Times of different "
                "machines are not compared; measure both on one."
            )


def same_work(base: RunData, new: RunData, ids: Sequence[str]) -> None:
    """Raise for a case that is not the same work in both runs."""
    changed = differences(facts(base.plan, ids), facts(new.plan, ids))
    if changed:
        shown = listed(changed[:SHOWN])
        more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
        raise UsageError(
            f"{base.plan.run} and {new.plan.run} did not do the same work: {shown}{more} changed. "
            "Compare runs of the same scenarios and fixtures, or measure both sides in one run "
            "with `./just compare BASE NEW`."
        )


def same_scheme(base: RunData, new: RunData, ids: Sequence[str]) -> None:
    """Raise UsageError for cases whose processes took turns in one of the runs only, or whose
    single thread did so on one processor in one of them only."""
    differing = [i for i in ids if base.plan.took_turns(i) != new.plan.took_turns(i)]
    if differing:
        turns, alone = (base, new) if base.plan.took_turns(differing[0]) else (new, base)
        raise UsageError(
            f"in {some(differing)} the processes of {turns.plan.run} took turns, and those of "
            f"{alone.plan.run} ran one after the other, which changes times by itself. Measure "
            "both runs with the same --scheme, or both sides in one run with "
            "`./just compare BASE NEW`."
        )
    single = {case.id for case in base.plan.cases if case.workers == 1}
    turned = [i for i in ids if i in single and base.plan.took_turns(i)]
    bound = [run for run in (base, new) if run.plan.processor is not None]
    if turned and len(bound) == 1:
        raise UsageError(
            f"in {some(turned)} only {bound[0].plan.run} kept the thread that did the work on one "
            "processor, which changes times by itself. Measure both runs with this version of "
            "sqlitmus, or both sides in one run with `./just compare BASE NEW`."
        )

