"""Runs the cells of a set together: their processes take turns, each is judged by itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.catalog.runners import Installed
from sqlitmus.run.attempt import Attempt
from sqlitmus.run.context import Context
from sqlitmus.run.invocations import Invocations
from sqlitmus.run.judge import OracleAnswer
from sqlitmus.run.relay.relay import Abandoned, Relay
from sqlitmus.run.relay.seat import Entry
from sqlitmus.run.relay.turns import Turns
from sqlitmus.vocabulary.errors import NotFit

TRIES = 5  # of a set that is given up whenever the machine stands by


@dataclass(frozen=True, slots=True)
class Seating:
    """A cell in a set; `label` tells two processes of one runner apart."""

    case: PlannedCase
    runner: Installed
    label: str
    turns: Turns
    answer: OracleAnswer | None
    digest: bool = False


@dataclass(frozen=True, slots=True)
class Turned:
    """What became of a cell in a set; for the others see `relay.Told`."""

    attempt: Attempt
    steady_ns: float | None
    lost_ns: list[int]
    counted: list[bool]
    idle: float | None


def play(
    invocations: Invocations,
    relay: Relay,
    seatings: Sequence[Seating],
    seed: str,
    stopped: Callable[[], bool],
) -> list[Turned]:
    """One set of `seatings`, in their order. Raises Abandoned as `Relay.play` does."""
    several = len({seating.case.id for seating in seatings}) > 1
    begun = [
        invocations.begin(
            *(seating.case, seating.runner, "measure"),
            digest=seating.digest,
            seat=seating.label,
            several=several,
        )
        for seating in seatings
    ]
    entries = [
        Entry(
            *(run.command, run.environment, seating.turns, run.ready.output, run.log),
            single=seating.case.workers == 1,
            patient=_patient(seating.case),
            never_waits=invocations.judging.how(seating.case).never_waits,
            database=run.ready.target,
        )
        for run, seating in zip(begun, seatings, strict=True)
    ]
    try:
        played = relay.play(entries, seed, stopped)
    finally:
        left = invocations.end_leftovers()
    of_nobody = set(left).difference(*(seat.left for seat in played))
    turned: list[Turned] = []
    for run, seating, seat in zip(begun, seatings, played, strict=True):
        names = [name for pid, name in left.items() if pid in seat.left or pid in of_nobody]
        attempt = invocations.judged(run, seat.invocation, seating.answer, names)
        right = attempt.outcome == "ok"
        level = seat.steady_ns if right else None
        turned.append(Turned(attempt, level, seat.lost_ns, seat.counted, seat.idle))
    return turned


def _patient(case: PlannedCase) -> bool:
    """Whether its connections wait while another one recovers the log: SQLite tells the others
    SQLITE_BUSY at once (SQLITE_BUSY_RECOVERY)."""
    return case.journal_mode != "wal" or any(name == "busy_timeout" for name, _ in case.pragmas)


def play_whole(context: Context, seatings: Sequence[Seating], seed: str) -> list[Turned] | None:
    """One set of `seatings`, played again where the machine stood by; None if asked to stop.

    Raises NotFit when it stood by each time.
    """
    assert context.relay
    case = seatings[0].case.id
    for _ in range(TRIES):
        try:
            return play(context.invocations, context.relay, seatings, seed, context.stop.asked)
        except Abandoned as abandoned:
            if context.stop.requested:
                return None
            context.progress.say(f"{case}: {abandoned}; the set is played again")
    raise NotFit(f"{case}: each of {TRIES} sets was given up; start again later")
