"""Decides, before the plan is frozen, which cases' processes take turns."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from sqlitmus.catalog.definitions import Mode
from sqlitmus.catalog.plan import Case, Counts, PlannedCounts
from sqlitmus.machine import limits
from sqlitmus.run.context import Context
from sqlitmus.run.counts import Observed, Turning, memory_of_all
from sqlitmus.run.processes.launch import unsupported
from sqlitmus.run.rehearsal import Rehearsed
from sqlitmus.run.relay.turns import lone
from sqlitmus.run.schedule import connected
from sqlitmus.stats import allocation
from sqlitmus.vocabulary.nouns import counted, listed


def who_takes_turns(
    context: Context,
    cases: list[Case],
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
    free = limits.free_memory()
    for case_id, of in observed.items():
        needed = memory_of_all(of.values())
        if rounds.get(case_id, usual) and free is not None and needed > free:
            rounds[case_id] = 0
            context.progress.insist(
                f"{case_id}: its processes are measured one after the other: alive at once they "
                f"need {needed / 2**20:,.0f} MB, and {free / 2**20:,.0f} MB are free"
            )
    units = connected([case.id for case in cases], compared)
    return {
        case: Turning(rounds.get(case, usual), mode.lead_in_ms[1], mode.lap_ms)
        for unit in units
        if all(rounds.get(case, usual) for case in unit)
        for case in unit
    }


def divided(
    turning: dict[str, Turning],
    shown: Mapping[str, Rehearsed],
    counts: Mapping[str, Callable[[Turning | None], dict[str, Counts]]],
) -> dict[str, Turning]:
    """The same turns, with more rounds for cases whose laps differ more: in the same time."""
    spreads: dict[str, float] = {}
    costs: dict[str, float] = {}
    for case, how in turning.items():
        of = counts[case](how).values()
        cost = sum((c.operation_ns or 0) * c.operations * c.iterations / c.rounds for c in of)
        spread = shown[case].spread
        if cost and spread is not None:
            spreads[case], costs[case] = spread, cost
    usual = max((how.rounds for how in turning.values()), default=0)
    each = allocation.rounds([*spreads.values()], [*costs.values()], usual)
    return turning | {
        case: replace(turning[case], rounds=rounds)
        for case, rounds in zip(spreads, each, strict=True)
    }


def sentence(turning: dict[str, Turning]) -> str:
    """How processes take turns, in a sentence for the terminal."""
    cases: dict[float, int] = {}
    for how in turning.values():
        cases[how.lead_in_ms] = cases.get(how.lead_in_ms, 0) + 1
    lead_ins = [f"{ms:g} ms in {counted(many, 'case')}" for ms, many in sorted(cases.items())]
    lap_ms = next(iter(turning.values())).lap_ms
    rounds = sorted({how.rounds for how in turning.values()})
    many = f"{rounds[0]}" if len(rounds) == 1 else f"{rounds[0]} to {rounds[-1]}"
    return (
        f"processes of a case take turns: {many} of at least {lap_ms:g} ms each, after "
        f"a lead-in of {listed(lead_ins)}"
    )
