"""How processes settle after a switch, and the lead-in that leaves nothing of it in a lap. Pure."""

from collections.abc import Sequence

import numpy as np

from sqlitmus.run.relay.turns import Array, Turns
from sqlitmus.stats.spread import deviation
from sqlitmus.vocabulary.contract import Model

TIMES_MS = np.geomspace(0.2, 20, 80)
"""Time constants that are tried; caches take up to some milliseconds to fill."""
STEP_MS = 1
LEAST_SHARE = 0.1  # of the mean variance: a few rounds can make one process look quieter than any


class Settling(Model):
    """How slow each iteration of a turn is, as ln time above that of the turn's second half.

    `since_ms` is the middle of an iteration, in ms since the turn began; both are medians over
    the rounds. `spread` is the deviation of ln time of a lap from round to round, without what a
    round has in common; None for a process alone.
    """

    since_ms: list[float]
    excess: list[float]
    spread: float | None = None


def settling(iterations_ns: Sequence[int], turns: Turns) -> Settling:
    """That of a process with `turns`; `iterations_ns` are those after the warm-up, in order."""
    rows = np.array(iterations_ns, dtype=np.float64).reshape(turns.rounds, turns.per_turn)
    since = np.median(np.cumsum(rows, axis=1) - rows / 2, axis=0) / 1e6
    late = np.median(rows[:, turns.per_turn // 2 :], axis=1, keepdims=True)
    excess = np.median(np.log(rows / late), axis=0)
    return Settling(since_ms=since.tolist(), excess=excess.tolist())


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
    noisy to tell half a percent. The fit is by least squares. Without any process, the longest.
    """
    if not any(len(each.excess) > 1 for each in seen):
        return bounds[1]
    fits = np.array([_fit(seen, constant) for constant in TIMES_MS])
    best = int(fits[:, 0].argmin())
    extent, constant = float(fits[best, 1]), float(TIMES_MS[best])
    share = constant / lap_ms * -np.expm1(-lap_ms / constant)  # of its start, over a lap
    for tried in range(bounds[0], bounds[1], STEP_MS):
        if extent * np.exp(-tried / constant) * share <= limit:
            return tried
    return bounds[1]


def _fit(seen: Sequence[Settling], constant: float) -> tuple[float, float]:
    """The squared error with that time constant, in ms, and the largest extent of a process."""
    error, largest = 0.0, 0.0
    for each in seen:
        fading: Array = np.exp(-np.array(each.since_ms) / constant)
        excess = np.array(each.excess)
        extent = max(float(fading @ excess / (fading @ fading)), 0.0)
        error += float(((excess - extent * fading) ** 2).sum())
        largest = max(largest, extent)
    return error, largest
