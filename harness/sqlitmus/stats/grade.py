"""Grades the noise of a run, and guards it where a runner measured against itself differs."""

from dataclasses import dataclass

import numpy as np

from sqlitmus.stats.distributions import binomial_tail
from sqlitmus.stats.estimate import Array, TrimmedMeans, student_t_of
from sqlitmus.stats.multiplicity import p_values
from sqlitmus.stats.verdict import MIN_BLOCKS, Codes

GRADES = ("A", "B", "C")
# Why a case is C: it is not; its comparisons are wide; more canaries of the run differ than chance
# explains; its own canary differs; its canary has too few blocks or no interval.
REASONS = ("", "wide", "run differs", "differs", "untested")
ALPHA = 0.01
# The largest half-width of a typical comparison's interval for A and for B, on the log scale.
LIMITS = (float(np.log(1.01)), float(np.log(1.025)))


@dataclass(frozen=True, slots=True, eq=False)
class Grades:
    """Per case an index into `GRADES` and one into `REASONS`, what they rest on, the run's grade.

    `half` is the half-width of a typical comparison's 99 % interval, `guard` how far from 0 the
    interval of a comparison in the case must lie, 0 for no guard, both log ratios. `missed` of the
    `tested` canaries' 99 % intervals lack 0; as many or more would do so by chance with
    probability `chance`.
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


def grade(canary: TrimmedMeans, error: Array | None = None, p: Array | None = None) -> Grades:
    """Grades and guards from the canary's log ratios, one row per case.

    The letter describes the noise. A case is A if the 99 % interval of a comparison with the
    standard error `error`, the case's typical one (None takes the canary's own), has a half-width
    of at most ln 1.01, B if of at most ln 1.025, else C. It is C as well if its canary has fewer
    than `MIN_BLOCKS` blocks or no interval, and wherever there is a guard. The run has the best
    grade that nine in ten cases reach.

    A guard is there only where the canary shows that intervals are too narrow: in a case whose
    canary differs from itself at 1 % over all tested cases together (Bonferroni), and in every case
    of a run in which more 99 % intervals lack 0 than chance explains (binomial tail below 1 %). It
    is the end of the canary's 99 % interval that is farther from 0. `p` are the canary's p-values,
    if known already.
    """
    low, high = canary.interval(1 - ALPHA)
    half = (canary.error if error is None else error) * student_t_of(canary.freedom, 1 - ALPHA)
    untested = (canary.count < MIN_BLOCKS) | np.isnan(canary.error)
    p = np.where(untested, np.nan, p_values(canary) if p is None else p)
    tested, missed = int(np.count_nonzero(~untested)), int(np.count_nonzero(p < ALPHA))
    chance = binomial_tail(missed, tested, ALPHA)

    differs = p * tested < ALPHA
    excess = ~untested & (chance < ALPHA)
    reason = np.select(
        [untested, differs, excess, ~(half <= LIMITS[1])],
        [np.int8(4), np.int8(3), np.int8(2), np.int8(1)],
        default=np.int8(0),
    )
    code = np.where(reason > 0, 2, half > LIMITS[0]).astype(np.int8)
    guard = np.where(differs | excess, np.fmax(-low, high), 0.0)
    return Grades(code, reason.astype(np.int8), half, guard, tested, missed, chance, _run(code))


def _run(code: Codes) -> str:
    """The best grade that nine in ten cases reach; C without cases."""
    if not len(code):
        return "C"
    reached = (np.count_nonzero(code <= g) for g in range(len(GRADES)))
    return next(g for g, n in zip(GRADES, reached, strict=True) if 10 * n >= 9 * len(code))
