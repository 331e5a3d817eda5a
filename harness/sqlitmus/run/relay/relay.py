"""One set: all processes of a case start together, warm up one after the other, and take turns."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlitmus.machine import affinity, process_tree, standby
from sqlitmus.run.finished import Invocation, Laps
from sqlitmus.run.hyperfine import Hyperfine
from sqlitmus.run.relay.seat import PLACE, Entry, Seat
from sqlitmus.run.relay.turns import kept, laps, level_ns, order, timed

WATCHED = 1  # the round before which it is read what each process did while it waited
SHORTEST_NS = 10_000_000  # of a wait that says anything


@dataclass(frozen=True, slots=True)
class Told:
    """What a set tells of one seat.

    `steady_ns` is the mean time of its timed iterations, None where it did not last; `lost_ns` what
    others took from each of its laps, and `counted` says which rounds count; `idle` is the CPU time
    that it took while it waited, as a share of that wait's length, None where none was long enough.
    `left` are processes that it left running.
    """

    invocation: Invocation
    steady_ns: float | None
    lost_ns: list[int]
    counted: list[bool]
    idle: float | None
    left: list[int]


class Abandoned(Exception):
    """A set that was not played to its end; nothing of it counts."""


class Relay:
    """Plays sets, one at a time; `kill` ends the one under way.

    Work of a single thread is done on `processor`, in all processes alike; None leaves that to the
    system, which moves them.
    """

    def __init__(
        self, hyperfine: Hyperfine, timeout_s: float, processor: int | None = None
    ) -> None:
        self._hyperfine = hyperfine
        self._timeout_s = timeout_s
        self.processor = processor
        self._seats: list[Seat] = []

    def play(
        self,
        entries: Sequence[Entry],
        seed: str,
        stopped: Callable[[], bool] = lambda: False,
    ) -> list[Told]:
        """One set of `entries`, told in their order; they start and warm up in that order, too.

        All have as many rounds. Raises Abandoned when `stopped` between two turns, or when the
        machine stood by meanwhile.
        """
        watch = _Watch(len(entries))
        asleep_s = standby.seconds()
        (rounds,) = {entry.turns.rounds for entry in entries}
        self._seats = [
            Seat(entry, place, self._hyperfine, self._timeout_s, self.processor)
            for place, entry in enumerate(entries)
        ]
        try:
            for seat in self._seats:
                _go_on(stopped)
                seat.start()
            for seat in self._seats:
                seat.arrive()
            watch.arrived([seat.pids() for seat in self._seats])
            for number, seat in enumerate(self._seats):
                _go_on(stopped)
                seat.warm_up()
                watch.had_the_turn(number)
            with affinity.away_from(self.processor):  # each `ready` would wake the harness there
                for place in self._through(order(len(entries), rounds, seed), watch):
                    _go_on(stopped)
                    self._seats[place].take_turn()
                    watch.had_the_turn(place)
        finally:
            lost = [seat.lost_ns for seat in self._seats]
            looked = [seat.looked for seat in self._seats]
            invocations: list[Invocation] = []
            for number, seat in enumerate(self._seats):
                invocations.append(seat.leave())
                watch.had_the_turn(number)
            self._seats = []
        if standby.seconds() - asleep_s > standby.LEAST_S:
            raise Abandoned("the machine stood by during it")
        return _told(entries, invocations, lost, looked, watch)

    def kill(self) -> None:
        """End every process of the set under way."""
        for seat in self._seats:
            seat.kill()

    def _through(self, rounds: list[list[int]], watch: "_Watch") -> Iterator[int]:
        """The seats in the order of their turns; each is watched while it waits for its second."""
        for number, places in enumerate(rounds):
            for place in places:
                seat = self._seats[place]
                if number == WATCHED and not seat.problem:
                    watch.ends(place, seat.cpu_ns())
                yield place
                if number == WATCHED - 1 and not seat.problem:
                    watch.begins(place, seat.cpu_ns())


class _Watch:
    """What each seat did beside its turns: CPU time while it waited, processes that it left."""

    def __init__(self, seats: int) -> None:
        self._known = set(process_tree.children())
        self._since: dict[int, tuple[int, int]] = {}
        self.idle: list[float | None] = [None] * seats
        self.left: list[list[int]] = [[] for _ in range(seats)]

    def begins(self, place: int, cpu_ns: int) -> None:
        """The wait of that seat begins."""
        self._since[place] = cpu_ns, time.monotonic_ns()

    def ends(self, place: int, cpu_ns: int) -> None:
        """It ends."""
        if place in self._since:
            used, since = self._since[place]
            waited = time.monotonic_ns() - since
            if waited >= SHORTEST_NS:
                self.idle[place] = (cpu_ns - used) / waited

    def arrived(self, processes: Sequence[Sequence[int]]) -> None:
        """All have started, as these processes."""
        self._known.update(*processes)
        self._tell_apart(None)

    def had_the_turn(self, place: int) -> None:
        """That seat may have left something running."""
        self._tell_apart(place)

    def _tell_apart(self, place: int | None) -> None:
        """What has become a child of the harness is of the seat that its environment names: a
        process is handed on when its parent ends, which may be in another's turn. What names none
        is of `place`, who had the turn; if nobody had it, it is asked again after the next one."""
        for pid in process_tree.children():
            if pid in self._known:
                continue
            named = process_tree.variable(pid, PLACE)
            at = int(named) if named is not None and named.isdecimal() else place
            if at is not None and at < len(self.left):
                self._known.add(pid)
                self.left[at].append(pid)


def _go_on(stopped: Callable[[], bool]) -> None:
    if stopped():
        raise Abandoned("asked to stop")


def _told(
    entries: Sequence[Entry],
    invocations: list[Invocation],
    lost: Sequence[list[int]],
    looked: Sequence[bool],
    watch: _Watch,
) -> list[Told]:
    """`lost` is what others took from each seat's laps where that was `looked` at."""
    table = np.full((len(entries), entries[0].turns.rounds), np.nan)
    rows = [
        timed(result.iterations_ns, entry.turns)
        if (result := invocation.result)
        and result.status == "ok"
        and len(result.iterations_ns) == entry.turns.iterations
        else None
        for entry, invocation in zip(entries, invocations, strict=True)
    ]
    shares = table.copy()
    for number, row in enumerate(rows):
        if row is not None:
            table[number] = laps(row, lost[number])
            shares[number] = np.array(lost[number]) / row.sum(axis=1)
    counted = kept(shares)
    levels = [None if np.isnan(level) else float(level) for level in level_ns(table, counted)]
    left_out = float(1 - counted.mean()) if any(looked) else None
    of_laps = [
        None
        if row is None
        else Laps(
            row[counted].ravel().tolist(),
            means[counted].tolist(),
            float(np.array(taken)[counted].sum() / max(row[counted].sum(), 1)) if seen else None,
            left_out,
        )
        for row, means, taken, seen in zip(rows, table, lost, looked, strict=True)
    ]
    return [
        Told(replace(invocation, laps=each), level, taken, counted.tolist(), idle, left)
        for invocation, each, level, taken, idle, left in zip(
            invocations, of_laps, levels, lost, watch.idle, watch.left, strict=True
        )
    ]
