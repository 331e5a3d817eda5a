"""Every runner against every other in every case."""

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sqlitmus.report.model import Comparison, Interval
from sqlitmus.stats.estimate import Array, TrimmedMeans, trimmed_means
from sqlitmus.stats.power import blocks_to_resolve
from sqlitmus.stats.verdict import VERDICTS, Verdicts, decide

from .cells import optional

T = TypeVar("T", bound=np.generic)

CANARY = "canary"
# Log ratios closer than this differ by rounding only, not by time.
_RESOLUTION = 1e-12
_NOT_RESOLVED = VERDICTS.index("not resolved")


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Log ratios of all pairs (i, j), i before j in `names`, in each case.

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
    indices = list(combinations(range(len(names)), 2))
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
    return compare_all(times[:, [-1, twin]], [CANARY, names[twin]], margin)


def comparisons(pairs: Pairs) -> list[list[Comparison]]:
    """Per case every ordered pair of runners that has an estimate, by runner, then reference."""
    swapped = [(j, i) for i, j in pairs.indices]
    directed = [*pairs.indices, *swapped]
    order = sorted(range(len(directed)), key=directed.__getitem__)

    def both(forward: NDArray[T], backward: NDArray[T]) -> NDArray[T]:
        shape = (pairs.cases, len(swapped))
        return np.hstack([forward.reshape(shape), backward.reshape(shape)])[:, order]

    mean, (low, high) = pairs.logs.mean, pairs.logs.interval()
    logs = both(mean, -mean)
    there = ~np.isnan(logs)
    value, below, above = (
        np.exp(column[there]) for column in (logs, both(low, -high), both(high, -low))
    )
    names = [(pairs.names[i], pairs.names[j]) for i, j in (directed[k] for k in order)]
    subjects = [names[k] for k in np.nonzero(there)[1].tolist()]
    built = list(
        map(
            Comparison,
            (runner for runner, _ in subjects),
            (reference for _, reference in subjects),
            map(Interval, value.tolist(), optional(below), optional(above)),
            both(pairs.verdicts.names(), pairs.verdicts.mirrored().names())[there].tolist(),
            both(pairs.logs.count, pairs.logs.count)[there].tolist(),
            (needed or None for needed in both(pairs.needed, pairs.needed)[there].tolist()),
        )
    )
    ends = np.cumsum(there.sum(axis=1)).tolist()
    return [built[start:end] for start, end in pairwise([0, *ends])]
