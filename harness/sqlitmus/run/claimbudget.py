"""What each claim of a run costs, and how far a budget of time can shorten it. Pure."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlitmus.catalog.claims import Claim
from sqlitmus.catalog.planned import Cells, PlannedCounts
from sqlitmus.vocabulary.nouns import counted


class Share(NamedTuple):
    """A claim's cells, and the seconds that a block of them is predicted to take."""

    name: str
    cells: int
    seconds: float


def shares(
    claims: Sequence[Claim], counts: PlannedCounts, cells: Cells, canaries: Mapping[str, str]
) -> list[Share]:
    """Each claim's share of a block; a cell counts for the first claim that needs it, with the
    canary of its case.

    `cells` are those that are measured, and `canaries` names the runner that a case repeats.
    """
    taken: set[tuple[str, str]] = set()
    parts: list[Share] = []
    for claim in claims:
        mine = [
            (case, name)
            for case, name in dict.fromkeys(claim.cells())
            if name in cells.get(case, ()) and (case, name) not in taken
        ]
        taken.update(mine)
        repeated = [cell for cell in mine if canaries.get(cell[0]) == cell[1]]
        seconds = sum(counts[case][name].seconds for case, name in [*mine, *repeated])
        parts.append(Share(claim.name, len(mine), seconds))
    return parts


def line_of(part: Share, blocks: int, clock: str) -> str:
    """A claim's share as a line; `clock` is the time of all its `blocks`."""
    if not part.cells:
        return f"  {part.name}: nothing of its own to measure"
    return f"  {part.name}: {counted(part.cells, 'cell')}, about {clock} in {blocks} blocks"


def shortened(blocks: int, allowed: int) -> str:
    """What to say where a budget allows fewer blocks than are measured."""
    return (
        f"the time budget allows {counted(allowed, 'block')}; {blocks} are the fewest that give "
        "a word, so the run takes longer than that (choose less to shorten it)"
    )
