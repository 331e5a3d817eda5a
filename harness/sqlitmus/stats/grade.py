"""Grades the noise of a run by the canary: a runner measured against itself."""

from dataclasses import dataclass

import numpy as np

from sqlitmus.stats.distributions import binomial_tail
from sqlitmus.stats.estimate import Array, TrimmedMeans
from sqlitmus.stats.multiplicity import p_values
from sqlitmus.stats.verdict import MIN_BLOCKS, Codes

GRADES = ("A", "B", "C")
# Why a case is C: it is not; its interval is wide; more canaries of the run differ than chance
# explains; its own canary differs; it has too few blocks or no interval.
REASONS = ("", "wide", "run differs", "differs", "untested")
ALPHA = 0.01
# The largest half-width of the canary's interval for A and for B, on the log scale.
LIMITS = (float(np.log(1.01)), float(np.log(1.025)))


@dataclass(frozen=True, slots=True, eq=False)
class Grades:
    """Per case an index into `GRADES` and one into `REASONS`, what they rest on, the run's grade.

    `half` is the half-width of the canary's 99 % interval and `guard` how far from 0 the interval
    of a comparison in the case must lie, both log ratios. `missed` of the `tested` 99 % intervals
    lack 0; as many or more would do so by chance with probability `chance`.
    """

    code: Codes
    reason: Codes
    half: Array
    guard: Array
    tested: int
    missed: int
    chance: float
    run: str

    def names(self) -> list[str]:
        """The grade of each case as its letter."""
        return [GRADES[code] for code in self.code.tolist()]

    def reasons(self) -> list[str]:
        """Why each case is C; empty for A and B."""
        return [REASONS[code] for code in self.reason.tolist()]


def grade(canary: TrimmedMeans, p: Array | None = None) -> Grades:
    """Grades from the canary's log ratios, one row per case.

    A case is A if the 99 % half-width is at most ln 1.01, B if at most ln 1.025, else C. It is C as
    well if it has fewer than `MIN_BLOCKS` blocks or no interval, if its canary differs from itself
    at 1 % over all tested cases together (Bonferroni), or if more of the run's 99 % intervals lack
    0 than chance explains (binomial tail below 1 %): then the run's intervals are too narrow, not
    only those that happened to show it. The run has the best grade that nine in ten cases reach.

    The guard is 0 for A and B; for C the end of the interval that is farther from 0, at least ln
    1.025; infinite for an untested case. `p` are the canary's p-values, if known already.
    """
    low, high = canary.interval(1 - ALPHA)
    half = (high - low) / 2
    untested = (canary.count < MIN_BLOCKS) | np.isnan(half)
    p = np.where(untested, np.nan, p_values(canary) if p is None else p)
    tested, missed = int(np.count_nonzero(~untested)), int(np.count_nonzero(p < ALPHA))
    chance = binomial_tail(missed, tested, ALPHA)

    wide = half > LIMITS[1]
    excess = np.full_like(untested, chance < ALPHA)
    reason = np.select(
        [untested, p * tested < ALPHA, excess, wide],
        [np.int8(4), np.int8(3), np.int8(2), np.int8(1)],
        default=np.int8(0),
    )
    code = np.where(reason > 0, 2, half > LIMITS[0]).astype(np.int8)
    farther = np.fmax(np.fmax(-low, high), LIMITS[1])
    guard = np.where(code < 2, 0.0, np.where(untested, np.inf, farther))
    return Grades(code, reason.astype(np.int8), half, guard, tested, missed, chance, _run(code))


def _run(code: Codes) -> str:
    """The best grade that nine in ten cases reach; C without cases."""
    if not len(code):
        return "C"
    reached = (np.count_nonzero(code <= g) for g in range(len(GRADES)))
    return next(g for g, n in zip(GRADES, reached, strict=True) if 10 * n >= 9 * len(code))
