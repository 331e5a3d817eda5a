"""Runs a few processes of each cell before the plan is frozen, and remembers the observations."""

import time

from sqlitmus.catalog.definitions import Mode
from sqlitmus.catalog.plan import Case, Cells, PlannedCounts
from sqlitmus.run.context import Context
from sqlitmus.run.counts import TIMED, Observed, PilotProcess, allocate, observe
from sqlitmus.run.verify import Answers

FIRST_WINDOW_MS = 300
BEYOND = 1.5  # how much longer than a mode's longest warm-up the pilot looks
REFERENCE_PROCESSES = 3  # enough to see how processes of one cell differ
LEAST_ITERATIONS = 4  # of warm-up: with those timed, what finding its end needs


def plan_counts(
    context: Context,
    cases: list[Case],
    cells: Cells,
    answers: Answers,
    mode: Mode,
    reference: str,
    given: PlannedCounts,
) -> PlannedCounts:
    """Counts of each cell: those `given`, otherwise from a pilot's new or remembered observations.

    A cell that goes wrong in the pilot gets none, and its record in `answers` has the reason.
    """
    least_ms = {name: runner.spec.warmup_ms for name, runner in context.installed.items()}
    planned: PlannedCounts = {}
    for case in cases:
        observed: dict[str, Observed | None] = {}
        ready = given.get(case.id, {})
        for name in cells[case.id]:
            if name in ready:
                continue
            target = mode.pilot
            if target and name == reference:
                target = max(target, REFERENCE_PROCESSES)
            observation = _observed(context, case, name, answers, mode, target)
            if answers.records[case.id, name].outcome == "ok":
                observed[name] = observation
        taken = {name: ready[name] for name in cells[case.id] if name in ready}
        planned[case.id] = {**allocate(case, observed, mode, least_ms), **taken}
    return planned


def _observed(
    context: Context, case: Case, name: str, answers: Answers, mode: Mode, target: int
) -> Observed | None:
    """The observation of a cell over `target` processes; None if one of them went wrong."""
    key = context.key(case, name)
    # at least this long, so that a mode that warms up for less knows what it leaves out
    first_ms = max(FIRST_WINDOW_MS, int(BEYOND * context.installed[name].spec.warmup_ms))
    longest_ms = max(first_ms, int(BEYOND * mode.warmup_ms[1]))
    remembered = context.memory.observed(key)
    enough = (
        remembered
        and remembered.processes >= target
        and remembered.window_ms >= _needed(remembered, longest_ms)
    )
    if enough or not target:
        return remembered
    processes: list[PilotProcess] = []
    window_ms = first_ms
    observation: Observed | None = None
    for number in range(target):
        if context.stop.requested:
            return observation
        context.progress.step(f"pilot  {case.id}  {name}  {number + 1}/{target}")
        process = _try(context, case, name, answers, window_ms)
        if process is None:
            return None
        processes.append(process)
        observation = observe(processes, case, window_ms)
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


def _try(
    context: Context, case: Case, name: str, answers: Answers, window_ms: int
) -> PilotProcess | None:
    """One process of the cell, warmed up for `window_ms`; records a failure and returns None."""
    trial = case
    if case.metric == "steady" and not case.fixed:
        counts = {
            "warmup_ms": window_ms,
            "warmup_iterations": LEAST_ITERATIONS,
            "iterations": TIMED,
        }
        trial = case.model_copy(update=counts)
    begin = time.monotonic()
    expected = answers.expected[case.id, case.operations]
    attempt = context.invocations.attempt(trial, context.installed[name], "measure", expected)
    seconds = time.monotonic() - begin
    result = attempt.invocation.result
    if attempt.outcome != "ok" or result is None:
        answers.records[case.id, name] = answers.records[case.id, name].model_copy(
            update={
                "outcome": attempt.outcome,
                "reason": f"in the pilot: {attempt.reason}",
                "log": attempt.log,
            }
        )
        context.progress.say(f"{case.id}/{name}: {attempt.outcome} in the pilot: {attempt.reason}")
        return None
    return PilotProcess(seconds, [*result.warmup_ns, *result.iterations_ns])
