"""One set: all processes of a case are started, warm up one after the other, and take turns."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlitmus.run.hyperfine import Hyperfine, Invocation
from sqlitmus.run.relay.seat import Entry, Seat
from sqlitmus.run.relay.turns import Turns, laps, level_ns, order

WATCHED = 1  # the round before which it is read what each process did while it waited


@dataclass(frozen=True, slots=True)
class Told:
    """What a set tells of one seat.

    `steady_ns` is the time of an iteration that stands for it, None where it did not last; `idle`
    the CPU time that it took while it waited, as a share of that wait's length, None for a set of
    one round.
    """

    invocation: Invocation
    steady_ns: float | None
    idle: float | None


class Relay:
    """Plays sets, one at a time; `kill` ends the one under way."""

    def __init__(self, hyperfine: Hyperfine, timeout_s: float) -> None:
        self._hyperfine = hyperfine
        self._timeout_s = timeout_s
        self._seats: list[Seat] = []

    def play(self, entries: Sequence[Entry], turns: Turns, seed: str) -> list[Told]:
        """One set of `entries`, told in their order; each starts in the order of `seed`, too."""
        self._seats = [Seat(entry, self._hyperfine, turns, self._timeout_s) for entry in entries]
        starts, *rounds = order(len(entries), turns.rounds + 1, seed)
        try:
            for number in starts:
                self._seats[number].start()
            waits = self._through(rounds)
        finally:
            invocations = [seat.leave() for seat in self._seats]
            self._seats = []
        return _told(invocations, waits, turns)

    def kill(self) -> None:
        """End every process of the set under way."""
        for seat in self._seats:
            seat.kill()

    def _through(self, rounds: list[list[int]]) -> list[float | None]:
        """All rounds; per seat its use of the processor between its first and its second turn."""
        before: dict[int, tuple[int, int]] = {}
        shares: list[float | None] = [None] * len(self._seats)
        for number, seats in enumerate(rounds):
            for place in seats:
                seat = self._seats[place]
                if number == WATCHED and place in before and not seat.problem:
                    used, since = before[place]
                    now = time.monotonic_ns()
                    shares[place] = (seat.cpu_ns() - used) / max(now - since, 1)
                seat.take_turn()
                if number == WATCHED - 1 and not seat.problem:
                    before[place] = seat.cpu_ns(), time.monotonic_ns()
        return shares


def _told(invocations: list[Invocation], waits: list[float | None], turns: Turns) -> list[Told]:
    table = np.full((len(invocations), turns.rounds), np.nan)
    for row, invocation in zip(table, invocations, strict=True):
        result = invocation.result
        if result and result.status == "ok" and len(result.iterations_ns) == turns.iterations:
            row[:] = laps(result.iterations_ns, turns)
    levels = [None if np.isnan(level) else float(level) for level in level_ns(table)]
    return [
        Told(invocation, level, wait)
        for invocation, level, wait in zip(invocations, levels, waits, strict=True)
    ]
