"""How noisy a run is: by its canary, by the machine's probe, by modes far to one side."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlitmus.stats.estimate import Array, TrimmedMeans, binomial_tail, deviation, student_t_of
from sqlitmus.stats.verdict import MIN_BLOCKS, Codes, p_values

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


# Rows of blocks of which many lie in a mode of their own, far to one side of the others.


# A trimmed mean cuts a fifth from each end: with fewer values than this on one side, none of them
# is left when chance puts a few more there.
SHARE = 0.15
DEVIATIONS = 5.0
_NORMAL = 1.4826  # brings the median absolute deviation of normal values to the standard deviation


def far(values: Array) -> NDArray[np.bool_]:
    """Per row (rows x blocks, NaN for none) whether over 15 % lie in a far mode on one side.

    Far is more than five median absolute deviations, scaled to normal noise, from the median. The
    mode is where a trimmed mean is at the edge of its cut: a third of one-sided disturbance is in
    the mean of one run and not of the next, and more blocks do not help its interval. The median
    does not see it. `./just bench-statistics` prints coverage and how many rows are marked.
    """
    count = np.count_nonzero(~np.isnan(values), axis=1)
    marked = np.zeros(len(values), dtype=np.bool_)
    rows = count > 0
    if not rows.any():
        return marked
    middle = np.nanmedian(values[rows], axis=1, keepdims=True)
    distance = values[rows] - middle
    limit = DEVIATIONS * _NORMAL * np.nanmedian(np.abs(distance), axis=1, keepdims=True)
    above = np.count_nonzero(distance > limit, axis=1)
    below = np.count_nonzero(distance < -limit, axis=1)
    marked[rows] = (np.maximum(above, below) > SHARE * count[rows]) & (limit[:, 0] > 0)
    return marked


# Whether the machine was disturbed, judged by the probe between blocks and never by the cells.


EARLIER = 8
PROBE_DEVIATIONS = 5.0
FINEST = 0.002


def disturbed(values: Array) -> NDArray[np.bool_]:
    """Per block whether its probe time (one value per block, in order, any unit) is out of line.

    A block is disturbed if its probe took longer than the median of the blocks before it by more
    than `DEVIATIONS` robust deviations, taken as `FINEST` of the median at least. It depends on
    earlier blocks only, so that the answer for the last one is there when the block ends, and
    never changes. The first `EARLIER` probes are not judged. NaN: no probe, not disturbed.
    """
    flags = np.zeros(len(values), dtype=np.bool_)
    for block in range(len(values)):
        before = values[:block][~np.isnan(values[:block])]
        if len(before) >= EARLIER:
            middle = float(np.median(before))
            spread = max(float(deviation(before)), FINEST * middle)
            flags[block] = values[block] > middle + PROBE_DEVIATIONS * spread
    return flags


def repeats_allowed(planned: int) -> int:
    """How many disturbed blocks may be repeated: a fifth of the `planned` ones."""
    return planned // 5
