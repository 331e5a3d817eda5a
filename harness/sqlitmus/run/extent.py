"""How many blocks a run has, and which cases take part in fewer of them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlitmus.catalog.declared import Mode
from sqlitmus.catalog.planned import MINIMUM_BLOCKS, Cells, PlannedCounts
from sqlitmus.run.options import Options
from sqlitmus.run.sharing import shared

MOST_OF_BUDGET = 2  # times the blocks of a mode, however quick its cases are


@dataclass(frozen=True, slots=True)
class Extent:
    """Blocks of all `sessions` together; `sets` are those of cases that take part in fewer, and
    `seconds` what all of it is predicted to take, without pauses."""

    blocks: int
    sessions: int
    sets: dict[str, int]
    seconds: float


def budget_s(options: Options, mode: Mode) -> float | None:
    """Seconds that verification, pilot and blocks may take together: those of --time-budget, or of
    the mode where --blocks does not say how many there are."""
    of_mode = None if options.blocks else mode.budget_s
    return options.time_budget_s or of_mode


def extent(
    options: Options,
    mode: Mode,
    counts: PlannedCounts,
    foretold: Cells,
    costs: Mapping[str, float],
    left_s: float | None,
) -> Extent:
    """Blocks and sessions: those of the mode, of --blocks, or as many as fit into `left_s`.

    `costs` are the seconds of a set of each case; the pilot foretells something of the cells
    `foretold`. Of a suite in one session, a budget of the mode is shared by `shared`, and the
    mode's blocks are the fewest. There is one session when blocks do not divide, or when a budget
    leaves too few for each.
    """
    block_s, sessions = max(sum(costs.values()), 1e-3), mode.sessions
    if options.blocks or not left_s:
        blocks = options.blocks or mode.blocks * sessions
        sessions = sessions if blocks % sessions == 0 else 1
        return Extent(blocks, sessions, {}, blocks * block_s)
    if not options.time_budget_s:
        most = MOST_OF_BUDGET * mode.blocks
        sets = shared(counts, foretold, options.correction, costs, left_s, most)
        blocks = max(sets.values(), default=MINIMUM_BLOCKS)
        seconds = sum(number * costs[case] for case, number in sets.items())
        fewer = {case: number for case, number in sets.items() if number < blocks}
        return Extent(blocks, 1, fewer, seconds)
    each = int((left_s - (sessions - 1) * mode.pause_s) / block_s) // sessions
    if each >= MINIMUM_BLOCKS:
        return Extent(each * sessions, sessions, {}, each * sessions * block_s)
    blocks = max(1, int(left_s / block_s))
    return Extent(blocks, 1, {}, blocks * block_s)
