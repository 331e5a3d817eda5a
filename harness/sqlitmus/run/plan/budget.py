"""The time of a run and who gets it: blocks, sets and claims within a budget, by what the pilot
foretells. Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import hypot
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sqlitmus.catalog.cases import MINIMUM_BLOCKS, Cells, Counts, PlannedCounts
from sqlitmus.catalog.presets import Preset
from sqlitmus.catalog.published import Claim
from sqlitmus.catalog.scenario import Mode
from sqlitmus.run.plan.counts import Observed
from sqlitmus.run.plan.options import Options
from sqlitmus.run.processes.progress import clock
from sqlitmus.stats import power
from sqlitmus.stats.estimate import LEAST_FAMILY, MOST_PRIOR, Array
from sqlitmus.stats.verdict import divisor
from sqlitmus.vocabulary.text import counted
from sqlitmus.vocabulary.verdicts import Correction

# How much the logarithm of a cell's own deviation, of three processes or so, weighs against the
# mean of all; a third is about what its error of 1.2 leaves where cells truly differ by 0.8.
_OWN = 1 / 3
# The geometric mean of such deviations of normal noise is 0.63 of the true one.
_GEOMETRIC = 1 / 0.63
_LEAST = 1e-4


@dataclass(frozen=True, slots=True)
class Forecast:
    """Differences, as shares of the time, that half and nine in ten of the comparisons resolve.

    By the pilot's times `differing` of them differ by more than that.
    """

    half: float
    most: float
    differing: int
    comparisons: int


@dataclass(frozen=True, slots=True, eq=False)
class Foreseen:
    """All pairs of the runners of each case: the place of the `case`, the spread of their log ratio
    in a block, and its size in the pilot, NaN where it is unknown."""

    case: NDArray[np.int64]
    spread: Array
    effect: Array

    def needed(
        self,
        blocks: NDArray[np.int64],
        correction: Correction,
        differing: int,
        sessions: int = 1,
        factor: float = 1.0,
    ) -> Array:
        """The log ratio of each pair that so many `blocks` of it resolve with 80 % power, if
        `differing` of all pairs differ; see `forecast` for the rest."""
        comparisons = factor * divisor(correction, len(self.spread), differing)
        of_case = np.bincount(self.case)[self.case]
        prior = np.where(of_case >= LEAST_FAMILY, MOST_PRIOR, 0.0)  # where noise is alike
        return power.detectable(self.spread, blocks, max(comparisons, 1.0), sessions, prior)


def foreseen(counts: PlannedCounts, cells: Cells) -> Foreseen | None:
    """The pairs of `cells`; None when no pilot measured noise, or there is no pair."""
    deviations = [counts[case][name].deviation for case, names in cells.items() for name in names]
    piloted = [deviation for deviation in deviations if deviation is not None]
    if not piloted:
        return None
    typical = _geometric(piloted)
    rows: list[tuple[int, float, float]] = []
    for place, (case, names) in enumerate(cells.items()):
        drawn = _drawn([counts[case][name] for name in names], typical)
        for first, second in combinations(range(len(names)), 2):
            times = [counts[case][names[at]].operation_ns or np.nan for at in (first, second)]
            effect = abs(np.log(times[0] / times[1]))
            rows.append((place, hypot(drawn[first], drawn[second]), effect))
    if not rows:
        return None
    places, spreads, effects = map(np.array, zip(*rows, strict=True))
    return Foreseen(places, spreads, effects)


def forecast(
    counts: PlannedCounts,
    cells: Cells,
    blocks: int,
    correction: Correction,
    sessions: int = 1,
    factor: float = 1.0,
    sets: Mapping[str, int] | None = None,
) -> Forecast | None:
    """The differences that a run resolves with 80 % power; None when no pilot measured noise.

    All pairs of a case's runners are one family, as in the report. How strict its correction is
    depends on how many of them differ, which the pilot's times foretell; half of them where it has
    none. Planned looks make it stricter by a `factor`. Sessions leave as many degrees of freedom as
    there are sessions but one. A case in `sets` takes part in fewer blocks. A deviation from three
    processes says little: each is drawn two thirds of the way to the geometric mean of all, which a
    few very noisy cells do not decide.
    """
    seen = foreseen(counts, cells) if blocks >= MINIMUM_BLOCKS else None
    if seen is None:
        return None
    each = np.array([(sets or {}).get(case, blocks) for case in cells])[seen.case]
    timed = bool(np.isfinite(seen.effect).any())
    differing = len(each) if timed else len(each) // 2
    while True:
        needed = seen.needed(each, correction, differing, sessions, factor)
        resolved = int(np.count_nonzero(seen.effect > needed))
        if not timed or resolved >= differing:
            break
        differing = resolved
    half, most = np.quantile(np.expm1(needed), [0.5, 0.9]).tolist()
    return Forecast(half, most, differing, len(each))


def _drawn(cells: Sequence[Counts], typical: float) -> list[float]:
    """Each cell's deviation; one tried too rarely varies like the others of the case."""
    deviations = [c.deviation for c in cells if c.deviation is not None]
    middle = _geometric(deviations) if deviations else typical
    shrunk = [middle if c.deviation is None else c.deviation for c in cells]
    return [_GEOMETRIC * max(value, _LEAST) ** _OWN * typical ** (1 - _OWN) for value in shrunk]


def _geometric(deviations: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(deviations, _LEAST)))))


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


def line_of(part: Share, blocks: int) -> str:
    """A claim's share of all `blocks`, as a line."""
    if not part.cells:
        return f"  {part.name}: nothing of its own to measure"
    time = clock(blocks * part.seconds)
    return f"  {part.name}: {counted(part.cells, 'cell')}, about {time} in {blocks} blocks"


def shortened(blocks: int, allowed: int, *, obeyed: bool) -> str:
    """What to say where a budget allows fewer blocks than are planned, and is `obeyed` or not."""
    end = "so the run takes longer than that (choose less to shorten it)"
    return (
        f"the time budget allows {counted(allowed, 'block')}; {blocks} are the fewest that give "
        f"a word, {'and as many are begun as there is time for' if obeyed else end}"
    )


SPARE = 0.2  # what the blocks of a run often take longer than its pilot foretold


def beyond(costs: Mapping[str, float], weights: Mapping[str, float], left_s: float) -> list[str]:
    """The cases, of those with `weights` and the least first, without which the fewest blocks that
    give a verdict fit into `left_s` even if they take longer than foretold by the share `SPARE`;
    all of these where they do not fit even so."""
    left_out: list[str] = []
    needed_s = (1 + SPARE) * MINIMUM_BLOCKS * sum(costs.values())
    for case in sorted(weights, key=weights.__getitem__):
        if needed_s <= left_s:
            break
        needed_s -= (1 + SPARE) * MINIMUM_BLOCKS * costs[case]
        left_out.append(case)
    return left_out


STEP = 2  # every second block mirrors the one before it


def shared(
    counts: PlannedCounts,
    cells: Cells,
    correction: Correction,
    costs: Mapping[str, float],
    budget_s: float,
    most: int,
) -> dict[str, int]:
    """Sets of each case of `costs`, the seconds of one set: as many as fit into `budget_s`.

    Each has the fewest that give a verdict; what is left goes, two sets at a time, to the case in
    which a second of them brings pairs nearest to an answer, up to `most`. A pair counts by its
    size in the pilot over the size that so many sets resolve, 1 at most: neither one that is
    settled anyway nor one that never will be draws time. Cases that are not among `cells`, of which
    nothing is foretold, have the fewest; and so have all where the pilot showed no difference.
    """
    sets = dict.fromkeys(costs, MINIMUM_BLOCKS)
    left_s = budget_s - MINIMUM_BLOCKS * sum(costs.values())
    seen = foreseen(counts, cells)
    if seen is None:
        return sets
    differing = int(np.count_nonzero(np.isfinite(seen.effect)))
    sizes = range(MINIMUM_BLOCKS, most + 1, STEP)
    near: dict[int, dict[str, float]] = {}
    for size in sizes:
        needed = seen.needed(np.full(len(seen.case), size), correction, differing)
        each = np.nan_to_num(np.minimum(seen.effect / needed, 1.0))
        worth = np.bincount(seen.case, each, minlength=len(cells))
        near[size] = dict(zip(cells, worth.tolist(), strict=True))

    def gain(case: str) -> float:
        size = sets[case]
        fits = size + STEP in near and STEP * costs[case] <= left_s
        return (near[size + STEP][case] - near[size][case]) / costs[case] if fits else 0.0

    while cells and gain(best := max(cells, key=gain)) > 0:
        sets[best] += STEP
        left_s -= STEP * costs[best]
    return sets


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


def first_look(
    preset: Preset, observed: Mapping[str, Mapping[str, Observed | None]], runners: Iterable[str]
) -> list[str]:
    """What the pilot's processes of the `runners` take for the calls of a preset, a line each:
    nothing where fewer than two went well in all of its cases."""
    sums: dict[str, float] = {}
    for name in runners:
        each = {case: of.get(name) for case, of in observed.items()}
        if all(o and o.operation_ns for o in each.values()):
            sums[name] = sum(preset.calls[case] * o.mean_ns for case, o in each.items() if o)
    if len(sums) < 2:
        return []
    least, width = min(sums.values()), max(map(len, sums))
    takes = {name: [float(f"{ns / of:.2g}") for of in (1e6, least)] for name, ns in sums.items()}
    return [
        f"first look, one process each, nothing settled: for {preset.title}, per 1,000 requests",
        *(
            f"  {name:<{width}}  {ms:>6,g} ms  {ratio:>5,g}×"
            for name, (ms, ratio) in sorted(takes.items(), key=itemgetter(1))
        ),
    ]
