"""What is measured in which order, and what is left of it: randomised complete blocks, mirrored
in pairs.
"""

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from sqlitmus.catalog.cases import STAGGERS, Cells, Counts, PlannedCase
from sqlitmus.catalog.plan import Plan
from sqlitmus.store.file import Look, Sample, Verified, extended
from sqlitmus.store.folder import RunDirectory
from sqlitmus.vocabulary.verdicts import Outcome

CANARY = "canary"


@dataclass(frozen=True, slots=True)
class Slot:
    """One invocation to come. `label` is the runner's name, or `canary` for its second run.

    `unit` numbers what is compared with each other: one after the other in a block.
    """

    position: int
    block: int
    unit: int
    case: str
    runner: str
    label: str


Cell = tuple[str, str]  # case id and runner
T = TypeVar("T", str, Cell)


def schedule(
    cells: dict[str, list[str]],
    canaries: Mapping[str, str],
    blocks: int,
    seed: int,
    compared: Sequence[tuple[Cell, Cell]] = (),
) -> Iterator[Slot]:
    """Slots of all blocks in order.

    `canaries` names per case the runner that runs a second time.

    A block is one pass over all cells. What is compared runs next to each other in random order, so
    that a pair is adjacent in time: the runners of a case with the canary, or, where pairs are
    `compared` across cases, the cells that those connect. These units come in random order. Every
    odd block is the mirror of the one before it, which cancels linear drift and carry-over for each
    pair (ABBA).
    Blocks depend on `seed` and their number only: a resumed run goes on with the same order.
    """
    units = [[(case, runner) for runner in sorted(cells[case])] for case in sorted(cells)]
    if compared:
        units = connected([cell for unit in units for cell in unit], compared)
    position = 0
    for block in range(blocks):
        for unit, case, runner, label in _block(units, canaries, block, seed):
            yield Slot(position, block, unit, case, runner, label)
            position += 1


def connected(members: Iterable[T], pairs: Iterable[tuple[T, T]]) -> list[list[T]]:
    """The members in units that no pair leads out of, each unit and all of them sorted."""
    unit = {member: [member] for member in members}
    for first, second in pairs:
        if first in unit and second in unit and unit[first] is not unit[second]:
            joined = unit[first] + unit[second]
            unit |= dict.fromkeys(joined, joined)
    return sorted(sorted(joined) for joined in {id(u): u for u in unit.values()}.values())


def _block(
    units: list[list[Cell]], canaries: Mapping[str, str], block: int, seed: int
) -> list[tuple[int, str, str, str]]:
    rng = random.Random(f"{seed}/{block // 2}")
    order: list[tuple[int, str, str, str]] = []
    for number, unit in rng.sample([*enumerate(units)], len(units)):
        entries = [(number, case, runner, runner) for case, runner in unit]
        entries += [
            (number, case, runner, CANARY) for case, runner in unit if runner == canaries.get(case)
        ]
        rng.shuffle(entries)
        order += entries
    return order[::-1] if block % 2 else order


def stagger(block: int, seed: int) -> int:
    """By how many steps the warm-ups of `block` are longer, the same for all runners: eight blocks
    have each number once."""
    rng = random.Random(f"{seed}/warm-up/{block // STAGGERS}")
    return rng.sample(range(STAGGERS), STAGGERS)[block % STAGGERS]


_UNPLANNED = Counts(operations=1, iterations=1, warmup_iterations=0, warmup_ms=0, seconds=0.0)


class Agenda:
    """The slots of a run, of which `blocks` blocks are planned by now; `outcomes` are those so far.

    What earlier sittings did is read from the run's directory; `records` are the verifications of
    this one.
    """

    def __init__(
        self, plan: Plan, directory: RunDirectory, records: Iterable[Verified], fit: Cells
    ) -> None:
        self._plan = plan
        self._cases = {case.id: case for case in plan.cases}
        # The order was fixed by the cells fit at the start, so a later failure shifts no other.
        verified = directory.verified()
        fit_at_start = {(r.case, r.runner) for r in verified if r.outcome == "ok"}
        self._ordered = {
            case: [n for n in names if (case, n) in fit_at_start]
            for case, names in plan.cells.items()
        }
        self._given_up = {
            (c, n) for c, names in self._ordered.items() for n in names if n not in fit.get(c, [])
        }
        self._ended = dict(plan.sets)
        self.blocks = plan.blocks
        self._looks: list[Look] = []
        for look in directory.looks():
            self._follow(look)
        self._schedule()
        self.outcomes: set[Outcome] = {r.outcome for r in [*verified, *records]}
        self._done: set[int] = set()  # positions
        for sample in directory.samples():
            self.note(sample)

    def until(self, blocks: int) -> list[Slot]:
        return [slot for slot in self._slots if slot.block < blocks]

    def beyond(self, blocks: int) -> bool:
        """Whether anything was measured after the first `blocks`."""
        return any(self.done(slot) for slot in self._slots if slot.block >= blocks)

    def done(self, slot: Slot) -> bool:
        return slot.position in self._done

    def to_do(self, slots: Collection[Slot]) -> Iterator[list[Slot]]:
        """What is done at once: a set of processes that take turns, or one process."""
        # what is given up is known when it is its turn
        left = (s for s in slots if not (self.done(s) or (s.case, s.runner) in self._given_up))
        for _, of_unit in groupby(left, key=lambda slot: slot.unit):
            members = list(of_unit)
            if self.counts(members[0]).rounds:
                yield members
            else:
                yield from ([slot] for slot in members)

    def note(self, sample: Sample) -> None:
        """`sample` was measured; one that went wrong gives its cell up."""
        self._done.add(sample.position)
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
        """How often its cell is done in its block."""
        planned = self._planned(slot) or _UNPLANNED
        return planned.staggered(stagger(slot.block, self._plan.seed))

    def counted(self, slot: Slot) -> PlannedCase:
        """Its case with these counts."""
        case = self._cases[slot.case]
        return self.counts(slot).of(case) if self._planned(slot) else case

    def asked(self, slot: Slot) -> PlannedCase:
        """Its case as the oracle was asked it: with the longest warm-up of all blocks."""
        case, planned = self._cases[slot.case], self._planned(slot)
        return planned.longest().of(case) if planned else case

    def seconds(self, slot: Slot) -> float:
        """How long it was expected to take; nothing if it is given up before its turn."""
        never = (slot.case, slot.runner) in self._given_up and not self.done(slot)
        return 0.0 if never else (self._planned(slot) or _UNPLANNED).seconds

    def _planned(self, slot: Slot) -> Counts | None:
        return self._plan.counts.get(slot.case, {}).get(slot.runner)

    def _follow(self, look: Look) -> None:
        self._looks.append(look)
        self._ended |= {case: look.blocks for case in look.settled if case not in self._ended}
        self.blocks = look.until

    def _schedule(self) -> None:
        plan = self._plan
        slots = schedule(self._ordered, plan.twice(), self.blocks, plan.seed, plan.compared())
        self._slots = [
            s for s in slots if plan.place(s.block) < self._ended.get(s.case, self.blocks)
        ]
