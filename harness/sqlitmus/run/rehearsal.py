"""Plays one short set of each case before the plan is frozen: how long a lead-in has to be."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np

from sqlitmus.catalog.declared import Mode
from sqlitmus.catalog.planned import Counts, PlannedCase
from sqlitmus.run import sets
from sqlitmus.run.answers import Answers, oracle_answer
from sqlitmus.run.context import Context
from sqlitmus.run.preparation import Unanswered
from sqlitmus.run.relay.settling import Settling, lead_in_ms, settling, spreads
from sqlitmus.run.relay.turns import Array, Turns, laps, timed
from sqlitmus.run.sets import Seating

ROUNDS = 4
SHARE_OF_MARGIN = 0.25
TRIMMED = 1.15
"""The variance of a 25 % trimmed mean of normal noise, relative to that of its mean."""
AS_OF_THREE = 0.63 / 0.82
"""The geometric means of deviations of three normal values and of `ROUNDS`, relative to the true
one; the forecast mends that of three, which is what other pilots give."""


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """The lead-in of a case in ms, for all of its runners alike, and the deviation of ln time of a
    lap of each from round to round, None where it is unknown; and how many times as long as the
    median iteration the mean one of each takes."""

    lead_in_ms: int
    spreads: dict[str, float | None]
    stalls: dict[str, float]

    @property
    def spread(self) -> float | None:
        """That of all runners together: the root of their mean variance."""
        seen = [spread for spread in self.spreads.values() if spread is not None]
        return float(np.sqrt(np.mean(np.square(seen)))) if seen else None

    def deviations(self, rounds: int) -> dict[str, float | None]:
        """The deviation of ln time of a set of so many `rounds`, as far as laps explain it."""
        share = AS_OF_THREE * sqrt(TRIMMED / rounds)
        return {name: spread and share * spread for name, spread in self.spreads.items()}


def rehearse(
    context: Context,
    case: PlannedCase,
    counts: Mapping[str, Counts],
    answers: Answers,
    mode: Mode,
    margin: float,
) -> Rehearsed:
    """What a short set of `case` shows; `counts` are as for the longest lead-in.

    After the lead-in a lap is slower than later ones by at most a quarter of the `margin`. A runner
    that goes wrong gets a record that says so. What was seen of a cell before is not tried again.
    """
    keys = {name: context.key(case, name) for name in counts}
    seen = {name: context.memory.settling(key) for name, key in keys.items()}
    if mode.pilot and not all(seen.values()):
        seen = _rehearsed(context, case, counts, answers)
        for name, cell in seen.items():
            if cell:
                context.memory.keep_settling(keys[name], cell)
    limit = SHARE_OF_MARGIN * margin
    settled = {name: cell for name, cell in seen.items() if cell}
    least = lead_in_ms(list(settled.values()), limit, mode.lap_ms, mode.lead_in_ms)
    return Rehearsed(
        least,
        {name: cell.spread for name, cell in settled.items()},
        {name: cell.stalled for name, cell in settled.items()},
    )


def _rehearsed(
    context: Context, case: PlannedCase, counts: Mapping[str, Counts], answers: Answers
) -> dict[str, Settling | None]:
    seatings: list[Seating] = []
    # a process alone would have the caches to itself, so the only runner of a case sits there twice
    for name, planned in [*counts.items()] * (2 if len(counts) == 1 else 1):
        per_turn = planned.iterations // planned.rounds
        rounds = planned.rounds if case.writes else ROUNDS  # what is stated is done as a whole
        fewer = planned.model_copy(update={"rounds": rounds, "iterations": rounds * per_turn})
        counted = fewer.of(case)
        try:
            answer = oracle_answer(context, counted.answered(), answers)
        except Unanswered:  # told when the plan is asked for
            return {}
        runner = context.installed[name]
        label = f"{name} again" if seatings and len(counts) == 1 else name
        seatings.append(Seating(counted, runner, label, Turns.of(fewer), answer))
    context.progress.step(f"pilot  {case.id}  {len(seatings)} in turns")
    turned = sets.play_whole(context, seatings, case.id)
    if turned is None:
        return {}
    seen: dict[str, Settling | None] = {}
    table: list[Array] = []
    for seating, attempt in zip(seatings, (each.attempt for each in turned), strict=True):
        result, name = attempt.invocation.result, seating.runner.spec.name
        if attempt.outcome == "ok" and result:
            seen[seating.label] = settling(result.iterations_ns, seating.turns)
            table.append(laps(timed(result.iterations_ns, seating.turns)))
        else:
            answers.went_wrong(case, name, attempt, "in the pilot")
            reason = f"{attempt.outcome} in the pilot: {attempt.reason}"
            context.progress.say(f"{case.id}/{name}: {reason}")
    for name, spread in zip(seen, spreads(np.array(table)), strict=True):
        seen[name] = (cell := seen[name]) and cell.model_copy(update={"spread": spread})
    return {name: cell for name, cell in seen.items() if name in counts}
