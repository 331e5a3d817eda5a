"""Where noise is, and how many rounds each case gets for it."""

from collections.abc import Sequence
from math import ceil, sqrt

import numpy as np

from sqlitmus.stats.estimate import Array
from sqlitmus.stats.spread import deviation

LEAST = 4  # rounds: of fewer, half are too few where others took much of the rest
LEAST_SHARE = 1e-6  # of rounds; a case that needs fewer has the least number in any plan


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
