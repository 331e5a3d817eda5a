"""sqlitmus with the plain program of each driver in the same sets of turns.

`plain_turns.py FILE DRIVERS FAULT WORDS…` is `./just WORDS…`, a run or a workload. In each round a
plain program takes its turn right before or after its runner, as chance has it: as many operations,
lead-in and lap, on the same processor. Where processes do not take turns, plain programs play
before and after the set, and so do those of a mix: a user's service goes on without turns.

FILE gets a JSON line for each that has played: `case`, `block`, `driver`, `ns` per unit of work
less what others took, `waited`, the share of that, and `sqlite`. FAULT is one that is planted in
them: `restarts` begins the pool again after 250 rows, `skips` leaves the first query of a mix out;
`none` is none.

A plain program knows nothing of iterations, rounds or the contract: it counts the time of all the
work that it is asked for.
"""

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.plain_mix import Mix
from benchmarks.plain_programs import CASES, Phase, Program, Programs, Task
from sqlitmus import cli
from sqlitmus.catalog import definitions, runners
from sqlitmus.machine import process_tree, system
from sqlitmus.run import session
from sqlitmus.run.measure.agenda import Slot
from sqlitmus.run.measure.blocks import Measuring, Seating
from sqlitmus.run.processes.process import Invocation
from sqlitmus.run.processes.relay import Binding, Entry, Relay, Watch
from sqlitmus.run.processes.turns import Turns
from sqlitmus.run.verify import context
from sqlitmus.run.verify.invocations import Attempt
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import SqlitmusError
from sqlitmus.workload.parts import MIX

RESTARTING_ROWS = 250
WARMUP_S = 1.0  # of what reads, at least
MOST_WAITED = 0.2  # of a lap that counts


@dataclass(slots=True)
class Seat:
    """A plain program with the turns of its runner, which has that `place` in the set, and whose
    iterations have `operations`."""

    place: int
    driver: str
    program: Program
    task: Task | Mix
    turns: Turns
    operations: int
    phases: list[Phase] = field(default_factory=list[Phase])
    binding: Binding | None = None

    def warm_up(self, processor: int | None = None) -> None:
        """As its user would: by the clock what reads. Then it keeps to `processor`."""
        if self.task.writes:
            self.program.work(self.turns.warmup * self.operations)
        else:
            self.program.work(self.task.walk, seconds=WARMUP_S)
        if processor is not None:
            self.binding = Binding(self.program.pid, processor)

    def play_alone(self, processor: int | None) -> None:
        """Warm-up, and all of the work in one lap once compilers are done."""
        self.turns = replace(self.turns, rounds=1, lead_in=0, lap=self.turns.iterations)
        self.warm_up(processor)
        self.rest()
        self.take_turn()

    def rest(self) -> None:
        """Until it uses no more of a processor than a tenth, for a second at most: .NET compiles
        for a while after its warm-up."""
        used = sum(process_tree.threads(self.program.pid).values())
        for _ in range(50):
            time.sleep(0.02)
            before, used = used, sum(process_tree.threads(self.program.pid).values())
            if used - before < 2_000_000:
                return

    def take_turn(self) -> None:
        """Lead-in and lap."""
        counts = (self.turns.lead_in, self.turns.lap)
        self.phases.append(self.program.work(*(each * self.operations for each in counts))[-1])
        if self.binding:
            self.binding.keep_others_off()

    def end(self) -> dict[str, Any]:
        """What its laps come to."""
        sqlite = self.program.end()
        # as in the product, a lap counts only if others took little of it, and half of all do
        laps = sorted(self.phases, key=lambda phase: phase.waited_ns / phase.ns)
        quiet = sum(phase.waited_ns <= MOST_WAITED * phase.ns for phase in laps)
        laps = laps[: max(quiet, (len(laps) + 1) // 2)]
        numbers = ((phase.operations, phase.ns, phase.waited_ns) for phase in laps)
        whole = Phase(*map(sum, zip(*numbers, strict=True)))
        ns, waited = whole.worked_ns / (whole.operations * self.task.units), whole.waited_ns
        return {"driver": self.driver, "ns": ns, "waited": waited / whole.ns, "sqlite": sqlite}


class Guests:
    """The plain programs of the cells of a set; they end before the harness looks what its own
    processes left running."""

    def __init__(
        self, programs: Programs, task: Task | Mix | None, seatings: Sequence[Seating]
    ) -> None:
        self._programs, self._task = programs, task
        places = enumerate(seatings)
        self._seatings = [(n, each) for n, each in places if task and each.label in programs]
        self.ended: list[dict[str, Any]] = []

    @contextmanager
    def seated(self) -> Generator[list[Seat]]:
        """Started, and in the end gone."""
        seats: list[Seat] = []
        with ExitStack() as stack:
            for place, each in self._seatings:
                assert self._task
                program = stack.enter_context(self._programs.start(each.label, self._task))
                operations = each.case.operations
                seats.append(Seat(place, each.label, program, self._task, each.turns, operations))
            yield seats
            self.ended = [seat.end() for seat in seats]

    def play_alone(self, processor: int | None) -> None:
        """One after the other."""
        before = self.ended
        with self.seated() as seats:
            for seat in seats:
                seat.play_alone(processor)
        self.ended = [*before, *self.ended]


def nobody() -> AbstractContextManager[Sequence[Seat]]:
    """No guests: those of a pilot's set."""
    return nullcontext(())


class PlainRelay(Relay):
    """Sets in which those that `guests` gives take turns, too."""

    guests: Callable[[], AbstractContextManager[Sequence[Seat]]] = staticmethod(nobody)
    _seated: Sequence[Seat] = ()

    def play(
        self,
        entries: Sequence[Entry],
        seed: str,
        stopped: Callable[[], bool] = lambda: False,
    ) -> list[Invocation]:
        """See Relay."""
        with self.guests() as self._seated:
            return super().play(entries, seed, stopped)

    def _warm_up(self, stopped: Callable[[], bool], watch: Watch) -> None:
        super()._warm_up(stopped, watch)

        def warm_up(seat: Seat) -> None:
            seat.warm_up(self.processor)

        with ThreadPoolExecutor(max_workers=system.usable()) as pool:
            list(pool.map(warm_up, self._seated))

    def _through(self, rounds: list[list[int]]) -> Iterator[int]:
        # beside its runner: this machine may be another a tenth of a second later
        guests = {seat.place: seat.take_turn for seat in self._seated}
        rng = random.Random(str(rounds))
        for place in super()._through(rounds):
            turn, first = guests.get(place), rng.random() < 0.5
            if turn and first:
                turn()
            yield place
            if turn and not first:
                turn()


class PlainMeasuring(Measuring):
    """A run whose runners have their plain programs beside them."""

    programs: Programs
    task: Callable[[str], Task | Mix | None]
    log: Path

    def _attempts(self, slot: Slot, seatings: Sequence[Seating]) -> list[Attempt] | None:
        task, relay = self.task(slot.case), self._context.relay
        assert isinstance(relay, PlainRelay)
        guests = Guests(self.programs, task, seatings)
        together = bool(self.agenda.counts(slot).rounds) and not isinstance(task, Mix)
        if not together:
            guests.play_alone(relay.processor)
        relay.guests = guests.seated if together else nobody
        attempts = super()._attempts(slot, seatings)
        relay.guests = nobody
        if not together:  # on both sides: this machine may be another a second later
            guests.play_alone(relay.processor)
        if attempts is not None:
            with self.log.open("a", encoding="utf-8") as log:
                for each in guests.ended:
                    print(json.dumps({"case": slot.case, "block": slot.block, **each}), file=log)
        return attempts


def main() -> None:
    """Run sqlitmus so."""
    log, drivers, fault, *words = sys.argv[1:]
    catalog, tools = definitions.load(), paths.tools()
    (oracle,) = runners.discover(catalog, ["python"], tools)
    with tempfile.TemporaryDirectory(dir=paths.cache("work")) as folder:
        mix = Mix.of(catalog, paths.given(words[1])) if words[0] == "workload" else None
        if mix and fault == "skips":
            mix = mix.skipping()

        @cache
        def task(case: str) -> Task | Mix | None:
            if mix or case not in CASES:
                return mix if case == MIX else None
            whole = Task.of(catalog, case, oracle, Path(tempfile.mkdtemp(dir=folder)))
            return whole.restarting(RESTARTING_ROWS) if fault == "restarts" else whole

        PlainMeasuring.programs = Programs(catalog, drivers.split(","), tools, Path(folder))
        PlainMeasuring.task = staticmethod(task)
        PlainMeasuring.log = Path(log)
        sys.argv = ["sqlitmus", *words]
        with (
            patch.object(session, "Measuring", PlainMeasuring),
            patch.object(context, "Relay", PlainRelay),
        ):
            cli.main()


if __name__ == "__main__":
    try:
        main()
    except SqlitmusError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit)
