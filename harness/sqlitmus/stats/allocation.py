"""How much to measure: operations in an iteration, iterations in a process."""

from collections.abc import Sequence
from math import ceil, inf, sqrt

import numpy as np
from numpy.typing import ArrayLike

from sqlitmus.stats.estimate import Array
from sqlitmus.stats.spread import deviation

TARGET_NS = 5e6
GRAINS = 1000
LONGEST_NS = 200e6
LOWEST, HIGHEST = 5, 50
TRIMMED = 4  # rounds: of fewer, a quarter is none, and an interrupted lap counts in full
LEAST_SHARE = 1e-6  # of rounds; a case that needs fewer has the least number in any plan

_STEPS = (10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)


def operations(
    ns_per_operation: ArrayLike, clock_grain_ns: ArrayLike = 0.0, target_ns: float = TARGET_NS
) -> int:
    """Operations in an iteration of a case, for all of its runners: other counts are other work.

    From a trial's ns per operation of each runner: enough that an iteration takes `target_ns` on
    the fastest. Fewer if it would take the slowest more than `LONGEST_NS`; but always `GRAINS`
    steps of the clock (one for all or one per runner), and `rounded_up`. Raises ValueError for
    times that are not positive numbers.
    """
    times = np.asarray(ns_per_operation, dtype=np.float64)
    if times.ndim != 1 or not len(times) or not np.all(np.isfinite(times) & (times > 0)):
        raise ValueError(
            f"a trial must give each runner a positive time per operation, got {times}; "
            "run it again with more operations"
        )
    for_clock = (GRAINS * np.asarray(clock_grain_ns, dtype=np.float64) / times).max()
    bearable = min(target_ns / times.min(), LONGEST_NS / times.max())
    return rounded_up(max(float(for_clock), float(bearable)))


def rounded_up(count: float) -> int:
    """The next whole number that is 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten.

    From 3 on at most a third too much; steps of 1, 2, 5 would cost up to 2.5 times. Two
    trials that differ by a little mostly give the same count, so that runs compare.
    """
    power = 10 ** max(len(str(ceil(count))) - 1, 0)
    return next(n for n in (step * power // 10 for step in _STEPS) if n >= count)


def components(values: Array) -> tuple[float, float]:
    """Deviations of ln time within processes and between them; `values` is processes x iterations.

    Steady iterations only, in any unit. Within: the median over the processes of their robust
    deviations. Between: that of the processes' medians, less what noise within explains of it,
    pi/2 within^2 / iterations, the variance of a median; never below 0.
    """
    logs = np.log(values)
    within = float(np.median(deviation(logs)))
    medians = np.median(logs, axis=1)
    explained = np.pi / 2 * within**2 / logs.shape[1]
    return within, sqrt(max(float(deviation(medians)) ** 2 - explained, 0.0))


def rounds(spreads: Sequence[float], costs: Sequence[float], usual: int) -> list[int]:
    """Rounds of each case, which together take about as long as `usual` rounds of each would.

    `spreads` are deviations of ln time of a lap, `costs` the time of a round. The sum over the
    cases of spread^2 / rounds is smallest where rounds are in proportion to spread / sqrt(cost)
    (Neyman, J. R. Statist. Soc. 97, 1934, 558-625); none gets fewer than half or more than twice
    the `usual` ones, so that an odd spread of a short pilot decides little, and none fewer than
    `TRIMMED` if the usual ones are as many.
    """
    if not any(spread > 0 for spread in spreads):
        return [usual] * len(spreads)
    share = np.array(spreads) / np.sqrt(costs)
    share /= share.max()
    least, most = min(usual, max(ceil(usual / 2), TRIMMED)), 2 * usual
    # what the bounds take from one case or give to it, the others share: the factor is bisected
    low, high = 0.0, most / max(float(share[share > 0].min()), LEAST_SHARE)
    for _ in range(60):
        factor = (low + high) / 2
        over = np.clip(factor * share, least, most) @ costs > usual * sum(costs)
        low, high = (low, factor) if over else (factor, high)
    return [int(count) for count in np.clip(np.rint(low * share), least, most)]


def iterations(
    start_ns: float,
    warmup_ns: float,
    iteration_ns: float,
    within: float,
    between: float,
    lowest: int = LOWEST,
    highest: int = HIGHEST,
) -> int:
    """Measured iterations per process that make best use of a given time.

    ceil(sqrt((start + warm-up) / iteration x within^2 / between^2)), kept within the bounds
    (Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013). `highest` where
    processes do not differ: then one is as good as many.
    """
    if within == 0:
        return lowest
    share = within / between if between > 0 else inf
    best = sqrt((start_ns + warmup_ns) / iteration_ns) * share
    return int(min(max(ceil(min(best, highest)), lowest), highest))
