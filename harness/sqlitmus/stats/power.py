"""How many blocks a question needs, which differences blocks can resolve, and which case gets
more rounds.
"""

from collections.abc import Sequence
from functools import cache
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from sqlitmus.stats import estimate

POWER = 0.8
BOTH_ENDS = 1 - (1 - POWER) / 2  # where two ends must be cleared, half of the misses for each
MOST_BLOCKS = 2.0**53  # nobody asks for more


def detectable(
    deviation: estimate.Array,
    blocks: estimate.Counts,
    comparisons: float = 1,
    sessions: int = 1,
    prior: estimate.Array | float = 0.0,
) -> estimate.Array:
    """The smallest log ratio that is told from 0 with 80 % power, for each row.

    `shift` standard errors, which are `deviation` / sqrt(blocks); `deviation` is the spread of one
    block, `prior` the degrees of freedom that moderation adds. Several sessions leave as many as
    there are sessions but one, whatever the blocks. NaN where trimming leaves fewer than two
    blocks.
    """
    freedom = estimate.freedom_of(estimate.kept(blocks)) + prior
    if sessions > 1:
        freedom = np.full(len(blocks), sessions - 1.0)
    return shift(freedom, comparisons) * deviation / np.sqrt(blocks)


def shift(freedom: estimate.Array, comparisons: float = 1) -> estimate.Array:
    """How many standard errors from 0 a log ratio must lie to be told from it with 80 % power.

    t (1 - 1 / 4f) + z' sqrt(1 + t^2 / 2f), from the noncentral t (Johnson and Welch, Biometrika 31,
    1940, 362-389): t of the two-sided interval at 5 % / `comparisons` (see
    `verdict.divisor`), z' of the power, f the degrees of freedom; NaN below 1.
    """
    if comparisons < 1:
        raise ValueError(f"there must be at least one comparison, got {comparisons}")
    return _shift(freedom, 1 - (1 - estimate.LEVEL) / comparisons, POWER)


def _shift(freedom: estimate.Array, level: float, power: float) -> estimate.Array:
    f = np.where(freedom >= 1, freedom, np.nan)
    t, z = estimate.student_t_of(f, level), estimate.normal(2 * power - 1)
    return t * (1 - 1 / (4 * f)) + z * np.sqrt(1 + np.square(t) / (2 * f))


def blocks_to_resolve(
    logs: estimate.TrimmedMeans,
    margin: float,
    different: float = 1,
    equivalent: float = 1,
    sessions: int = 1,
) -> NDArray[np.int64]:
    """About how many blocks would turn each row that is not resolved into a verdict.

    The fewer of two ways, taking the estimate as the truth: enough to tell it from 0, at 5 % /
    `different`, or enough to show it within the margin by two one-sided tests at 5 % /
    `equivalent`, each with 80 % power. In a run of several `sessions` more blocks are more
    sessions of the same length. Always more than the row has; 0 where it has no interval.
    """
    size = np.abs(logs.mean)
    room = np.maximum(np.log1p(margin) - size, 0)
    differs = _repetitions(logs, sessions, size, 1 - (1 - estimate.LEVEL) / different, POWER)
    within = _repetitions(
        logs, sessions, room, 1 - 2 * (1 - estimate.LEVEL) / equivalent, BOTH_ENDS
    )
    return _blocks(logs, sessions, np.fmin(differs, within), np.inf)


def blocks_to_clear(
    logs: estimate.TrimmedMeans,
    distance: estimate.Array,
    inside: NDArray[np.bool_],
    alpha: float,
    sessions: int = 1,
) -> NDArray[np.int64]:
    """About how many blocks bring each row's interval, at 1 - `alpha`, within `distance` of its
    estimate, with 80 % power if the estimate is the truth.

    Where the estimate lies `inside`, two ends must be cleared, so half of the misses are left for
    each. Of several `sessions` as in `blocks_to_resolve`. Always more than the row has; 0 for no
    distance and where it has no interval.
    """
    room = np.maximum(distance, 0)
    at_one_end, at_both = (
        _repetitions(logs, sessions, room, 1 - alpha, power) for power in (POWER, BOTH_ENDS)
    )
    blocks = _blocks(logs, sessions, np.where(inside, at_both, at_one_end), MOST_BLOCKS)
    return np.where(room > 0, blocks, 0)


def _length(logs: estimate.TrimmedMeans, sessions: int) -> estimate.Array:
    """How many blocks a repetition has: one, or those of a session of several."""
    if sessions == 1:
        return np.ones(len(logs.mean))
    return np.maximum(logs.count / sessions, 1)


def _blocks(
    logs: estimate.TrimmedMeans, sessions: int, repetitions: estimate.Array, most: float
) -> NDArray[np.int64]:
    """The blocks of so many repetitions, more than the row has; 0 for as many as `most` or NaN."""
    blocks = np.maximum(np.ceil(repetitions) * _length(logs, sessions), logs.count + 1)
    return np.where(blocks < most, blocks, 0).astype(np.int64)


def _prior(logs: estimate.TrimmedMeans, sessions: int) -> estimate.Array:
    """The degrees of freedom, rounded, that each row has beyond those of its blocks; those of
    several sessions have none."""
    if sessions > 1:
        return np.zeros(len(logs.mean))
    return np.maximum(np.rint(logs.freedom - estimate.freedom_of(estimate.kept(logs.count))), 0.0)


def _repetitions(
    logs: estimate.TrimmedMeans, sessions: int, distance: estimate.Array, level: float, power: float
) -> estimate.Array:
    """How many blocks, or sessions where there are several, bring `_shift` errors to `distance`.

    Errors fall with the count and so does the shift: sqrt(count) / shift only grows, and is
    inverted on a grid; beyond its end t no longer changes.
    """
    deviation = logs.error * np.sqrt(logs.count / _length(logs, sessions))
    prior, counts = _prior(logs, sessions), np.full(len(deviation), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.divide(deviation, distance)
        for each in np.unique(prior).tolist():
            grid, reached = _reached(level, power, each, sessions > 1)
            of = relative[prior == each]
            count = np.exp(np.interp(np.log(of), np.log(reached), np.log(grid)))
            beyond = grid[-1] * np.square(of / reached[-1])
            counts[prior == each] = np.where(of > reached[-1], beyond, count)
    return np.where(np.isnan(relative), np.nan, counts)


@cache
def _reached(
    level: float, power: float, prior: float, sessions: bool
) -> tuple[estimate.Array, estimate.Array]:
    """Counts, and by how many deviations a log ratio must differ from 0 there, inverted."""
    grid = np.unique(np.geomspace(2 if sessions else 3, 3000, 120).astype(np.int64))
    freedom = (
        grid.astype(np.float64) - 1
        if sessions
        else estimate.freedom_of(estimate.kept(grid)) + prior
    )
    reached = np.maximum.accumulate(np.sqrt(grid) / _shift(freedom, level, power))
    return grid.astype(np.float64), reached


LEAST = 4  # rounds: of fewer, half are too few where others took much of the rest
LEAST_SHARE = 1e-6  # of rounds; a case that needs fewer has the least number in any plan


def components(values: estimate.Array) -> tuple[float, float]:
    """Deviations of ln time within processes and between them; `values` is processes x iterations.

    Steady iterations only, in any unit. Within: the median over the processes of their robust
    deviations. Between: that of the processes' medians, less what noise within explains of it,
    pi/2 within^2 / iterations, the variance of a median; never below 0.
    """
    logs = np.log(values)
    within = float(np.median(estimate.deviation(logs)))
    medians = np.median(logs, axis=1)
    explained = np.pi / 2 * within**2 / logs.shape[1]
    return within, sqrt(max(float(estimate.deviation(medians)) ** 2 - explained, 0.0))


def rounds(spreads: Sequence[float], costs: Sequence[float], usual: int) -> list[int]:
    """Rounds of each case, which together take about as long as `usual` rounds of each would.

    `spreads` are deviations of ln time of a lap, `costs` the time of a round. The sum over the
    cases of spread^2 / rounds is smallest where rounds are in proportion to spread / sqrt(cost)
    (Neyman, J. R. Statist. Soc. 97, 1934, 558-625); none gets fewer than half or more than twice
    the `usual` ones, so that an odd spread of a short pilot decides little, and none fewer than
    `LEAST` if the usual ones are as many.
    """
    if not any(spread > 0 for spread in spreads):
        return [usual] * len(spreads)
    share = np.array(spreads) / np.sqrt(costs)
    share /= share.max()
    least, most = min(usual, max(ceil(usual / 2), LEAST)), 2 * usual
    # what the bounds take from one case or give to it, the others share: the factor is bisected
    low, high = 0.0, most / max(float(share[share > 0].min()), LEAST_SHARE)
    for _ in range(60):
        factor = (low + high) / 2
        over = np.clip(factor * share, least, most) @ costs > usual * sum(costs)
        low, high = (low, factor) if over else (factor, high)
    return [int(count) for count in np.clip(np.rint(low * share), least, most)]
