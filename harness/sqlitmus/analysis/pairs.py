"""Every runner against every other in every case."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlitmus.report.model import Comparisons
from sqlitmus.stats.estimate import Array, TrimmedMeans, trimmed_means
from sqlitmus.stats.power import blocks_to_resolve
from sqlitmus.stats.verdict import VERDICTS, Verdicts, decide

from .cells import optional

CANARY = "canary"
# Log ratios closer than this differ by rounding only, not by time.
_RESOLUTION = 1e-12
_NOT_RESOLVED = VERDICTS.index("not resolved")


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Log ratios of all pairs in each case; `indices` are (runner, reference), the later one first.

    `logs`, `verdicts` and `needed` (blocks that would resolve it, 0 = does not apply) have one row
    per case and pair, cases outermost.
    """

    names: list[str]
    cases: int
    indices: list[tuple[int, int]]
    logs: TrimmedMeans
    verdicts: Verdicts
    needed: NDArray[np.int64]


def compare_all(times: Array, names: list[str], margin: float) -> Pairs:
    """All unordered pairs; `times` is cases x runners x blocks, NaN where there is none.

    A block counts for a pair only if both have a value in it. A pair with a single block gets no
    estimate: one ratio is an anecdote.
    """
    indices = [(j, i) for j in range(len(names)) for i in range(j)]
    logs = np.log(times)
    differences = logs[:, [i for i, _ in indices]] - logs[:, [j for _, j in indices]]
    means = trimmed_means(differences.reshape(-1, times.shape[2]), resolution=_RESOLUTION)
    means = TrimmedMeans(
        np.where(means.count > 1, means.mean, np.nan), means.error, means.freedom, means.count
    )
    verdicts = decide(means, margin)
    unresolved = verdicts.code == _NOT_RESOLVED
    needed = np.where(unresolved, blocks_to_resolve(means, margin), 0)
    return Pairs(names, len(times), indices, means, verdicts, needed)


def compare_canary(times: Array, twin: int, names: list[str], margin: float) -> Pairs:
    """The canary (last series of `times`) against the runner it repeats, in each case."""
    return compare_all(times[:, [twin, -1]], [names[twin], CANARY], margin)


def comparisons(pairs: Pairs) -> list[Comparisons]:
    """Per case all pairs in columns."""
    low, high = pairs.logs.interval()
    width = len(pairs.indices)
    there = ~np.isnan(pairs.logs.mean)
    verdicts = np.where(there, pairs.verdicts.names(), None)
    needed = np.where(there & (pairs.needed > 0), pairs.needed, None)
    columns: list[list[Any]] = [
        optional(np.exp(pairs.logs.mean)),
        optional(np.exp(low)),
        optional(np.exp(high)),
        verdicts.tolist(),
        np.where(there, pairs.logs.count, 0).tolist(),
        needed.tolist(),
    ]
    return [
        Comparisons(pairs.names, *(column[c * width : (c + 1) * width] for column in columns))
        for c in range(pairs.cases)
    ]
