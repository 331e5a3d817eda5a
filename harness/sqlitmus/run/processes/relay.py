"""One set: all processes of a case start together, warm up, and take turns."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bootstrap import guardian
from sqlitmus.machine import process_tree, system
from sqlitmus.run.processes.barrier import Broken, ProcessGroup
from sqlitmus.run.processes.process import Hyperfine, Invocation, Laps, Turn, collect, timing_in
from sqlitmus.run.processes.turns import Turns, kept, laps, level_ns, order, timed


class Binding:
    """Binds `thread` to `processor`, and keeps the other threads of its process off it, if there is
    another: so what it waits for there are other programs.

    Raises OSError if it has ended.
    """

    def __init__(self, thread: int, processor: int) -> None:
        self.thread = thread
        self._known = {thread}
        everywhere = os.sched_getaffinity(thread)
        self._elsewhere = (everywhere - {processor}) or everywhere
        os.sched_setaffinity(thread, {processor})
        self.keep_others_off()

    def keep_others_off(self) -> None:
        """Let collectors and compilers, and threads that it has started since, which inherited the
        binding, run on the other processors: they would otherwise take its time."""
        for thread in process_tree.siblings(self.thread):
            if thread not in self._known:
                self._known.add(thread)
                with suppress(OSError):  # it has ended
                    os.sched_setaffinity(thread, self._elsewhere)


def bound(before: Mapping[int, int], after: Mapping[int, int], processor: int) -> Binding | None:
    """Binds the thread that iterated between two looks at `process_tree.threads`: the one that used
    the most CPU time. None where none used any, or it has ended.
    """
    used = {thread: ns - before.get(thread, 0) for thread, ns in after.items()}
    busiest = max(used, key=lambda thread: used[thread], default=None)
    if busiest is None or not used[busiest]:
        return None
    with suppress(OSError):
        return Binding(busiest, processor)
    return None


PLACE = "SQLITMUS_PLACE"  # in the environment of a seat's process, and of all that it starts
LOOKS = 50  # at the thread that iterated: some milliseconds
AT_ONCE = 4096  # lines that a pipe holds, in either direction; more would block both ends


@dataclass(frozen=True, slots=True)
class Entry:
    """What takes a seat: a command with its job, its turns, and where result and log go.

    `patient` says that it waits for others that open its file. One that does not opens it before
    the next one starts.
    What others take of the time of one that `never_waits` is looked at, and what is written by one
    that writes to `database`.
    """

    command: list[str]
    environment: dict[str, str]
    turns: Turns
    output: Path
    log: Path
    patient: bool = True
    never_waits: bool = False
    database: Path | None = None


class Rest(NamedTuple):
    """A time in which a process has no turn, and the CPU time that it used, both in ns."""

    ns: int
    used_ns: int

    @property
    def works(self) -> bool:
        """Whether it is no rest: a compiler or collector is at work."""
        return self.used_ns > WORKING * self.ns


@dataclass(frozen=True, slots=True)
class Stamp:
    """A moment of a process: microseconds of Unix time, ns of a steady clock, CPU time so far of
    the thread that is bound, None where that is not known, and of all that it started."""

    unix_us: float
    steady_ns: int
    ran_ns: int | None
    all_ns: int

    def turn_until(self, end: "Stamp", iterations: int) -> Turn:
        began, ended = self.ran_ns, end.ran_ns
        cpu_ns = None if began is None or ended is None else ended - began
        return Turn(iterations, self.unix_us, end.unix_us, cpu_ns)

    def rest_until(self, begin: "Stamp") -> Rest:
        return Rest(begin.steady_ns - self.steady_ns, begin.all_ns - self.all_ns)


class Seat:
    """The process of `entry`, number `place` of its set, from its start to its result: behind the
    barrier, under hyperfine.

    Whatever goes wrong in it ends it alone: `problem` says what, and it takes no more turns.
    `lost_ns` is what others took from each lap, 0 where nobody `looked`. The thread that does its
    work takes them on `processor`, if there is one; one that is `restless` works on after them.
    """

    def __init__(
        self,
        entry: Entry,
        place: int,
        hyperfine: Hyperfine,
        timeout_s: float,
        processor: int | None = None,
    ) -> None:
        self._entry = entry
        # of one length, since the size of the environment moves the stack
        self._environment = {**entry.environment, PLACE: f"{place:02d}"}
        self._turns = entry.turns
        self._export = entry.output.with_suffix(".hyperfine.json")
        self._command = hyperfine.command_line(entry.command, self._export, piped=True)
        self._group = ProcessGroup(entry.turns.releases, timeout_s)
        self._processor = processor
        self._binding: Binding | None = None
        self._begun: process_tree.Look | None = None
        self._lost_in_all_ns: float | None = None
        self._writing: process_tree.WriteLook | None = None
        self._writes: process_tree.Writes | None = None
        self._turns_seen: list[Turn] = []
        self._rests: list[Rest] = []
        self._ended: Stamp | None = None
        self._paused_ns = 0  # of its life, by the harness alone
        self._clock, self._clock_set = system.ClockWatch(), False
        self.lost_ns: list[int] = []
        self.looked = True
        self.restless = False
        self.problem: str | None = None

    def start(self) -> None:
        """Start the process; see Entry for whether others may start meanwhile."""
        for file in (self._entry.output, self._export):
            file.unlink(missing_ok=True)
        start = partial(self._group.start, self._command, self._environment, self._entry.log)
        self._attempt(start)
        if not self._entry.patient:
            self.arrive()

    def arrive(self) -> None:
        self._attempt(self._group.wait_until_ready)

    def warm_up(self) -> None:
        """Let the process warm up, on all processors and beside others: nothing is timed."""
        before = self._threads()
        self._attempt(lambda: self._iterate(self._turns.warmup))
        if self._processor is not None and self._turns.warmup and not self.problem:
            # what a thread used is known once it waits, perhaps a moment after it was `ready`
            looks = (bound(before, self._threads(), self._processor) for _ in range(LOOKS))
            self._binding = next(filter(None, looks), None)
        self._begun, self._writing = self._look()

    def take_turn(self) -> None:
        """Lead-in and lap; after the last turn the process proves, closes and ends.

        What others took from the lap is read while it goes on: from its begin, or after its first
        iteration where there is no lead-in, since a process that was woken may wait, too; until its
        end, or in the last turn, after which the process is gone, until its last iteration.
        """
        self._attempt(self._turn)
        if self._binding:
            self._binding.keep_others_off()

    def _turn(self) -> None:
        first, turn = max(self._turns.lead_in, 1), self._turns.per_turn
        last = self._group.left == turn
        together = turn - 1 if last else turn  # before its last one it stands at the barrier
        begin = self.stamp()
        if self._ended:
            self._rests.append(self._ended.rest_until(begin))
            self.restless |= self._rests[-1].works
        if self._binding and first <= together <= AT_ONCE:
            self._group.release(together)
            self._group.wait_until_ready(together - first)
            before = process_tree.waited_ns(self._binding.thread)
            self._group.wait_until_ready()
            after = process_tree.waited_ns(self._binding.thread)
            self.lost_ns.append(max(after - before, 0))
        else:
            self._iterate(together)
            self.lost_ns.append(0)
            self.looked = False
        end = self._ended = self.stamp()
        self._turns_seen.append(begin.turn_until(end, together))
        if last:
            if not self._rests:  # it had but one turn
                time.sleep(SETTLES_S)
                settled = self.stamp()
                time.sleep(RESTS_S)
                rested = self.stamp()
                self._rests.append(settled.rest_until(rested))
                self._paused_ns = rested.steady_ns - end.steady_ns
            look, writing = self._look()
            if self._begun:
                self._lost_in_all_ns = process_tree.between(self._begun, look)
            iterations = self._turns.iterations - 1
            self._writes = process_tree.written_between(self._writing, writing, iterations)
            self._iterate(1)
            self.restless = False  # it is gone

    def stamp(self) -> "Stamp":
        now, steady = time.time_ns(), time.monotonic_ns()
        self._clock_set |= self._clock.set_by_ns() != 0
        used = self._threads()
        ran_ns = self._binding and used.get(self._binding.thread)
        return Stamp(now / 1000, steady, ran_ns, sum(used.values()))

    @property
    def idle(self) -> float | None:
        """CPU time that it took between its turns, as a share of their length; None where none was
        long enough."""
        rests = [rest for rest in self._rests if rest.ns >= SHORTEST_NS]
        whole_ns = sum(rest.ns for rest in rests)
        return sum(rest.used_ns for rest in rests) / whole_ns if rests else None

    def pids(self) -> list[int]:
        return [child.process.pid for child in self._group.children]

    def settled(self) -> None:
        """Its rest begins now."""
        self._ended = self._ended and self.stamp()

    def _threads(self) -> dict[int, int]:
        return {t: ns for pid in self.pids() for t, ns in process_tree.threads(pid).items()}

    def _look(self) -> tuple[process_tree.Look | None, process_tree.WriteLook | None]:
        """At what others take of it, and at what it writes, as far as its entry wants that."""
        if self.problem:
            return None, None
        (pid,) = self.pids()
        entry = self._entry
        took = (
            process_tree.look(pid, self._binding and self._processor) if entry.never_waits else None
        )
        return took, process_tree.look_at_writes(pid, entry.database) if entry.database else None

    def kill(self) -> None:
        self._group.kill()

    def leave(self) -> Invocation:
        """What became of the process, which does not live on."""
        self._group.__exit__()
        timing = timing_in(self._export)
        if timing is None:
            return Invocation(None, None, self.problem or "hyperfine gave no timing")
        # stamps are compared with the process's, which a clock that was set meanwhile would spoil
        turns = () if self._clock_set else self._turns_seen
        timing = replace(timing, lost_ns=self._lost_in_all_ns, writes=self._writes, turns=turns)
        timing = replace(timing, wall_ns=timing.wall_ns - self._paused_ns)
        invocation = replace(collect(timing, self._entry.output), idle=self.idle)
        if self.problem and invocation.result and invocation.result.status == "ok":
            return Invocation(timing, None, self.problem)
        return invocation

    def _iterate(self, count: int) -> None:
        while count:
            at_once = min(count, AT_ONCE)
            self._group.release(at_once)
            if self._group.left:
                self._group.wait_until_ready()
            else:
                self._group.wait_until_ended()
            count -= at_once

    def _attempt(self, act: Callable[[], None]) -> None:
        if self.problem:
            return
        try:
            act()
        except (Broken, OSError) as error:
            self.problem = str(error)
            self._group.kill()


SHORTEST_NS = 10_000_000  # of a wait that says anything
SETTLES_S, RESTS_S = 0.05, 0.05  # .NET compiles for up to 25 ms after its work
SETTLING_S = 1.0  # that a set waits at most for processes that work on
WINDOW_S, WORKING = 0.02, 0.1  # how long one is watched, and the share of it that is work


class Abandoned(Exception):
    """A set that was not played to its end; nothing of it counts."""


class Relay:
    """Plays sets, one at a time; `kill` ends the one under way.

    The work is done on `processor`, in all processes alike; None leaves that to the
    system, which moves them.
    """

    def __init__(
        self, hyperfine: Hyperfine, timeout_s: float, processor: int | None = None
    ) -> None:
        self._hyperfine = hyperfine
        self._timeout_s = timeout_s
        self.processor = processor
        self._seats: list[Seat] = []
        self._patience_s = 0.0

    def play(
        self,
        entries: Sequence[Entry],
        seed: str,
        stopped: Callable[[], bool] = lambda: False,
    ) -> list[Invocation]:
        """One set of `entries`, in their order; they start and warm up in that order, too.

        All have as many rounds. Raises Abandoned when `stopped` between two turns, or when the
        machine stood by meanwhile.
        """
        watch = Watch(len(entries))
        self._patience_s = SETTLING_S
        asleep_s = system.standby_s()
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
            self._warm_up(stopped, watch)
            self._settle(self._seats, stopped, 2 * WINDOW_S)
            with system.away_from(self.processor):  # each `ready` would wake the harness there
                for place in self._through(order(len(entries), rounds, seed)):
                    _go_on(stopped)
                    seat = self._seats[place]
                    seat.take_turn()
                    watch.had_the_turn(place)
                    if seat.restless:
                        self._settle([seat], stopped, WINDOW_S)
        finally:
            lost = [seat.lost_ns for seat in self._seats]
            looked = [seat.looked for seat in self._seats]
            invocations: list[Invocation] = []
            for number, seat in enumerate(self._seats):
                invocations.append(seat.leave())
                watch.had_the_turn(number)
            self._seats = []
        if system.standby_s() - asleep_s > system.LEAST_STANDBY_S:
            raise Abandoned("the machine stood by during it")
        of_laps = _laps(entries, invocations, lost, looked)
        return [
            replace(invocation, laps=each, left=left)
            for invocation, each, left in zip(invocations, of_laps, watch.left, strict=True)
        ]

    def kill(self) -> None:
        for seat in self._seats:
            seat.kill()

    def _warm_up(self, stopped: Callable[[], bool], watch: "Watch") -> None:

        def warm_up(seat: Seat) -> None:
            _go_on(stopped)
            seat.warm_up()

        with ThreadPoolExecutor(max_workers=system.usable()) as pool:
            list(pool.map(warm_up, self._seats))
        watch.had_turns()

    def _settle(self, seats: Sequence[Seat], stopped: Callable[[], bool], window_s: float) -> None:
        """Wait until no compiler or collector of `seats`, watched for `window_s` at a time, is at
        work: on a processor that shares its core with that of the turns, they slow others down."""
        working = [*seats]
        while working and self._patience_s > 0:
            _go_on(stopped)
            since = [seat.stamp() for seat in working]
            time.sleep(window_s)
            self._patience_s -= window_s
            pairs = [*zip(working, since, strict=True)]
            working = [seat for seat, stamp in pairs if stamp.rest_until(seat.stamp()).works]
            for seat in working:
                seat.restless = True
        for seat in seats:  # nobody had a turn beside it
            seat.settled()

    def _through(self, rounds: list[list[int]]) -> Iterator[int]:
        return chain.from_iterable(rounds)


class Watch:
    """Which processes each seat left running."""

    def __init__(self, seats: int) -> None:
        self._known = set(process_tree.children())
        self.left: list[list[int]] = [[] for _ in range(seats)]

    def arrived(self, processes: Sequence[Sequence[int]]) -> None:
        """All have started, as these processes."""
        self._known.update(*processes)
        self.had_the_turn(None)

    def had_turns(self) -> None:
        """Any seat may have left something running: what names none is of nobody."""
        self.had_the_turn(None)
        self._known.update(process_tree.children())

    def had_the_turn(self, place: int | None) -> None:
        """What has become a child of the harness is of the seat that its environment names: a
        process is handed on when its parent ends, which may be in another's turn. What names none
        is of `place`, who had the turn; if nobody had it, it is asked again after the next one."""
        for pid in process_tree.children():
            if pid in self._known:
                continue
            named = guardian.variable(pid, PLACE)
            at = int(named) if named is not None and named.isdecimal() else place
            if at is not None and at < len(self.left):
                self._known.add(pid)
                self.left[at].append(pid)


def _go_on(stopped: Callable[[], bool]) -> None:
    if stopped():
        raise Abandoned("asked to stop")


def _laps(
    entries: Sequence[Entry],
    invocations: Sequence[Invocation],
    lost: Sequence[list[int]],
    looked: Sequence[bool],
) -> list[Laps | None]:
    """Those of each seat; `lost` is what others took from them where that was `looked` at."""
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
    levels = level_ns(table, counted)
    left_out = float(1 - counted.mean()) if any(looked) else None
    return [
        None
        if row is None
        else Laps(
            row[counted].ravel().tolist(),
            means[counted].tolist(),
            float(level),
            float(np.array(taken)[counted].sum() / max(row[counted].sum(), 1)) if seen else None,
            left_out,
            taken,
            counted.tolist(),
        )
        for row, means, level, taken, seen in zip(rows, table, levels, lost, looked, strict=True)
    ]
