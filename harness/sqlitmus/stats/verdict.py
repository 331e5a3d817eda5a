"""Turns the interval of a log ratio into a verdict."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sqlitmus.stats.estimate import LEVEL, Array, Medians, TrimmedMeans
from sqlitmus.stats.multiplicity import adjust, beyond_margin_p, equivalence_p, p_values
from sqlitmus.vocabulary.terms import Correction
from sqlitmus.vocabulary.verdicts import Verdict

MIN_BLOCKS = 10
ALPHA = 0.05
_VERDICTS = np.array(list(Verdict), dtype=np.object_)

Codes = NDArray[np.int8]
Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """Per row the code of a `Verdict`."""

    code: Codes

    @classmethod
    def by(cls, testable: Rows, faster: Rows, differs: Rows, beyond: Rows, within: Rows) -> Self:
        """The verdicts of rows by what is known of them: whether they differ from 0, on which side,
        whether they then lie beyond the margin, and else within it."""
        choices = (
            (~testable, Verdict.NOT_TESTABLE),
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

    def names(self) -> NDArray[np.object_]:
        """The `Verdict` of each row."""
        return _VERDICTS[self.code]


def decide(
    logs: TrimmedMeans,
    margin: float,
    correction: Correction = "none",
    guard: Array | None = None,
    alpha: float = ALPHA,
    share: Array | float = 1.0,
    *,
    small_is_nothing: bool = False,
) -> Verdicts:
    """Verdicts on trimmed means of log ratios; `margin` is a share of the time, 0.02 for 2 %.

    faster, slower: p of no difference at most `alpha`; materially: p of lying within the margin at
    most `alpha`; equivalent: p of lying beyond the margin at most `alpha`, by two one-sided tests.
    Uncorrected and at 5 %, that is: the 95 % interval excludes 0; it lies beyond the margin; the
    90 % interval lies within. One of several planned looks asks at Pocock's level instead, or each
    row's p is divided by the `share` of its look, see `multiplicity.share`.
    `correction` adjusts each of the three over all testable rows, which are one family. Difference
    is asked first: a small but resolved one is called faster or slower, unless `small_is_nothing`.
    The margin is ln(1 + margin) to both sides, so exchanging the two runners mirrors the verdict.

    `guard`, a log ratio >= 0 per row, is the noise that the canary showed. Where it is above 0 the
    whole 95 % interval must lie beyond it for faster or slower, and nothing is equivalent. Fewer
    than `MIN_BLOCKS` blocks, or no interval: not testable.
    """
    if not margin > 0:
        raise ValueError(f"the margin must be above 0, got {margin}")
    if guard is not None and not np.all(guard >= 0):
        raise ValueError("each guard must be a log ratio of 0 or more")
    testable = (logs.count >= MIN_BLOCKS) & ~np.isnan(logs.error)

    def holds(p: Array) -> NDArray[np.bool_]:
        return adjust(np.where(testable, p / share, np.nan), correction) <= alpha

    differs, beyond = holds(p_values(logs)), holds(beyond_margin_p(logs, margin))
    within = holds(equivalence_p(logs, margin))
    if guard is not None:
        low, high = logs.interval(LEVEL)
        differs &= (guard == 0) | (low > guard) | (high < -guard)
        within &= guard == 0
    if small_is_nothing:
        differs &= ~within
    return Verdicts.by(testable, logs.mean < 0, differs, beyond, within)


def confirmed(
    verdicts: Verdicts, middle: Medians, where: NDArray[np.bool_], margin: float
) -> Verdicts:
    """`verdicts` of which those `where` it is asked also need the median's 95 % interval: on the
    same side of 0 for a difference, beyond the margin for a material one, within it for
    equivalence. A material difference without that is a difference, anything else not resolved."""
    side, limit = _side(middle.low, middle.high), np.log1p(margin)
    near, farther = np.fmax(middle.low, -middle.high), np.fmax(-middle.low, middle.high)
    code = verdicts.code.copy()
    for verdict in Verdict:
        rows = where & (code == verdict.code)
        if verdict.different:
            same = side == (1 if verdict.side == "slower" else -1)
            code[rows & ~same] = Verdict.NOT_RESOLVED.code
            if verdict.material:
                plain = Verdict.SLOWER if verdict.side == "slower" else Verdict.FASTER
                code[rows & same & (near <= limit)] = plain.code
        elif verdict is Verdict.EQUIVALENT:
            code[rows & (farther >= limit)] = Verdict.NOT_RESOLVED.code
    return Verdicts(code)


def disagree(logs: TrimmedMeans, middle: Medians) -> NDArray[np.bool_]:
    """Where trimmed means and medians of the same log ratios lead to different conclusions.

    Their 95 % intervals lie on different sides of 0 (below, above, around it), and the estimate of
    one lies outside the interval of the other. False where either has no interval.
    """
    low, high = logs.interval(LEVEL)
    outside = (
        (logs.mean < middle.low)
        | (logs.mean > middle.high)
        | (middle.value < low)
        | (middle.value > high)
    )
    defined = ~np.isnan(low) & ~np.isnan(middle.low)
    return defined & (_side(low, high) != _side(middle.low, middle.high)) & outside


def _side(low: Array, high: Array) -> Codes:
    """1 for an interval above 0, -1 for one below, 0 for one that contains 0."""
    return (low > 0).astype(np.int8) - (high < 0).astype(np.int8)
