"""Turns of the runners of a case: how they settle after a switch, and what their laps say of
each. Pure.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sqlitmus.catalog.cases import Counts, PlannedCase
from sqlitmus.catalog.scenario import RunnerSpec, Scenario
from sqlitmus.stats.estimate import deviation
from sqlitmus.vocabulary.contract import Model

Array = NDArray[np.float64]

LOST = 0.2  # of a lap that others may take: more leaves its caches cold, too
LEAST = 0.1  # of a lap that is left of it, whatever others are said to have taken


@dataclass(frozen=True, slots=True)
class Turns:
    """How a process of a set iterates: `warmup` iterations alone, then `rounds` turns.

    A turn is `lead_in` iterations, in which the processor's caches fill again after another process
    had them, and a lap of `lap` iterations, which is what counts.
    """

    warmup: int
    rounds: int
    lead_in: int
    lap: int

    @classmethod
    def of(cls, counts: Counts) -> Self:
        """The turns of a cell with these counts; one that takes none does all in one."""
        rounds = counts.rounds or 1
        lap = counts.iterations // rounds - counts.lead_in
        return cls(counts.warmup_iterations, rounds, counts.lead_in, lap)

    @property
    def per_turn(self) -> int:
        return self.lead_in + self.lap

    @property
    def iterations(self) -> int:
        return self.rounds * self.per_turn

    @property
    def releases(self) -> int:
        """How often a process is released from the barrier in its life."""
        return self.warmup + self.iterations


def lone(case: PlannedCase, spec: Scenario, runners: Iterable[RunnerSpec] = ()) -> bool:
    """Whether processes of `case` cannot take turns: its whole process is what is measured, its
    counts are fixed, something in it goes on by the clock or is watched meanwhile, or several
    threads do its work, if only those of one of the `runners`: these begin on one processor when
    they have waited.
    """
    threads = case.together or any(runner.worker_thread for runner in runners)
    by_the_clock = bool(spec.rate or spec.writer or spec.latencies)
    watched = spec.watch_wal or spec.memory_limit_mib is not None
    return case.metric == "cold" or case.fixed or threads or by_the_clock or watched


def order(seats: int, rounds: int, seed: str) -> list[list[int]]:
    """Per round the seats in fresh random order, by `seed` alone."""
    rng = random.Random(seed)
    return [rng.sample(range(seats), seats) for _ in range(rounds)]


def timed(iterations_ns: list[int], turns: Turns) -> Array:
    """The iterations of each lap in ns (rounds x lap), without lead-ins; `iterations_ns` are those
    after the warm-up, in order."""
    rows = np.array(iterations_ns, dtype=np.float64).reshape(turns.rounds, turns.per_turn)
    return rows[:, turns.lead_in :]


def laps(rows: Array, lost_ns: Sequence[int] = ()) -> Array:
    """The mean iteration of each lap in ns, an element per round; `rows` are `timed`.

    All the time of a lap counts, collections and checkpoints too, less what others took from its
    thread (`lost_ns`, an element per round).
    """
    whole = rows.sum(axis=1)
    if len(lost_ns):
        whole = np.maximum(whole - np.array(lost_ns), whole * LEAST)
    return whole / rows.shape[1]


def kept(shares: Array) -> NDArray[np.bool_]:
    """Which rounds count; `shares` (seats x rounds) are those of each lap that others took.

    A round counts for all seats or for none: it does not where others took more than `LOST` of
    anybody's lap. Half of the rounds count in any case, those that lost least.
    """
    worst = np.nan_to_num(shares).max(axis=0, initial=0.0)
    half = np.sort(worst)[(len(worst) - 1) // 2] if len(worst) else 0.0
    return worst <= max(LOST, float(half))


def level_ns(table: Array, counted: NDArray[np.bool_] | None = None) -> Array:
    """The time of an iteration of each seat, in ns: the mean over the laps of the rounds that are
    `counted`, all by default; `table` has a row of laps per seat (seats x rounds), NaN throughout
    for a seat that did not last.

    All laps have the same operations, so it is all of the time over all of the operations.
    """
    rounds = table if counted is None else table[:, counted]
    return rounds.mean(axis=1)


TIMES_MS = np.geomspace(0.2, 20, 80)
"""Time constants that are tried; caches take up to some milliseconds to fill."""
STEP_MS = 1
FAINTEST = 0.01  # of what a switch costs: later iterations say nothing of its extent
LEAST_SHARE = 0.1  # of the mean variance: a few rounds can make one process look quieter than any


class Settling(Model):
    """How slow each iteration of each turn is, as ln time above the median of that turn's second
    half; `since_ms` is its middle, in ms since the turn began.

    `spread` is the deviation of ln time of a lap from round to round, without what a round has in
    common; None for a process alone. The mean iteration takes `stalled` times as long as the median
    one. `collections` are those of a round, None where there are none or the runtime does not tell.
    """

    since_ms: list[float]
    excess: list[float]
    spread: float | None = None
    stalled: float = 1.0
    collections: float | None = None


def settling(
    iterations_ns: Sequence[int], turns: Turns, collections: int | None = None
) -> Settling:
    """That of a process with `turns`; `iterations_ns` are those after the warm-up, in order, and
    `collections` what they had of them."""
    rows = np.array(iterations_ns, dtype=np.float64).reshape(turns.rounds, turns.per_turn)
    since = (np.cumsum(rows, axis=1) - rows / 2) / 1e6
    late = np.median(rows[:, turns.per_turn // 2 :], axis=1, keepdims=True)
    excess = np.log(rows / late)
    return Settling(
        since_ms=since.ravel().round(3).tolist(),
        excess=excess.ravel().round(4).tolist(),
        stalled=float(rows.mean() / np.median(rows)),
        collections=collections / turns.rounds if collections else None,
    )


def spreads(table: Array) -> list[float | None]:
    """The deviation of each process's laps; `table` has a row of laps per process, in ns.

    The variance of a difference is the sum of both processes' own, which all differences together
    tell (least squares); what a round has in common is in none of them.
    """
    count = len(table)
    if count < 2:
        return [None] * count
    logs = np.log(table)
    of_pairs = np.array([np.atleast_1d(deviation(logs - row)) ** 2 for row in logs])
    sums = of_pairs.sum(axis=1)
    whole = sums.sum() / (2 * (count - 1))
    each = np.full(count, whole / 2) if count == 2 else (sums - whole) / (count - 2)
    return np.sqrt(np.maximum(each, LEAST_SHARE * whole / count)).tolist()


def lead_in_ms(
    seen: Sequence[Settling], limit: float, lap_ms: float, bounds: tuple[int, int]
) -> int:
    """The shortest lead-in, within `bounds`, after which a lap of `lap_ms` is too slow by at most
    `limit` (as ln time) in every process of a case.

    What a switch costs is taken to fade exponentially, with the same time constant for all
    processes, since they share the caches, and an extent of their own: an iteration alone is too
    noisy to tell half a percent. Fits are by least absolute deviations, which the interruptions of
    a busy machine hardly move. The largest extent, which grows by chance alone with the number of
    processes, counts half, and that of all together the other half. Without any process, or where
    turns are single iterations, the longest.
    """
    since: Array = np.array([ms for each in seen for ms in each.since_ms], dtype=np.float64)
    excess: Array = np.array([ln for each in seen for ln in each.excess], dtype=np.float64)
    if not excess.any():
        return bounds[1] if len(since) < 2 else bounds[0]
    fits = [_extent(since, excess, constant) for constant in TIMES_MS]
    errors = [
        np.abs(excess - extent * np.exp(-since / constant)).sum()
        for extent, constant in zip(fits, TIMES_MS, strict=True)
    ]
    best = int(np.argmin(errors))
    constant = float(TIMES_MS[best])
    extents = (_extent(np.array(e.since_ms), np.array(e.excess), constant) for e in seen)
    extent = (max(extents) + fits[best]) / 2
    share = constant / lap_ms * -np.expm1(-lap_ms / constant)  # of its start, over a lap
    for tried in range(bounds[0], bounds[1], STEP_MS):
        if extent * np.exp(-tried / constant) * share <= limit:
            return tried
    return bounds[1]


def _extent(since: Array, excess: Array, constant: float) -> float:
    """The extent that fits best with that time constant, in ms: of least absolute deviations is the
    median of excess / fading, weighted by the fading."""
    fading: Array = np.exp(-since / constant)
    seen = fading > FAINTEST
    ratios, weights = excess[seen] / fading[seen], fading[seen]
    if not len(ratios):
        return 0.0
    order = np.argsort(ratios)
    passed = np.cumsum(weights[order]) >= weights.sum() / 2
    return max(float(ratios[order][passed.argmax()]), 0.0)
