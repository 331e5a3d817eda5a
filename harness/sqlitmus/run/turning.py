"""Decides, before the plan is frozen, which cases' processes take turns."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import sqrt

from sqlitmus.catalog.declared import Mode
from sqlitmus.catalog.planned import Counts, PlannedCase, PlannedCounts
from sqlitmus.machine import limits
from sqlitmus.run.context import Context
from sqlitmus.run.counts import Turning
from sqlitmus.run.observed import Observed
from sqlitmus.run.processes.launch import unsupported
from sqlitmus.run.rehearsal import Rehearsed
from sqlitmus.run.relay.turns import lone
from sqlitmus.run.schedule import connected
from sqlitmus.stats import allocation
from sqlitmus.vocabulary.nouns import counted, listed


def who_takes_turns(
    context: Context,
    cases: list[PlannedCase],
    mode: Mode,
    given: PlannedCounts,
    compared: Iterable[tuple[str, str]],
    observed: Mapping[str, Mapping[str, Observed | None]],
) -> dict[str, Turning]:
    """How the processes of each case take turns; none of a case whose processes do not.

    Cases that are compared do all or none; cells with `given` counts decide for those of their
    case. Processes that do not fit into memory together are measured one after the other.
    """
    if context.relay is None:
        if mode.scheme == "relay":
            reason = unsupported()
            context.progress.say(f"processes are measured one after the other, no turns: {reason}")
        return {}
    rounds = {case: max(c.rounds for c in of.values()) for case, of in given.items() if of}
    usual = mode.rounds if mode.scheme == "relay" else 0
    for case in cases:
        if lone(case, context.catalog.scenarios[case.scenario]):
            rounds[case.id] = 0
    turns: dict[str, Turning] = {}
    for unit in connected([case.id for case in cases], compared):
        many = next((rounds[case] for case in unit if rounds.get(case)), usual)
        if all(rounds.get(case, many) for case in unit) and _room(context, unit, observed):
            turns |= {case: Turning(many, mode.lead_in_ms[1], mode.lap_ms) for case in unit}
    return turns


def _room(
    context: Context, unit: list[str], observed: Mapping[str, Mapping[str, Observed | None]]
) -> bool:
    """Whether the processes of the cases in `unit` fit into memory together; says so if not."""
    needed = _memory_of_all([each for case in unit for each in observed.get(case, {}).values()])
    free = limits.free_memory()
    if free is None or needed <= free:
        return True
    context.progress.insist(
        f"the processes of {listed(unit)} are measured one after the other: alive at once they "
        f"need {needed / 2**20:,.0f} MB, and {free / 2**20:,.0f} MB are free"
    )
    return False


def divided(
    turning: dict[str, Turning],
    shown: Mapping[str, Rehearsed],
    counts: Mapping[str, Callable[[Turning | None], dict[str, Counts]]],
    compared: Iterable[tuple[str, str]],
) -> dict[str, Turning]:
    """The same turns, with more rounds for cases whose laps differ more: in the same time.

    Cases that are compared are one set, and have as many rounds; those that were not `shown`, or
    are compared with such a one, keep theirs.
    """
    spreads: list[float] = []
    costs: list[float] = []
    units: list[list[str]] = []
    for unit in connected(turning, compared):
        if not all(case in shown for case in unit):
            continue
        cost = sum(_round_s(counts[case], turning[case]) for case in unit)
        seen = [spread for case in unit if (spread := shown[case].spread) is not None]
        if cost and seen:
            units.append(unit)
            costs.append(cost)
            spreads.append(sqrt(sum(spread**2 for spread in seen) / len(seen)))
    usual = max((turning[case].rounds for case in shown), default=0)
    each = allocation.rounds(spreads, costs, usual)
    return turning | {
        case: replace(turning[case], rounds=rounds)
        for unit, rounds in zip(units, each, strict=True)
        for case in unit
    }


def _round_s(counts: Callable[[Turning | None], dict[str, Counts]], how: Turning) -> float:
    """Seconds of a round: what two take more than one."""
    less, more = (
        sum(each.seconds for each in counts(replace(how, rounds=rounds)).values())
        for rounds in (1, 2)
    )
    return more - less


def sentence(turning: dict[str, Turning], processor: int | None) -> str:
    """How processes take turns, in a sentence for the terminal; a single thread works on
    `processor`."""
    cases: dict[float, int] = {}
    for how in turning.values():
        cases[how.lead_in_ms] = cases.get(how.lead_in_ms, 0) + 1
    lead_ins = [f"{ms:g} ms in {counted(many, 'case')}" for ms, many in sorted(cases.items())]
    lap_ms = next(iter(turning.values())).lap_ms
    rounds = sorted({how.rounds for how in turning.values()})
    many = f"{rounds[0]}" if len(rounds) == 1 else f"{rounds[0]} to {rounds[-1]}"
    where = "" if processor is None else f", a single thread on processor {processor}"
    return (
        f"processes of a case take turns: {many} of at least {lap_ms:g} ms each, after "
        f"a lead-in of {listed(lead_ins)}{where}"
    )


def _memory_of_all(observed: Iterable[Observed | None]) -> int:
    """Bytes that all processes of a case take that are alive at once, a canary among them."""
    peaks = [o.peak_bytes for o in observed if o and o.peak_bytes]
    return sum(peaks) + max(peaks, default=0)
