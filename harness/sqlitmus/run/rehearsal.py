"""Plays one short set of each case before the plan is frozen: how long a lead-in has to be."""

from collections.abc import Mapping

from sqlitmus.catalog.definitions import Mode
from sqlitmus.catalog.plan import Case, Counts
from sqlitmus.run import sets
from sqlitmus.run.context import Context
from sqlitmus.run.preparation import Unanswered
from sqlitmus.run.relay.relay import Abandoned
from sqlitmus.run.relay.settling import Settling, lead_in_ms, settling
from sqlitmus.run.relay.turns import Turns
from sqlitmus.run.sets import Seating
from sqlitmus.run.verify import Answers, oracle_answer

ROUNDS = 4
SHARE_OF_MARGIN = 0.25


def lead_in(
    context: Context,
    case: Case,
    counts: Mapping[str, Counts],
    answers: Answers,
    mode: Mode,
    margin: float,
) -> int:
    """The lead-in of `case` in ms, for all of its runners alike; `counts` are as for the longest.

    After it a lap is slower than later ones by at most a quarter of the `margin`. A runner that
    goes wrong gets a record that says so. What was seen of a cell before is not tried again.
    """
    keys = {name: context.key(case, name) for name in counts}
    seen = {name: context.memory.settling(key) for name, key in keys.items()}
    if mode.pilot and not all(seen.values()):
        seen = _rehearsed(context, case, counts, answers)
        for name, cell in seen.items():
            if cell:
                context.memory.keep_settling(keys[name], cell)
    limit = SHARE_OF_MARGIN * margin
    return lead_in_ms(list(filter(None, seen.values())), limit, mode.lap_ms, mode.lead_in_ms)


def _rehearsed(
    context: Context, case: Case, counts: Mapping[str, Counts], answers: Answers
) -> dict[str, Settling | None]:
    context.progress.step(f"pilot  {case.id}  {len(counts)} in turns")
    assert context.relay
    seatings: list[Seating] = []
    for name, planned in counts.items():
        per_turn = planned.iterations // planned.rounds
        fewer = planned.model_copy(update={"rounds": ROUNDS, "iterations": ROUNDS * per_turn})
        counted = fewer.of(case)
        try:
            answer = oracle_answer(context, counted, answers)
        except Unanswered:  # told when the plan is asked for
            return {}
        runner = context.installed[name]
        seatings.append(Seating(counted, runner, name, Turns.of(fewer), answer))
    try:
        turned = sets.play(
            context.invocations, context.relay, seatings, case.id, context.stop.asked
        )
    except Abandoned:
        return {}
    seen: dict[str, Settling | None] = {}
    for seating, attempt in zip(seatings, (each.attempt for each in turned), strict=True):
        result = attempt.invocation.result
        if attempt.outcome == "ok" and result:
            seen[seating.label] = settling(result.iterations_ns, seating.turns)
        else:
            answers.went_wrong(case, seating.label, attempt, "in the pilot")
            reason = f"{attempt.outcome} in the pilot: {attempt.reason}"
            context.progress.say(f"{case.id}/{seating.label}: {reason}")
    return seen
