"""The order of measurement: randomised complete blocks, mirrored in pairs. Pure."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

CANARY = "canary"


@dataclass(frozen=True, slots=True)
class Slot:
    """One invocation to come. `label` is the runner's name, or `canary` for its second run."""

    position: int
    block: int
    case: str
    runner: str
    label: str


def schedule(
    cells: dict[str, list[str]], canary: str | None, blocks: int, seed: int
) -> Iterator[Slot]:
    """Slots of all blocks in order.

    A block is one pass over all cells. Cases come in random order; within a case its runners and
    the canary run next to each other in random order, so that a pair is adjacent in time. Every odd
    block is the mirror of the one before it, which cancels linear drift and carry-over for each
    pair (ABBA).
    Blocks depend on `seed` and their number only: a resumed run goes on with the same order.
    """
    position = 0
    for block in range(blocks):
        for case, runner, label in _block(cells, canary, block, seed):
            yield Slot(position, block, case, runner, label)
            position += 1


def _block(
    cells: dict[str, list[str]], canary: str | None, block: int, seed: int
) -> list[tuple[str, str, str]]:
    rng = random.Random(f"{seed}/{block // 2}")
    order: list[tuple[str, str, str]] = []
    for case in rng.sample(sorted(cells), len(cells)):
        entries = [(case, runner, runner) for runner in sorted(cells[case])]
        if canary in cells[case]:
            entries.append((case, str(canary), CANARY))
        rng.shuffle(entries)
        order += entries
    return order[::-1] if block % 2 else order
