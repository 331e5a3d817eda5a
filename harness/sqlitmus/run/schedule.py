"""The order of measurement: randomised complete blocks, mirrored in pairs. Pure."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

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
    units = _by_case(cells)
    if compared:
        units = connected([cell for unit in units for cell in unit], compared)
    position = 0
    for block in range(blocks):
        for unit, case, runner, label in _block(units, canaries, block, seed):
            yield Slot(position, block, unit, case, runner, label)
            position += 1


def _by_case(cells: dict[str, list[str]]) -> list[list[Cell]]:
    return [[(case, runner) for runner in sorted(cells[case])] for case in sorted(cells)]


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
