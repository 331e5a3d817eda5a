"""Intervals of log ratios become verdicts, of single comparisons, families of them, and sums."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import erfc, sqrt
from typing import Self, get_args

import numpy as np
from numpy.typing import NDArray

from sqlitmus.stats import estimate
from sqlitmus.vocabulary.verdicts import Correction, Verdict

CORRECTIONS: tuple[Correction, ...] = get_args(Correction)

_NODES = 64
EARLY = 0.1  # so little that the last look hardly notices
CONTROL_ALPHA = 0.01


def p_values(logs: estimate.TrimmedMeans) -> estimate.Array:
    """Two-sided p of "the log ratio is 0"; at most 0.05 where the 95 % interval excludes 0."""
    return beyond_p(logs, 0, 0)


def beyond_p(
    logs: estimate.TrimmedMeans, low: estimate.Array | float, high: estimate.Array | float
) -> estimate.Array:
    """P of "the log ratio lies from `low` to `high`", ends that may be infinite; at most 0.05 where
    the 95 % interval is beyond.

    Two-sided like the interval: twice the one-sided p against the nearer end; 1 for an estimate
    within.
    """
    distance = _distance(logs, low, high)
    return _beyond(distance, estimate.student_p(distance, logs.freedom))


def within_p(
    logs: estimate.TrimmedMeans, low: estimate.Array | float, high: estimate.Array | float
) -> estimate.Array:
    """P of "the log ratio lies beyond `low` or `high`"; at most 0.05 where the 90 % interval is
    within.

    The larger p of two one-sided tests (Schuirmann 1987), which is that against the nearer end.
    """
    distance = _distance(logs, low, high)
    return _within(distance, estimate.student_p(distance, logs.freedom))


def _beyond(distance: estimate.Array, p: estimate.Array) -> estimate.Array:
    return np.where(distance < 0, 1.0, p)


def _within(distance: estimate.Array, p: estimate.Array) -> estimate.Array:
    return np.where(distance < 0, p / 2, 1 - p / 2)


def alarms(p: estimate.Array) -> tuple[int, int, bool]:
    """Of an A/A control's p-values, one per case, NaN where it was not testable: how many there
    are, how many are below 1 %, and whether that is more than chance explains.

    It is if so many or more would be there with a probability below 1 % (binomial tail, the cases
    taken as independent), or if one case differs at 1 % over all of them (Bonferroni).
    """
    tested, below = int(np.count_nonzero(~np.isnan(p))), int(np.count_nonzero(p < CONTROL_ALPHA))
    chance = estimate.binomial_tail(below, tested, CONTROL_ALPHA)
    return tested, below, chance < CONTROL_ALPHA or bool((p * tested < CONTROL_ALPHA).any())


def adjust(p: estimate.Array, method: Correction) -> estimate.Array:
    """Adjusted p-values of one family; NaN stays NaN and does not count.

    "holm" holds the chance of any false rejection in the family (Holm, Scand. J. Statist. 6, 1979,
    65-70), "bh" the expected share of false ones among the rejections (Benjamini and Hochberg, J.
    R. Statist. Soc. B 57, 1995, 289-300).
    """
    if method not in CORRECTIONS:
        raise ValueError(f"unknown correction {method!r}; there are {', '.join(CORRECTIONS)}")
    if method == "none":
        return p
    order = np.argsort(p)  # NaN last
    count = int(np.count_nonzero(~np.isnan(p)))
    ordered = p[order[:count]]
    rank = np.arange(1, count + 1)
    if method == "holm":
        ordered = np.maximum.accumulate(ordered * (count + 1 - rank))
    else:
        ordered = np.minimum.accumulate((ordered * (count / rank))[::-1])[::-1]
    adjusted = np.full_like(p, np.nan)
    adjusted[order[:count]] = np.minimum(ordered, 1)
    return adjusted


def divisor(method: Correction, family: int, decided: int) -> float:
    """By what the 5 % are divided for the next row to be decided, after `decided` of a `family`.

    Holm's procedure asks for 5 % / (m - k) after k rejections, Benjamini and Hochberg's for
    5 % (k + 1) / m. 1 without a correction or a family.
    """
    if method == "none" or family < 1:
        return 1.0
    if method == "holm":
        return float(max(family - decided, 1))
    return max(family / (decided + 1), 1.0)


def share(looks: int, *, early: bool) -> float:
    """The share of the error that one of `looks` planned looks at a case may spend.

    Earlier looks share `EARLY` evenly and leave the rest to the last (Bonferroni), so a p-value
    over its look's share is valid wherever the case ends, however many blocks lie between looks.
    """
    if looks == 1:
        return 1.0
    return EARLY / (looks - 1) if early else 1 - EARLY


@cache
def pocock(looks: int, alpha: float = 0.05) -> float:
    """The level for each of `looks` equally spaced looks at which all together err with `alpha`.

    The boundary c for which a sum of k standard normal steps leaves +-c sqrt(k) at any k <= looks
    with probability alpha (Pocock, Biometrika 64, 1977, 191-199), by the recursive integration of
    Armitage, McPherson and Rowe (J. R. Statist. Soc. A 132, 1969, 235-244). Good to about 1e-10.
    """
    if looks < 1 or not 0 < alpha < 1:
        raise ValueError(f"pocock needs looks >= 1 and 0 < alpha < 1, got {looks} and {alpha}")
    if looks == 1:
        return alpha
    # Bonferroni's is too far out
    low, high = estimate.normal(1 - alpha), estimate.normal(1 - alpha / looks)
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if _leaves(middle, looks) > alpha else (low, middle)
    return erfc(high / sqrt(2))


def _leaves(boundary: float, looks: int) -> float:
    """The probability that a random walk is beyond boundary x sqrt(k) at any step k <= looks."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    places, mass = np.zeros(1), np.ones(1)
    for k in range(1, looks + 1):
        end = boundary * sqrt(k)
        targets = nodes * end
        density = np.exp(-np.square(targets[:, None] - places) / 2) @ mass / sqrt(2 * np.pi)
        places, mass = targets, density * weights * end
    return 1 - float(mass.sum())


def _distance(
    logs: estimate.TrimmedMeans, low: estimate.Array | float, high: estimate.Array | float
) -> estimate.Array:
    """How many standard errors each estimate lies outside `low` to `high`; negative inside."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return np.maximum(low - logs.mean, logs.mean - high) / logs.error


def alphas(
    p: estimate.Array, which: Sequence[int], correction: Correction, alpha: float
) -> tuple[float, float]:
    """One minus the level of the rows' intervals, and of those if one more row came to answer.

    Rows with the same number in `which` are one measurement, whose least `p` counts. "bh": alpha R
    / m, if intervals at that level answer for R of m measurements, R as large as can be. Then at
    most the share alpha of the R intervals is expected to miss the truth, and no other answers can
    be false (Benjamini and Yekutieli, J. Am. Statist. Assoc. 100, 2005, 71-81). "holm": alpha / m,
    so that in a share alpha of runs some miss, at most. "none": alpha each.
    """
    numbers, places = np.unique(which, return_inverse=True)
    family = np.full(len(numbers), np.nan)
    np.fmin.at(family, places, p)
    count = int(np.count_nonzero(~np.isnan(family)))
    if correction == "none" or not count:
        return alpha, alpha
    if correction == "holm":
        return alpha / count, alpha / count
    answering = int(np.count_nonzero(adjust(family, "bh") <= alpha))
    return alpha * max(answering, 1) / count, alpha * min(answering + 1, count) / count


MIN_BLOCKS = 10
ALPHA = 0.05
_VERDICTS = np.array(list(Verdict), dtype=np.object_)

Codes = NDArray[np.int8]
Rows = NDArray[np.bool_]


def testable(logs: estimate.TrimmedMeans) -> Rows:
    """Which rows have an interval, and the blocks that anything said of them needs."""
    return (logs.count >= MIN_BLOCKS) & ~np.isnan(logs.error)


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """Per row the code of a `Verdict`."""

    code: Codes

    @classmethod
    def by(cls, tested: Rows, faster: Rows, differs: Rows, beyond: Rows, within: Rows) -> Self:
        """The verdicts of rows by what is known of them: whether they differ from 0, on which side,
        whether they then lie beyond the margin, and else within it."""
        choices = (
            (~tested, Verdict.NOT_TESTABLE),
            (differs & beyond & faster, Verdict.MATERIALLY_FASTER),
            (differs & faster, Verdict.FASTER),
            (differs & beyond, Verdict.MATERIALLY_SLOWER),
            (differs, Verdict.SLOWER),
            (within, Verdict.EQUIVALENT),
        )
        code = np.select(
            [rows for rows, _ in choices],
            [np.int8(verdict.code) for _, verdict in choices],
            default=np.int8(Verdict.NOT_RESOLVED.code),
        )
        return cls(code.astype(np.int8))

    def are(self, *verdicts: Verdict) -> NDArray[np.bool_]:
        """Which rows have one of `verdicts`."""
        return np.isin(self.code, [verdict.code for verdict in verdicts])

    def capped(self, case: "Verdicts") -> "Verdicts":
        """What these verdicts on groups of one case say that those on that `case` say, too."""
        return Verdicts(_BOTH[self.code, case.code])

    def names(self) -> NDArray[np.object_]:
        """The `Verdict` of each row."""
        return _VERDICTS[self.code]


def decide(
    logs: estimate.TrimmedMeans,
    margin: float,
    correction: Correction = "none",
    alpha: float = ALPHA,
    share: estimate.Array | float = 1.0,
    *,
    small_is_nothing: bool = False,
) -> Verdicts:
    """Verdicts on trimmed means of log ratios; `margin` is a share of the time, 0.02 for 2 %.

    faster, slower: p of no difference at most `alpha`; materially: p of lying within the margin at
    most `alpha`; equivalent: p of lying beyond the margin at most `alpha`, by two one-sided tests.
    Uncorrected and at 5 %, that is: the 95 % interval excludes 0; it lies beyond the margin; the
    90 % interval lies within. One of several planned looks asks at Pocock's level instead, or each
    row's p is divided by the `share` of its look, see `share`.
    `correction` adjusts each of the three over all testable rows, which are one family. Difference
    is asked first: a small but resolved one is called faster or slower, unless `small_is_nothing`.
    The margin is ln(1 + margin) to both sides, so exchanging the two runners mirrors the verdict.
    Fewer than `MIN_BLOCKS` blocks, or no interval: not testable.
    """
    if not margin > 0:
        raise ValueError(f"the margin must be above 0, got {margin}")
    tested, reach = testable(logs), np.log1p(margin)

    def holds(p: estimate.Array) -> Rows:
        return adjust(np.where(tested, p / share, np.nan), correction) <= alpha

    # all three in one go: it takes as long for many rows as for few
    apart = np.stack([_distance(logs, 0, 0), _distance(logs, -reach, reach)])
    p = estimate.student_p(apart.ravel(), np.tile(logs.freedom, 2).astype(np.float64)).reshape(
        apart.shape
    )
    differs, beyond = (holds(each) for each in _beyond(apart, p))
    within = holds(_within(apart[1], p[1]))
    if small_is_nothing:
        differs &= ~within
    return Verdicts.by(tested, logs.mean < 0, differs, beyond, within)


def group_means(logs: estimate.Array, resolution: float = 0.0) -> estimate.TrimmedMeans:
    """The mean over cases of their trimmed means, a row per pair; `logs` is cases x pairs x blocks.

    A block counts for a pair only if it has a value in every case. Each case is trimmed and
    winsorised on its own, as in `trimmed_means`, so that a disturbed case does not spoil the block
    for the others; Yuen's squared error is then taken of the blocks' means of the winsorised
    values. What cases of a block have in common is thereby in the error, whatever it is. With one
    case this is `trimmed_means`. No error where the kept values of some case are all equal.
    """
    whole: Rows = np.logical_not(np.isnan(logs).any(axis=0))
    ordered = np.sort(np.where(whole, logs, np.nan), axis=2)
    count: estimate.Counts = np.count_nonzero(whole, axis=1).astype(np.int64)
    mean, error = np.full(len(count), np.nan), np.full(len(count), np.nan)
    freedom = np.zeros(len(count))
    for n in np.unique(count[count > 0]).tolist():
        rows = np.flatnonzero(count == n)
        values, sorted_ = logs[:, rows], ordered[:, rows, :n]
        cut = int(estimate.TRIM * n)
        left = n - 2 * cut
        mean[rows] = sorted_[:, :, cut : n - cut].mean(axis=(0, 2))
        freedom[rows] = estimate.freedom_of(left, len(logs))
        bottom, top = sorted_[:, :, cut], sorted_[:, :, n - cut - 1]
        clipped: estimate.Array = np.clip(values, bottom[..., None], top[..., None]).mean(axis=0)
        blocks = clipped[whole[rows]].reshape(len(rows), n)
        error[rows] = estimate.yuen_error(blocks, left, (top - bottom > resolution).all(axis=0))
    return estimate.TrimmedMeans(mean, error, freedom, count)


@dataclass(frozen=True, slots=True, eq=False)
class Contrasts:
    """Per row a mean log ratio, the ends of its interval and the verdict; no ends, and not
    testable, where there are too few blocks or no error."""

    logs: estimate.TrimmedMeans
    low: estimate.Array
    high: estimate.Array
    verdicts: Verdicts


def together(
    logs: estimate.TrimmedMeans,
    margin: float,
    alpha: float = ALPHA,
    share: estimate.Array | float = 1.0,
) -> Contrasts:
    """Intervals that all contain their truth with probability 1 - `alpha`, and what they say.

    Each of the m rows that can be tested gets its interval at 1 - alpha share / m (Bonferroni), so
    whatever is read off them, in whatever order and of whichever rows the data suggest, is false
    with probability `alpha` at most. Holm's procedure would find a little more, but the intervals
    that belong to it say only "beyond 0" of what it finds.

    faster, slower: the interval lies beyond 0; materially: it lies beyond ln(1 + margin);
    equivalent: it lies within that. Rows of fewer than `MIN_BLOCKS` blocks or without an error are
    not testable: they get no interval and do not count.
    """
    tested = testable(logs)
    low, high = np.full((2, len(tested)), np.nan)
    shares = np.broadcast_to(share, tested.shape)
    for each in np.unique(shares).tolist():
        ends = logs.interval(1 - alpha * each / max(int(tested.sum()), 1))
        rows = tested & (shares == each)
        low[rows], high[rows] = (end[rows] for end in ends)
    return _read(logs, low, high, margin, tested)


def at_level(logs: estimate.TrimmedMeans, margin: float, level: float) -> Contrasts:
    """The same where each interval has the coverage `level`, whatever family that comes from."""
    tested = testable(logs)
    low, high = (np.where(tested, end, np.nan) for end in logs.interval(level))
    return _read(logs, low, high, margin, tested)


def _read(
    logs: estimate.TrimmedMeans,
    low: estimate.Array,
    high: estimate.Array,
    margin: float,
    tested: Rows,
) -> Contrasts:
    near = np.fmax(low, -high)  # how far the nearer end lies beyond 0
    limit = np.log1p(margin)
    within = np.fmax(-low, high) < limit
    verdicts = Verdicts.by(tested, high < 0, near > 0, near > limit, within)
    return Contrasts(logs, low, high, verdicts)


def _both(group: Verdict, case: Verdict) -> Verdict:
    """The weaker of two verdicts on the same side; not resolved where they are not."""
    if group.side != case.side:
        return Verdict.NOT_TESTABLE if group is Verdict.NOT_TESTABLE else Verdict.NOT_RESOLVED
    return case if group.material else group


_BOTH = np.array([[_both(group, case).code for case in Verdict] for group in Verdict], np.int8)


# Log ratios of two runners' sums of calls × time, for any calls from a few numbers per pair.
#
# The sum of a runner is Σ c_i exp(m_i) over operations i, with m_i the level of ln t_i. Of a pair
# with log times x and y, the mean of x - y over blocks is taken and not the difference of means,
# so that what both have in common in a block cancels. With that difference d and the mean a of
# (x + y) / 2, the levels of the two are a + d / 2 and a - d / 2.
#
# The error is that of the linear part: with p and q the operations' shares of both sums, a
# deviation of d_i moves the log ratio by (p_i + q_i) / 2 of it, and one of a_i by p_i - q_i. The
# page's script, which gets d, a and their common squares, comes to what these functions come to.


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Per row (a pair, or a session of it) what its log ratio of sums is made of.

    `difference` and `middle` are rows x operations, NaN where one of the two lacks the operation.
    `square` is rows x 2 operations x 2 operations, the differences first: Yuen's squared errors on
    the diagonal, and beside it what they have in common. Those of a difference are NaN where its
    kept values are all equal. `count` blocks have a value of both in every operation that both
    have, `left` stay after trimming.
    """

    difference: estimate.Array
    middle: estimate.Array
    square: estimate.Array
    left: estimate.Counts
    count: estimate.Counts


def parts(logs: estimate.Array, others: estimate.Array, resolution: float = 0.0) -> Parts:
    """The parts of `logs` against `others`, the log times of operations x rows x blocks.

    Each operation is trimmed and winsorised on its own, so that a disturbed one does not spoil the
    block for the others.
    """
    size, rows, _ = logs.shape
    difference, middle = np.full((2, rows, size), np.nan)
    square = np.full((rows, 2 * size, 2 * size), np.nan)
    left, count = np.zeros((2, rows), dtype=np.int64)
    for row in range(rows):
        both = np.stack([logs[:, row] - others[:, row], (logs[:, row] + others[:, row]) / 2])
        has = np.flatnonzero(~np.isnan(both[0]).all(axis=1))
        whole = ~np.isnan(both[0, has]).any(axis=0)
        n = int(whole.sum()) if len(has) else 0
        if not n:
            continue
        inner, clipped, span = estimate.winsorised(both[:, has][:, :, whole])
        count[row], left[row] = n, inner.shape[2]
        difference[row, has], middle[row, has] = inner.mean(axis=2)
        if left[row] < 2:
            continue
        clipped[0][span[0] <= resolution] = np.nan
        clipped -= clipped.mean(axis=2, keepdims=True)
        flat = clipped.reshape(2 * len(has), n)
        at = np.concatenate([has, has + size])
        square[row][np.ix_(at, at)] = flat @ flat.T / (left[row] * (left[row] - 1))
    return Parts(difference, middle, square, left, count)


def shares(levels: estimate.Array, calls: estimate.Array) -> estimate.Array:
    """Each operation's share of the sum of calls × exp(level); operations are the last axis."""
    with np.errstate(divide="ignore"):
        logs = np.log(calls) + levels
    terms = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return terms / terms.sum(axis=-1, keepdims=True)


def summed(of: Parts, calls: estimate.Array) -> estimate.TrimmedMeans:
    """Each row's log ratio of sums; NaN where an operation that is called lacks in the row.

    The degrees of freedom are those of a mean over as many rows as the error's parts are worth:
    1 / the sum of the squares of their shares of the squared error (`estimate.freedom_of`).
    """
    used = calls > 0
    size = len(calls)
    some = calls[used]
    upper = of.middle[:, used] + of.difference[:, used] / 2
    lower = upper - of.difference[:, used]
    p, q = shares(upper, some), shares(lower, some)
    # ln Σ c exp(x) - ln Σ c exp(y), by the share of the sum that the first operation has
    mean = upper[:, 0] - lower[:, 0] - np.log(p[:, 0]) + np.log(q[:, 0])
    slope = np.concatenate([(p + q) / 2, p - q], axis=1)
    at = np.concatenate([np.flatnonzero(used), np.flatnonzero(used) + size])
    square = of.square[:, at][:, :, at]
    whole = np.einsum("ri,rij,rj->r", slope, square, slope)
    single = np.square(slope) * np.einsum("rii->ri", square)
    total = single.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        worth = np.where(total > 0, total**2 / np.square(single).sum(axis=1), 1.0)
    # rounding may leave a hair below 0
    error = np.sqrt(np.where(np.isnan(whole), np.nan, np.fmax(whole, 0.0)))
    return estimate.TrimmedMeans(mean, error, estimate.freedom_of(of.left, worth), of.count)
