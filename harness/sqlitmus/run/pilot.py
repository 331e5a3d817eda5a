"""Runs a few processes of each cell before the plan is frozen, and remembers the observations."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial

from sqlitmus.catalog.declared import Mode
from sqlitmus.catalog.planned import Cells, Counts, PlannedCase, PlannedCounts
from sqlitmus.run.answers import Answers, oracle_answer
from sqlitmus.run.context import Context
from sqlitmus.run.counts import Turning, Work, allocate, fitting, looked_at, work
from sqlitmus.run.observed import TIMED, Observed, PilotProcess, observe
from sqlitmus.run.pace import Pace, pace
from sqlitmus.run.preparation import Unanswered
from sqlitmus.run.rehearsal import Rehearsed, rehearse
from sqlitmus.run.relay.turns import lone
from sqlitmus.run.schedule import Cell, connected
from sqlitmus.run.turning import divided, sentence, who_takes_turns

FIRST_WINDOW_MS = 300
BEYOND = 1.5  # how much longer than a mode's longest warm-up the pilot looks
REFERENCE_PROCESSES = 3  # enough to see how lone processes of one cell differ
LEAST_WARMUP = 4  # iterations: with those timed, what finding its end needs


def plan_counts(
    context: Context,
    cases: list[PlannedCase],
    cells: Cells,
    answers: Answers,
    mode: Mode,
    reference: str,
    given: PlannedCounts,
    *,
    margin: float,
    alike: bool = False,
    compared: Iterable[tuple[Cell, Cell]] = (),
) -> PlannedCounts:
    """Counts of each cell: those `given`, otherwise from a pilot's new or remembered observations.

    All runners of a case do the same operations, those of a case that has `given` counts; so do
    cases that have cells `compared` with each other, but those of fixed counts. `alike` gives the
    new runners of a case the same counts throughout. A cell that goes wrong in the pilot gets none,
    and its record in `answers` has the reason. Where processes take turns, their lead-in leaves a
    bias of at most a quarter of the `margin`.
    """
    new = any(name not in given.get(case.id, {}) for case in cases for name in cells[case.id])
    now = pace() if mode.pilot and new else None
    observed = {
        case.id: _all_observed(context, case, cells, answers, mode, reference, given, now)
        for case in cases
    }
    by_id = {case.id: case for case in cases}
    pairs = [(base, new) for (base, _), (new, _) in compared if {base, new} <= by_id.keys()]
    turning = who_takes_turns(context, cases, mode, given, pairs, observed)
    piloted = {case.id for case in cases if case.metric == "steady" and not case.fixed}
    alike_pairs = [(a, b) for a, b in pairs if {a, b} <= piloted]
    least_ms = {name: runner.spec.warmup_ms for name, runner in context.installed.items()}
    planned: PlannedCounts = {}
    shown: dict[str, Rehearsed] = {}
    allocated: dict[str, Callable[[Turning | None], dict[str, Counts]]] = {}
    stated: set[str] = set()  # cases whose stated work decides the number of rounds
    for unit in connected(by_id, alike_pairs):
        members = [by_id[case_id] for case_id in unit]
        seen = [each for case in members for each in observed[case.id].values()]
        stated |= {case.id for case in members if any(each.stated for each in members)}
        for case in members:
            ready = {n: c for n, c in given.get(case.id, {}).items() if n in cells[case.id]}
            planned[case.id] = ready
            seen_of = observed[case.id]

            def counts_of(
                how: Turning | None,
                seen_of: Mapping[str, Observed | None] = seen_of,
                case: PlannedCase = case,
                ready: Mapping[str, Counts] = ready,
                seen: list[Observed | None] = seen,
            ) -> dict[str, Counts]:
                first = next(iter(ready.values()), None)
                todo = as_given(first) if first else work(case, seen, mode, how)
                return allocate(case, seen_of, mode, least_ms, todo, how, alike=alike)

            allocated[case.id] = counts_of
            if case.id not in turning:
                continue
            how = turning[case.id]
            if mode.pilot:  # cases that are compared take their turns in one set
                how = turning[case.id] = replace(how, rounds=fitting(members, how.rounds))
            if (counts := counts_of(how)) and not ready:
                seen_in_turns = rehearse(context, case, counts, answers, mode, margin)
                shown[case.id] = seen_in_turns
                turning[case.id] = replace(how, lead_in_ms=seen_in_turns.lead_in_ms)
                allocated[case.id] = partial(counts_of, seen_of=_stalling(seen_of, seen_in_turns))
    free = {case_id: each for case_id, each in shown.items() if case_id not in stated}
    turning = divided(turning, free, allocated, pairs)
    turning |= _in_whole_walks(turning, stated, by_id, mode)
    for case_id, of in planned.items():
        counts = allocated[case_id](turning.get(case_id))
        if case_id in shown:
            deviations = shown[case_id].deviations(turning[case_id].rounds)
            counts = {
                name: c.model_copy(update={"deviation": deviations.get(name)})
                for name, c in counts.items()
            }
        right = {n: c for n, c in counts.items() if answers.records[case_id, n].outcome == "ok"}
        planned[case_id] = of | right
    if turning and context.relay:
        context.progress.say(sentence(turning, context.relay.processor))
    return planned


def _in_whole_walks(
    turning: Mapping[str, Turning],
    stated: Collection[str],
    cases: Mapping[str, PlannedCase],
    mode: Mode,
) -> dict[str, Turning]:
    """Turns in so many rounds that laps add up to whole walks, where a pilot finds their length and
    the work is not `stated`."""
    return {
        case: replace(how, rounds=fitting([cases[case]], how.rounds))
        for case, how in turning.items()
        if mode.pilot and case not in stated
    }


def _stalling(seen: Mapping[str, Observed | None], shown: Rehearsed) -> dict[str, Observed | None]:
    """What was `seen` of the cells, and of their stalls in a set of turns."""
    return {n: o and o.also_stalling(shown.stalls.get(n, 1)) for n, o in seen.items()}


def as_given(counts: Counts) -> Work:
    """The work of `counts`, for further runners of their case."""
    rounds = counts.rounds or 1
    lap = counts.iterations // rounds - counts.lead_in
    return Work(counts.operations, lap, rounds, counts.lead_in, whole=True)


def _all_observed(
    context: Context,
    case: PlannedCase,
    cells: Cells,
    answers: Answers,
    mode: Mode,
    reference: str,
    given: PlannedCounts,
    now: Pace | None,
) -> dict[str, Observed | None]:
    """The observations of the cells of `case` that have no counts yet and went well."""
    # the deviations of a case whose processes take turns come from its rehearsal
    spec = context.catalog.scenarios[case.scenario]
    in_turns = mode.scheme == "relay" and context.relay is not None and not lone(case, spec)
    observed: dict[str, Observed | None] = {}
    for name in cells[case.id]:
        if name in given.get(case.id, {}):
            continue
        target = mode.pilot
        if target and name == reference and not in_turns:
            target = max(target, REFERENCE_PROCESSES)
        observation = _observed(context, case, name, answers, mode, target, now)
        if answers.records[case.id, name].outcome == "ok":
            observed[name] = observation
    return observed


def _observed(
    context: Context,
    case: PlannedCase,
    name: str,
    answers: Answers,
    mode: Mode,
    target: int,
    now: Pace | None,
) -> Observed | None:
    """The observation of a cell over `target` processes; None if one of them went wrong.

    A remembered one is taken only if the machine's pace is still what it was.
    """
    key = context.key(case, name)
    least_ms = context.installed[name].spec.warmup_ms
    longest_ms = int(BEYOND * max(least_ms, mode.warmup_ms[1]))
    # where a least is given, the last level may come so late that all before it looks flat
    window_ms = longest_ms if least_ms else min(FIRST_WINDOW_MS, longest_ms)
    remembered = context.memory.observed(key)
    enough = (
        remembered
        and remembered.processes >= target
        and (now is None or (remembered.pace is not None and now.agrees(remembered.pace)))
        and remembered.window_ms >= _needed(remembered, longest_ms)
    )
    if enough or not target:
        return remembered
    processes: list[PilotProcess] = []
    observation: Observed | None = None
    for number in range(target):
        if context.stop.requested:
            return observation
        context.progress.step(f"pilot  {case.id}  {name}  {number + 1}/{target}")
        process = _try(context, case, name, answers, window_ms)
        if process is None:
            return None
        processes.append(process)
        observation = observe(processes, case, window_ms).model_copy(update={"pace": now})
        window_ms = max(window_ms, _needed(observation, longest_ms))
    if observation:
        context.memory.keep_observed(key, observation)
    return observation


def _needed(observation: Observed, longest_ms: int) -> int:
    """A window that surely shows the last level: twice its start, but at most `longest_ms`."""
    if observation.steadiness is None:
        return 0
    if observation.steady_from_ms is None or observation.steadiness == "slowdown":
        return longest_ms
    return min(int(2 * observation.steady_from_ms), longest_ms)


def _trial(case: PlannedCase, window_ms: int) -> PlannedCase:
    """The case as a pilot's process does it: warmed up by time, or the work that is stated."""
    if not case.stated:
        counts = {"warmup_ms": window_ms, "warmup_iterations": LEAST_WARMUP, "iterations": TIMED}
        return case.model_copy(update=counts)
    warmup, timed = case.stated
    operations = looked_at(case, warmup, timed, case.operations)
    counts = {
        "operations": operations,
        "warmup_ms": 0,
        "warmup_iterations": warmup // operations,
        "iterations": timed // operations,
    }
    return case.model_copy(update=counts)


def _try(
    context: Context, case: PlannedCase, name: str, answers: Answers, window_ms: int
) -> PilotProcess | None:
    """One process of the cell, warmed up for `window_ms`; records a failure and returns None."""
    trial = case
    if case.metric == "steady" and not case.fixed:
        trial = _trial(case, window_ms)
    try:
        expected = oracle_answer(context, trial.answered(), answers)
    except Unanswered as silence:
        answers.give_up(case, [name], silence)
        return None
    begin = time.monotonic()
    attempt = context.invocations.attempt(trial, context.installed[name], "measure", expected)
    seconds = time.monotonic() - begin
    result = attempt.invocation.result
    if attempt.outcome != "ok" or result is None:
        answers.went_wrong(case, name, attempt, "in the pilot")
        context.progress.say(f"{case.id}/{name}: {attempt.outcome} in the pilot: {attempt.reason}")
        return None
    iterations = [*result.warmup_ns, *result.iterations_ns]
    return PilotProcess(seconds, iterations, trial.operations, result.peak_rss_bytes or None)
