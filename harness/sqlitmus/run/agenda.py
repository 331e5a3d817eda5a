"""What is left to measure of a run: its slots, those done, those given up, and who ended early."""

from collections.abc import Collection, Iterator
from itertools import groupby

from sqlitmus.catalog.plan import Plan
from sqlitmus.catalog.planned import Cells, Counts, PlannedCase
from sqlitmus.run.answers import Answers
from sqlitmus.run.lines import Sample
from sqlitmus.run.look import Look, extended
from sqlitmus.run.schedule import Slot, schedule
from sqlitmus.run.store import RunDirectory
from sqlitmus.vocabulary.terms import Outcome

_UNPLANNED = Counts(operations=1, iterations=1, warmup_iterations=0, warmup_ms=0, seconds=0.0)


class Agenda:
    """The slots of a run, of which `blocks` blocks are planned by now; `outcomes` are those so far.

    What earlier sittings did is read from the run's directory.
    """

    def __init__(self, plan: Plan, directory: RunDirectory, answers: Answers, fit: Cells) -> None:
        self._plan = plan
        self._cases = {case.id: case for case in plan.cases}
        # The order was fixed by the cells fit at the start, so a later failure shifts no other.
        self._ordered = _fit_at_start(plan, directory)
        self._given_up = {
            (c, n) for c, names in self._ordered.items() for n in names if n not in fit.get(c, [])
        }
        self._ended = dict(plan.sets)
        self.blocks = plan.blocks
        self._looks: list[Look] = []
        for look in directory.looks():
            self._follow(look)
        self._schedule()
        self.outcomes: set[Outcome] = {
            r.outcome for r in [*directory.verified(), *answers.records.values()]
        }
        self._done: set[tuple[int, int]] = set()  # position and take
        for sample in directory.samples():
            self.note(sample)

    def until(self, blocks: int) -> list[Slot]:
        """All slots of the first `blocks`."""
        return [slot for slot in self._slots if slot.block < blocks]

    def beyond(self, blocks: int) -> bool:
        """Whether anything was measured after the first `blocks`."""
        return any((s.position, 0) in self._done for s in self._slots if s.block >= blocks)

    def done(self, slot: Slot, take: int = 0) -> bool:
        """Whether that take of it was measured."""
        return (slot.position, take) in self._done

    def to_do(self, slots: Collection[Slot], take: int) -> Iterator[list[Slot]]:
        """What is done at once: a set of processes that take turns, or one process."""
        for _, of_unit in groupby(self._open(slots, take), key=lambda slot: slot.unit):
            members = list(of_unit)
            if self.counts(members[0]).rounds:
                yield members
            else:
                yield from ([slot] for slot in members)

    def _open(self, slots: Collection[Slot], take: int) -> Iterator[Slot]:
        """Those that are neither done nor given up by the time it is their turn."""
        for slot in slots:
            if not self.done(slot, take) and (slot.case, slot.runner) not in self._given_up:
                yield slot

    def note(self, sample: Sample) -> None:
        """`sample` was measured; one that went wrong gives its cell up."""
        self._done.add((sample.position, sample.take))
        if sample.outcome != "ok":
            self.outcomes.add(sample.outcome)
            self._given_up.add((sample.case, sample.runner))

    def looked(self, blocks: int) -> bool:
        """Whether a planned look after so many blocks has been taken."""
        return any(look.blocks == blocks for look in self._looks)

    def look(self, blocks: int, settled: Collection[str]) -> Look:
        """End the cases `settled` after so many blocks, and give their time to the others."""
        ahead = [slot for slot in self._slots if slot.block == blocks]
        saved_s = sum(self.seconds(slot) for slot in ahead if slot.case in settled)
        rest_s = sum(map(self.seconds, ahead)) - saved_s
        until = extended(self._plan.blocks, self.blocks, blocks, saved_s, rest_s)
        look = Look(blocks=blocks, settled=sorted(settled), until=until)
        self._follow(look)
        self._schedule()
        return look

    def counts(self, slot: Slot) -> Counts:
        """How often its cell is done."""
        return self._plan.counts.get(slot.case, {}).get(slot.runner) or _UNPLANNED

    def counted(self, slot: Slot) -> PlannedCase:
        """Its case with these counts."""
        return self._plan.counted(self._cases[slot.case], slot.runner)

    def seconds(self, slot: Slot) -> float:
        """How long it is expected to take."""
        given_up = (slot.case, slot.runner) in self._given_up
        return 0.0 if given_up else self.counts(slot).seconds

    def _follow(self, look: Look) -> None:
        self._looks.append(look)
        self._ended |= {case: look.blocks for case in look.settled if case not in self._ended}
        self.blocks = look.until

    def _schedule(self) -> None:
        plan = self._plan
        slots = schedule(self._ordered, plan.twice(), self.blocks, plan.seed, plan.compared())
        self._slots = [s for s in slots if s.block < self._ended.get(s.case, self.blocks)]


def _fit_at_start(plan: Plan, directory: RunDirectory) -> Cells:
    fit = {(r.case, r.runner) for r in directory.verified() if r.outcome == "ok"}
    return {case: [n for n in names if (case, n) in fit] for case, names in plan.cells.items()}
