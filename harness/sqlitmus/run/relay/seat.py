"""A seat in a set of turns: one runner's process behind the barrier, under hyperfine."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sqlitmus.machine import process_tree, taken, written
from sqlitmus.run.finished import Invocation, collect
from sqlitmus.run.hyperfine import Hyperfine, timing_in
from sqlitmus.run.processes.barrier import Broken, ProcessGroup
from sqlitmus.run.relay.binding import Binding, bound
from sqlitmus.run.relay.turns import Turns

PLACE = "SQLITMUS_PLACE"  # in the environment of a seat's process, and of all that it starts
AT_ONCE = 4096  # lines that a pipe holds, in either direction; more would block both ends


@dataclass(frozen=True, slots=True)
class Entry:
    """What takes a seat: a command with its job, its turns, and where result and log go.

    `single` says that one thread does the work, which is then bound to a processor; `patient` that
    it waits for others that open its file. One that does not opens it before the next one starts.
    What others take of the time of one that `never_waits` is looked at, and what is written by one
    that writes to `database`.
    """

    command: list[str]
    environment: dict[str, str]
    turns: Turns
    output: Path
    log: Path
    single: bool = True
    patient: bool = True
    never_waits: bool = False
    database: Path | None = None


class Seat:
    """The process of `entry`, number `place` of its set, from its start to its result.

    Whatever goes wrong in it ends it alone: `problem` says what, and it takes no more turns.
    `lost_ns` is what others took from each lap, 0 where nobody `looked`. The single thread of its
    work takes them on `processor`, if there is one.
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
        self._processor = processor if entry.single else None
        self._binding: Binding | None = None
        self._begun: taken.Look | None = None
        self._lost_in_all_ns: float | None = None
        self._writing: written.Look | None = None
        self._writes: written.Writes | None = None
        self.lost_ns: list[int] = []
        self.looked = True
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
        """Wait until the process stands at the barrier for the first time."""
        self._attempt(self._group.wait_until_ready)

    def warm_up(self) -> None:
        """Let the process warm up, alone and everywhere: compilers may use other processors."""
        before = self._threads()
        self._attempt(lambda: self._iterate(self._turns.warmup))
        if self._processor is not None and not self.problem:
            self._binding = bound(before, self._threads(), self._processor)
        self._begun = self._look()
        self._writing = self._look_at_writes()

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
        if self._binding and first <= together <= AT_ONCE:
            self._group.release(together)
            self._group.wait_until_owed(together - first)
            before = self._binding.waited_ns()
            self._group.wait_until_ready()
            self.lost_ns.append(max(self._binding.waited_ns() - before, 0))
        else:
            self._iterate(together)
            self.lost_ns.append(0)
            self.looked = False
        if last:
            if self._begun:
                self._lost_in_all_ns = taken.between(self._begun, self._look())
            iterations = self._turns.iterations - 1
            self._writes = written.between(self._writing, self._look_at_writes(), iterations)
            self._iterate(1)

    def pids(self) -> list[int]:
        """Its process."""
        return [child.process.pid for child in self._group.children]

    def cpu_ns(self) -> int:
        """CPU time of the process and all that it started, so far."""
        return sum(map(process_tree.cpu_ns, self.pids()))

    def _threads(self) -> dict[int, int]:
        """CPU time of each of its threads so far; not read where none will be bound."""
        if self._processor is None:
            return {}
        return {t: ns for pid in self.pids() for t, ns in process_tree.threads(pid).items()}

    def _look(self) -> taken.Look | None:
        if self.problem or not self._entry.never_waits:
            return None
        (pid,) = self.pids()
        return taken.look(pid, self._processor if self._binding else None)

    def _look_at_writes(self) -> written.Look | None:
        if self.problem or not self._entry.database:
            return None
        (pid,) = self.pids()
        return written.look(pid, self._entry.database)

    def kill(self) -> None:
        """End the process with all that it started."""
        self._group.kill()

    def leave(self) -> Invocation:
        """What became of the process, which does not live on."""
        self._group.__exit__()
        timing = timing_in(self._export)
        if timing is None:
            return Invocation(None, None, self.problem or "hyperfine gave no timing")
        timing = replace(timing, lost_ns=self._lost_in_all_ns, writes=self._writes)
        invocation = collect(timing, self._entry.output)
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
